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
// Plain: sweeps go forward and backward over the cliques in turn, and pass over those that nothing has moved
// at since their last visit. Tree-reweighted: a sweep goes through the cliques forward by their first
// variables, where each sends to its later variables, and then back, where each sends to its earlier ones
// (the order of TRW-S: Kolmogorov 2006), so that every message is sent once (twice to variables in the middle
// of a larger clique) and what one end of a chain says is at the other end after half a sweep. Sweeps are a
// fixed-point iteration, which Anderson's method accelerates (anderson.h); that the bound holds with any
// messages is what allows such leaps. Where neither gets closer for a while, messages are damped.
//
// A visit costs the entries of the table for each of its variables. Products are those of probabilities,
// scaled; where their range is too wide for that, a clique's messages are computed in logarithms.

#include "structures/belief_propagation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "kernels/tables.h"
#include "structures/anderson.h"
#include "structures/contraction.h"
#include "structures/log_scores.h"

namespace espalier {
namespace {

constexpr std::size_t kMostVariables = CliqueMessages::kMostVariables;

// The set that a variable belongs to.
std::uint32_t find(std::vector<std::uint32_t>& sets, std::uint32_t v) {
  while (sets[v] != v) v = sets[v] = sets[sets[v]];
  return v;
}

// Where sweeps get no closer for a while, messages go round in circles: they are damped, more each time.
struct Damping {
  explicit Damping(double first) : share(first) {}

  // Whether there is more of it from now on.
  bool look_at(double residual) {
    constexpr std::size_t kPatience = 20;
    constexpr double kMost = 0.95;
    if (residual < least) {
      least = residual;
      since_least = 0;
      return false;
    }
    if (++since_least < kPatience) return false;
    share = std::min(kMost, share == 0 ? 0.5 : (1 + share) / 2);
    since_least = 0;
    return true;
  }

