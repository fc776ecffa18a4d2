#include "espalier/learning/certificate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include "base/team.h"
#include "features/assign_weights.h"
#include "kernels/vectors.h"
#include "learning/certify.h"
#include "learning/implied_betas.h"
#include "learning/rounding.h"
#include "learning/sweep.h"

namespace espalier {
namespace {

double dot(DoubleIn a, DoubleIn b) { return kernels::dot(a.data(), b.data(), a.size()); }

// Of what an output or a statistic consists of, beyond what its example has of statistics.
constexpr double kParts = 100;

// The squares that rounding_bound() adds up, as a + b P + c P^2 of a primal P.
struct RoundingPolynomial {
  RoundingPolynomial(const Objective& objective, const DualRounding& rounding) {
    const Problem& problem = objective.problem;
    const WeightShape shape = problem.weight_shape();
    double squared_reach = 0, floor = 0;  // sum_i (omega_i R_i)^2, and what there is without scores
    std::size_t longest = 0;
    for (std::size_t i = 0; i < problem.size(); ++i) {
      const double omega = problem.weight(i);
      squared_reach += omega * omega * problem.squared_diameter(i);
      longest = std::max(longest, problem.num_statistics(i));
      // q_i cancels with p_i.chi(y), at the gold output entirely; and logarithms of sums are those of numbers
      // near 1.
      const double size = 2 * objective.loss.gamma * problem.cost_offset(i) + objective.loss.inverse_beta();
      floor += squared_rounding(problem.num_statistics(i), omega * size, 0);
    }
    if (Communicator* fleet = problem.fleet()) {
      squared_reach = fleet->sum(squared_reach);
      floor = fleet->sum(floor);
      longest = static_cast<std::size_t>(fleet->largest(static_cast<double>(longest)));
    }
    const double squared_error = rounding.error * rounding.error;
    const auto examples = static_cast<double>(problem.total_size()),
               statistics = kParts + static_cast<double>(longest);
    a = floor + rounding.cancelled * rounding.cancelled;
    // |theta|^2 <= 2 P/l2, or (P/l1)^2 where there is no l2
    const Regularizer& regularizer = objective.regularizer;
    const double of_scores = (examples + statistics + squared_error) * 4 * squared_reach;
    b = regularizer.l2 > 0 ? of_scores * 2 / regularizer.l2 : 0;
    c = (examples + static_cast<double>(shape.rows * shape.width) + squared_error) * 16;
    if (!(regularizer.l2 > 0)) c += of_scores / (regularizer.l1.value * regularizer.l1.value);
  }
  double bound(double primal) const { return sure_rounding(a + primal * (b + primal * c)); }

  double a, b, c;
};

// mu becomes omega_i(z_i - mu_i), which F_i takes to the example's part of w(u).
void become_difference(const Problem& problem, std::size_t i, DoubleOut mu) {
  const double omega = problem.weight(i);
  for (double& m : mu) m *= -omega;
  problem.add_gold(i, omega, mu);
}

// The dual of a maximum at u_i(y) ~ exp beta(F_i'theta + gamma p_i).chi(y), for a beta that is not the
// loss's. `w` and `sizes` are scratch: however many temperatures there are, they allocate nothing.
double dual_at_temperature(const Objective& objective, const Weights& theta, double beta, DoubleWeights& w,
                           std::vector<double>& sizes, Sweep& sweep) {
  const Problem& problem = objective.problem;
  clear_weights(w, problem.weight_shape(), sweep.team());
  const auto value_of = [&](std::size_t i, DoubleOut mu, Workspace& ws) {
    Workspace::Frame frame(ws);
    const auto s = frame.take<double>(mu.size());
    problem.score(i, theta, beta, s, ws);
    problem.add_cost(i, beta * objective.loss.gamma, s);
    sizes[i] = implied_size(problem.log_partition(i, s, mu, ws), s, mu);
    const double value = expected_cost(objective, i, mu, ws);
    become_difference(problem, i, mu);
    return problem.weight(i) * value;
  };
  const double sum = sweep.accumulate(problem, w, std::cref(value_of));
  return certain_dual(objective, sum, w, implied_rounding(problem, sizes, 1, 0));
}

// Zero weights and one value an example, in the memory that is there.
void clear(const Problem& problem, DualValue& result, Sweep& sweep) {
  clear_weights(result.w, problem.weight_shape(), sweep.team());
  result.conjugate.resize(problem.size());
}

}  // namespace

double expected_cost(const Objective& objective, std::size_t i, DoubleIn mu, Workspace& ws) {
  if (objective.loss.gamma == 0) return 0;
  Workspace::Frame frame(ws);
  const auto cost = frame.take<double>(mu.size());
  std::fill(cost.begin(), cost.end(), 0.0);
  objective.problem.add_cost(i, 1.0, cost);
  return objective.loss.gamma * (dot(cost, mu) + objective.problem.cost_offset(i));
}

double rounding_bound(const Objective& objective, double primal) {
  const RoundingPolynomial squared(objective, {});
  // The primal itself is known up to rounding: the bound is that of P + bound.
  double bound = sure_rounding(1) * sure_rounding(1) * squared.b;
  for (int round = 0; round < 3; ++round) bound = squared.bound(std::abs(primal) + bound);
  return bound;
}

double implied_size(double log_z, std::span<const double> s, std::span<const double> mu) {
  return std::abs(log_z) + kernels::expected_score(s.data(), mu.data(), s.size()).absolute;
}

double squared_rounding(std::size_t statistics, double size, double error) {
  return size * size * (kParts + static_cast<double>(statistics) + error * error);
}

DualRounding implied_rounding(const Problem& problem, std::span<const double> sizes, double beta,
                              double scale) {
  DualRounding rounding;
  double squares = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double error = beta * sizes[i];
    rounding.error = std::max(rounding.error, error);
    squares += squared_rounding(problem.num_statistics(i), scale * problem.weight(i) * sizes[i], error);
  }
  rounding.error = largest_of(problem.fleet(), rounding.error);
  rounding.cancelled = std::sqrt(sum_over(problem.fleet(), squares));
  return rounding;
}

