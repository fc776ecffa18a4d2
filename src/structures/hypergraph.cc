// Sums and searches over the derivations of a hypergraph (Klein and Manning 2001; Huang 2008). With s(e) the
// scores of what edge e counts,
//   up     in(v) = log sum_e exp( s(e) + sum of in(tails) ),   q(e) = exp( s(e) + sum of in(tails) - in(v) )
//   down   p(root) = 1,   p(e) = p(v) q(e),   p(v) = sum of p(e) over the edges that v is a tail of,
// one exponential for each edge. The way down takes conditionals, not outside sums: they are at most 1.
// Time and memory are linear in edges, tails and statistics.

#include "structures/hypergraph.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/base/error.h"
#include "structures/log_scores.h"

namespace espalier {

HypergraphWriter::HypergraphWriter(const Room& room, Workspace::Frame& frame)
    : first_edge_(frame.take<std::uint32_t>(room.nodes + 1)),
      first_tail_(frame.take<std::uint32_t>(room.edges + 1)),
      tails_(frame.take<std::uint32_t>(room.tails)),
      first_statistic_(frame.take<std::uint32_t>(room.edges + 1)),
      statistics_(frame.take<std::uint32_t>(room.statistics)) {
  first_edge_[0] = first_tail_[0] = first_statistic_[0] = 0;
}

void HypergraphWriter::finish_edge() {
  if (possible_) {
    ++num_edges_;
    first_tail_[num_edges_] = static_cast<std::uint32_t>(num_tails_);
    first_statistic_[num_edges_] = static_cast<std::uint32_t>(num_statistics_);
  } else {
    num_tails_ = first_tail_[num_edges_];
    num_statistics_ = first_statistic_[num_edges_];
  }
  possible_ = true;
}

std::uint32_t HypergraphWriter::finish_node() {
  if (first_edge_[num_nodes_] == num_edges_) return kImpossible;
  first_edge_[num_nodes_ + 1] = static_cast<std::uint32_t>(num_edges_);
  return static_cast<std::uint32_t>(num_nodes_++);
}

Hypergraph HypergraphWriter::finish() const {
  ESPALIER_EXPECT(num_nodes_ > 0 && num_nodes_ < first_edge_.size() && num_edges_ < first_tail_.size());
  ESPALIER_EXPECT(num_tails_ <= tails_.size() && num_statistics_ <= statistics_.size());
  return {first_edge_.first(num_nodes_ + 1), first_tail_.first(num_edges_ + 1), tails_.first(num_tails_),
          first_statistic_.first(num_edges_ + 1), statistics_.first(num_statistics_)};
}

double hypergraph_marginals(const Hypergraph& graph, std::span<const double> s, std::span<double> cliques,
                            std::span<double> mu, Workspace& ws) {
  ESPALIER_EXPECT(cliques.size() == graph.num_clique_marginals());
  Workspace::Frame frame(ws);
  const auto inside = frame.take<double>(graph.num_nodes());
  const auto of_edges = cliques.first(graph.num_edges()), of_nodes = cliques.subspan(graph.num_edges());
  for (std::size_t v = 0; v < graph.num_nodes(); ++v) {
    const std::size_t begin = graph.first_edge[v], end = graph.first_edge[v + 1];
    double highest = kExcluded;
    for (std::size_t e = begin; e < end; ++e) {
      double term = 0;
      for (const std::uint32_t k : graph.statistics_of(e)) term += s[k];
      for (const std::uint32_t tail : graph.tails_of(e)) term += inside[tail];
      of_edges[e] = term;
      highest = std::max(highest, term);
    }
    inside[v] = highest;
    if (highest == kExcluded) continue;
    double sum = 0;
    for (std::size_t e = begin; e < end; ++e) sum += of_edges[e] = std::exp(of_edges[e] - highest);
    inside[v] += std::log(sum);
    for (std::size_t e = begin; e < end; ++e) of_edges[e] /= sum;
  }

  const double log_z = inside[graph.root()];
  std::ranges::fill(mu, 0.0);
  std::ranges::fill(of_nodes, 0.0);
  of_nodes[graph.root()] = log_z == kExcluded ? 0 : 1;
  for (std::size_t v = graph.num_nodes(); v-- > 0;) {
    const double p = of_nodes[v];
    for (std::size_t e = graph.first_edge[v]; e < graph.first_edge[v + 1]; ++e) {
      of_edges[e] = p == 0 ? 0 : p * of_edges[e];
      if (of_edges[e] == 0) continue;
      for (const std::uint32_t k : graph.statistics_of(e)) mu[k] += of_edges[e];
      for (const std::uint32_t tail : graph.tails_of(e)) of_nodes[tail] += of_edges[e];
    }
  }
  return log_z;
}

// H = sum_v p(v) H(edges of v), every term >= 0.
double hypergraph_distribution(const Hypergraph& graph, std::span<const float> cliques, std::span<double> mu,
                               Workspace& ws) {
  ESPALIER_EXPECT(cliques.size() == graph.num_clique_marginals());
  Workspace::Frame frame(ws);
  // Of each node's edges, of those that go on: rounding may leave an edge with mass whose tail has none.
  const auto sums = frame.take<double>(graph.num_nodes());
  const auto goes_on = [&](std::size_t e) {
    return cliques[e] > 0 &&
           std::ranges::all_of(graph.tails_of(e), [&](std::uint32_t v) { return sums[v] > 0; });
  };
  for (std::size_t v = 0; v < graph.num_nodes(); ++v) {
    sums[v] = 0;
    for (std::size_t e = graph.first_edge[v]; e < graph.first_edge[v + 1]; ++e)
      sums[v] += goes_on(e) ? static_cast<double>(cliques[e]) : 0;
  }
  if (!(sums[graph.root()] > 0))
    throw Error("hyperedges: clique marginals that no output has; expected those of a distribution");

  // What is left out of the entropy of nodes that hardly occur makes a dual smaller, never larger.
  constexpr double kRare = 1e-14;
  std::ranges::fill(mu, 0.0);
  const auto of_nodes = frame.take<double>(graph.num_nodes());
  std::ranges::fill(of_nodes, 0.0);
  of_nodes[graph.root()] = 1;
  double entropy = 0;
  for (std::size_t v = graph.num_nodes(); v-- > 0;) {
    const double p = of_nodes[v];
    if (p == 0) continue;
    for (std::size_t e = graph.first_edge[v]; e < graph.first_edge[v + 1]; ++e) {
      if (!goes_on(e)) continue;
      const double share = static_cast<double>(cliques[e]) / sums[v];
      if (p >= kRare) entropy += p * surprise(share);
      for (const std::uint32_t k : graph.statistics_of(e)) mu[k] += p * share;
      for (const std::uint32_t tail : graph.tails_of(e)) of_nodes[tail] += p * share;
    }
  }
  return entropy;
}

namespace {

// Edges and nodes, each in the half that it belongs to.
void finish_output(const Hypergraph& graph, std::span<std::uint32_t> output) {
  const std::size_t half = output.size() / 2;
  for (auto& v : output.subspan(half)) v += static_cast<std::uint32_t>(graph.num_edges());
  std::ranges::sort(output.first(half));
  std::ranges::sort(output.subspan(half));
}

}  // namespace

// Depth first, with what of chi is not counted yet. Statistics may be tied, so that an edge which is possible
// by its own need not be one of the output's; then it is taken back. Where statistics tell edges apart, as
// arcs do and the labels of cliques, that never happens.
bool hypergraph_output(const Hypergraph& graph, std::span<const float> chi, std::span<std::uint32_t> output,
                       Workspace& ws) {
  Workspace::Frame frame(ws);
  const std::size_t half = output.size() / 2;
  const auto edges = output.first(half), nodes = output.subspan(half);
  const auto left = frame.take<std::int32_t>(chi.size());
  std::size_t total = 0;
  for (std::size_t k = 0; k < chi.size(); ++k) {
    left[k] = static_cast<std::int32_t>(std::lround(chi[k]));
    total += static_cast<std::size_t>(left[k]);
  }
  // Nodes that can be made of what chi has, however often.
  const auto able = frame.take<std::uint8_t>(graph.num_nodes());
  const auto able_to_take = [&](std::size_t e) {
    return std::ranges::all_of(graph.statistics_of(e), [&](std::uint32_t k) { return left[k] > 0; }) &&
           std::ranges::all_of(graph.tails_of(e), [&](std::uint32_t v) { return able[v] != 0; });
  };
  for (std::size_t v = 0; v < graph.num_nodes(); ++v) {
    able[v] = 0;
    for (std::size_t e = graph.first_edge[v]; e < graph.first_edge[v + 1] && !able[v]; ++e)
      able[v] = able_to_take(e) ? 1 : 0;
  }
  if (half == 0 || !able[graph.root()]) return false;

  const auto give_back = [&](std::size_t e) {
    for (const std::uint32_t k : graph.statistics_of(e)) ++left[k];
  };
  // An edge may count the same twice.
  const auto take = [&](std::size_t e) {
    for (const std::uint32_t k : graph.statistics_of(e)) --left[k];
    if (std::ranges::all_of(graph.statistics_of(e), [&](std::uint32_t k) { return left[k] >= 0; }))
      return true;
    give_back(e);
    return false;
  };
  // Of the nodes that the output has so far, the first `at` have their edges.
  std::size_t at = 0, known = 1;
  nodes[0] = static_cast<std::uint32_t>(graph.root());
  std::uint32_t next = graph.first_edge[graph.root()];
  while (at < half || total > 0) {
    const std::uint32_t end = at < known ? graph.first_edge[nodes[at] + 1] : next;
    while (next < end && (!able_to_take(next) || known + graph.tails_of(next).size() > half || !take(next)))
      ++next;
    if (next < end) {
      edges[at++] = next;
      total -= graph.statistics_of(next).size();
      for (const std::uint32_t tail : graph.tails_of(next)) nodes[known++] = tail;
      next = at < known ? graph.first_edge[nodes[at]] : 0;
      continue;
    }
    if (at == 0) return false;
    next = edges[--at];
    known -= graph.tails_of(next).size();
    total += graph.statistics_of(next).size();
    give_back(next++);
  }
  finish_output(graph, output);
  return true;
}

bool hypergraph_lowest(const Hypergraph& graph, std::span<const float> s, std::span<const float> cliques,
                       std::span<std::uint32_t> output, Workspace& ws) {
  ESPALIER_EXPECT(cliques.size() == graph.num_clique_marginals());
  constexpr double kNone = std::numeric_limits<double>::infinity();
  Workspace::Frame frame(ws);
  const auto value = frame.take<double>(graph.num_nodes());
  const auto taken = frame.take<std::uint32_t>(graph.num_nodes());
  for (std::size_t v = 0; v < graph.num_nodes(); ++v) {
    value[v] = kNone;
    if (!(cliques[graph.num_edges() + v] > 0)) continue;
    for (std::uint32_t e = graph.first_edge[v]; e < graph.first_edge[v + 1]; ++e) {
      if (!(cliques[e] > 0)) continue;
      double score = 0;
      for (const std::uint32_t k : graph.statistics_of(e)) score += static_cast<double>(s[k]);
      for (const std::uint32_t tail : graph.tails_of(e)) score += value[tail];
      if (!(score < value[v])) continue;
      value[v] = score;
      taken[v] = e;
    }
  }
  if (value[graph.root()] == kNone) return false;
  const std::size_t half = output.size() / 2;
  const auto edges = output.first(half), nodes = output.subspan(half);
  std::size_t known = 1;
  nodes[0] = static_cast<std::uint32_t>(graph.root());
  for (std::size_t at = 0; at < known; ++at) {
    edges[at] = taken[nodes[at]];
    for (const std::uint32_t tail : graph.tails_of(edges[at])) nodes[known++] = tail;
  }
  finish_output(graph, output);
  return true;
}

}  // namespace espalier
