#pragma once

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

 protected:
  explicit HyperedgeCliques(std::size_t num_examples) : num_examples_(num_examples) {}
  virtual Hypergraph hypergraph(std::size_t i, Workspace::Frame& frame) const = 0;

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

}  // namespace espalier
