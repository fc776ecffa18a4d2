#include "structures/markov_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "espalier/base/error.h"
#include "structures/belief_propagation.h"
#include "structures/dual_decomposition.h"
#include "structures/elimination.h"
#include "structures/junction_tree.h"

namespace espalier {
namespace {

// To improve labellings that are not known to be the best (forest_moves.h): the answer to a user is worth
// more than one of the many that training asks for.
constexpr std::size_t kMoves = 1000, kFewMoves = 20;

}  // namespace

GraphInference graph_inference(std::string_view name) {
  if (name == "exact") return GraphInference::exact;
  if (name == "bp") return GraphInference::bp;
  if (name == "trw") return GraphInference::trw;
  if (name == "auto") return GraphInference::automatic;
  throw Error::in(setting("inference"), "found " + in_quotes(name), "expected exact, bp, trw or auto");
}

MarkovGraph::MarkovGraph(std::shared_ptr<const FactorGraph> graph, const GraphInferenceOptions& options)
    : graph_(std::move(graph)), inference_(options.inference) {
  const EliminationTree tree = eliminate(*graph_);
  width_ = tree.width;
  const double bytes = JunctionTree::bytes(tree);
  const bool fits = bytes <= static_cast<double>(options.memory);
  if (inference_ == GraphInference::exact && !fits) {
    throw Error(
        fmt::format("exact inference: a junction tree of width {} needs {} of memory; expected at most {}: "
                    "allow more with {}, or take {} trw or bp",
                    width_, in_bytes(bytes), in_bytes(static_cast<double>(options.memory)), setting("memory"),
                    setting("inference")));
  }
  if (inference_ == GraphInference::automatic)
    inference_ = fits ? GraphInference::exact : GraphInference::trw;
  if (inference_ == GraphInference::exact) {
    tree_ = std::make_shared<const JunctionTree>(*graph_, tree);
    // Its numbers have 32 bits.
    constexpr double kMost = 4.0 * std::numeric_limits<std::uint32_t>::max();
    has_hypergraph_ = tree_->hypergraph_bytes() <= std::min(kMost, static_cast<double>(options.memory));
  } else {
    propagation_ = std::make_shared<const BeliefPropagation>(
        *graph_, inference_ == GraphInference::trw, options.damping, options.iterations, options.tolerance);
    dual_ = std::make_shared<const DualDecomposition>(*graph_, options.iterations, options.tolerance);
  }
}

struct MarkovGraph::Kept {
  explicit Kept(std::size_t n) : messages(n, 0.0f) {}
  std::atomic<bool> in_use{false};
  std::vector<float> messages;
};

MarkovGraph MarkovGraph::keeping_messages() const {
  MarkovGraph result = *this;
  if (inference_ == GraphInference::trw) result.kept_ = std::make_shared<Kept>(propagation_->num_messages());
  return result;
}

std::size_t MarkovGraph::message_bytes() const { return kept_ ? kept_->messages.size() * sizeof(float) : 0; }

double MarkovGraph::propagate(std::span<const double> s, std::span<double> mu, bool floats,
                              Convergence& convergence, Workspace& ws) const {
  const auto precision =
      floats ? BeliefPropagation::Precision::of_floats : BeliefPropagation::Precision::of_doubles;
  if (!kept_ || kept_->in_use.exchange(true, std::memory_order_acquire))
    return propagation_->log_partition(s, mu, {}, precision, convergence, ws);
  const double log_z = propagation_->log_partition(s, mu, kept_->messages, precision, convergence, ws);
  kept_->in_use.store(false, std::memory_order_release);
  return log_z;
}

// The scores in double, -infinity where the graph forbids.
template <class Real>
std::span<double> MarkovGraph::possible_scores(std::span<const Real> s, Workspace::Frame& frame) const {
  const auto scores = frame.take<double>(s.size());
  std::copy(s.begin(), s.end(), scores.begin());
  for (const std::size_t k : graph_->forbidden()) scores[k] = -std::numeric_limits<double>::infinity();
  return scores;
}

template <class Real>
double MarkovGraph::log_partition_of(std::span<const Real> s, std::span<Real> mu, Convergence& convergence,
                                     Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto scores = possible_scores(s, frame);
  if (tree_ && mu.empty()) return tree_->log_partition(scores, ws);
  std::span<double> marginals;
  if constexpr (std::is_same_v<Real, double>) {
    marginals = mu;
  } else {
    marginals = frame.take<double>(s.size());
  }
  double log_z = 0;
  if (tree_) {
    convergence = {};
    log_z = tree_->log_partition(scores, marginals, ws);
  } else {
    log_z = propagate(scores, marginals, std::is_same_v<Real, float>, convergence, ws);
  }
  if constexpr (!std::is_same_v<Real, double>) {
    std::transform(marginals.begin(), marginals.end(), mu.begin(),
                   [](double p) { return static_cast<Real>(p); });
  }
  return log_z;
}

double MarkovGraph::log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const {
  Convergence convergence;
  return log_partition_of(s, mu, convergence, ws);
}
double MarkovGraph::log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  Convergence convergence;
  return log_partition_of(s, mu, convergence, ws);
}
double MarkovGraph::log_partition(std::span<const double> s, std::span<double> mu, Convergence& convergence,
                                  Workspace& ws) const {
  return log_partition_of(s, mu, convergence, ws);
}