  double share;
  double least = -kExcluded;
  std::size_t since_least = 0;
};

double log_sum_of(std::span<const double> x) {
  double result = 0;
  kernels::log_sum_rows(x.data(), x.size(), 1, &result);
  return result;
}

// call(e, x) for every entry e of a table, and its labels x.
template <class Call>
void for_each_entry(std::span<const std::uint32_t> labels, const Call& call) {
  std::array<std::uint32_t, kMostVariables> x{};
  for (std::size_t e = 0;; ++e) {
    call(e, x);
    std::size_t j = labels.size();
    while (j > 0 && ++x[j - 1] == labels[j - 1]) x[--j] = 0;
    if (j == 0) return;
  }
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
  make_order();
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

void BeliefPropagation::make_order() {
  for (std::uint32_t a = 0; a < layout_.cliques.size(); ++a) {
    const auto& variables = layout_.cliques[a].variables;
    const auto first = std::min_element(variables.begin(), variables.end()),
               last = std::max_element(variables.begin(), variables.end());
    order_.push_back({a, static_cast<std::uint32_t>(first - variables.begin()),
                      static_cast<std::uint32_t>(last - variables.begin())});
  }
  const auto first_of = [&](const Turn& turn) { return layout_.cliques[turn.clique].variables[turn.first]; };
  std::stable_sort(order_.begin(), order_.end(),
                   [&](const Turn& a, const Turn& b) { return first_of(a) < first_of(b); });
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

// Sets up what send() needs, for a clique whose variables have these log-beliefs. What it is to send to one
// variable does not depend on that one (`but`).
void BeliefPropagation::prepare(State& state, std::size_t a, std::span<const double> beliefs,
                                std::size_t but) const {
  const Clique& clique = layout_.cliques[a];
  const std::size_t d = clique.variables.size();
  double range = state.range[a];
  std::size_t at = 0;
  for (std::size_t j = 0; j < d; ++j) {
    if (j == but) continue;
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
  kernels::log_plus(out, labels, scale);
}

// Labels that are excluded have messages of 0.
void BeliefPropagation::take_messages(State& state, std::span<const float> kept) const {
  for (const Clique& clique : layout_.cliques) {
    for (std::size_t i = 0; i < clique.variables.size(); ++i) {
      const double* score = state.node.data() + layout_.label_begin[clique.variables[i]];
      const std::size_t begin = clique.messages[i];
      for (std::size_t x = 0; x < clique.labels[i]; ++x) {
        const float message = kept[begin + x];
        state.messages[begin + x] = score[x] > kExcluded && std::isfinite(message) ? message : 0;
      }
    }
  }
}

// S_i = s_i + sum_b rho_b log M_bi
void BeliefPropagation::add_up_messages(State& state) const {
  std::copy(state.node.begin(), state.node.end(), state.beliefs.begin());
  for (std::size_t a = 0; a < rho_.size(); ++a) {
    const Clique& clique = layout_.cliques[a];
    for (std::size_t i = 0; i < clique.variables.size(); ++i) {
      double* belief = state.beliefs.data() + layout_.label_begin[clique.variables[i]];
      const double* message = state.messages.data() + clique.messages[i];
      for (std::size_t x = 0; x < clique.labels[i]; ++x) belief[x] += rho_[a] * message[x];
    }
  }
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

// Sends the clique's messages to all of its variables but the first one, or all but the last one.
void BeliefPropagation::visit_one_way(State& state, std::size_t at, bool forward, double damping) const {
  const Turn& turn = order_[at];
  const Clique& clique = layout_.cliques[turn.clique];
  const std::size_t d = clique.variables.size(), from = forward ? turn.first : turn.last;
  prepare(state, turn.clique, state.beliefs, d == 2 ? 1 - from : kNoPosition);
  const double rho = rho_[turn.clique];
  for (std::size_t i = 0; i < d; ++i) {
    if (i == from) continue;
    const std::size_t labels = clique.labels[i];
    double *belief = state.beliefs.data() + layout_.label_begin[clique.variables[i]],
           *message = state.messages.data() + clique.messages[i];
    send(state, turn.clique, i, state.fresh.data());
    double highest = kExcluded;
    for (std::size_t x = 0; x < labels; ++x) highest = std::max(highest, state.fresh[x]);
    for (std::size_t x = 0; x < labels; ++x) {
      if (belief[x] == kExcluded) continue;  // its message stays 0
      const double step = (1 - damping) * (state.fresh[x] - highest - message[x]);
      message[x] += step;
      belief[x] += rho * step;
    }
  }
}

// Beliefs of cliques get the marginals of their variables, which they have at convergence only, so that all
// are in the local polytope and a dual that has them is one. Entries are scaled down where their marginals
// are too large, one variable after another; then all marginals are too small, by e_i, and the product of
// these makes up for it (for two variables: Altschuler, Weed and Rigollet 2017, algorithm 2). Tables with
// entries that are excluded stay as they are.
void BeliefPropagation::make_consistent(State& state, std::span<double> mu) const {
  for (std::size_t a = 0; a < rho_.size(); ++a) {
    if (state.range[a] == -kExcluded) continue;
    const Clique& clique = layout_.cliques[a];
    const std::size_t d = clique.variables.size();
    const auto table = mu.subspan(clique.begin, clique.size);
    std::array<double*, kMostVariables> wanted{}, missing{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < d; ++i) {
      wanted[i] = state.logs.data() + at;
      missing[i] = state.weights.data() + at;
      const std::size_t begin = layout_.label_begin[clique.variables[i]];
      std::copy_n(state.beliefs.begin() + static_cast<std::ptrdiff_t>(begin), clique.labels[i], wanted[i]);
      const double shift = -log_sum_of({wanted[i], clique.labels[i]});
      kernels::exp_rows(wanted[i], clique.labels[i], 1, &shift);
      at += clique.labels[i];
    }
    const auto subtract_marginals = [&](std::size_t i) {
      std::copy_n(wanted[i], clique.labels[i], missing[i]);
      for_each_entry(clique.labels, [&](std::size_t e, const auto& x) { missing[i][x[i]] -= table[e]; });
    };
    for (std::size_t i = 0; i < d; ++i) {
      subtract_marginals(i);
      for (std::size_t x = 0; x < clique.labels[i]; ++x)
        missing[i][x] = std::min(1.0, wanted[i][x] / (wanted[i][x] - missing[i][x]));
      for_each_entry(clique.labels, [&](std::size_t e, const auto& x) { table[e] *= missing[i][x[i]]; });
    }
    // All e_i have the same sum, but for rounding, and less than kRounding is nothing else.
    constexpr double kRounding = 1e-14;
    double least = 1;
    for (std::size_t i = 0; i < d; ++i) {
      subtract_marginals(i);
      double mass = 0;
      for (std::size_t x = 0; x < clique.labels[i]; ++x) mass += missing[i][x] = std::max(missing[i][x], 0.0);
      least = std::min(least, mass);
      if (i == 0 || mass < kRounding) continue;
      for (std::size_t x = 0; x < clique.labels[i]; ++x) missing[i][x] /= mass;
    }
    if (least < kRounding) continue;
    for_each_entry(clique.labels, [&](std::size_t e, const auto& x) {
      double product = 1;
      for (std::size_t i = 0; i < d; ++i) product *= missing[i][x[i]];
      table[e] += product;
    });
  }
}

// log sum_y exp( sum_i S_i + sum_{a in T} (t_a - sum_{i in a} log M_ai) ), from the leaves to the roots
double BeliefPropagation::forest_log_partition(State& state, const Forest& forest) const {
  std::copy(state.beliefs.begin(), state.beliefs.end(), state.node.begin());
  for (const auto& link : forest.links) {
    const Clique& clique = layout_.cliques[link.clique];
    prepare(state, link.clique, state.node, link.position);
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
    total += log_sum_of(state.node.subspan(begin, layout_.label_begin[root + 1] - begin));
  }
  return total;
}

void BeliefPropagation::propagate(State& state, MarkovGraph::Convergence& convergence) const {
  Damping damping(damping_);
  convergence.converged = false;
  while (!convergence.converged && convergence.iterations < iterations_) {
    double residual = 0;
    for (std::size_t k = 0; k < layout_.cliques.size(); ++k) {
      const std::size_t a = convergence.iterations % 2 == 0 ? k : layout_.cliques.size() - 1 - k;
      if (state.pending[a] > 0.1 * tolerance_) residual = std::max(residual, visit(state, a, damping.share));
    }
    ++convergence.iterations;
    convergence.residual = residual;
    convergence.converged = residual <= tolerance_;
    damping.look_at(residual);
  }
}

void BeliefPropagation::propagate_reweighted(State& state, double tolerance,
                                             MarkovGraph::Convergence& convergence,
                                             Workspace::Frame& frame) const {
  Damping damping(damping_);
  Anderson anderson(state.messages.size(), frame);
  anderson.start(state.messages);
  for (;;) {
    for (std::size_t k = 0; k < order_.size(); ++k) visit_one_way(state, k, true, damping.share);
    for (std::size_t k = order_.size(); k-- > 0;) visit_one_way(state, k, false, damping.share);
    ++convergence.iterations;
    convergence.residual = anderson.residual(state.messages);
    convergence.converged = convergence.residual <= tolerance;
    if (convergence.converged || convergence.iterations == iterations_) break;
    if (damping.look_at(convergence.residual)) {
      anderson.start(state.messages);
    } else {
      anderson.advance(state.messages);
      add_up_messages(state);
    }
  }
}

double BeliefPropagation::log_partition(std::span<const double> s, std::span<double> mu,
                                        std::span<float> kept, Precision precision,
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
  std::fill(state.messages.begin(), state.messages.end(), 0.0);
  if (!kept.empty()) take_messages(state, kept);
  add_up_messages(state);
  std::fill(state.pending.begin(), state.pending.end(), -kExcluded);

  if (forests_.empty()) {
    propagate(state, convergence);
  } else {
    const double least = precision == Precision::of_floats ? kFloatTolerance : 0;
    propagate_reweighted(state, std::max(tolerance_, least), convergence, frame);
  }

  // The beliefs, and c.
  double c = 0;
  const auto normaliser = frame.take<double>(num_variables);
  for (std::size_t v = 0; v < num_variables; ++v) {
    const std::size_t begin = layout_.label_begin[v];
    normaliser[v] = log_sum_of(state.beliefs.subspan(begin, layout_.label_begin[v + 1] - begin));
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
    const double of_table = log_sum_of(table), shift = -of_table;
    kernels::exp_rows(table.data(), table.size(), 1, &shift);
    c += rho_[a] * of_table;
    for (const std::uint32_t v : clique.variables) c -= rho_[a] * normaliser[v];
  }
  if (!forests_.empty() && precision == Precision::of_doubles) make_consistent(state, mu);
  if (!kept.empty()) std::copy(state.messages.begin(), state.messages.end(), kept.begin());
  // At a fixed point c is the bound, and near it all but that: floats do not see the difference.
  if (forests_.empty() || (precision == Precision::of_floats && convergence.converged)) return c;
  double sum = 0;
  for (const Forest& forest : forests_) sum += forest_log_partition(state, forest);
  return sum / static_cast<double>(forests_.size());
}

}  // namespace espalier
