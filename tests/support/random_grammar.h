#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "structures/cfg.h"

namespace espalier {
namespace test_support {

// A sentence with all that its forest is made of.
struct OwnedCfg : Cfg {
  OwnedCfg(std::shared_ptr<const GrammarIndex> index_of_it, TagSets tags_of_it,
           std::optional<SpanMask> mask_of_it = {})
      : Cfg(*index_of_it, tags_of_it, mask_of_it ? &*mask_of_it : nullptr),
        owned_index(std::move(index_of_it)),
        tags(std::move(tags_of_it)),
        mask(std::move(mask_of_it)) {}

  std::shared_ptr<const GrammarIndex> owned_index;
  TagSets tags;
  std::optional<SpanMask> mask;
};

inline std::size_t draw(Random& random, std::size_t first, std::size_t last) {
  return first + random.below(last - first + 1);
}

struct RandomGrammarOptions {
  std::size_t tags = 2, phrases = 3, binaries = 8, unaries = 5;
};

// The last symbol is the start. Labels are fewer than symbols, and some are of no constituents.
inline Grammar random_grammar(Random& random, const RandomGrammarOptions& options = {}) {
  Grammar grammar;
  const auto tags = static_cast<std::uint32_t>(options.tags),
             phrases = static_cast<std::uint32_t>(options.phrases);
  grammar.num_tags = tags;
  grammar.num_symbols = tags + phrases + 1;
  grammar.start = grammar.num_symbols - 1;
  grammar.num_labels = 3;
  grammar.num_constituents = 2;
  const auto any = [&] { return static_cast<std::uint32_t>(draw(random, 0, tags + phrases - 1)); };
  const auto parent = [&] { return static_cast<std::uint32_t>(draw(random, tags, tags + phrases)); };
  const auto add_binary = [&](const Grammar::Binary& rule) {
    for (const auto& known : grammar.binaries) {
      if (known == rule) return;
    }
    grammar.binaries.push_back(rule);
  };
  for (std::size_t r = 0; r < options.binaries; ++r) {
    const std::uint32_t of = parent(), left = any();
    add_binary({of, left, any()});
  }
  for (std::size_t r = 0; r < options.unaries; ++r) {
    Grammar::Unary rule{parent(), any(), {}};
    for (std::size_t k = draw(random, 0, 4); k > 2; --k) {
      rule.between.push_back(static_cast<std::uint32_t>(draw(random, tags, tags + phrases - 1)));
    }
    grammar.unaries.push_back(rule);
  }
  // So that every sentence has a derivation.
  for (std::uint32_t a = 0; a < tags; ++a) grammar.unaries.push_back({grammar.start, a, {}});
  add_binary({tags, tags, tags});
  add_binary({tags, 0, tags});
  grammar.unaries.push_back({grammar.start, tags, {}});
  for (std::uint32_t a = 0; a < tags; ++a) grammar.unaries.push_back({tags, a, {}});
  grammar.labels.assign(grammar.num_symbols, kNoLabel);
  for (std::uint32_t a = tags; a + 1 < grammar.num_symbols; ++a) {
    if (draw(random, 0, 4) > 0) grammar.labels[a] = static_cast<std::uint32_t>(draw(random, 0, 2));
  }
  grammar.labels[tags] = 0;  // so that some derivations cost something
  return grammar;
}

inline TagSets random_tags(Random& random, std::size_t words, std::size_t num_tags) {
  TagSets tags(words);
  for (auto& of_word : tags) {
    while (of_word.empty()) {
      for (std::uint32_t a = 0; a < num_tags; ++a) {
        if (draw(random, 0, 2) == 0) of_word.push_back(a);
      }
    }
  }
  return tags;
}

// All derivations, found from the rules alone: those of a span are those of its parts, rule by rule.
class DerivationList {
 public:
  DerivationList(const Grammar& grammar, const TagSets& tags, const SpanMask* mask)
      : grammar_(grammar), tags_(tags), mask_(mask) {}
  std::vector<Derivation> all() const {
    std::vector<Derivation> list;
    for (auto& nodes : of(grammar_.start, 0, static_cast<std::uint32_t>(tags_.size())))
      list.push_back({nodes});
    return list;
  }

 private:
  using Nodes = std::vector<Derivation::Node>;
  bool allowed(std::uint32_t symbol, std::uint32_t begin, std::uint32_t end) const {
    return !mask_ || mask_->allows(symbol, begin, end);
  }
  std::vector<Nodes> bottoms(std::uint32_t symbol, std::uint32_t begin, std::uint32_t end,
                             std::uint32_t unary) const {
    std::vector<Nodes> list;
    if (end - begin == 1) {
      for (const std::uint32_t tag : tags_[begin]) {
        if (tag == symbol) list.push_back({{begin, begin, end, tag, unary}});
      }
      return list;
    }
    if (!allowed(symbol, begin, end)) return list;
    for (std::uint32_t r = 0; r < grammar_.binaries.size(); ++r) {
      const auto& rule = grammar_.binaries[r];
      if (rule.parent != symbol) continue;
      for (std::uint32_t split = begin + 1; split < end; ++split) {
        const auto lefts = of(rule.left, begin, split);
        if (lefts.empty()) continue;
        for (const auto& right : of(rule.right, split, end)) {
          for (const auto& left : lefts) {
            Nodes nodes{{begin, split, end, r, unary}};
            nodes.insert(nodes.end(), left.begin(), left.end());
            nodes.insert(nodes.end(), right.begin(), right.end());
            list.push_back(nodes);
          }
        }
      }
    }
    return list;
  }
  std::vector<Nodes> of(std::uint32_t top, std::uint32_t begin, std::uint32_t end) const {
    std::vector<Nodes> list = bottoms(top, begin, end, kNoRule);
    for (std::uint32_t u = 0; u < grammar_.unaries.size(); ++u) {
      if (grammar_.unaries[u].parent != top || !allowed(top, begin, end)) continue;
      for (auto& nodes : bottoms(grammar_.unaries[u].child, begin, end, u)) list.push_back(nodes);
    }
    return list;
  }

  const Grammar& grammar_;
  const TagSets& tags_;
  const SpanMask* mask_;
};

}  // namespace test_support

inline std::vector<Derivation> all_outputs(const test_support::OwnedCfg& cfg) {
  return test_support::DerivationList(cfg.owned_index->grammar(), cfg.tags, cfg.mask ? &*cfg.mask : nullptr)
      .all();
}

}  // namespace espalier
