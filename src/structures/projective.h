#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "espalier/base/workspace.h"
#include "structures/arc_set.h"
#include "structures/hypergraph.h"

namespace espalier {

// Projective dependency trees: no two arcs cross, and none passes over the root. All functions take scores of
// arcs as an arc matrix (arc_set.h), and whether the root has one modifier or any number of them. They
// require that one tree is left.

struct ScoredTree {
  std::vector<std::uint32_t> heads;  // of word d: heads[d - 1]
  double score;
};

// log Z, and the probability of each arc as an arc matrix: 0 if there is none. Inside and outside sums in
// O(m^3) (Eisner 1996).
double projective_log_partition(std::size_t words, bool single_root, std::span<const double> s,
                                std::span<double> mu, Workspace& ws);
// The same in logarithms throughout: slow, for scores of any range, and what the fast way is tested against.
double projective_log_partition_reference(std::size_t words, bool single_root, std::span<const double> s,
                                          std::span<double> mu, Workspace& ws);
// The best tree. Returns its score.
double projective_best(std::size_t words, bool single_root, std::span<const double> s, Heads heads,
                       Workspace& ws);
// The k best trees, best first, each once; all that are possible, if there are not k.
std::vector<ScoredTree> projective_kbest(std::size_t words, bool single_root, std::span<const double> s,
                                         std::size_t k);

// Trees drawn independently of each other, each with the probability that its score gives it.
std::vector<std::vector<std::uint32_t>> projective_samples(std::size_t words, bool single_root,
                                                           std::span<const double> s, std::size_t n,
                                                           Random& random);

// All of them, with one of `labels` labels for each arc: arc a with label l is statistic a labels + l.
Hypergraph projective_hypergraph(const ArcSet& arcs, bool single_root, std::size_t labels,
                                 Workspace::Frame& frame);

// Scores of two arcs at once. Cubes have (m + 1)^3 elements; an empty one means zeros.
template <class Real>
struct SecondOrder {
  std::span<Real> arcs;  // an arc matrix
  // [(h (m + 1) + s) (m + 1) + d]: s and d are modifiers of h on the same side, s the nearer one, and none of
  // h's lies between them; s = h: d is the nearest modifier of h on its side.
  std::span<Real> siblings;
  // [(g (m + 1) + h) (m + 1) + d]: h is a modifier of g, and d is one of h.
  std::span<Real> grandparents;
};

// log Z, and the probability of each arc, of each pair of siblings and of each grandparent (the members of mu
// that are not empty). O(m^3) without grandparents (McDonald and Pereira 2006), O(m^4) with them (Koo and
// Collins 2010, model 1).
double projective_log_partition(std::size_t words, bool single_root, const SecondOrder<const double>& s,
                                const SecondOrder<double>& mu, Workspace& ws);
double projective_best(std::size_t words, bool single_root, const SecondOrder<const double>& s, Heads heads,
                       Workspace& ws);

}  // namespace espalier
