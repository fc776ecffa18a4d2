// A product of two sums over the edges of an output has no recursion over nodes alone. For each cost c that
// what is below a node may have,
//   a_v(c) = max over edges e of v, and over costs of its tails that add up to c - cost(e), of
//            s(e) + sum of a_tail(c_tail),        max_y = max_c c (margin + a_root(c)).
// Two tails of C and C' costs take C C' steps: of m words, projective trees take m^5/40 in all, less than a
// million for 30 words.

#include <algorithm>
#include <limits>

#include "espalier/base/error.h"
#include "structures/hypergraph.h"
#include "structures/log_scores.h"

namespace espalier {
namespace {

class CostLayers {
 public:
  CostLayers(const Hypergraph& graph, std::span<const double> s, std::span<const std::uint32_t> costs,
             Workspace::Frame& frame)
      : graph_(graph), s_(s), costs_(costs), first_(frame.take<std::size_t>(graph.num_nodes() + 1)) {
    // The highest cost below each node; -infinity stays where no output has one in between.
    std::size_t widest = 0, most_tails = 0;
    first_[0] = 0;
    for (std::size_t v = 0; v < graph.num_nodes(); ++v) {
      std::size_t highest = 0;
      for (std::size_t e = graph.first_edge[v]; e < graph.first_edge[v + 1]; ++e) {
        std::size_t cost = cost_of(e);
        for (const std::uint32_t tail : graph.tails_of(e)) cost += highest_cost(tail);
        highest = std::max(highest, cost);
        most_tails = std::max(most_tails, graph.tails_of(e).size());
      }
      widest = std::max(widest, highest + 1);
      first_[v + 1] = first_[v] + highest + 1;
    }
    best_ = frame.take<double>(first_[graph.num_nodes()]);
    taken_ = frame.take<std::uint32_t>(best_.size());
    sums_ = frame.take<double>((most_tails + 1) * widest);
    width_ = widest;
    std::ranges::fill(best_, kExcluded);
    for (std::size_t v = 0; v < graph.num_nodes(); ++v) {
      for (std::uint32_t e = graph.first_edge[v]; e < graph.first_edge[v + 1]; ++e) {
        const std::size_t size = add_up(e), cost = cost_of(e);
        const auto sums = of_tails(graph.tails_of(e).size());
        for (std::size_t c = 0; c < size; ++c) {
          double& best = best_[first_[v] + cost + c];
          if (!(sums[c] > best)) continue;
          best = sums[c];
          taken_[first_[v] + cost + c] = e;
        }
      }
    }
  }

  std::size_t highest_cost(std::size_t v) const { return first_[v + 1] - first_[v] - 1; }
  double best(std::size_t v, std::size_t cost) const { return best_[first_[v] + cost]; }

  // chi += the statistics of the best of v with this cost.
  void count(std::size_t v, std::size_t cost, std::span<double> chi, Workspace& ws) {
    struct Waiting {
      std::size_t node, cost;
    };
    Workspace::Frame frame(ws);
    const auto waiting = frame.take<Waiting>(graph_.num_nodes());
    std::size_t size = 0;
    waiting[size++] = {v, cost};
    while (size > 0) {
      const Waiting next = waiting[--size];
      const std::uint32_t e = taken_[first_[next.node] + next.cost];
      for (const std::uint32_t k : graph_.statistics_of(e)) chi[k] += 1;
      add_up(e);
      // From the last tail to the first, the costs that the sum was made of.
      const auto tails = graph_.tails_of(e);
      std::size_t left = next.cost - cost_of(e);
      for (std::size_t t = tails.size(); t-- > 0;) {
        const auto before = of_tails(t), with = of_tails(t + 1);
        std::size_t c = 0;
        while (c < highest_cost(tails[t]) && !(left >= c && left - c < sizes_of(e, t) &&
                                               before[left - c] + best(tails[t], c) == with[left]))
          ++c;
        waiting[size++] = {tails[t], c};
        left -= c;
      }
    }
  }

 private:
  std::size_t cost_of(std::size_t e) const {
    std::size_t cost = 0;
    for (const std::uint32_t k : graph_.statistics_of(e)) cost += costs_[k];
    return cost;
  }
  // How many costs the first `tails` of an edge have together.
  std::size_t sizes_of(std::size_t e, std::size_t tails) const {
    std::size_t size = 1;
    for (const std::uint32_t tail : graph_.tails_of(e).first(tails)) size += highest_cost(tail);
    return size;
  }
  std::span<double> of_tails(std::size_t tails) { return sums_.subspan(tails * width_, width_); }

  // of_tails(t)[c]: the best score of the edge with its first t tails of cost c. Returns how many costs all
  // of them have.
  std::size_t add_up(std::size_t e) {
    const auto tails = graph_.tails_of(e);
    double score = 0;
    for (const std::uint32_t k : graph_.statistics_of(e)) score += s_[k];
    of_tails(0)[0] = score;
    std::size_t size = 1;
    for (std::size_t t = 0; t < tails.size(); ++t) {
      const double* const before = of_tails(t).data();
      double* const with = of_tails(t + 1).data();
      const std::size_t more = highest_cost(tails[t]);
      std::fill_n(with, size + more, kExcluded);
      for (std::size_t c = 0; c <= more; ++c) {
        const double below = best(tails[t], c);
        if (below == kExcluded) continue;
        for (std::size_t b = 0; b < size; ++b) with[b + c] = std::max(with[b + c], before[b] + below);
      }
      size += more;
    }
    return size;
  }

  const Hypergraph& graph_;
  std::span<const double> s_;
  std::span<const std::uint32_t> costs_;
  std::span<std::size_t> first_;  // of each node's costs, and the end
  std::span<double> best_, sums_;
  std::span<std::uint32_t> taken_;
  std::size_t width_ = 0;
};

}  // namespace

double hypergraph_best_by_cost(const Hypergraph& graph, std::span<const double> s,
                               std::span<const std::uint32_t> costs, double margin, std::span<double> chi,
                               Workspace& ws) {
  ESPALIER_EXPECT(costs.size() == s.size() && chi.size() == s.size());
  Workspace::Frame frame(ws);
  CostLayers layers(graph, s, costs, frame);
  double highest = kExcluded;
  std::size_t cost = 0;
  for (std::size_t c = 0; c <= layers.highest_cost(graph.root()); ++c) {
    const double score = layers.best(graph.root(), c);
    if (score == kExcluded) continue;
    const double value = c == 0 ? 0 : static_cast<double>(c) * (margin + score);
    if (!(value > highest)) continue;
    highest = value;
    cost = c;
  }
  std::ranges::fill(chi, 0.0);
  if (highest > kExcluded) layers.count(graph.root(), cost, chi, ws);
  return highest;
}

}  // namespace espalier
