// The k best dependency trees. Camerini, Fratta and Maffioli (1980) find the next best tree by branching on
// arcs; the division here is that of Lawler (1972): let T be the best tree of a set of trees in which words
// before `first` have the heads of T. The others of the set are, for d = first, ..., m,
//
//   { trees with T's heads before d, and not T's head of d }
//
// where the one for d = first also lacks the heads that first had been denied before. These sets are
// disjoint, and the best tree of each is the best one (chu_liu_edmonds.cc) with some arcs excluded. O(k m)
// best trees of O(m^2).

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "structures/nonprojective.h"

namespace espalier {
namespace {

// A set of trees, and the best of them.
struct TreeSet {
  ScoredTree best;
  std::size_t first;                  // words before it have the heads of the best tree
  std::vector<std::uint32_t> denied;  // heads that word `first` does not have
  std::size_t serial;                 // equal scores: the one found first
};

struct Worse {
  bool operator()(const TreeSet& a, const TreeSet& b) const {
    return a.best.score != b.best.score ? a.best.score < b.best.score : a.serial > b.serial;
  }
};

}  // namespace

std::vector<ScoredTree> nonprojective_kbest(std::size_t words, bool single_root, std::span<const double> s,
                                            std::size_t k) {
  constexpr double kExcludedArc = -std::numeric_limits<double>::infinity();
  Workspace ws;
  std::vector<ScoredTree> trees;
  std::priority_queue<TreeSet, std::vector<TreeSet>, Worse> sets;
  std::size_t serial = 0;
  // Heads before `first` are the only ones in `left`, and its denied ones are excluded there.
  const auto add = [&](std::span<const double> left, std::size_t first, std::vector<std::uint32_t> denied) {
    TreeSet set{{std::vector<std::uint32_t>(words), 0}, first, std::move(denied), serial++};
    set.best.score = nonprojective_best(words, single_root, left, set.best.heads, ws);
    if (set.best.score > kExcludedArc) sets.push(std::move(set));
  };

  if (k > 0) add(s, 1, {});
  while (!sets.empty()) {
    TreeSet set = sets.top();
    sets.pop();
    trees.push_back(set.best);
    if (trees.size() == k) break;
    std::vector<double> left(s.begin(), s.end());
    const auto keep_only_head = [&](std::size_t d) {
      const std::size_t kept = arc_matrix_index(words, set.best.heads[d - 1], d);
      std::fill_n(left.begin() + static_cast<std::ptrdiff_t>(arc_matrix_index(words, 0, d)), words + 1,
                  kExcludedArc);
      left[kept] = s[kept];
    };
    for (std::size_t d = 1; d < set.first; ++d) keep_only_head(d);
    for (std::size_t d = set.first; d <= words; ++d) {
      std::vector<std::uint32_t> denied;
      if (d == set.first) denied = std::move(set.denied);
      denied.push_back(set.best.heads[d - 1]);
      for (const std::uint32_t h : denied) left[arc_matrix_index(words, h, d)] = kExcludedArc;
      add(left, d, std::move(denied));
      keep_only_head(d);
    }
  }
  return trees;
}

}  // namespace espalier