double certain_dual(const Objective& objective, double conjugates, const DoubleWeights& w,
                    const DualRounding& rounding) {
  const double norm = objective.regularizer.conjugate(objective.problem, w);
  return certain_dual(objective, conjugates - norm, std::abs(conjugates) + norm, rounding);
}

// theta = w(u)/l2 has the norm of the dual, and the losses of a primal near it are about the rest.
double certain_dual(const Objective& objective, double value, double size, const DualRounding& rounding) {
  return value - RoundingPolynomial(objective, rounding).bound(size);
}

namespace {

// How far what is known of a smooth loss at theta may be off.
struct ImpliedRounding {
  double primal, w;  // of P, and the length of the error of w(pi(theta)) together with that of l2 theta
};
ImpliedRounding rounding_of(const Objective& objective, const ImpliedPoint& point) {
  const Problem& problem = objective.problem;
  const WeightShape shape = problem.weight_shape();
  const auto examples = static_cast<double>(problem.total_size()),
             weights = static_cast<double>(shape.rows * shape.width);
  const double beta = objective.loss.beta, gamma = objective.loss.gamma;
  // Of all weights once, and of the examples of each rank.
  const bool once = !problem.fleet() || problem.fleet()->rank() == 0;
  double of_primal = once ? (examples + weights) * point.primal * point.primal : 0;
  double of_gradient = once ? objective.regularizer.l2 * objective.regularizer.l2 * point.squared_norm : 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const std::size_t statistics = problem.num_statistics(i);
    const double omega = problem.weight(i), squared_reach = omega * omega * problem.squared_diameter(i);
    // Numbers that cancel in L_i: log-partition, the gold output's score and costs. Logarithms are those of
    // numbers near 1.
    const double cancelling = point.sizes[i] + 2 * gamma * problem.cost_offset(i) + 1 / beta;
    of_primal += squared_rounding(statistics, omega * cancelling, 0);
    // 1 - pi_i(z_i) = 1 - exp(-beta L_i): as often as that do errors of scores count, in L_i and in mu_i.
    const double loss =
        std::max(0.0, point.losses[i]) + sure_rounding(squared_rounding(statistics, cancelling, 0));
    const double wrong = -std::expm1(-beta * loss);
    const double of_scores = squared_rounding(statistics, 2 * wrong, 0) * point.squared_norm;
    of_primal += squared_reach * of_scores;
    // Probabilities are as exact as the logarithms that they come from, and w(u) is a sum over examples.
    of_gradient += squared_reach * (squared_rounding(statistics, 1, beta * cancelling) + examples +
                                    beta * beta * problem.squared_diameter(i) * of_scores);
  }
  of_primal = sum_over(problem.fleet(), of_primal);
  of_gradient = sum_over(problem.fleet(), of_gradient);
  return {sure_rounding(of_primal), sure_rounding(of_gradient)};
}

}  // namespace

double certain_dual(const Objective& objective, const ImpliedPoint& point) {
  const double l2 = objective.regularizer.l2;
  const WeightShape shape = objective.problem.weight_shape();
  const ImpliedRounding rounding = rounding_of(objective, point);
  const double gradient = std::sqrt(2 * l2 * point.mismatch) *
                              (1 + sure_rounding(static_cast<double>(shape.rows * shape.width))) +
                          rounding.w;
  return point.primal - rounding.primal - gradient * gradient / (2 * l2);
}

