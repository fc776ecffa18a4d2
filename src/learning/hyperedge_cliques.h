#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "espalier/learning/capabilities.h"
#include "structures/hypergraph.h"

namespace espalier {

// The Factored capability of structures that are hypergraphs (structures/hypergraph.h): cliques are
// hyperedges and nodes. Hypergraphs are made anew at every call, in scratch memory of the thread: they would
// take several times what clique marginals do.
class HyperedgeCliques : public Factored {
 public:
  std::size_t num_clique_marginals(std::size_t i) const override;
  double clique_marginals(std::size_t i, In s, Out clique_mu, Out mu, Workspace& ws) const override;
  DivergenceAlong divergence_along(std::size_t i, const CliqueMeans& from, const CliqueMeans& to,
                                   float step) const override;
  double rebuild(std::size_t i, In clique_mu, DoubleOut mu) const override;
  std::size_t num_cliques(std::size_t i) const override;
  void cliques_of(std::size_t i, In chi, std::span<std::uint32_t> cliques) const override;
  bool lowest(std::size_t i, In s, In clique_mu, std::span<std::uint32_t> cliques,
              Workspace& ws) const override;
  void add_output(std::size_t i, std::span<const std::uint32_t> cliques, float scale, Out out) const override;
  double probability(std::size_t i, In clique_mu, std::span<const std::uint32_t> cliques) const override;

  virtual Hypergraph hypergraph(std::size_t i, Workspace::Frame& frame) const = 0;

 protected:
  explicit HyperedgeCliques(std::size_t num_examples) : num_examples_(num_examples) {}

 private:
  struct Size {
    std::uint32_t edges, nodes, nodes_of_output;
  };
  // Found for all examples when somebody asks for the first time: most solvers never do.
  const Size& size(std::size_t i) const;

  std::size_t num_examples_;
  mutable std::once_flag sizes_known_;
  mutable std::vector<Size> sizes_;
};

// SlackRescaling::slack_argmax() of examples with these hypergraphs, whose costs are whole numbers.
template <class Examples>
double slack_argmax_of(const Examples& examples, const HyperedgeCliques& hyperedges, std::size_t i,
                       DoubleIn s, double gamma, DoubleOut chi, Workspace& ws) {
  Workspace::Frame frame(ws);
  const auto costs = frame.template take<double>(s.size());
  std::fill(costs.begin(), costs.end(), 0.0);
  examples.add_cost(i, 1.0, costs);
  const auto levels = frame.template take<std::uint32_t>(s.size());
  for (std::size_t k = 0; k < costs.size(); ++k) levels[k] = static_cast<std::uint32_t>(costs[k]);
  std::fill(chi.begin(), chi.end(), 0.0);
  examples.add_gold(i, 1.0, chi);
  double gold_score = 0;
  for (std::size_t k = 0; k < s.size(); ++k) gold_score += chi[k] > 0 ? s[k] * chi[k] : 0;
  return hypergraph_best_by_cost(hyperedges.hypergraph(i, frame), s, levels, gamma - gold_score, chi, ws);
}

}  // namespace espalier
