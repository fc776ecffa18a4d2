#include <fmt/format.h>

#include "espalier/base/error.h"
#include "tasks/fields.h"
#include "tasks/tag/parser.h"
#include "tasks/tag/transition_sets.h"

namespace espalier {
namespace {

constexpr std::string_view kExpected =
    "expected 'attribute attribute ... label', where attributes begin with u, b or *";

bool is_attribute(std::string_view field) {
  return field.front() == 'u' || field.front() == 'b' || field.front() == '*';
}

// Wapiti's files without patterns: fields that begin with u are attributes of the token, with b of the step
// into it, with * of both; the last one is the label.
class WapitiParser final : public TagParser {
 public:
  using Attribute = CrfsuiteItem::Attribute;

  WapitiParser(TagNames names, TagLabels labels)
      : names_(std::move(names)), labels_required_(labels.required) {}

  void append(const SequenceLines& reader, Sequences& to, StringBuffer& labels) override {
    for (std::size_t t = 0; t < reader.size(); ++t) {
      labels.add(split(reader, t));
      append_token(attributes_, to);
    }
    to.offsets.push_back(to.tokens.size());
  }

  void append_token(std::span<const Attribute> attributes, Sequences& to) override {
    const bool is_first = to.tokens.size() == to.offsets.back();
    look_up(attributes, names_.attributes, 'b');
    for (const auto& [id, value] : found_) to.tokens.add(id, value);
    to.tokens.sum_repeated();
    to.tokens.finish_row();
    if (!is_first) look_up(attributes, names_.transitions, 'u');
    to.transition_of.push_back(is_first ? 0 : sets_.row(found_, to.transitions));
  }

  const TransitionSets* transition_sets() const override { return &sets_; }

  void finish(Sequences& to) override {
    if (to.transitions.size() == 0) to.transitions.finish_row();
    if (to.transitions.size() == 1) to.transition_of.clear();
    sets_.clear();
  }

 private:
  // Puts the attributes of a line into attributes_. Returns its label, or nothing where it has none.
  std::string_view split(const SequenceLines& reader, std::size_t t) {
    attributes_.clear();
    for_each_field(reader.line(t), [&](std::string_view field) { attributes_.push_back({field, 1.0f}); });
    std::string_view label;
    // A label that looks like an attribute does no harm in prediction: it is one that training never saw.
    if (labels_required_ || !is_attribute(attributes_.back().name)) {
      label = attributes_.back().name;
      attributes_.pop_back();
    }
    for (const auto& [name, value] : attributes_) {
      if (!is_attribute(name)) reader.fail(t, fmt::format("the attribute {}", in_quotes(name)), kExpected);
    }
    return label;
  }

  // The known ones of the attributes that do not begin with this letter.
  void look_up(std::span<const Attribute> attributes, NameIds& names, char other) {
    names.clear();
    for (const auto& [name, value] : attributes) {
      if (!name.starts_with(other)) names.push(name);
    }
    found_.clear();
    std::size_t next = 0;
    for (const auto& [name, value] : attributes) {
      if (name.starts_with(other)) continue;
      const std::uint32_t id = names.id(next++);
      if (id != kUnknownName && value != 0) found_.push_back({id, value});
    }
  }

  TagNames names_;
  bool labels_required_;
  TransitionSets sets_;
  std::vector<Attribute> attributes_;
  std::vector<AttributeValue> found_;
};

}  // namespace

std::unique_ptr<TagParser> make_wapiti_parser(TagNames names, TagLabels labels) {
  return std::make_unique<WapitiParser>(std::move(names), labels);
}

}  // namespace espalier
