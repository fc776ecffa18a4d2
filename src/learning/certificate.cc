#include "espalier/learning/certificate.h"

#include <algorithm>
#include <cmath>
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

// w += omega_i F_i(z_i - mu_i); mu becomes omega_i(z_i - mu_i).
void add_difference(const Problem& problem, std::size_t i, DoubleOut mu, DoubleWeights& w, Workspace& ws) {
  const double omega = problem.weight(i);
  for (double& m : mu) m *= -omega;
  problem.add_gold(i, omega, mu);
  problem.accumulate(i, mu, w, ws);
}

// The dual of a maximum at u_i(y) ~ exp beta(F_i'theta + gamma p_i).chi(y), for a beta that is not the loss's.
double dual_at_temperature(const Objective& objective, const Weights& theta, double beta, Workspace& ws) {
  const Problem& problem = objective.problem;
  double dual = 0;
  DoubleWeights w(problem.weight_shape());
  for (std::size_t i = 0; i < problem.size(); ++i) {
    Workspace::Frame frame(ws);
    const std::size_t length = problem.num_statistics(i);
    const auto s = frame.take<double>(length), mu = frame.take<double>(length);
    problem.score(i, theta, beta, s, ws);
    problem.add_cost(i, beta * objective.loss.gamma, s);
    const double log_z = problem.log_partition(i, s, mu, ws);
    dual += problem.weight(i) * conjugate_value(objective, i, s, mu, log_z, ws);
    add_difference(problem, i, mu, w, ws);
  }
  return dual - problem.squared_norm(w) / (2 * objective.l2);
}

}  // namespace

void evaluate_dual(const Objective& objective, const DualState& dual, DualValue& result, Workspace& ws) {
  const Problem& problem = objective.problem;
  result.value = 0;
  if (result.w.shape() == problem.weight_shape()) {
    result.w.fill(0);
  } else {
    result.w = DoubleWeights(problem.weight_shape());
  }
  result.conjugate.resize(problem.size());
  for (std::size_t i = 0; i < problem.size(); ++i) {
    Workspace::Frame frame(ws);
    const In stored = dual.s(i);
    const auto s = frame.take<double>(stored.size()), mu = frame.take<double>(stored.size());
    std::copy(stored.begin(), stored.end(), s.begin());
    const double log_z = problem.log_partition(i, s, mu, ws);
    result.conjugate[i] = conjugate_value(objective, i, s, mu, log_z, ws);
    result.value += problem.weight(i) * result.conjugate[i];
    add_difference(problem, i, mu, result.w, ws);
  }
  result.value -= problem.squared_norm(result.w) / (2 * objective.l2);
}

DualValue evaluate_dual(const Objective& objective, const DualState& dual, Workspace& ws) {
  DualValue result;
  evaluate_dual(objective, dual, result, ws);
  return result;
}

double evaluate_primal(const Objective& objective, const Weights& theta, Workspace& ws) {
  const Problem& problem = objective.problem;
  double primal = objective.l2 / 2 * problem.squared_norm(theta);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    Workspace::Frame frame(ws);
    const std::size_t length = problem.num_statistics(i);
    const auto s = frame.take<double>(length), pi = frame.take<double>(length);
    primal += problem.weight(i) * example_loss(objective, i, theta, s, pi, ws);
  }
  return primal;
}

Certificate certify(const Objective& objective, const Weights& theta, const DualState& dual,
                    const DualValue& value, Workspace& ws, std::vector<double>* gaps) {
  const Problem& problem = objective.problem;
  if (!gaps) return {evaluate_primal(objective, theta, ws), value.value};
  gaps->resize(problem.size());
  double primal = objective.l2 / 2 * problem.squared_norm(theta);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    Workspace::Frame frame(ws);
    const In stored = dual.s(i);
    const auto s = frame.take<double>(stored.size()), mu = frame.take<double>(stored.size());
    const auto scores = frame.take<double>(stored.size());
    const double loss = example_loss(objective, i, theta, s, mu, ws);
    primal += problem.weight(i) * loss;
    std::copy(stored.begin(), stored.end(), scores.begin());
    problem.log_partition(i, scores, mu, ws);
    // z_i - mu_i
    for (double& m : mu) m = -m;
    problem.add_gold(i, 1.0, mu);
    (*gaps)[i] = loss - value.conjugate[i] + dot(s, mu);
  }
  return {primal, value.value};
}

Certificate certify(const Objective& objective, const Weights& theta, const DualState& dual) {
  Workspace ws;
  return certify(objective, theta, dual, evaluate_dual(objective, dual, ws), ws);
}

Certificate certify_implied(const Objective& objective, const Weights& theta) {
  const Problem& problem = objective.problem;
  Workspace ws;
  Certificate certificate;
  certificate.primal = objective.l2 / 2 * problem.squared_norm(theta);
  DoubleWeights w(problem.weight_shape());
  for (std::size_t i = 0; i < problem.size(); ++i) {
    Workspace::Frame frame(ws);
    const std::size_t length = problem.num_statistics(i);
    const auto s = frame.take<double>(length), pi = frame.take<double>(length);
    const double loss = example_loss(objective, i, theta, s, pi, ws);
    certificate.primal += problem.weight(i) * loss;
    // g_i is zero at u_i = pi_i: H(pi_i)/beta + gamma(p_i.pi_i + q_i) = L_i + s.(z_i - pi_i)
    add_difference(problem, i, pi, w, ws);
    certificate.dual += problem.weight(i) * loss + dot(s, pi);
  }
  certificate.dual -= problem.squared_norm(w) / (2 * objective.l2);
  if (objective.loss.smooth()) return certificate;
  // From nearly uniform over the good outputs to nearly one of them.
  for (const double beta : {1, 4, 16, 64, 256}) {
    certificate.dual = std::max(certificate.dual, dual_at_temperature(objective, theta, beta, ws));
  }
  return certificate;
}

}  // namespace espalier
