#include "tasks/tag/min_count.h"

#include <utility>

#include "features/sequences.h"
#include "tasks/tag/name_ids.h"
#include "tasks/tag/transition_sets.h"

namespace espalier {
namespace {

// The new id of each name, kUnknownName for those that go; the dictionary keeps the others.
template <class Keep>
std::vector<std::uint32_t> renumber(Dictionary& names, const Keep& keep) {
  Dictionary kept;
  std::vector<std::uint32_t> ids(names.size(), kUnknownName);
  for (std::uint32_t id = 0; id < names.size(); ++id) {
    if (keep(id)) ids[id] = kept.add(names.name(id));
  }
  names = std::move(kept);
  return ids;
}

void append_known(const SparseRows::Row& row, std::span<const std::uint32_t> ids,
                  std::vector<AttributeValue>& to) {
  to.clear();
  for (std::size_t j = 0; j < row.ids.size(); ++j) {
    if (ids[row.ids[j]] != kUnknownName) to.push_back({ids[row.ids[j]], row.value(j)});
  }
}

}  // namespace

std::size_t drop_rare(const AttributeCounts& counts, std::size_t min_count, TagDictionaries& dictionaries,
                      Sequences& sequences) {
  const std::size_t before = dictionaries.attributes.size() + dictionaries.transitions.size();
  // Names that no example has were not counted.
  const auto is_frequent = [min_count](const auto& of_names, std::uint32_t id) {
    return id < of_names.size() && of_names[id] >= min_count;
  };
  const auto tokens =
      renumber(dictionaries.attributes, [&](std::uint32_t id) { return is_frequent(counts.attributes, id); });
  const auto transitions = renumber(dictionaries.transitions, [&](std::uint32_t id) {
    return is_frequent(counts.transitions, id) || dictionaries.transitions.name(id) == kTiedTransition;
  });

  std::vector<AttributeValue> known;
  SparseRows rows;
  for (std::size_t t = 0; t < sequences.tokens.size(); ++t) {
    append_known(sequences.tokens.row(t), tokens, known);
    for (const auto& [id, value] : known) rows.add(id, value);
    rows.finish_row();
  }
  sequences.tokens = std::move(rows);

  // Sets that differed in rare attributes only are now the same.
  SparseRows sets;
  TransitionSets distinct;
  std::vector<std::uint32_t> set_of;
  for (std::size_t row = 0; row < sequences.transitions.size(); ++row) {
    append_known(sequences.transitions.row(row), transitions, known);
    set_of.push_back(distinct.row(known, sets));
  }
  sequences.transitions = std::move(sets);
  for (std::uint32_t& row : sequences.transition_of) row = set_of[row];
  if (sequences.transitions.size() == 1) sequences.transition_of.clear();
  return before - dictionaries.attributes.size() - dictionaries.transitions.size();
}

}  // namespace espalier
