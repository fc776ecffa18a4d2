#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "structures/clique_messages.h"
#include "structures/factor_graph.h"
#include "structures/markov_graph.h"

namespace espalier {

// Loopy belief propagation, plain or tree-reweighted. Scores are given as double, with -infinity for what is
// forbidden.
class BeliefPropagation {
 public:
  BeliefPropagation(const FactorGraph& graph, bool reweighted, double damping, std::size_t iterations,
                    double tolerance);

  // The approximate log-partition, and the beliefs of all cliques. -infinity and zeros where it is found that
  // no output is possible.
  double log_partition(std::span<const double> s, std::span<double> mu, MarkovGraph::Convergence& convergence,
                       Workspace& ws) const;
  // How often clique c is in one of the trees; 1 without reweighting.
  double appearance(std::size_t c) const { return appearance_[c]; }

 private:
  using Clique = CliqueMessages::Clique;
  // A forest: cliques such that no two ways lead from one variable to another.
  struct Forest {
    struct Link {
      std::uint32_t clique, position;  // it sends to this variable of its own, towards the root
    };
    std::vector<Link> links;  // from the leaves to the roots
    std::vector<std::uint32_t> roots;
  };
  struct State;

  void make_forests(std::size_t num_variables);
  void send(State& state, std::size_t clique, std::size_t position, double* out) const;
  void prepare(State& state, std::size_t clique, std::span<const double> beliefs) const;
  double visit(State& state, std::size_t clique, double damping) const;
  double forest_log_partition(State& state, const Forest& forest) const;

  CliqueMessages layout_;
  std::vector<double> rho_;         // of layout_.cliques
  std::vector<double> appearance_;  // of the graph's cliques
  std::vector<Forest> forests_;     // tree-reweighted: all equally likely
  double damping_;
  std::size_t iterations_;
  double tolerance_;
};

}  // namespace espalier
