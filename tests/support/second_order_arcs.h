#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"
#include "structures/head_factors.h"
#include "structures/tree_parts.h"
#include "support/nonprojective_trees.h"

namespace espalier::test_support {

// The arcs of a sentence, all or some of them with those of a chain of words among them, and the scores of
// their parts.
struct RandomParts {
  RandomParts(std::size_t of_words, bool all, double range, Random& random) : words(of_words), offsets{0} {
    for (std::size_t d = 1; d <= words; ++d) {
      for (std::size_t h = 0; h <= words; ++h) {
        if (h != d && (all || h + 1 == d || random.below(3) > 0))
          heads.push_back(static_cast<std::uint16_t>(h));
      }
      offsets.push_back(static_cast<std::uint32_t>(heads.size()));
    }
    lists.append(ArcSet(offsets, heads), true);
    part_s.resize(parts().size());
    for (double& x : part_s) x = range * (2 * random.uniform() - 1);
  }
  TreeParts parts() const { return lists(0); }

  std::size_t words;
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint16_t> heads;
  TreePartLists lists;
  std::vector<double> part_s;
};

// The same with scores of arcs, -infinity where there is none.
struct RandomSecondOrder : RandomParts {
  RandomSecondOrder(std::size_t of_words, bool all, double range, Random& random)
      : RandomParts(of_words, all, range, random),
        single_root(random.below(2) == 0),
        s(arc_matrix_size(of_words), -std::numeric_limits<double>::infinity()) {
    for (std::size_t d = 1; d <= words; ++d) {
      for (std::size_t a = offsets[d - 1]; a < offsets[d]; ++a)
        s[arc_matrix_index(words, heads[a], d)] = range * (2 * random.uniform() - 1);
    }
  }
  SecondOrderArcs view() const { return {words, single_root, s, parts(), part_s}; }

  // Calls use(tree, its score, the parts that it has) for every tree.
  template <class Use>
  void for_each_tree(const Use& use) const {
    for (const TreeHeads& tree : nonprojective_trees(words, single_root)) {
      double score = tree_score(tree, s);
      if (!(score > -std::numeric_limits<double>::infinity())) continue;
      const auto has = [&](std::size_t h, std::size_t d) { return tree[d - 1] == h; };
      std::vector<std::size_t> there;
      std::size_t k = 0;
      for (const TreePart& part : parts().siblings) {
        bool is_there =
            has(part.head, part.modifier) && (part.third == part.head || has(part.head, part.third));
        for (std::size_t b = std::min(part.third, part.modifier) + 1; b < std::max(part.third, part.modifier);
             ++b)
          is_there = is_there && !has(part.head, b);
        if (is_there) there.push_back(k);
        ++k;
      }
      for (const TreePart& part : parts().grandparents) {
        if (has(part.head, part.modifier) && has(part.third, part.head)) there.push_back(k);
        ++k;
      }
      for (const std::size_t part : there) score += part_s[part];
      use(tree, score, there);
    }
  }
  double log_partition() const {
    double highest = -std::numeric_limits<double>::infinity(), sum = 0;
    for_each_tree([&](const TreeHeads&, double score, const auto&) { highest = std::max(highest, score); });
    for_each_tree([&](const TreeHeads&, double score, const auto&) { sum += std::exp(score - highest); });
    return highest + std::log(sum);
  }
  double best() const {
    double highest = -std::numeric_limits<double>::infinity();
    for_each_tree([&](const TreeHeads&, double score, const auto&) { highest = std::max(highest, score); });
    return highest;
  }

  bool single_root;
  std::vector<double> s;
};

}  // namespace espalier::test_support
