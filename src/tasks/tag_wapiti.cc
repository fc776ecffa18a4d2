#include <fmt/format.h>

#include "espalier/base/error.h"
#include "tasks/fields.h"
#include "tasks/tag_parser.h"
#include "tasks/transition_sets.h"

namespace espalier {
namespace {

constexpr std::string_view kExpected =
    "expected 'attribute attribute ... label', where attributes begin with u, b or *";

bool is_attribute(std::string_view field) {
  return field.front() == 'u' || field.front() == 'b' || field.front() == '*';
}

// Wapiti's files without patterns: fields that begin with u are attributes of the token, with b of the step into it,
// with * of both; the last one is the label.
class WapitiParser final : public TagParser {
 public:
  WapitiParser(TagNames names, bool labels_required)
      : names_(std::move(names)), labels_required_(labels_required) {}

  void append(const SequenceReader& reader, Sequences& to, StringBuffer& labels) override {
    for (std::size_t t = 0; t < reader.size(); ++t) {
      labels.add(split(reader, t));
      look_up(names_.attributes, 'b');
      for (const auto& [id, value] : found_) to.tokens.add(id, value);
      to.tokens.sum_repeated();
      to.tokens.finish_row();
      if (t > 0) look_up(names_.transitions, 'u');
      to.transition_of.push_back(t > 0 ? sets_.row(found_, to.transitions) : 0);
    }
    to.offsets.push_back(to.tokens.size());
  }

  void finish(Sequences& to) override {
    if (to.transitions.size() == 0) to.transitions.finish_row();
    if (to.transitions.size() == 1) to.transition_of.clear();
    sets_.clear();
  }

 private:
  // Puts the attributes of a line into fields_. Returns its label, or nothing where it has none.
  std::string_view split(const SequenceReader& reader, std::size_t t) {
    fields_.clear();
    for_each_field(reader.line(t), [&](std::string_view field) { fields_.push_back(field); });
    std::string_view label;
    // A label that looks like an attribute does no harm in prediction: it is one that training never saw.
    if (labels_required_ || !is_attribute(fields_.back())) {
      label = fields_.back();
      fields_.pop_back();
    }
    for (const std::string_view field : fields_) {
      if (!is_attribute(field)) reader.fail(t, fmt::format("the attribute {}", in_quotes(field)), kExpected);
    }
    return label;
  }

  // The known ones of the attributes in fields_ that do not begin with this letter.
  void look_up(NameIds& names, char other) {
    names.clear();
    for (const std::string_view field : fields_) {
      if (field.front() != other) names.push(field);
    }
    found_.clear();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::uint32_t id = names.id(i);
      if (id != kUnknownName) found_.push_back({id, 1.0f});
    }
  }

  TagNames names_;
  bool labels_required_;
  TransitionSets sets_;
  std::vector<std::string_view> fields_;
  std::vector<AttributeValue> found_;
};

}  // namespace

std::unique_ptr<TagParser> make_wapiti_parser(TagNames names, bool labels_required) {
  return std::make_unique<WapitiParser>(std::move(names), labels_required);
}

}  // namespace espalier
