// The text model that `crf_learn -t` of CRF++ writes: blocks with blank lines between.
//   version: 100, cost-factor: FACTOR, maxid: WEIGHTS, xsize: COLUMNS, a line each
//   the labels
//   the templates
//   "ID ATTRIBUTE" lines: with L labels an attribute U... has the weights ID to ID + L - 1, one for each
//   label, B... has
//   ID to ID + L * L - 1, the label before first
//   the weights, one per line. Scores are sums of them times the factor.

#include <fmt/format.h>

#include "base/parse_number.h"
#include "base/text.h"
#include "espalier/base/error.h"
#include "tasks/tag/convert_programs.h"

namespace espalier {
namespace {

class CrfppModel {
 public:
  explicit CrfppModel(ModelText& text) : text_(text) {}

  ForeignModel read() {
    model_.program = "CRF++";
    if (header("version: ") != "100") text_.fail(in_quotes(text_.line()), "expected 'version: 100'");
    text_.require("expected 'cost-factor: FACTOR'");
    const auto factor = parse_double(header("cost-factor: "));
    if (!factor) text_.fail(in_quotes(text_.line()), "expected a finite factor");
    text_.require("expected 'maxid: WEIGHTS'");
    const std::size_t num_weights = text_.number(header("maxid: "), "expected a whole number");
    text_.require("expected 'xsize: COLUMNS'");
    const std::size_t num_columns = text_.number(header("xsize: "), "expected a whole number");
    if (!text_.require("expected a blank line").empty()) {
      text_.fail(in_quotes(text_.line()), "expected a blank line");
    }
    while (in_block("a label")) text_.add(text_.line(), model_.names.labels);
    std::string templates;
    while (in_block("a template")) templates.append(text_.line()).append("\n");
    set_template(std::move(templates), num_columns, text_, model_);
    while (in_block("'ID ATTRIBUTE'")) add_attribute(num_weights);
    read_weights(num_weights, *factor);
    text_.require_end();
    return std::move(model_);
  }

 private:
  struct Attribute {
    std::size_t begin;  // its first weight
    std::uint32_t id;   // of its name
    bool of_token;
  };

  std::string_view header(std::string_view key) const {
    if (text_.line().starts_with(key)) return text_.line().substr(key.size());
    text_.fail(in_quotes(text_.line()), fmt::format("expected '{}'", key));
  }

  // Goes on to the next line of a block; false at the blank line after it.
  bool in_block(std::string_view what) {
    return !text_.require(fmt::format("expected {}, or a blank line and more", what)).empty();
  }

  void add_attribute(std::size_t num_weights) {
    constexpr std::string_view kExpected = "expected 'ID ATTRIBUTE', where attributes begin with U or B";
    const std::string_view line = text_.line();
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) text_.fail(in_quotes(line), kExpected);
    const std::string_view name = line.substr(space + 1);
    if (!name.starts_with('U') && !name.starts_with('B')) text_.fail(in_quotes(line), kExpected);
    const bool of_token = name.starts_with('U');
    const std::size_t begin = text_.number(line.substr(0, space), kExpected);
    const std::size_t size = num_weights_of(of_token);
    if (size > num_weights || begin > num_weights - size) {
      text_.fail(fmt::format("weights of {} from {}", in_quotes(name), begin),
                 fmt::format("expected {} below {}, as maxid says", size, num_weights));
    }
    // In such a file no two have one weight: so what is read is no larger than the file.
    used_ += size;
    if (used_ > num_weights) {
      text_.fail(fmt::format("{} weights of {}", used_, counted(attributes_.size() + 1, "attribute")),
                 fmt::format("expected {}, as maxid says", num_weights));
    }
    attributes_.push_back(
        {begin, text_.add(name, of_token ? model_.names.attributes : model_.names.transitions), of_token});
  }

  std::size_t num_weights_of(bool of_token) const {
    return of_token ? model_.num_labels() : model_.num_labels() * model_.num_labels();
  }

  void read_weights(std::size_t count, double factor) {
    std::vector<float> weights;
    while (weights.size() < count) {
      weights.push_back(
          text_.weight(text_.require(fmt::format("expected {} weights, as maxid says", count)), factor));
    }
    for (const Attribute& attribute : attributes_) {
      auto& to = attribute.of_token ? model_.tokens : model_.steps;
      for (std::uint32_t k = 0; k < num_weights_of(attribute.of_token); ++k) {
        const float weight = weights[attribute.begin + k];
        if (weight != 0) to.push_back({attribute.id, k, weight});
      }
    }
  }

  ModelText& text_;
  ForeignModel model_;
  std::vector<Attribute> attributes_;
  std::size_t used_ = 0;  // weights, of all of them
};

}  // namespace

ForeignModel read_crfpp_model(ModelText& text) { return CrfppModel(text).read(); }

}  // namespace espalier
