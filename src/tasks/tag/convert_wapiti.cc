// A model file of Wapiti, which is text.
//   #mdl#TYPE#WEIGHTS            the type (2: CRF), and how many weights are not 0
//   #rdr#PATTERNS/COLUMN/AUTO
//                                how many patterns, the largest column that they look at, whether u goes
//                                before attributes
//   LENGTH:PATTERN,              the patterns; none: data are attributes
//   #qrk#LABELS
//   LENGTH:LABEL,                the labels
//   #qrk#OBSERVATIONS
//   LENGTH:OBSERVATION,          the attributes: u... of tokens, b... of steps, *... of both
//   INDEX=WEIGHT                 the weights; indices rise. With L labels an attribute u has L of them, one
//                                for each label, b has L * L, the label before first, * has L, then L * L

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "tasks/tag/convert_programs.h"

namespace espalier {
namespace {

class WapitiModel {
 public:
  explicit WapitiModel(ModelText& text) : text_(text) {}

  ForeignModel read() {
    model_.program = "Wapiti";
    const std::size_t num_weights = read_type();
    read_patterns();
    const std::size_t num_labels = count_names("expected '#qrk#LABELS'");
    for (std::size_t i = 0; i < num_labels; ++i) text_.add(take_name(), model_.names.labels);
    read_attributes();
    read_weights(num_weights);
    text_.require_end();
    return std::move(model_);
  }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  // Where the weights of an observation begin, and what it is.
  struct Observation {
    std::size_t begin;
    std::uint32_t token, step;  // ids of its name
  };

  std::string_view after(std::string_view prefix, std::string_view expected) const {
    if (!text_.line().starts_with(prefix)) text_.fail(in_quotes(text_.line()), expected);
    return text_.line().substr(prefix.size());
  }

  std::size_t read_type() {
    constexpr std::string_view kExpected = "expected '#mdl#2#WEIGHTS'";
    const std::string_view rest = after("#mdl#", kExpected);
    const std::size_t hash = rest.find('#');
    if (hash == std::string_view::npos) text_.fail(in_quotes(text_.line()), kExpected);
    if (rest.substr(0, hash) != "2") {
      text_.fail(fmt::format("a model of the type {}", in_quotes(rest.substr(0, hash))),
                 "expected 2, a CRF; maximum entropy models have no chains");
    }
    return text_.number(rest.substr(hash + 1), kExpected);
  }

  void read_patterns() {
    constexpr std::string_view kExpected = "expected '#rdr#PATTERNS/COLUMN/0'";
    text_.require(kExpected);
    const std::string_view rest = after("#rdr#", kExpected);
    const std::size_t first = rest.find('/'), second = rest.find('/', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) {
      text_.fail(in_quotes(text_.line()), kExpected);
    }
    const std::size_t num_patterns = text_.number(rest.substr(0, first), kExpected);
    const std::size_t column = text_.number(rest.substr(first + 1, second - first - 1), kExpected);
    if (rest.substr(second + 1) != "0") {
      text_.fail("a model whose attributes do not begin with u, b or *", kExpected);
    }
    model_.input.format = TagFormat::wapiti;
    std::string patterns;
    for (std::size_t i = 0; i < num_patterns; ++i) patterns.append(take_name()).append("\n");
    if (num_patterns > 0) set_template(std::move(patterns), column + 1, text_, model_);
  }

  std::size_t count_names(std::string_view expected) {
    text_.require(expected);
    return text_.number(after("#qrk#", expected), expected);
  }

  // LENGTH:NAME,
  std::string_view take_name() {
    constexpr std::string_view kExpected = "expected 'LENGTH:NAME,'";
    const std::string_view line = text_.require(kExpected);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !line.ends_with(',')) text_.fail(in_quotes(line), kExpected);
    const std::string_view name = line.substr(colon + 1, line.size() - colon - 2);
    if (text_.number(line.substr(0, colon), kExpected) != name.size()) {
      text_.fail(fmt::format("{}, which has {} bytes", in_quotes(name), name.size()),
                 fmt::format("expected {}, as the line says", line.substr(0, colon)));
    }
    return name;
  }

  void read_attributes() {
    const std::size_t count = count_names("expected '#qrk#OBSERVATIONS'"), labels = model_.num_labels();
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view name = take_name();
      const char kind = name.empty() ? '\0' : name.front();
      if (kind != 'u' && kind != 'b' && kind != '*') {
        text_.fail(in_quotes(name), "expected an attribute that begins with u, b or *");
      }
      Observation observation{size_, kNone, kNone};
      if (kind != 'b') {
        observation.token = text_.add(name, model_.names.attributes);
        size_ += labels;
      }
      if (kind != 'u') {
        observation.step = text_.add(name, model_.names.transitions);
        size_ += labels * labels;
      }
      observations_.push_back(observation);
    }
  }

  void read_weights(std::size_t count) {
    const std::size_t labels = model_.num_labels();
    std::size_t at = 0, next_index = 0;
    for (std::size_t i = 0; i < count; ++i) {
      constexpr std::string_view kExpected = "expected 'INDEX=WEIGHT'";
      const std::string_view line = text_.require(kExpected);
      const std::size_t equals = line.find('=');
      if (equals == std::string_view::npos) text_.fail(in_quotes(line), kExpected);
      const std::size_t index = text_.number(line.substr(0, equals), kExpected);
      if (index < next_index || index >= size_) {
        text_.fail(fmt::format("index {}", index),
                   fmt::format("expected increasing indices below {}", size_));
      }
      next_index = index + 1;
      const float weight = text_.weight(line.substr(equals + 1));
      if (weight == 0) continue;
      while (at + 1 < observations_.size() && observations_[at + 1].begin <= index) ++at;
      const Observation& observation = observations_[at];
      auto place = static_cast<std::uint32_t>(index - observation.begin);
      const bool of_token = observation.token != kNone && place < labels;
      if (of_token) {
        model_.tokens.push_back({observation.token, place, weight});
      } else {
        if (observation.token != kNone) place -= static_cast<std::uint32_t>(labels);
        model_.steps.push_back({observation.step, place, weight});
      }
    }
  }

  ModelText& text_;
  ForeignModel model_;
  std::vector<Observation> observations_;
  std::size_t size_ = 0;  // of all weights, those that are 0 included
};

}  // namespace

ForeignModel read_wapiti_model(ModelText& text) { return WapitiModel(text).read(); }

}  // namespace espalier
