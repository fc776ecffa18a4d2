#include "structures/span_kinds.h"

#include <algorithm>

#include "base/fingerprint.h"
#include "espalier/base/error.h"
#include "structures/cfg.h"

namespace espalier {
namespace {

constexpr std::uint32_t kFreePlace = std::numeric_limits<std::uint32_t>::max();

std::uint16_t small_number(std::size_t number) {
  if (number >= SpanKind::kNone)
    throw Error("a span has too many symbols, rules or labels; expected fewer than 65,535 of each");
  return static_cast<std::uint16_t>(number);
}

std::uint64_t hash_of(std::span<const std::uint32_t> bottoms, std::span<const std::uint32_t> tops) {
  const auto hash = [](std::span<const std::uint32_t> symbols) {
    return fingerprint_of({reinterpret_cast<const char*>(symbols.data()), symbols.size_bytes()});
  };
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
  return hash(bottoms) * kOdd + hash(tops);
}

}  // namespace

SpanKinds::SpanKinds(const GrammarIndex& index) : index_(&index), places_(64, kFreePlace) {}

SpanKinds::Added SpanKinds::add(std::span<const std::uint32_t> bottoms, std::span<const std::uint32_t> tops) {
  const std::uint64_t hash = hash_of(bottoms, tops);
  const std::lock_guard lock(adding_);
  if (2 * size() >= places_.size()) {
    places_.assign(2 * places_.size(), kFreePlace);
    for (std::uint32_t kind = 0; kind < size(); ++kind) {
      std::size_t at = hashes_[kind] & (places_.size() - 1);
      while (places_[at] != kFreePlace) at = (at + 1) & (places_.size() - 1);
      places_[at] = kind;
    }
  }
  std::uint32_t& place = place_of(hash, bottoms, tops);
  if (place == kFreePlace) {
    place = static_cast<std::uint32_t>(size());
    append(bottoms, tops);
    hashes_.push_back(hash);
  }
  return {place, firsts_[place + 1].label - firsts_[place].label};
}

void SpanKinds::shrink_to_fit() {
  firsts_.shrink_to_fit();
  bottoms_.shrink_to_fit();
  tops_.shrink_to_fit();
  unaries_.shrink_to_fit();
  slots_.shrink_to_fit();
  labels_.shrink_to_fit();
}

std::uint32_t& SpanKinds::place_of(std::uint64_t hash, std::span<const std::uint32_t> bottoms,
                                   std::span<const std::uint32_t> tops) {
  std::size_t at = hash & (places_.size() - 1);
  while (places_[at] != kFreePlace && !(hashes_[places_[at]] == hash && is(places_[at], bottoms, tops)))
    at = (at + 1) & (places_.size() - 1);
  return places_[at];
}

bool SpanKinds::is(std::uint32_t kind, std::span<const std::uint32_t> bottoms,
                   std::span<const std::uint32_t> tops) const {
  const SpanKind known = (*this)[kind];
  const auto same = [](const auto& node, std::uint32_t symbol) { return node.symbol == symbol; };
  return std::equal(known.bottoms.begin(), known.bottoms.end(), bottoms.begin(), bottoms.end(), same) &&
         std::equal(known.tops.begin(), known.tops.end(), tops.begin(), tops.end(), same);
}

void SpanKinds::append(std::span<const std::uint32_t> bottoms, std::span<const std::uint32_t> tops) {
  const Grammar& grammar = index_->grammar();
  // Of a top symbol, the rules that lead to it in the order of their bottom symbols.
  struct Rule {
    std::uint32_t top, bottom, rule;
  };
  std::vector<Rule> rules;
  std::vector<std::uint16_t> labels;
  for (std::uint32_t b = 0; b < bottoms.size(); ++b) {
    if (grammar.labels[bottoms[b]] != kNoLabel) labels.push_back(small_number(grammar.labels[bottoms[b]]));
    for (const std::uint32_t rule : index_->above(bottoms[b])) {
      const auto top = std::lower_bound(tops.begin(), tops.end(), grammar.unaries[rule].parent);
      if (top == tops.end() || *top != grammar.unaries[rule].parent) continue;
      rules.push_back({static_cast<std::uint32_t>(top - tops.begin()), b, rule});
      for (const std::uint32_t label : index_->unary_labels(rule)) labels.push_back(small_number(label));
    }
  }
  std::stable_sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) { return a.top < b.top; });
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  const auto slot_of = [&](std::uint32_t label) {
    return small_number(
        static_cast<std::size_t>(std::lower_bound(labels.begin(), labels.end(), label) - labels.begin()));
  };

  for (const std::uint32_t symbol : bottoms) {
    const std::uint32_t label = grammar.labels[symbol];
    const bool has_label = label != kNoLabel;
    bottoms_.push_back({symbol, has_label ? static_cast<std::uint16_t>(label) : SpanKind::kNone,
                        has_label ? slot_of(label) : SpanKind::kNone});
  }
  auto rule = rules.begin();
  std::size_t num_rules = 0, num_slots = 0;
  for (std::uint32_t t = 0; t < tops.size(); ++t) {
    const auto same = std::lower_bound(bottoms.begin(), bottoms.end(), tops[t]);
    const bool may_be_same = same != bottoms.end() && *same == tops[t];
    tops_.push_back(
        {tops[t],
         may_be_same ? small_number(static_cast<std::size_t>(same - bottoms.begin())) : SpanKind::kNone,
         small_number(num_rules)});
    for (; rule != rules.end() && rule->top == t; ++rule, ++num_rules) {
      unaries_.push_back({rule->rule, small_number(rule->bottom), small_number(num_slots)});
      for (const std::uint32_t label : index_->unary_labels(rule->rule)) {
        slots_.push_back(slot_of(label));
        ++num_slots;
      }
    }
  }
  labels_.insert(labels_.end(), labels.begin(), labels.end());
  const auto end = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  firsts_.push_back({end(bottoms_), end(tops_), end(unaries_), end(slots_), end(labels_)});
}

}  // namespace espalier
