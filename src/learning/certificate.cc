#include "espalier/learning/certificate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace espalier {
namespace {

double dot(DoubleIn a, DoubleIn b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

// H(u_i)/beta + gamma(p_i.mu_i + q_i), with H = log Z(s) - s.mu.
double conjugate_value(const Objective& objective, std::size_t i, DoubleIn s, DoubleIn mu, double log_z,
                       Workspace& ws) {
  Workspace::Frame frame(ws);
  const auto cost = frame.take<double>(s.size());
  double entropy = log_z;
  // 0 * (-infinity) is 0: an impossible output has no share in the entropy.
  for (std::size_t k = 0; k < s.size(); ++k) entropy -= mu[k] > 0 ? mu[k] * s[k] : 0;
  double value = entropy * objective.loss.inverse_beta();
  if (objective.loss.gamma != 0) {
    std::fill(cost.begin(), cost.end(), 0.0);
    objective.problem.add_cost(i, 1.0, cost);
    value += objective.loss.gamma * (dot(cost, mu) + objective.problem.cost_offset(i));
  }
  return value;
}

// mu becomes omega_i(z_i - mu_i), which F_i takes to the example's part of w(u).
void become_difference(const Problem& problem, std::size_t i, DoubleOut mu) {
  const double omega = problem.weight(i);
  for (double& m : mu) m *= -omega;
  problem.add_gold(i, omega, mu);
}

// The dual of a maximum at u_i(y) ~ exp beta(F_i'theta + gamma p_i).chi(y), for a beta that is not the loss's. `w` is scratch: however
// many temperatures there are, they allocate nothing.
double dual_at_temperature(const Objective& objective, const Weights& theta, double beta, DoubleWeights& w,
                           Sweep& sweep) {
  const Problem& problem = objective.problem;
  w.fill(0);
  const auto value_of = [&](std::size_t i, DoubleOut mu, Workspace& ws) {
    Workspace::Frame frame(ws);
    const auto s = frame.take<double>(mu.size());
    problem.score(i, theta, beta, s, ws);
    problem.add_cost(i, beta * objective.loss.gamma, s);
    const double log_z = problem.log_partition(i, s, mu, ws);
    const double value = conjugate_value(objective, i, s, mu, log_z, ws);
    become_difference(problem, i, mu);
    return problem.weight(i) * value;
  };
  const double sum = sweep.accumulate(problem, w, std::cref(value_of));
  return sum - problem.squared_norm(w) / (2 * objective.l2);
}

// Zero weights and one value an example, in the memory that is there.
void clear(const Problem& problem, DualValue& result, Sweep& sweep) {
  if (result.w.shape() == problem.weight_shape()) {
    const auto w = result.w.values();
    share_range(sweep.team(), w.size(), [&](std::size_t begin, std::size_t end) {
      std::fill(w.begin() + static_cast<std::ptrdiff_t>(begin), w.begin() + static_cast<std::ptrdiff_t>(end),
                0.0);
    });
  } else {
    result.w = DoubleWeights(problem.weight_shape());
  }
  result.conjugate.resize(problem.size());
}

}  // namespace

void evaluate_dual(const Objective& objective, const DualState& dual, DualValue& result, Sweep& sweep) {
  const Problem& problem = objective.problem;
  clear(problem, result, sweep);
  const double sum = sweep.accumulate(problem, result.w, [&](std::size_t i, DoubleOut mu, Workspace& ws) {
    Workspace::Frame frame(ws);
    const In stored = dual.s(i);
    const auto s = frame.take<double>(stored.size());
    std::copy(stored.begin(), stored.end(), s.begin());
    const double log_z = problem.log_partition(i, s, mu, ws);
    result.conjugate[i] = conjugate_value(objective, i, s, mu, log_z, ws);
    become_difference(problem, i, mu);
    return problem.weight(i) * result.conjugate[i];
  });
  result.value = sum - problem.squared_norm(result.w) / (2 * objective.l2);
}

void evaluate_dual(const Objective& objective, const MeanState& means, DualValue& result, Sweep& sweep) {
  ESPALIER_EXPECT(!objective.loss.smooth());
  const Problem& problem = objective.problem;
  clear(problem, result, sweep);
  const double sum = sweep.accumulate(problem, result.w, [&](std::size_t i, DoubleOut mu, Workspace& ws) {
    const In stored = means.mu(i);
    std::copy(stored.begin(), stored.end(), mu.begin());
    result.conjugate[i] = conjugate_value(objective, i, mu, mu, 0, ws);
    become_difference(problem, i, mu);
    return problem.weight(i) * result.conjugate[i];
  });
  result.value = sum - problem.squared_norm(result.w) / (2 * objective.l2);
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
    const auto s = frame.take<double>(length), pi = frame.take<double>(length);
    return problem.weight(i) * example_loss(objective, i, theta, s, pi, ws);
  });
  return objective.l2 / 2 * problem.squared_norm(theta) + losses;
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
  return {objective.l2 / 2 * problem.squared_norm(theta) + losses, value.value, 0, !problem.exact()};
}

Certificate certify(const Objective& objective, const Weights& theta, const DualState& dual) {
  Sweep sweep;
  return certify(objective, theta, dual, evaluate_dual(objective, dual), sweep);
}

Certificate certify(const Objective& objective, const Weights& theta, const DualValue& value, Sweep& sweep) {
  return {evaluate_primal(objective, theta, sweep), value.value, 0, !objective.problem.exact()};
}

Certificate certify_implied(const Objective& objective, const Weights& theta, Sweep& sweep) {
  const Problem& problem = objective.problem;
  DoubleWeights w(problem.weight_shape());
  std::vector<double> conjugates(problem.size());
  const double losses = sweep.accumulate(problem, w, [&](std::size_t i, DoubleOut pi, Workspace& ws) {
    Workspace::Frame frame(ws);
    const auto s = frame.take<double>(pi.size());
    const double loss = problem.weight(i) * example_loss(objective, i, theta, s, pi, ws);
    become_difference(problem, i, pi);
    // g_i is zero at u_i = pi_i: H(pi_i)/beta + gamma(p_i.pi_i + q_i) = L_i + s.(z_i - pi_i)
    conjugates[i] = loss + dot(s, pi);
    return loss;
  });
  Certificate certificate;
  certificate.approximate = !problem.exact();
  certificate.primal = objective.l2 / 2 * problem.squared_norm(theta) + losses;
  certificate.dual = std::accumulate(conjugates.begin(), conjugates.end(), 0.0) -
                     problem.squared_norm(w) / (2 * objective.l2);
  if (objective.loss.smooth()) return certificate;
  // From nearly uniform over the good outputs to nearly one of them. The dual rises and then falls, and large betas are dear.
  double before = -std::numeric_limits<double>::infinity();
  for (const double beta : {1, 4, 16, 64, 256}) {
    const double dual = dual_at_temperature(objective, theta, beta, w, sweep);
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
