// Belief propagation on cliques a of a graph with loops, each with a weight rho_a (Wainwright, Jaakkola and
// Willsky 2005; for cliques of more than two variables the same with multi-information in place of mutual
// information). It looks for
//   B(s) = max over the local polytope of  s.mu + sum_i H(mu_i) - sum_a rho_a I(mu_a),
//                                          I(mu_a) = sum_{i in a} H(mu_i) - H(mu_a)
// rho = 1 is the Bethe approximation, plain loopy belief propagation. In tree-reweighted propagation rho_a is
// how often a is in a forest T drawn from a fixed set of them, each a choice of cliques whose factor graph
// has no loop. Then sum_i H_i - sum_{a in T} I_a is the entropy of the distribution on T with these
// marginals, which no distribution with them exceeds; so B(s) >= log Z(s), and B is convex with the gradient
// mu.
//
// Messages M_ai, with t_a = s_a / rho_a and S_i = s_i + sum_b rho_b log M_bi (s_i: cliques of one variable):
//   M_ai(x_i) = sum over x_a with x_i of exp( t_a(x_a) + sum_{j in a, j != i} (S_j - log M_aj)(x_j) )
//   mu_i = exp(S_i - A_i),   mu_a = exp( t_a + sum_{j in a} (S_j - log M_aj) - A_a ),
//                            A: their log-normalisers
// Any messages rewrite the scores: s.chi(y) = c + sum_i log mu_i + sum_a rho_a (log mu_a - sum_{i in a} log
// mu_i), where
//   c = sum_i A_i + sum_a rho_a (A_a - sum_{i in a} A_i)
// At a fixed point c is the value of B. Before it, by Hoelder's inequality,
//   log Z(s) <= c + mean over T of log sum_y prod_i mu_i prod_{a in T} (mu_a / prod_{i in a} mu_i)
//            =  mean over T of log sum_y exp( sum_i S_i + sum_{a in T} (t_a - sum_{i in a} log M_ai) )
// which is what tree-reweighted propagation returns: a bound with any messages, each sum from one pass over
// the forest.
//
// Sweeps go forward and backward over the cliques in turn, and pass over those that nothing has moved at
// since their last visit. A visit costs the entries of the table for each of its variables. Products are
// those of probabilities, scaled; where their range is too wide for that, a clique's messages are computed in
// logarithms.

#include "structures/belief_propagation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "kernels/tables.h"
#include "structures/contraction.h"