double gold_mixture_dual(const Objective& objective, const ImpliedPoint& point, double theta_times_w,
                         const DoubleWeights& w) {
  const Problem& problem = objective.problem;
  const SoftThreshold& l1 = objective.regularizer.l1;
  if (!l1.any() || l1.first > 0 || l1.last < w.shape().rows) return -std::numeric_limits<double>::infinity();
  const ImpliedRounding rounding = rounding_of(objective, point);
  double largest = rounding.w;
  for (const double x : w.values()) largest = std::max(largest, std::abs(x) + rounding.w);
  const double rho = largest > l1.value ? l1.value / largest : 1, beta = objective.loss.beta;
  double losses = 0, extra = 0, size = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const double omega = problem.weight(i), loss = std::max(0.0, point.losses[i]);
    const double p = std::exp(-beta * loss), a = 1 - rho * -std::expm1(-beta * loss);
    losses += omega * loss;
    const double of_example =
        -a * std::log(a) - (rho < 1 ? rho * (1 - p) * std::log(rho) : 0) - rho * p * beta * loss;
    extra += omega * of_example / beta;
    size += omega * (loss + 2 / beta);
  }
  double sums[] = {losses, extra, size};
  add_up_over(problem.fleet(), sums);
  std::tie(losses, extra, size) = std::tuple(sums[0], sums[1], sums[2]);
  const double value = rho * (losses + theta_times_w) + extra;
  return certain_dual(objective, value - rounding.primal, size + std::abs(theta_times_w), {});
}

template <class Real>
double implied_dual(const Objective& objective, double primal, const BasicWeights<Real>& theta,
                    DoubleWeights& w, std::span<const double> losses, std::span<const double> sizes) {
  const Problem& problem = objective.problem;
  const Regularizer& regularizer = objective.regularizer;
  ImpliedPoint point{primal, problem.squared_norm(theta), 0, losses, sizes};
  const auto of_theta = theta.values();
  const auto of_w = w.values();
  if (!regularizer.sparse()) {
    // grad P = l2 theta - w, in the norm of a kernel where there is one
    for (std::size_t j = 0; j < of_w.size(); ++j) of_w[j] = regularizer.l2 * of_theta[j] - of_w[j];
    point.mismatch = problem.squared_norm(w) / (2 * regularizer.l2);
    return certain_dual(objective, point);
  }
  const double product = std::inner_product(of_w.begin(), of_w.end(), of_theta.begin(), 0.0);
  const double mixture = gold_mixture_dual(objective, point, product, w);
  if (!(regularizer.l2 > 0)) return mixture;
  point.mismatch = regularizer.mismatch(problem, theta, w);
  return std::max(mixture, certain_dual(objective, point));
}
template double implied_dual(const Objective&, double, const Weights&, DoubleWeights&,
                             std::span<const double>, std::span<const double>);
template double implied_dual(const Objective&, double, const DoubleWeights&, DoubleWeights&,
                             std::span<const double>, std::span<const double>);

void evaluate_dual(const Objective& objective, const DualState& dual, DualValue& result, Sweep& sweep) {
  const Problem& problem = objective.problem;
  clear(problem, result, sweep);
  const double inverse_beta = objective.loss.inverse_beta();
  std::vector<double> sizes(problem.size());
  const double sum = sweep.accumulate(problem, result.w, [&](std::size_t i, DoubleOut mu, Workspace& ws) {
    Workspace::Frame frame(ws);
    const In stored = dual.s(i);
    const auto s = frame.take<double>(stored.size());
    std::copy(stored.begin(), stored.end(), s.begin());
    const double log_z = problem.log_partition(i, s, mu, ws);
    const kernels::ExpectedScore expected = kernels::expected_score(s.data(), mu.data(), s.size());
    sizes[i] = std::abs(log_z) + expected.absolute;  // implied_size()
    // H = log Z - s.mu
    result.conjugate[i] = (log_z - expected.value) * inverse_beta + expected_cost(objective, i, mu, ws);
    become_difference(problem, i, mu);
    return problem.weight(i) * result.conjugate[i];
  });
  result.value = certain_dual(objective, sum, result.w, implied_rounding(problem, sizes, 1, inverse_beta));
}

void evaluate_dual(const Objective& objective, const MeanState& means, DualValue& result, Sweep& sweep) {
  ESPALIER_EXPECT(!objective.loss.smooth());
  const Problem& problem = objective.problem;
  clear(problem, result, sweep);
  const double sum = sweep.accumulate(problem, result.w, [&](std::size_t i, DoubleOut mu, Workspace& ws) {
    const DoubleIn stored = means.mu(i);
    std::copy(stored.begin(), stored.end(), mu.begin());
    result.conjugate[i] = expected_cost(objective, i, mu, ws);
    become_difference(problem, i, mu);
    return problem.weight(i) * result.conjugate[i];
  });
  result.value = certain_dual(objective, sum, result.w, {means.roundings(), 0});
}

