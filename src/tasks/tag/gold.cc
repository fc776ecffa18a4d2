#include "tasks/tag/gold.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "espalier/base/error.h"
#include "features/sequences.h"
#include "tasks/tag/label_constraints.h"

namespace espalier {
namespace {

constexpr std::string_view kAny = "?";

// Where the field stands first.
[[noreturn]] void fail_at(const TagExamples& examples, std::uint32_t field, std::string_view found,
                          std::string_view expected) {
  const auto& labels = examples.labels;
  const auto token =
      static_cast<std::size_t>(std::find(labels.begin(), labels.end(), field) - labels.begin());
  const auto& offsets = examples.sequences.offsets;
  const auto i =
      static_cast<std::size_t>(std::upper_bound(offsets.begin(), offsets.end(), token) - offsets.begin()) - 1;
  examples.places.fail(i, token - offsets[i], found, expected);
}

std::vector<std::string_view> alternatives(std::string_view field) {
  std::vector<std::string_view> all;
  for (;;) {
    const std::size_t end = field.find('|');
    all.push_back(field.substr(0, end));
    if (end == std::string_view::npos) return all;
    field.remove_prefix(end + 1);
  }
}

std::optional<std::size_t> broken_at(const ChainConstraints& constraints, const LabelSets& sets,
                                     const TagExamples& examples, std::size_t i) {
  const std::uint32_t* fields = &examples.labels[examples.sequences.offsets[i]];
  return first_break(constraints, examples.sequences.length(i),
                     [&](std::size_t t) -> const std::vector<std::uint32_t>& { return sets.of[fields[t]]; });
}

}  // namespace

LabelSets LabelSets::of_labels(std::size_t num_labels) {
  LabelSets sets;
  for (std::uint32_t y = 0; y < num_labels; ++y) sets.of.push_back({y});
  return sets;
}

LabelSets LabelSets::split(const std::string& data, const TagExamples& examples, Dictionary& labels) {
  std::map<std::string, std::uint32_t, std::less<>> single;  // in the order of their bytes
  for (std::uint32_t field = 0; field < labels.size(); ++field) {
    const std::string_view text = labels.name(field);
    if (text == kAny) continue;
    for (const std::string_view name : alternatives(text)) {
      if (name.empty() || name == kAny) {
        fail_at(examples, field, fmt::format("the label {}", in_quotes(text)),
                "expected ?, or labels separated by |");
      }
      single.emplace(name, 0);
    }
  }
  if (single.size() < 2) {
    throw Error::in(data,
                    single.empty() ? "no label but ?"
                                   : fmt::format("only the label {}", in_quotes(single.begin()->first)),
                    "expected at least two labels");
  }
  Dictionary names;
  for (auto& [name, id] : single) id = names.add(name);
  LabelSets sets;
  for (std::uint32_t field = 0; field < labels.size(); ++field) {
    std::vector<std::uint32_t>& set = sets.of.emplace_back();
    if (labels.name(field) == kAny) {
      set.resize(names.size());
      std::iota(set.begin(), set.end(), 0u);
      continue;
    }
    for (const std::string_view name : alternatives(labels.name(field))) set.push_back(*names.find(name));
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  }
  labels = std::move(names);
  return sets;
}

std::string LabelSets::name(std::uint32_t field, const Dictionary& labels) const {
  if (of[field].size() == labels.size()) return std::string(kAny);
  std::string text;
  for (const std::uint32_t label : of[field]) {
    if (!text.empty()) text += '|';
    text += labels.name(label);
  }
  return text;
}

void keep_sequences(const std::vector<bool>& keep, TagExamples& examples) {
  if (std::find(keep.begin(), keep.end(), false) == keep.end()) return;
  TagExamples kept;
  const Sequences& from = examples.sequences;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i]) continue;
    for (std::size_t t = from.offsets[i]; t < from.offsets[i + 1]; ++t) {
      const SparseRows::Row row = from.tokens.row(t);
      for (std::size_t j = 0; j < row.ids.size(); ++j) kept.sequences.tokens.add(row.ids[j], row.value(j));
      kept.sequences.tokens.finish_row();
      if (!from.transition_of.empty()) kept.sequences.transition_of.push_back(from.transition_of[t]);
      kept.labels.push_back(examples.labels[t]);
    }
    kept.sequences.offsets.push_back(kept.sequences.tokens.size());
    kept.places.add(examples.places.file(i), examples.places.line(i));
    if (!examples.groups.empty()) kept.groups.push_back(examples.groups[i]);
    if (!examples.weights.empty()) kept.weights.push_back(examples.weights[i]);
  }
  kept.num_rare = examples.num_rare;
  kept.sequences.transitions = std::move(examples.sequences.transitions);
  examples = std::move(kept);
}

std::vector<bool> find_informative(const LabelSets& sets, const TagExamples& examples,
                                   std::size_t num_labels) {
  std::vector<bool> informative(examples.sequences.size());
  for (std::size_t i = 0; i < informative.size(); ++i) {
    for (std::size_t t = examples.sequences.offsets[i]; t < examples.sequences.offsets[i + 1]; ++t) {
      if (sets.of[examples.labels[t]].size() < num_labels) informative[i] = true;
    }
  }
  return informative;
}

std::vector<bool> find_allowed(const ChainConstraints& constraints, const LabelSets& sets,
                               const TagExamples& examples) {
  std::vector<bool> allowed(examples.sequences.size());
  for (std::size_t i = 0; i < allowed.size(); ++i) allowed[i] = !broken_at(constraints, sets, examples, i);
  return allowed;
}

void refuse_broken(const ChainConstraints& constraints, const std::string& source, const LabelSets& sets,
                   const TagExamples& examples, const Dictionary& labels) {
  const Sequences& sequences = examples.sequences;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto broken = broken_at(constraints, sets, examples, i);
    if (!broken) continue;
    const std::size_t length = sequences.length(i), t = std::min(*broken, length - 1);
    const auto name = [&](std::size_t at) {
      return in_quotes(sets.name(examples.labels[sequences.offsets[i] + at], labels));
    };
    std::string found = fmt::format("the label {}", name(t));
    if (*broken == length) {
      found += " at the end of a sequence";
    } else {
      found += t == 0 ? " at the beginning of a sequence" : fmt::format(" after {}", name(t - 1));
    }
    examples.places.fail(
        i, t, found,
        fmt::format("{} does not allow it; {} drop leaves such sequences out", source, setting("invalid")));
  }
}

std::shared_ptr<PartialGold> take_labels(const LabelSets& sets, std::size_t num_labels,
                                         std::span<const float> costs, TagExamples& examples) {
  std::shared_ptr<PartialGold> partial;
  const Sequences& sequences = examples.sequences;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const std::span fields = std::span(examples.labels).subspan(sequences.offsets[i], sequences.length(i));
    const bool known = std::all_of(fields.begin(), fields.end(),
                                   [&](std::uint32_t field) { return sets.of[field].size() == 1; });
    if (!known) {
      if (!partial) partial = std::make_shared<PartialGold>(sequences.size());
      std::vector<std::uint8_t> allowed(fields.size() * num_labels);
      for (std::size_t t = 0; t < fields.size(); ++t) {
        for (const std::uint32_t label : sets.of[fields[t]]) allowed[t * num_labels + label] = 1;
      }
      partial->add(i, std::move(allowed), num_labels, costs);
    }
    for (std::uint32_t& field : fields) field = sets.of[field].front();
  }
  return partial;
}

}  // namespace espalier