namespace espalier {
namespace {

constexpr double kExcluded = -std::numeric_limits<double>::infinity();
constexpr std::size_t kMostVariables = CliqueMessages::kMostVariables;

// The set that a variable belongs to.
std::uint32_t find(std::vector<std::uint32_t>& sets, std::uint32_t v) {
  while (sets[v] != v) v = sets[v] = sets[sets[v]];
  return v;
}

double log_sum(std::span<const double> x) {
  double result = 0;
  kernels::log_sum_rows(x.data(), x.size(), 1, &result);
  return result;
}

// table[x_a] += sum_j w_j[x_j]
void add_vectors(std::span<const std::uint32_t> labels, std::span<const double* const> w,
                 std::span<double> table) {
  const std::size_t d = labels.size(), inner = labels[d - 1];
  std::array<std::uint32_t, kMostVariables> x{};
  for (std::size_t e = 0; e < table.size(); e += inner) {
    double outer = 0;
    for (std::size_t j = 0; j + 1 < d; ++j) outer += w[j][x[j]];
    for (std::size_t k = 0; k < inner; ++k) table[e + k] += outer + w[d - 1][k];
    for (std::size_t j = d - 1; j-- > 0;) {
      if (++x[j] < labels[j]) break;
      x[j] = 0;
    }
  }
}

}  // namespace

BeliefPropagation::BeliefPropagation(const FactorGraph& graph, bool reweighted, double damping,
                                     std::size_t iterations, double tolerance)
    : layout_(graph),
      rho_(layout_.cliques.size(), 1),
      appearance_(graph.num_cliques(), 1),
      damping_(damping),
      iterations_(iterations),
      tolerance_(tolerance) {
  if (!reweighted) return;
  make_forests(graph.num_variables());
  for (std::size_t a = 0; a < rho_.size(); ++a) appearance_[layout_.cliques[a].index] = rho_[a];
}

// Forests by Kruskal's algorithm, each with the cliques first that fewest of those before it have, so that
// all cliques appear about equally often.
void BeliefPropagation::make_forests(std::size_t num_variables) {
  constexpr std::size_t kFewest = 16;
  std::vector<std::size_t> count(rho_.size(), 0);
  std::vector<std::uint32_t> order(rho_.size()), sets(num_variables);
  std::iota(order.begin(), order.end(), 0u);
  Random random(1);
  while (forests_.size() < kFewest || std::count(count.begin(), count.end(), 0u) > 0) {
    random.shuffle(std::span(order));
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return count[a] < count[b]; });
    std::iota(sets.begin(), sets.end(), 0u);
    std::vector<std::uint8_t> chosen(rho_.size(), 0);
    for (const std::uint32_t a : order) {
      const auto& variables = layout_.cliques[a].variables;
      bool joins = true;
      for (std::size_t i = 0; i < variables.size() && joins; ++i) {
        for (std::size_t j = 0; j < i && joins; ++j)
          joins = find(sets, variables[i]) != find(sets, variables[j]);
      }
      if (!joins) continue;
      for (const std::uint32_t v : variables) sets[find(sets, v)] = find(sets, variables[0]);
      chosen[a] = 1;
      ++count[a];
    }
    // From the roots outwards, then turned around.
    Forest forest;
    std::vector<std::uint8_t> seen(num_variables, 0);
    std::vector<std::uint32_t> waiting;
    for (std::uint32_t root = 0; root < num_variables; ++root) {
      if (seen[root]) continue;
      forest.roots.push_back(root);
      seen[root] = 1;
      waiting.push_back(root);
      while (!waiting.empty()) {
        const std::uint32_t v = waiting.back();
        waiting.pop_back();
        for (const auto& end : layout_.ends[v]) {
          if (!chosen[end.clique]) continue;
          chosen[end.clique] = 0;
          forest.links.push_back({end.clique, end.position});
          for (const std::uint32_t u : layout_.cliques[end.clique].variables) {
            if (seen[u]) continue;
            seen[u] = 1;
            waiting.push_back(u);
          }
        }
      }
    }
    std::reverse(forest.links.begin(), forest.links.end());
    forests_.push_back(std::move(forest));
  }
  for (std::size_t a = 0; a < rho_.size(); ++a) {
    rho_[a] = static_cast<double>(count[a]) / static_cast<double>(forests_.size());
  }
}

struct BeliefPropagation::State {
  std::span<double> t, exp_t;        // of all statistics: s / rho, and exp(t - highest)
  std::span<double> highest, range;  // of each clique's t; range: infinite where there is -infinity
  std::span<double> node, beliefs;   // of all labels: s_i, and S_i
  std::span<double> messages;        // log M
  std::span<double> pending;  // of each clique: how much has moved at its variables since its last visit
  std::span<double> logs, weights;  // of one clique's variables: S_j - log M_aj, and its exponential, scaled
  std::span<double> fresh, buffer;
  std::array<const double*, kMostVariables> log_of, weight_of;  // where those of each variable begin
  std::array<double, kMostVariables> scale;
  bool in_logarithms;
};

// Sets up what send() needs, for a clique whose variables have these log-beliefs.
void BeliefPropagation::prepare(State& state, std::size_t a, std::span<const double> beliefs) const {
  const Clique& clique = layout_.cliques[a];
  const std::size_t d = clique.variables.size();
  double range = state.range[a];
  std::size_t at = 0;
  for (std::size_t j = 0; j < d; ++j) {
    const std::size_t labels = clique.labels[j];
    double *log = state.logs.data() + at, *weight = state.weights.data() + at;
    const double *belief = beliefs.data() + layout_.label_begin[clique.variables[j]],
                 *message = state.messages.data() + clique.messages[j];
    double highest = kExcluded, lowest = -kExcluded;
    for (std::size_t x = 0; x < labels; ++x) {
      log[x] = belief[x] - message[x];
      highest = std::max(highest, log[x]);
      if (log[x] > kExcluded) lowest = std::min(lowest, log[x]);
    }
    for (std::size_t x = 0; x < labels; ++x) weight[x] = log[x];
    const double shift = -highest;
    kernels::exp_rows(weight, labels, 1, &shift);
    state.log_of[j] = log;
    state.weight_of[j] = weight;
    state.scale[j] = highest;
    // With every entry of the table present, the largest weight alone keeps sums from vanishing.
    if (state.range[a] == -kExcluded) range += highest - lowest;
    at += labels;
  }
  constexpr double kWidest = 600;
  state.in_logarithms = !(range <= kWidest);
}