DualValue evaluate_dual(const Objective& objective, const DualState& dual) {
  DualValue result;
  Sweep sweep;
  evaluate_dual(objective, dual, result, sweep);
  return result;
}

double evaluate_primal(const Objective& objective, const Weights& theta, Sweep& sweep) {
  const Problem& problem = objective.problem;
  const double losses = sweep.sum(problem.size(), [&](std::size_t i, Workspace& ws) {
    Workspace::Frame frame(ws);
    const std::size_t length = problem.num_statistics(i);
    const auto s = frame.take<double>(length);
    // The value of a log-partition needs no marginals.
    const auto pi = frame.take<double>(objective.loss.smooth() ? 0 : length);
    return problem.weight(i) * example_loss(objective, i, theta, s, pi, ws);
  });
  return objective.regularizer.value(problem, theta) + losses;
}

double evaluate_primal(const Objective& objective, const Weights& theta) {
  Sweep sweep;
  return evaluate_primal(objective, theta, sweep);
}

Certificate certify(const Objective& objective, const Weights& theta, const DualState& dual,
                    const DualValue& value, Sweep& sweep, std::vector<double>* gaps) {
  const Problem& problem = objective.problem;
  if (!gaps) return certify(objective, theta, value, sweep);
  gaps->resize(problem.size());
  const double losses = sweep.sum(problem.size(), [&](std::size_t i, Workspace& ws) {
    Workspace::Frame frame(ws);
    const In stored = dual.s(i);
    const auto s = frame.take<double>(stored.size()), mu = frame.take<double>(stored.size());
    const auto scores = frame.take<double>(stored.size());
    const double loss = example_loss(objective, i, theta, s, mu, ws);
    std::copy(stored.begin(), stored.end(), scores.begin());
    problem.log_partition(i, scores, mu, ws);
    // z_i - mu_i
    for (double& m : mu) m = -m;
    problem.add_gold(i, 1.0, mu);
    (*gaps)[i] = loss - value.conjugate[i] + dot(s, mu);
    return problem.weight(i) * loss;
  });
  return {objective.regularizer.value(problem, theta) + losses, value.value, 0, problem.inference()};
}

Certificate certify(const Objective& objective, const Weights& theta, const DualState& dual) {
  Sweep sweep;
  return certify(objective, theta, dual, evaluate_dual(objective, dual), sweep);
}

Certificate certify(const Objective& objective, const Weights& theta, const DualValue& value, Sweep& sweep) {
  return {evaluate_primal(objective, theta, sweep), value.value, 0, objective.problem.inference()};
}

Certificate certify_implied(const Objective& objective, const Weights& theta, Sweep& sweep) {
  const Problem& problem = objective.problem;
  DoubleWeights w(problem.weight_shape());
  std::vector<double> values(problem.size()), sizes(problem.size());
  const bool smooth = objective.loss.smooth();
  const double losses = sweep.accumulate(problem, w, [&](std::size_t i, DoubleOut pi, Workspace& ws) {
    Workspace::Frame frame(ws);
    const auto s = frame.take<double>(pi.size());
    const double omega = problem.weight(i), loss = example_loss(objective, i, theta, s, pi, ws);
    sizes[i] = implied_size(loss, s, pi);
    // H(pi_i)/beta + gamma(p_i.pi_i + q_i). Where a maximum is relaxed, L_i is more than that of pi_i.
    values[i] = smooth ? loss : omega * expected_cost(objective, i, pi, ws);
    become_difference(problem, i, pi);
    return omega * loss;
  });
  Certificate certificate;
  certificate.inference = problem.inference();
  certificate.primal = objective.regularizer.value(problem, theta) + losses;
  if (smooth) {
    certificate.dual = implied_dual(objective, certificate.primal, theta, w, values, sizes);
    return certificate;
  }
  // A best output is one to the bit.
  const double conjugates = sum_over(problem.fleet(), std::accumulate(values.begin(), values.end(), 0.0));
  certificate.dual = certain_dual(objective, conjugates, w, implied_rounding(problem, sizes, 0, 1));
  // The dual rises and then falls, and large betas are dear.
  double before = -std::numeric_limits<double>::infinity();
  for (const double beta : kCertificateBetas) {
    const double dual = dual_at_temperature(objective, theta, beta, w, sizes, sweep);
    certificate.dual = std::max(certificate.dual, dual);
    if (dual < before) break;
    before = dual;
  }
  return certificate;
}

Certificate certify_implied(const Objective& objective, const Weights& theta) {
  Sweep sweep;
  return certify_implied(objective, theta, sweep);
}

}  // namespace espalier
