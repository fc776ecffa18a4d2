#include "solvers/first_pass_dual.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learning/certify.h"

namespace espalier {
namespace {

double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

}  // namespace

bool FirstPassDual::next_visit() {
  if (open_ && visits_ == objective_.problem.size()) {
    value_ = value();
    open_ = false;
    w_ = DoubleWeights();
  }
  ++visits_;
  return open_;
}

void FirstPassDual::move(std::size_t i, double conjugate, DoubleIn delta, Workspace& ws) {
  const Problem& problem = objective_.problem;
  sum_ += problem.weight(i) * conjugate;
  // w += l2 F_i delta
  Workspace::Frame frame(ws);
  const auto scaled = frame.take<double>(delta.size());
  for (std::size_t k = 0; k < scaled.size(); ++k) scaled[k] = objective_.regularizer.l2 * delta[k];
  problem.accumulate(i, scaled, w_, ws);
}

void FirstPassDual::mix(std::size_t i, double eta, double loss, DoubleIn s, DoubleIn difference,
                        Workspace& ws) {
  const double rho = objective_.regularizer.l2 * eta / objective_.problem.weight(i);
  // rho(L_i + s.(z_i - pi_i)) + e/beta
  const double conjugate = rho * (loss + std::inner_product(s.begin(), s.end(), difference.begin(), 0.0)) +
                           mixture_entropy(i, rho, loss, ws) * objective_.loss.inverse_beta();
  double size = std::abs(loss);
  for (std::size_t k = 0; k < s.size(); ++k) size += std::abs(s[k] * difference[k]);
  const double error = objective_.loss.smooth() ? objective_.loss.beta * size : 0;
  rounding_.error = std::max(rounding_.error, error);
  rounding_.cancelled =
      std::hypot(rounding_.cancelled,
                 std::sqrt(squared_rounding(s.size(), objective_.problem.weight(i) * rho * size, error)));
  Workspace::Frame frame(ws);
  const auto delta = frame.take<double>(difference.size());
  for (std::size_t k = 0; k < delta.size(); ++k) delta[k] = eta * difference[k];
  move(i, conjugate, delta, ws);
}

// e(rho, exp(-beta L_i)).
double FirstPassDual::mixture_entropy(std::size_t i, double rho, double loss, Workspace& ws) const {
  if (!objective_.loss.smooth()) return 0;
  // Where z_i is a mean over several outputs, which its fractions show, all that is known is that entropy is
  // concave: H(u_i) >= rho H(pi_i).
  Workspace::Frame frame(ws);
  const auto z = frame.take<double>(objective_.problem.num_statistics(i));
  std::fill(z.begin(), z.end(), 0.0);
  objective_.problem.add_gold(i, 1.0, z);
  if (std::any_of(z.begin(), z.end(), [](double count) { return count != std::floor(count); })) return 0;

  const double log_r = -objective_.loss.beta * loss, r = std::exp(log_r);
  return -x_log_x(1 - rho + rho * r) - (1 - r) * x_log_x(rho) + rho * r * log_r;
}

}  // namespace espalier
