#include "learning/hyperedge_cliques.h"

#include <algorithm>

#include "espalier/base/error.h"
#include "kernels/divergence.h"

namespace espalier {
namespace {

// For what is asked without a workspace at hand.
Workspace& scratch_of_thread() {
  thread_local Workspace ws;
  return ws;
}

// Of any output: all have as many.
std::uint32_t nodes_of_output(const Hypergraph& graph, Workspace& ws) {
  Workspace::Frame frame(ws);
  const auto below = frame.take<std::uint32_t>(graph.num_nodes());
  for (std::size_t v = 0; v < graph.num_nodes(); ++v) {
    below[v] = 1;
    for (const std::uint32_t tail : graph.tails_of(graph.first_edge[v])) below[v] += below[tail];
  }
  return below[graph.root()];
}

}  // namespace

const HyperedgeCliques::Size& HyperedgeCliques::size(std::size_t i) const {
  std::call_once(sizes_known_, [&] {
    std::vector<Size> sizes;
    sizes.reserve(num_examples_);
    Workspace& ws = scratch_of_thread();
    for (std::size_t j = 0; j < num_examples_; ++j) {
      Workspace::Frame frame(ws);
      const Hypergraph graph = hypergraph(j, frame);
      sizes.push_back({static_cast<std::uint32_t>(graph.num_edges()),
                       static_cast<std::uint32_t>(graph.num_nodes()), nodes_of_output(graph, ws)});
    }
    sizes_ = std::move(sizes);
  });
  return sizes_[i];
}

std::size_t HyperedgeCliques::num_clique_marginals(std::size_t i) const {
  return std::size_t{size(i).edges} + size(i).nodes;
}
std::size_t HyperedgeCliques::num_cliques(std::size_t i) const {
  return 2 * std::size_t{size(i).nodes_of_output};
}

double HyperedgeCliques::clique_marginals(std::size_t i, In s, Out clique_mu, Out mu, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto wide_s = frame.take<double>(s.size()), wide_mu = frame.take<double>(mu.size());
  const auto wide_cliques = frame.take<double>(clique_mu.size());
  std::copy(s.begin(), s.end(), wide_s.begin());
  const double log_z = hypergraph_marginals(hypergraph(i, frame), wide_s, wide_cliques, wide_mu, ws);
  const auto narrow = [](double p) { return static_cast<float>(p); };
  std::ranges::transform(wide_cliques, clique_mu.begin(), narrow);
  std::ranges::transform(wide_mu, mu.begin(), narrow);
  return log_z;
}

// Of edges, less that of the nodes that they share.
DivergenceAlong HyperedgeCliques::divergence_along(std::size_t i, const CliqueMeans& from,
                                                   const CliqueMeans& to, float step) const {
  const auto [num_edges, num_nodes, of_output] = size(i);
  const auto edges = kernels::divergence_along(from.cliques.data(), to.cliques.data(), step, num_edges);
  const auto nodes = kernels::divergence_along(from.cliques.data() + num_edges, to.cliques.data() + num_edges,
                                               step, num_nodes);
  return {edges.value - nodes.value, edges.first - nodes.first, edges.second - nodes.second};
}

double HyperedgeCliques::rebuild(std::size_t i, In clique_mu, DoubleOut mu) const {
  Workspace& ws = scratch_of_thread();
  Workspace::Frame frame(ws);
  return hypergraph_distribution(hypergraph(i, frame), clique_mu, mu, ws);
}

void HyperedgeCliques::cliques_of(std::size_t i, In chi, std::span<std::uint32_t> cliques) const {
  Workspace& ws = scratch_of_thread();
  Workspace::Frame frame(ws);
  const bool found = hypergraph_output(hypergraph(i, frame), chi, cliques, ws);
  ESPALIER_EXPECT(found);
  static_cast<void>(found);
}

bool HyperedgeCliques::lowest(std::size_t i, In s, In clique_mu, std::span<std::uint32_t> cliques,
                              Workspace& ws) const {
  Workspace::Frame frame(ws);
  return hypergraph_lowest(hypergraph(i, frame), s, clique_mu, cliques, ws);
}

void HyperedgeCliques::add_output(std::size_t i, std::span<const std::uint32_t> cliques, float scale,
                                  Out out) const {
  Workspace::Frame frame(scratch_of_thread());
  const Hypergraph graph = hypergraph(i, frame);
  for (const std::uint32_t edge : cliques.first(cliques.size() / 2)) {
    for (const std::uint32_t k : graph.statistics_of(edge)) out[k] += scale;
  }
}

double HyperedgeCliques::probability(std::size_t, In clique_mu,
                                     std::span<const std::uint32_t> cliques) const {
  const std::size_t half = cliques.size() / 2;
  double product = 1;
  // By turns, so that neither product underflows before the other is there.
  for (std::size_t k = 0; k < half; ++k)
    product *= clique_mu[cliques[k]] / static_cast<double>(clique_mu[cliques[half + k]]);
  return product;
}

}  // namespace espalier
