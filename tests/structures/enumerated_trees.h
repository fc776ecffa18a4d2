#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include "structures/arc_set.h"
#include "support/all_trees.h"
#include "support/random_scores.h"

namespace espalier::test_support {

// From the first to the last, all as likely: rapidcheck's own ranges begin small and hardly ever reach their
// end.
inline std::size_t draw_between(std::size_t first, std::size_t last) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(first, last + 1));
}

// All projective trees, found once.
inline const std::vector<TreeHeads>& projective_trees(std::size_t words, bool single_root) {
  static std::map<std::pair<std::size_t, bool>, std::vector<TreeHeads>> known;
  const auto [entry, is_new] = known.try_emplace({words, single_root});
  if (is_new) entry->second = all_trees(words, true, single_root);
  return entry->second;
}

// The distribution over trees, tree by tree, where score(heads) gives the score of one.
struct EnumeratedTrees {
  const std::vector<TreeHeads>& trees;
  std::vector<double> scores, probabilities;
  double highest = -std::numeric_limits<double>::infinity(), log_z;

  template <class Score>
  EnumeratedTrees(std::size_t words, bool single_root, const Score& score)
      : trees(projective_trees(words, single_root)) {
    for (const TreeHeads& heads : trees) {
      scores.push_back(score(heads));
      highest = std::max(highest, scores.back());
    }
    double sum = 0;
    for (const double x : scores) sum += std::exp(x - highest);
    for (const double x : scores) probabilities.push_back(std::exp(x - highest) / sum);
    log_z = highest + std::log(sum);
  }
};

inline double arc_score(std::size_t words, std::span<const double> s, const TreeHeads& heads) {
  double score = 0;
  for (std::size_t d = 1; d <= words; ++d) score += s[arc_matrix_index(words, heads[d - 1], d)];
  return score;
}

// What sums over a tree may lose by rounding. Scores that are in no tree count too: those of words are
// shifted by the largest.
inline double rounding(std::size_t words, std::span<const double> s) {
  double largest = 0;
  for (const double x : s) largest = std::isfinite(x) ? std::max(largest, std::abs(x)) : largest;
  return 1e-14 * (10 + static_cast<double>(words) * largest);
}

inline std::vector<double> arc_marginals(std::size_t words, const EnumeratedTrees& all) {
  std::vector<double> mu(arc_matrix_size(words), 0.0);
  for (std::size_t y = 0; y < all.trees.size(); ++y) {
    for (std::size_t d = 1; d <= words; ++d)
      mu[arc_matrix_index(words, all.trees[y][d - 1], d)] += all.probabilities[y];
  }
  return mu;
}

// Marks what means nothing in an arc matrix: whoever reads it gets no number.
inline void spoil_unused(std::size_t words, std::span<double> s) {
  for (std::size_t k = 0; k <= words; ++k) {
    s[arc_matrix_index(words, k, 0)] = s[arc_matrix_index(words, k, k)] =
        std::numeric_limits<double>::quiet_NaN();
  }
}

// Scores of arcs, some of them excluded, that leave at least one tree.
inline std::vector<double> draw_arc_scores(std::size_t words, bool single_root) {
  auto s = *scores(arc_matrix_size(words));
  const auto& trees = projective_trees(words, single_root);
  const TreeHeads& possible = trees[draw_between(0, trees.size() - 1)];
  for (std::size_t d = 1; d <= words; ++d) {
    double& x = s[arc_matrix_index(words, possible[d - 1], d)];
    if (std::isinf(x)) x = 0;
  }
  spoil_unused(words, s);
  return s;
}

}  // namespace espalier::test_support
