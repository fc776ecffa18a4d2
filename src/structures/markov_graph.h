#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "espalier/base/workspace.h"
#include "espalier/structures/structure.h"
#include "structures/factor_graph.h"
#include "structures/hypergraph.h"

namespace espalier {

class JunctionTree;
class BeliefPropagation;
class DualDecomposition;

enum class GraphInference {
  exact,     // a junction tree; an Error where it would not fit in memory
  bp,        // loopy belief propagation: exact where the graph is a tree, else without any guarantee
  trw,       // tree-reweighted belief propagation: the log-partition is an upper bound
  automatic  // exact where that fits in memory, else trw
};

// "exact", "bp", "trw" or "auto". Throws Error for anything else.
GraphInference graph_inference(std::string_view name);

struct GraphInferenceOptions {
  GraphInference inference = GraphInference::automatic;
  std::size_t memory = std::size_t{2} << 30;  // bytes that the tables of a junction tree may take
  double damping = 0;             // bp and trw: of messages, to begin with; raised where they do not settle
  std::size_t iterations = 1000;  // bp and trw: sweeps over the cliques, at most
  // bp and trw: how much log-messages may still move, at the end. With trw, 1e-5 where scores are floats.
  double tolerance = 1e-6;
};

// The labellings of a factor graph. chi(y) has, for every clique, the indicator of the entry that y chooses,
// so that K = num_statistics() of the graph and s holds its tables. Entries that the graph forbids and scores
// of -infinity exclude outputs, as long as one is left.
//
// With approximate inference (exact() is false):
//   log_partition  bp: the Bethe approximation. trw: an upper bound B(s) = max over the local polytope of
//                  s.mu + H_rho(mu) (loopy.h), with or without convergence. mu: the beliefs; for trw the
//                  gradient of B.
//   argmax, decode  a labelling that need not be the best; best() tells whether it is. What argmax returns is
//                   the score of its
//                  labelling with bp; with trw a bound on that of every labelling, and of all else in the
//                  local polytope.
class MarkovGraph {
 public:
  using Output = std::vector<std::uint32_t>;  // one label per variable
  struct Scored {
    Output output;
    double score;
  };
  // How inference went. Exact inference always converges.
  struct Convergence {
    bool converged = true;
    std::size_t iterations = 0;
    double residual = 0;  // how much a log-message moved in the last sweep, at most
  };
  // A labelling with its score, and a bound on all of them.
  struct Best {
    double value, bound;
    bool optimal;  // value = bound but for rounding: no labelling is better
  };

  // Throws Error for exact inference that needs more memory than allowed.
  explicit MarkovGraph(std::shared_ptr<const FactorGraph> graph, const GraphInferenceOptions& options = {});

  // This graph for one example, whose scores change little from one call of log_partition() to the next. With
  // trw, each call begins with the messages that the one before has left; what it returns then depends on
  // those before it, by no more than the tolerance. Of two calls at the same time one begins with zeros, and
  // leaves nothing.
  MarkovGraph keeping_messages() const;
  // That they take.
  std::size_t message_bytes() const;

  const FactorGraph& graph() const { return *graph_; }
  std::size_t num_statistics() const { return graph_->num_statistics(); }
  bool exact() const { return tree_ != nullptr; }
  // Of the elimination order found: variables in the largest clique of the junction tree, less one.
  std::size_t width() const { return width_; }
  // exact, bp or trw: what is done.
  GraphInference inference() const { return inference_; }

  double log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  // The same, and how it went. Exact inference takes an empty mu for log Z alone, in half the time.
  double log_partition(std::span<const double> s, std::span<double> mu, Convergence& convergence,
                       Workspace& ws) const;
  double argmax(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double argmax(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  Output decode(std::span<const float> s, Workspace& ws) const;
  Output decode(std::span<const double> s, Workspace& ws) const;
  // The same without an allocation: y has room for a label a variable.
  Best best(std::span<const double> s, std::span<std::uint32_t> y, Workspace& ws) const;

  void indicator(const Output& y, std::span<float> mu) const;
  void indicator(const Output& y, std::span<double> mu) const;
  // out += scale chi(y)
  void add_indicator(std::span<const std::uint32_t> y, float scale, std::span<float> out) const;
  void add_indicator(std::span<const std::uint32_t> y, double scale, std::span<double> out) const;

  // Shifts a direction d of scores so that its mean under mu is zero in every table.
  void centre(std::span<const float> mu, std::span<float> d) const;

  // Whether there is kbest: with exact inference.
  bool has_kbest() const { return exact(); }
  // The k best labellings, best first; all that are possible, if there are not k. Requires exact inference.
  std::vector<Scored> kbest(std::span<const double> s, std::size_t k) const;
  // Labellings drawn independently of each other from u(y) ~ exp s.chi(y). Requires exact inference, and a
  // labelling that is possible.
  std::vector<Output> samples(std::span<const double> s, std::size_t n, Random& random) const;
  // H(u) of exact inference, else H_rho(mu).
  double entropy(std::span<const double> s, Workspace& ws) const;
  // Whether there is a hypergraph: with exact inference, where all tables at once fit in the memory of one.
  bool has_hypergraph() const { return has_hypergraph_; }
  Hypergraph hypergraph(Workspace::Frame& frame) const;

 private:
  template <class Real>
  std::span<double> possible_scores(std::span<const Real> s, Workspace::Frame& frame) const;
  template <class Real>
  double log_partition_of(std::span<const Real> s, std::span<Real> mu, Convergence& convergence,
                          Workspace& ws) const;
  template <class Real>
  double argmax_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const;
  template <class Real>
  Best best_of(std::span<const Real> s, std::size_t moves, std::span<std::uint32_t> y, Workspace& ws) const;

  struct Kept;
  double propagate(std::span<const double> s, std::span<double> mu, bool floats, Convergence& convergence,
                   Workspace& ws) const;

  std::shared_ptr<const FactorGraph> graph_;
  std::size_t width_ = 0;
  bool has_hypergraph_ = false;
  GraphInference inference_ = GraphInference::exact;
  std::shared_ptr<const JunctionTree> tree_;              // exact
  std::shared_ptr<const BeliefPropagation> propagation_;  // bp and trw
  std::shared_ptr<const DualDecomposition> dual_;         // bp and trw
  std::shared_ptr<Kept> kept_;                            // keeping_messages()
};

static_assert(Structure<MarkovGraph>);

}  // namespace espalier