// out[x_i] = log of the sum over x_a with x_i, to variable i = position of the clique that was prepared
void BeliefPropagation::send(State& state, std::size_t a, std::size_t position, double* out) const {
  const Clique& clique = layout_.cliques[a];
  const std::size_t d = clique.variables.size(), labels = clique.labels[position];
  if (state.in_logarithms) {
    contract<LogSumProduct>(state.t.data() + clique.begin, clique.size, clique.labels, position,
                            {state.log_of.data(), d}, state.buffer, out);
    return;
  }
  contract<SumProduct>(state.exp_t.data() + clique.begin, clique.size, clique.labels, position,
                       {state.weight_of.data(), d}, state.buffer, out);
  double scale = state.highest[a];
  for (std::size_t j = 0; j < d; ++j) scale += j != position ? state.scale[j] : 0;
  for (std::size_t x = 0; x < labels; ++x) out[x] = std::log(out[x]) + scale;
}

// Sends the clique's messages to all of its variables; returns how much one moved, at most.
double BeliefPropagation::visit(State& state, std::size_t a, double damping) const {
  const Clique& clique = layout_.cliques[a];
  prepare(state, a, state.beliefs);
  double most = 0;
  for (std::size_t i = 0; i < clique.variables.size(); ++i) {
    const std::uint32_t v = clique.variables[i];
    const std::size_t labels = clique.labels[i];
    double *belief = state.beliefs.data() + layout_.label_begin[v],
           *message = state.messages.data() + clique.messages[i];
    send(state, a, i, state.fresh.data());
    const double highest =
        *std::max_element(state.fresh.begin(), state.fresh.begin() + static_cast<std::ptrdiff_t>(labels));
    double moved = 0;
    for (std::size_t x = 0; x < labels; ++x) {
      if (belief[x] == kExcluded) continue;  // its message stays 0
      const double change = state.fresh[x] - highest - message[x], step = (1 - damping) * change;
      moved = std::max(moved, std::abs(change));
      message[x] += step;
      belief[x] += rho_[a] * step;
    }
    most = std::max(most, moved);
    const double passed_on = rho_[a] * (1 - damping) * moved;
    for (const auto& end : layout_.ends[v]) state.pending[end.clique] += end.clique != a ? passed_on : 0;
  }
  state.pending[a] = damping * most;
  return most;
}

// log sum_y exp( sum_i S_i + sum_{a in T} (t_a - sum_{i in a} log M_ai) ), from the leaves to the roots
double BeliefPropagation::forest_log_partition(State& state, const Forest& forest) const {
  std::copy(state.beliefs.begin(), state.beliefs.end(), state.node.begin());
  for (const auto& link : forest.links) {
    const Clique& clique = layout_.cliques[link.clique];
    prepare(state, link.clique, state.node);
    send(state, link.clique, link.position, state.fresh.data());
    double* to = state.node.data() + layout_.label_begin[clique.variables[link.position]];
    const double* message = state.messages.data() + clique.messages[link.position];
    for (std::size_t x = 0; x < clique.labels[link.position]; ++x) {
      if (to[x] > kExcluded) to[x] += state.fresh[x] - message[x];
    }
  }
  double total = 0;
  for (const std::uint32_t root : forest.roots) {
    const std::size_t begin = layout_.label_begin[root];
    total += log_sum(state.node.subspan(begin, layout_.label_begin[root + 1] - begin));
  }
  return total;
}

