#include "solvers/moments.h"

#include <algorithm>
#include <numeric>

#include "espalier/learning/certificate.h"
#include "learning/certify.h"
#include "solvers/counted_sweep.h"

namespace espalier {

double dual_of_maximum(const Objective& objective, const Moments& u) {
  return objective.loss.gamma * u.cost - objective.regularizer.conjugate(objective.problem, u.w);
}

double certain_dual(const Objective& objective, const Moments& u, double dual) {
  return certain_dual(objective, dual, 2 * objective.loss.gamma * u.cost - dual, {u.error, 0});
}

void mix(const DoubleWeights& a, const DoubleWeights& b, double tau, DoubleWeights& out) {
  const auto of_a = a.values(), of_b = b.values();
  const auto mixed = out.values();
  for (std::size_t j = 0; j < mixed.size(); ++j) mixed[j] = (1 - tau) * of_a[j] + tau * of_b[j];
}

void mix(const Moments& a, const Moments& b, double tau, Moments& out) {
  mix(a.w, b.w, tau, out.w);
  out.cost = (1 - tau) * a.cost + tau * b.cost;
  // Scores of outputs have the same bound whatever the distribution, so errors mix, too. What is added is of
  // 1 - tau, products and a sum.
  constexpr double kRoundings = 3;
  out.error = (1 - tau) * a.error + tau * b.error + kRoundings;
}

double total_squared_diameter(const Problem& problem) {
  double total = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) total += problem.weight(i) * problem.squared_diameter(i);
  return sum_over(problem.fleet(), total);
}

bool BatchPass::run(DoubleWeights& w, const Sweep::Fill& fill, double& sum) {
  std::fill(w.values().begin(), w.values().end(), 0.0);
  return counted_sweep(sweep_, visits_, objective_.problem, w, fill, sum);
}

bool BatchPass::gibbs(const Loss& at, const DoubleWeights& theta, Moments& moments, double& loss) {
  const Problem& problem = objective_.problem;
  const Objective smooth{problem, at, objective_.regularizer};
  costs_.resize(problem.size());
  sizes_.resize(problem.size());
  const auto fill = [&](std::size_t i, DoubleOut mu, Workspace& ws) {
    Workspace::Frame frame(ws);
    const double omega = problem.weight(i);
    const auto s = frame.take<double>(mu.size()), p = frame.take<double>(mu.size());
    const double loss_of_i = example_loss(smooth, i, theta, s, mu, ws);
    std::fill(p.begin(), p.end(), 0.0);
    problem.add_cost(i, 1.0, p);
    sizes_[i] = implied_size(loss_of_i, s, mu);
    costs_[i] = omega * (std::inner_product(p.begin(), p.end(), mu.begin(), 0.0) + problem.cost_offset(i));
    for (double& m : mu) m *= -omega;
    problem.add_gold(i, omega, mu);
    return omega * loss_of_i;
  };
  if (!run(moments.w, fill, loss)) return false;
  moments.cost = sum_over(problem.fleet(), std::accumulate(costs_.begin(), costs_.end(), 0.0));
  moments.error = implied_rounding(problem, sizes_, at.beta, 0).error;
  return true;
}

}  // namespace espalier
