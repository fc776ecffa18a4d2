#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "structures/arc_set.h"
#include "support/all_trees.h"
#include "support/random_scores.h"

namespace espalier::test_support {

// All trees, found once.
inline const std::vector<TreeHeads>& nonprojective_trees(std::size_t words, bool single_root) {
  static std::map<std::pair<std::size_t, bool>, std::vector<TreeHeads>> cache;
  auto& found = cache[{words, single_root}];
  if (found.empty()) found = all_trees(words, false, single_root);
  return found;
}

// The sum of the scores of a tree's arcs.
inline double tree_score(const TreeHeads& heads, const std::vector<double>& s) {
  double sum = 0;
  for (std::size_t d = 1; d <= heads.size(); ++d) sum += s[arc_matrix_index(heads.size(), heads[d - 1], d)];
  return sum;
}

// Not from small to large, as RapidCheck likes it: the first sentences would have one word, and equal scores.
template <class T>
rc::Gen<T> any_size(rc::Gen<T> gen) {
  return rc::gen::resize(rc::kNominalSize, std::move(gen));
}

inline rc::Gen<std::size_t> number_of_words(std::size_t from, std::size_t to) {
  return any_size(rc::gen::inRange(from, to + 1));
}

// Finite scores of narrow and wide ranges (random_scores.h).
inline rc::Gen<std::vector<double>> arc_scores(std::size_t words) {
  return any_size(finite_scores(arc_matrix_size(words)));
}

// The same with some arcs excluded: none, some or most of them.
inline rc::Gen<std::vector<double>> sparse_arc_scores(std::size_t words) {
  return any_size(rc::gen::apply(
      [](std::vector<double> s, const std::vector<int>& dice, int threshold) {
        for (std::size_t k = 0; k < s.size(); ++k) {
          if (dice[k] < threshold) s[k] = -std::numeric_limits<double>::infinity();
        }
        return s;
      },
      finite_scores(arc_matrix_size(words)),
      rc::gen::container<std::vector<int>>(arc_matrix_size(words), rc::gen::inRange(0, 100)),
      rc::gen::element(10, 40, 60, 80)));
}

// Uniform in [-range, range].
inline rc::Gen<std::vector<double>> uniform_arc_scores(std::size_t words, double range) {
  return any_size(rc::gen::container<std::vector<double>>(
      arc_matrix_size(words),
      rc::gen::map(rc::gen::inRange(-1000000, 1000001), [range](int step) { return step * 1e-6 * range; })));
}

}  // namespace espalier::test_support
