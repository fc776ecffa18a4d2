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

  // How much messages may still move at the end of a call.
  enum class Precision {
    of_floats,   // tree-reweighted: kFloatTolerance or the tolerance given, whichever is larger
    of_doubles,  // the tolerance given; and the value is a bound with any messages
  };
  static constexpr double kFloatTolerance = 1e-5;

  // The approximate log-partition, and the beliefs of all cliques. -infinity and zeros where it is found that
  // no output is possible. Tree-reweighted beliefs are, of doubles, in the local polytope, with any messages,
  // but for tables with excluded entries. Tree-reweighted: begins with the messages in `kept`, num_messages()
  // numbers, and leaves the last ones there; where it is empty, with zeros.
  double log_partition(std::span<const double> s, std::span<double> mu, std::span<float> kept,
                       Precision precision, MarkovGraph::Convergence& convergence, Workspace& ws) const;
  std::size_t num_messages() const { return layout_.num_messages; }
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

  static constexpr std::size_t kNoPosition = ~std::size_t{0};

  void make_forests(std::size_t num_variables);
  void make_order();
  void send(State& state, std::size_t clique, std::size_t position, double* out) const;
  void prepare(State& state, std::size_t clique, std::span<const double> beliefs,
               std::size_t but = kNoPosition) const;
  void take_messages(State& state, std::span<const float> kept) const;
  void add_up_messages(State& state) const;
  double visit(State& state, std::size_t clique, double damping) const;
  void make_consistent(State& state, std::span<double> mu) const;
  void visit_one_way(State& state, std::size_t clique, bool forward, double damping) const;
  void propagate(State& state, MarkovGraph::Convergence& convergence) const;
  void propagate_reweighted(State& state, double tolerance, MarkovGraph::Convergence& convergence,
                            Workspace::Frame& frame) const;
  double forest_log_partition(State& state, const Forest& forest) const;

  CliqueMessages layout_;
  std::vector<double> rho_;         // of layout_.cliques
  std::vector<double> appearance_;  // of the graph's cliques
  std::vector<Forest> forests_;     // tree-reweighted: all equally likely
  // Tree-reweighted: cliques by their first variable, and where a clique has its first and its last one.
  struct Turn {
    std::uint32_t clique, first, last;
  };
  std::vector<Turn> order_;
  double damping_;
  std::size_t iterations_;
  double tolerance_;
};

}  // namespace espalier
