#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "espalier/base/workspace.h"
#include "structures/arc_set.h"
#include "structures/projective.h"

namespace espalier {

// Dependency trees whose arcs may cross: all spanning trees that are rooted at 0. Scores are arc matrices
// (arc_set.h), finite or -infinity; the root has one modifier or any number of them. There is at least one
// word.

// log Z, and the probability of each arc as an arc matrix: 0 if there is none. The matrix-tree theorem (Koo
// et al. 2007; McDonald and Satta 2007; Smith and Smith 2007) by an elimination without subtraction, right
// for scores of any range, in O(m^3). -infinity and zeros, if no tree is left.
double nonprojective_log_partition(std::size_t words, bool single_root, std::span<const double> s,
                                   std::span<double> mu, Workspace& ws);
// The same with log p / (1 - p) in place of each probability p: infinite only where no tree, or every tree,
// has the arc.
double nonprojective_log_odds(std::size_t words, bool single_root, std::span<const double> s,
                              std::span<double> log_odds, Workspace& ws);
// The best tree (Chu and Liu 1965; Edmonds 1967). Returns its score: -infinity, if no tree is left.
double nonprojective_best(std::size_t words, bool single_root, std::span<const double> s, Heads heads,
                          Workspace& ws);
// The k best trees, best first, each once; all that are possible, if there are not k (Camerini et al. 1980).
std::vector<ScoredTree> nonprojective_kbest(std::size_t words, bool single_root, std::span<const double> s,
                                            std::size_t k);

// Trees drawn independently of each other, each with the probability that its score gives it. Requires that
// one tree is left.
std::vector<std::vector<std::uint32_t>> nonprojective_samples(std::size_t words, bool single_root,
                                                              std::span<const double> s, std::size_t n,
                                                              Random& random);

// A pair of arcs with a score of its own, which counts where a tree has both.
struct ArcPair {
  std::uint32_t first, second;  // arcs, as places in an arc matrix
};

struct TreeBeliefs {
  double log_z;    // Bethe's approximation
  bool converged;  // messages, as logarithms, change by less than 1e-8
  int rounds;      // at most 100
};

// Loopy belief propagation between the arcs, one TREE factor that all of them share, and a factor for each
// pair (Smith and Eisner 2008). mu and pair_mu become beliefs: probabilities of arcs, and of both arcs of a
// pair. mu is always that of a distribution over trees; pairs agree with it where messages have converged.
// Without pairs it is exact. Requires that the arcs of a pair differ and that its score is finite.
TreeBeliefs nonprojective_beliefs(std::size_t words, bool single_root, std::span<const double> s,
                                  std::span<const ArcPair> pairs, std::span<const double> pair_s,
                                  std::span<double> mu, std::span<double> pair_mu, Workspace& ws);

}  // namespace espalier