template <class Real>
MarkovGraph::Best MarkovGraph::best_of(std::span<const Real> s, std::size_t moves, std::span<std::uint32_t> y,
                                       Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto scores = possible_scores(s, frame);
  if (!tree_) return dual_->best(scores, moves, y, ws);
  const double value = tree_->best(scores, y, ws);
  return {value, value, true};
}

MarkovGraph::Best MarkovGraph::best(std::span<const double> s, std::span<std::uint32_t> y,
                                    Workspace& ws) const {
  return best_of(s, kMoves, y, ws);
}

template <class Real>
double MarkovGraph::argmax_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto y = frame.take<std::uint32_t>(graph_->num_variables());
  const Best best = best_of(s, kFewMoves, y, ws);
  std::fill(mu.begin(), mu.end(), Real{0});
  add_indicator(y, Real{1}, mu);
  return inference_ == GraphInference::trw && !best.optimal ? best.bound : best.value;
}

double MarkovGraph::argmax(std::span<const float> s, std::span<float> mu, Workspace& ws) const {
  return argmax_of(s, mu, ws);
}
double MarkovGraph::argmax(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  return argmax_of(s, mu, ws);
}

MarkovGraph::Output MarkovGraph::decode(std::span<const float> s, Workspace& ws) const {
  Output y(graph_->num_variables());
  best_of(s, kMoves, std::span(y), ws);
  return y;
}
MarkovGraph::Output MarkovGraph::decode(std::span<const double> s, Workspace& ws) const {
  Output y(graph_->num_variables());
  best_of(s, kMoves, std::span(y), ws);
  return y;
}

void MarkovGraph::add_indicator(std::span<const std::uint32_t> y, float scale, std::span<float> out) const {
  for (std::size_t c = 0; c < graph_->num_cliques(); ++c)
    out[graph_->begin(c) + graph_->entry(c, y)] += scale;
}
void MarkovGraph::add_indicator(std::span<const std::uint32_t> y, double scale, std::span<double> out) const {
  for (std::size_t c = 0; c < graph_->num_cliques(); ++c)
    out[graph_->begin(c) + graph_->entry(c, y)] += scale;
}
void MarkovGraph::indicator(const Output& y, std::span<float> mu) const {
  std::fill(mu.begin(), mu.end(), 0.0f);
  add_indicator(y, 1.0f, mu);
}
void MarkovGraph::indicator(const Output& y, std::span<double> mu) const {
  std::fill(mu.begin(), mu.end(), 0.0);
  add_indicator(y, 1.0, mu);
}

void MarkovGraph::centre(std::span<const float> mu, std::span<float> d) const {
  for (std::size_t c = 0; c < graph_->num_cliques(); ++c) {
    const std::size_t begin = graph_->begin(c), end = begin + graph_->size(c);
    double mean = 0, mass = 0;  // marginals in float add up to 1 but for rounding
    for (std::size_t k = begin; k < end; ++k) {
      mean += static_cast<double>(mu[k]) * d[k];
      mass += mu[k];
    }
    for (std::size_t k = begin; k < end; ++k) d[k] -= static_cast<float>(mean / mass);
  }
}

std::vector<MarkovGraph::Scored> MarkovGraph::kbest(std::span<const double> s, std::size_t k) const {
  ESPALIER_EXPECT(exact());
  Workspace ws;
  Workspace::Frame frame(ws);
  return tree_->kbest(possible_scores(s, frame), k);
}

std::vector<MarkovGraph::Output> MarkovGraph::samples(std::span<const double> s, std::size_t n,
                                                      Random& random) const {
  ESPALIER_EXPECT(exact());
  Workspace ws;
  Workspace::Frame frame(ws);
  return tree_->samples(possible_scores(s, frame), n, random);
}

double MarkovGraph::entropy(std::span<const double> s, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto mu = frame.take<double>(s.size());
  double entropy = log_partition(s, mu, ws);
  for (std::size_t k = 0; k < s.size(); ++k) {
    if (mu[k] > 0) entropy -= mu[k] * s[k];
  }
  return entropy;
}

Hypergraph MarkovGraph::hypergraph(Workspace::Frame& frame) const {
  ESPALIER_EXPECT(has_hypergraph_);
  return tree_->hypergraph(frame);
}

}  // namespace espalier
