// The best tree by dual decomposition (Koo et al. 2010, figure 2; the linear program is that of AD3, Martins
// et al. 2011). For all u, whatever they are,
//
//   max over trees <= D(u) = max over trees of sum_a (s_a - sum_e u_e) y_a
//                            + sum_h max over psi_h of parts_h(y) + sum_e u_e y_e,      e the ends of arc a
//
// which is convex in u. Subgradient steps go to where both maxima have the same arcs, and then they have the
// best tree. Each round also has a tree: the best of them is what is left where the relaxation is not tight.
// A round costs a best tree of first order, O(m^2), and the factors of heads.

#include "structures/tree_decomposition.h"

#include <algorithm>
#include <cmath>

#include "structures/log_scores.h"
#include "structures/nonprojective.h"

namespace espalier {
namespace {

constexpr int kMostDecodingRounds = 500;

// The mean size of the scores of arcs, or the largest one of parts: scores have no scale of their own.
double size_of_scores(const SecondOrderArcs& of, std::span<const std::uint32_t> arcs) {
  double sum = 0, parts = 0;
  std::size_t finite = 0;
  for (const std::uint32_t arc : arcs) {
    if (of.s[arc] == kExcluded) continue;
    sum += std::abs(of.s[arc]);
    ++finite;
  }
  for (const double x : of.part_s) parts = std::max(parts, std::abs(x));
  const double mean = finite > 0 ? sum / static_cast<double>(finite) : 0;
  return std::max(mean, parts);
}

}  // namespace

BestTree best_tree(const SecondOrderArcs& of, Heads heads, Workspace& ws) {
  Workspace::Frame frame(ws);
  HeadFactors factors(of.words, of.parts, frame);
  factors.set_scores(of.part_s, 1);
  const auto arcs = factors.arcs();
  const std::size_t ends = factors.num_ends();
  const auto u = frame.take<double>(ends), q = frame.take<double>(of.s.size());
  const auto chosen = frame.take<std::uint8_t>(ends);
  const auto tree = frame.take<std::uint32_t>(of.words);
  // Every factor begins with a third.
  for (std::size_t e = 0; e < ends; ++e) u[e] = of.s[arcs[e]] / 3;

  BestTree best{kExcluded, -kExcluded, false, 0};
  double before = -kExcluded;
  int rises = 0;  // of D, after which steps get shorter
  const double first_step = size_of_scores(of, arcs);
  while (best.rounds < kMostDecodingRounds) {
    ++best.rounds;
    std::copy(of.s.begin(), of.s.end(), q.begin());
    for (std::size_t e = 0; e < ends; ++e) {
      if (u[e] > kExcluded) q[arcs[e]] -= u[e];
    }
    const double of_tree = nonprojective_best(of.words, of.single_root, q, tree, ws);
    if (of_tree == kExcluded) {
      std::copy(tree.begin(), tree.end(), heads.begin());
      return {kExcluded, kExcluded, true, best.rounds};
    }
    const double bound = of_tree + factors.best(u, chosen, ws);
    double value = factors.score(tree);
    for (std::size_t d = 1; d <= of.words; ++d) value += of.s[arc_matrix_index(of.words, tree[d - 1], d)];
    if (value > best.value) {
      best.value = value;
      std::copy(tree.begin(), tree.end(), heads.begin());
    }
    best.bound = std::min(best.bound, bound);
    best.optimal = best.value >= best.bound - 1e-9 * (1 + std::abs(best.bound));
    if (best.optimal) break;
    rises += bound > before ? 1 : 0;
    before = bound;
    const double step = first_step / (1 + rises);
    for (std::size_t e = 0; e < ends; ++e) {
      const std::size_t h = arcs[e] % (of.words + 1), d = arcs[e] / (of.words + 1);
      u[e] += step * ((tree[d - 1] == h ? 1 : 0) - chosen[e]);
    }
  }
  return best;
}

}  // namespace espalier
