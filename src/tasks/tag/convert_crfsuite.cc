// What `crfsuite dump` prints of a model: sections NAME = { ... }, in this order.
//   FILEHEADER      lines "key: value"; the numbers of labels and attributes count
//   LABELS          lines "ID: NAME", IDs from 0
//   ATTRIBUTES      the same
//   TRANSITIONS     lines "(1) LABEL --> LABEL: WEIGHT"
//   STATE_FEATURES  lines "(0) ATTRIBUTE --> LABEL: WEIGHT"
// Names are as they are, without escapes. Weights that are 0 are left out.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "espalier/base/error.h"
#include "tasks/tag/convert_programs.h"

namespace espalier {
namespace {

constexpr std::string_view kEnd = "}";

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

class CrfsuiteDump {
 public:
  explicit CrfsuiteDump(ModelText& text) : text_(text) {}

  ForeignModel read() {
    model_.program = "CRFsuite";
    model_.input.format = TagFormat::crfsuite;
    model_.names.transitions.add(kTiedTransition);
    model_.every_step = kTiedTransition;
    read_header();
    read_names("LABELS", num_labels_, "num_labels", model_.names.labels);
    read_names("ATTRIBUTES", num_attributes_, "num_attrs", model_.names.attributes);
    open("TRANSITIONS");
    while (in_section()) {
      const Feature feature = parse("  (1) ", model_.names.labels, "LABEL --> LABEL: WEIGHT");
      const auto pair = static_cast<std::uint32_t>(feature.from * model_.num_labels() + feature.label);
      if (feature.weight != 0) model_.steps.push_back({0, pair, feature.weight});
    }
    open("STATE_FEATURES");
    while (in_section()) {
      const Feature feature = parse("  (0) ", model_.names.attributes, "ATTRIBUTE --> LABEL: WEIGHT");
      if (feature.weight != 0) model_.tokens.push_back({feature.from, feature.label, feature.weight});
    }
    text_.require_end();
    return std::move(model_);
  }

 private:
  struct Feature {
    std::uint32_t from, label;
    float weight;
  };

  void open(std::string_view section) {
    const std::string first = fmt::format("{} = {{", section), expected = fmt::format("expected '{}'", first);
    while (text_.require(expected).empty()) continue;
    if (text_.line() != first) text_.fail(in_quotes(text_.line()), expected);
  }

  // Goes on to the next line of the section; false at its end.
  bool in_section() { return text_.require("expected more lines, then '}'") != kEnd; }

  void read_header() {
    while (in_section()) {
      const std::string_view line = without_indent(text_.line());
      const std::size_t colon = line.find(": ");
      if (colon == std::string_view::npos) text_.fail(in_quotes(line), "expected 'key: value'");
      const std::string_view key = line.substr(0, colon), value = line.substr(colon + 2);
      constexpr std::string_view kExpected = "expected a whole number";
      if (key == "num_labels") num_labels_ = text_.number(value, kExpected);
      if (key == "num_attrs") num_attributes_ = text_.number(value, kExpected);
      if (key == "type" && value != "FOMC") {
        text_.fail(fmt::format("a model of the type {}", in_quotes(value)), "expected FOMC");
      }
    }
    if (!num_labels_ || !num_attributes_) {
      text_.fail("a header without num_labels and num_attrs", "expected both");
    }
  }

  void read_names(std::string_view section, std::optional<std::size_t> count, std::string_view key,
                  Dictionary& names) {
    open(section);
    while (in_section()) {
      const std::string_view line = without_indent(text_.line());
      const std::size_t colon = line.find(": ");
      const std::string expected = fmt::format("expected '{}: NAME'", names.size());
      if (colon == std::string_view::npos) text_.fail(in_quotes(line), expected);
      if (text_.number(line.substr(0, colon), expected) != names.size()) {
        text_.fail(in_quotes(line), expected);
      }
      text_.add(line.substr(colon + 2), names);
    }
    if (names.size() == count) return;
    text_.fail(fmt::format("{} names in {}", names.size(), section),
               fmt::format("expected {}, as {} says", *count, key));
  }

  // A name may have arrows and colons in it: it ends where what is on both sides of the arrow is known.
  Feature parse(std::string_view kind, const Dictionary& names, std::string_view form) const {
    constexpr std::string_view kArrow = " --> ", kColon = ": ";
    const std::string_view line = text_.line();
    const std::size_t colon = line.rfind(kColon);
    if (!line.starts_with(kind) || colon == std::string_view::npos || colon < kind.size()) {
      text_.fail(in_quotes(line), fmt::format("expected '{}{}'", kind, form));
    }
    const std::string_view both = line.substr(kind.size(), colon - kind.size());
    for (std::size_t arrow = both.rfind(kArrow); arrow != std::string_view::npos;
         arrow = arrow == 0 ? std::string_view::npos : both.rfind(kArrow, arrow - 1)) {
      const auto from = names.find(both.substr(0, arrow));
      const auto label = model_.names.labels.find(both.substr(arrow + kArrow.size()));
      if (from && label) return {*from, *label, text_.weight(line.substr(colon + kColon.size()))};
    }
    text_.fail(in_quotes(both), "expected names of the sections above on both sides of ' --> '");
  }

  ModelText& text_;
  ForeignModel model_;
  std::optional<std::size_t> num_labels_, num_attributes_;
};

}  // namespace

ForeignModel read_crfsuite_dump(ModelText& text) { return CrfsuiteDump(text).read(); }

}  // namespace espalier