double BeliefPropagation::log_partition(std::span<const double> s, std::span<double> mu,
                                        MarkovGraph::Convergence& convergence, Workspace& ws) const {
  const std::size_t num_cliques = layout_.cliques.size(), num_labels = layout_.label_begin.back();
  const std::size_t num_variables = layout_.ends.size();
  Workspace::Frame frame(ws);
  State state;
  state.t = frame.take<double>(s.size());
  state.exp_t = frame.take<double>(s.size());
  state.highest = frame.take<double>(num_cliques);
  state.range = frame.take<double>(num_cliques);
  state.node = frame.take<double>(num_labels);
  state.beliefs = frame.take<double>(num_labels);
  state.messages = frame.take<double>(layout_.num_messages);
  state.pending = frame.take<double>(num_cliques);
  state.logs = frame.take<double>(layout_.most_labels);
  state.weights = frame.take<double>(layout_.most_labels);
  state.fresh = frame.take<double>(layout_.most_labels);
  state.buffer = frame.take<double>(layout_.buffer);

  convergence = {};
  std::copy(s.begin(), s.end(), state.t.begin());
  layout_.node_scores(s, state.node);
  if (!layout_.take_out_impossible(state.node, state.t, ws)) {
    std::fill(mu.begin(), mu.end(), 0.0);
    return kExcluded;
  }
  for (std::size_t a = 0; a < num_cliques; ++a) {
    const Clique& clique = layout_.cliques[a];
    const auto t = state.t.subspan(clique.begin, clique.size),
               exp_t = state.exp_t.subspan(clique.begin, clique.size);
    double highest = kExcluded, lowest = -kExcluded;
    for (double& x : t) {
      x /= rho_[a];
      highest = std::max(highest, x);
      lowest = std::min(lowest, x);
    }
    state.highest[a] = highest;
    state.range[a] = highest - lowest;
    std::copy(t.begin(), t.end(), exp_t.begin());
    const double shift = -highest;
    kernels::exp_rows(exp_t.data(), exp_t.size(), 1, &shift);
  }
  std::copy(state.node.begin(), state.node.end(), state.beliefs.begin());
  std::fill(state.messages.begin(), state.messages.end(), 0.0);
  std::fill(state.pending.begin(), state.pending.end(), -kExcluded);

  // Where sweeps get no closer for a while, messages go round in circles: they are damped, more each time.
  constexpr std::size_t kPatience = 20;
  constexpr double kMostDamping = 0.95;
  double damping = damping_, least = -kExcluded;
  std::size_t since_least = 0;
  convergence.converged = false;
  while (!convergence.converged && convergence.iterations < iterations_) {
    double residual = 0;
    for (std::size_t k = 0; k < num_cliques; ++k) {
      const std::size_t a = convergence.iterations % 2 == 0 ? k : num_cliques - 1 - k;
      if (state.pending[a] > 0.1 * tolerance_) residual = std::max(residual, visit(state, a, damping));
    }
    ++convergence.iterations;
    convergence.residual = residual;
    convergence.converged = residual <= tolerance_;
    if (residual < least) {
      least = residual;
      since_least = 0;
    } else if (++since_least == kPatience) {
      damping = std::min(kMostDamping, damping == 0 ? 0.5 : (1 + damping) / 2);
      since_least = 0;
    }
  }

  // The beliefs, and c.
  double c = 0;
  const auto normaliser = frame.take<double>(num_variables);
  for (std::size_t v = 0; v < num_variables; ++v) {
    const std::size_t begin = layout_.label_begin[v];
    normaliser[v] = log_sum(state.beliefs.subspan(begin, layout_.label_begin[v + 1] - begin));
    c += normaliser[v];
  }
  for (const auto& clique : layout_.unary) {
    const std::size_t begin = layout_.label_begin[clique.variable];
    const std::size_t labels = layout_.label_begin[clique.variable + 1] - begin;
    for (std::size_t x = 0; x < labels; ++x) {
      mu[clique.begin + x] = std::exp(state.beliefs[begin + x] - normaliser[clique.variable]);
    }
  }
  for (std::size_t a = 0; a < num_cliques; ++a) {
    const Clique& clique = layout_.cliques[a];
    prepare(state, a, state.beliefs);
    const auto table = mu.subspan(clique.begin, clique.size);
    std::copy_n(state.t.begin() + static_cast<std::ptrdiff_t>(clique.begin), clique.size, table.begin());
    add_vectors(clique.labels, {state.log_of.data(), clique.variables.size()}, table);
    const double of_table = log_sum(table), shift = -of_table;
    kernels::exp_rows(table.data(), table.size(), 1, &shift);
    c += rho_[a] * of_table;
    for (const std::uint32_t v : clique.variables) c -= rho_[a] * normaliser[v];
  }
  if (forests_.empty()) return c;
  double sum = 0;
  for (const Forest& forest : forests_) sum += forest_log_partition(state, forest);
  return sum / static_cast<double>(forests_.size());
}

}  // namespace espalier
