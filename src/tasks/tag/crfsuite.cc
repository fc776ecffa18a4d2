#include <fmt/format.h>

#include "espalier/base/error.h"
#include "tasks/crfsuite_attributes.h"
#include "tasks/tag/parser.h"

namespace espalier {
namespace {

class CrfsuiteParser final : public TagParser {
 public:
  CrfsuiteParser(TagNames names, TagLabels labels)
      : names_(std::move(names)), labels_required_(labels.required) {}

  void append(const SequenceLines& reader, Sequences& to, StringBuffer& labels) override {
    for (std::size_t t = 0; t < reader.size(); ++t) {
      const std::string_view line = reader.line(t);
      item_.parse(line, reader.name(), reader.line_number(t));
      if (item_.attributes.empty()) check_format(reader, t);
      if (labels_required_ && item_.label.empty()) {
        reader.fail(t, "no label before the first TAB",
                    "expected 'label TAB attribute TAB attribute:value ...'");
      }
      labels.add(item_.label);
      append_token(item_.attributes, to);
    }
    to.offsets.push_back(to.tokens.size());
  }

  void append_token(std::span<const CrfsuiteItem::Attribute> attributes, Sequences& to) override {
    names_.attributes.clear();
    for (const auto& attribute : attributes) names_.attributes.push(attribute.name);
    for (std::size_t j = 0; j < attributes.size(); ++j) {
      const std::uint32_t id = names_.attributes.id(j);
      const float value = attributes[j].value;
      if (id != kUnknownName && value != 0) to.tokens.add(id, value);
    }
    to.tokens.sum_repeated();
    to.tokens.finish_row();
  }

  void finish(Sequences& to) override {
    names_.transitions.clear();
    names_.transitions.push(kTiedTransition);
    const std::uint32_t id = names_.transitions.id(0);
    if (id != kUnknownName) to.transitions.add(id, 1.0f);
    to.transitions.finish_row();
  }

 private:
  // A label alone is fine, but a line of columns is not.
  static void check_format(const SequenceLines& reader, std::size_t t) {
    const std::string_view line = reader.line(t);
    if (count_columns(line) > 1 && line.find('\t') == std::string_view::npos) {
      reader.fail(t, fmt::format("no TAB in {}", in_quotes(line)),
                  fmt::format("expected 'label TAB attribute TAB attribute:value ...', or {} columns",
                              setting("format")));
    }
  }

  TagNames names_;
  bool labels_required_;
  CrfsuiteItem item_;
};

}  // namespace

std::unique_ptr<TagParser> make_crfsuite_parser(TagNames names, TagLabels labels) {
  return std::make_unique<CrfsuiteParser>(std::move(names), labels);
}

}  // namespace espalier
