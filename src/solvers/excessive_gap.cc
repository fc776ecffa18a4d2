// Excessive gap reduction (Zhang et al. 2011) for beta = infinity:
//
//   minimise  P(theta) = g(theta) + sum_i omega_i max_y m_i(y),
//             m_i(y) = theta.F_i(chi(y) - z_i) + gamma cost_i(y)
//   maximise  D(u) = sum_i omega_i gamma(p_i.mu_i + q_i) - g*(w(u)),
//             w(u) = sum_i omega_i F_i(z_i - mu_i)
//
// The paper has means over examples; these are sums with weights, so its simplices have mass omega_i and its
// constants become
//
//   d(u)    = sum_i omega_i KL(u_i | uniform),  at most  Dom = sum_i omega_i log|Y_i|
//           its prox-function (27)
//   |r|^2   = sum_i omega_i |r_i|_1^2,          for which d is strongly convex with sigma = 1
//           (Pinsker, weighted)
//   L       = sum_i omega_i R_i^2 / l2          for which -D is smooth:
//             |sum_i omega_i F_i r_i| <= sum_i omega_i R_i |r_i|_1 <= (sum_i omega_i R_i^2)^(1/2) |r|
//
// with R_i a bound on |F_i(z_i - chi(y))|. (The paper's norm (32) sums over cliques as if each had its own
// weights; R_i takes in that they share them.) The smoothed primal (31) is the objective at the temperature
// beta = 1/mu, but for a constant:
//
//   J_mu(theta) = g(theta) + sum_i omega_i mu log sum_y exp(m_i(y)/mu) - mu Dom,
//       P - mu Dom <= J_mu <= P
//
// and alpha_mu(theta) are the distributions u_i(y) ~ exp(m_i(y)/mu). Kept is the excessive gap condition (11)
//
//   J_mu_k(theta_k) <= D(alpha_k),   so that   P(theta_k) - D(alpha_k) <= mu_k Dom.
//
// Algorithm 1 takes two inferences per example and step. One does: its Bregman projection (40) has the scores
//
//   (F_i'theta_k + gamma p_i)/mu_k + tau/((1 - tau) mu_k) (F_i'theta(hat) + gamma p_i)
//       = (F_i'theta_{k+1} + gamma p_i)/mu_{k+1}
//
// because theta_{k+1} = (1 - tau) theta_k + tau theta(hat) and mu_{k+1} = (1 - tau) mu_k. It is alpha_mu of
// the next step, which that step needs anyway. And D, w and mixtures ask for no more of alpha_k than its
// moments, which are linear in it: the marginals, whose additive updates the paper worries about, are never
// stored. So a step is
//
//   hat         = (1 - tau) alpha_k + tau alpha_mu_k(theta_k)
//   theta_{k+1} = (1 - tau) theta_k + tau theta(hat),    mu_{k+1} = (1 - tau) mu_k
//   alpha_{k+1} = (1 - tau) alpha_k + tau alpha_mu_{k+1}(theta_{k+1})
//
// for one pass, and J_mu(theta_{k+1}) comes with it: whether (11) holds is known in every step, for nothing.
// The proof of Theorem 5 needs (1 - tau) mu_k >= tau^2 L. The paper's tau = 2/(k + 3) sees to that with the L
// above, which is n times too large where examples have little in common. The adaptive rule takes the largest
// tau for an L of its own, doubles that where (11) fails (the step is repeated) and lowers it otherwise; L
// above is where (11) cannot fail.
//
// Cost per pass: one inference per example, in double precision. Memory: six vectors of weights in double
// precision, whatever the number of examples.

#include "solvers/excessive_gap.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/solvers/eg.h"
#include "solvers/batch_reports.h"
#include "solvers/maximum_loss.h"
#include "solvers/moments.h"
#include "solvers/option_rows.h"

namespace espalier {
namespace {

class ExcessiveGap {
 public:
  ExcessiveGap(const Objective& objective, const ExcessiveGapOptions& options, Weights& theta,
               const Observer& observer)
      : objective_(objective),
        options_(options),
        run_(objective, options.stopping, observer),
        visits_(options.stopping, run_, objective.problem.size()),
        sweep_(options.threads),
        pass_(objective, sweep_, visits_),
        reports_(objective, options.report_every, run_, visits_, sweep_, theta),
        bound_(total_squared_diameter(objective.problem) / objective.regularizer.l2),
        point_(theta.shape()),
        next_point_(theta.shape()) {
    for (Moments* moments : {&alpha_, &next_alpha_, &gibbs_, &next_gibbs_}) {
      moments->w = DoubleWeights(theta.shape());
    }
  }

  Summary solve() {
    start();
    while (!reports_.due() || !report()) {
      if (step()) continue;
      if (!report()) run_.stall("no step keeps the excessive gap condition");
      break;
    }
    return run_.finish();
  }

 private:
  // alpha_0 is uniform, theta_1 = theta(alpha_0), alpha_1 = alpha_mu_1(theta_1); less if the run is over
  // before.
  void start() {
    // Without features, any smoothing is exact in one step.
    mu_ = bound_ > 0 ? bound_ : 1;
    curvature_ = kFirstShrink * mu_;
    // Weights of zero without a cost: the loss is log|Y_i|.
    // Where that is cut short, theta stays 0 and the dual that of the gold outputs, which takes no inference.
    if (!pass_.gibbs({1, 0}, point_, alpha_, log_outputs_)) return;
    objective_.regularizer.assign(point_, alpha_.w, sweep_.team());
    note(alpha_, dual_of_maximum(objective_, alpha_));
    double smoothed;
    if (!evaluate(point_, mu_, gibbs_, smoothed)) return;
    alpha_ = gibbs_;
    const double dual = dual_of_maximum(objective_, alpha_);
    note(alpha_, dual);
    ESPALIER_EXPECT(condition_holds(smoothed, dual) ||
                    objective_.problem.inference() == Inference::approximate);
  }

  // alpha_mu(theta) and J_mu(theta).
  bool evaluate(const DoubleWeights& theta, double mu, Moments& gibbs, double& smoothed) {
    if (!pass_.gibbs({1 / mu, objective_.loss.gamma}, theta, gibbs, smoothed)) return false;
    smoothed += objective_.regularizer.value(objective_.problem, theta) - mu * log_outputs_;
    return true;
  }

  // (11), but for the rounding of sums.
  bool condition_holds(double smoothed, double dual) const {
    return smoothed <= dual + kRounding * (std::abs(smoothed) + std::abs(dual) + mu_ * log_outputs_);
  }

  double next_tau() const {
    if (options_.smoothing == Smoothing::paper) return 2.0 / (k_ + 3);
    // (1 - tau) mu = tau^2 L
    const double ratio = mu_ / curvature_;
    return 2 / (1 + std::sqrt(1 + 4 / ratio));
  }

  // One step, or a first part of it. False if none keeps the condition, as far as doubles can tell.
  bool step() {
    const double tau = next_tau(), mu = (1 - tau) * mu_;
    mix(alpha_.w, gibbs_.w, tau, next_alpha_.w);                               // w(hat)
    objective_.regularizer.assign(next_point_, next_alpha_.w, sweep_.team());  // theta(hat)
    mix(point_, next_point_, tau, next_point_);
    double smoothed;
    if (!evaluate(next_point_, mu, next_gibbs_, smoothed)) return true;
    mix(alpha_, next_gibbs_, tau, next_alpha_);

    // Once: with a kernel it costs as much as the scores of all examples.
    const double dual = dual_of_maximum(objective_, next_alpha_);
    const bool holds = condition_holds(smoothed, dual);
    if (options_.smoothing == Smoothing::adaptive) {
      if (!holds) {
        curvature_ *= 2;
        shrink_ = kLaterShrink;
        return curvature_ < 4 * bound_;
      }
      curvature_ *= shrink_;
    } else {
      ESPALIER_EXPECT(holds || objective_.problem.inference() == Inference::approximate);
    }
    std::swap(point_, next_point_);
    std::swap(alpha_, next_alpha_);
    std::swap(gibbs_, next_gibbs_);
    note(alpha_, dual);
    mu_ = mu;
    ++k_;
    return true;
  }

  // D(alpha_k) rises and falls on the way, and any of them bounds the optimum: the adaptive rule reports the
  // best so far. The paper's bounds are about the last one.
  void note(const Moments& u, double dual) {
    const double certain = certain_dual(objective_, u, dual);
    dual_ = options_.smoothing == Smoothing::paper ? certain : std::max(dual_, certain);
  }

  bool report() { return reports_.report(point_, dual_); }

  static constexpr double kRounding = 1e-13;
  // L is about n times too large where examples have little in common, so the rule's own halves until that is
  // too little. On random problems 0.9 was best from there on; 0.8 and 0.95 took up to a quarter more passes.
  static constexpr double kFirstShrink = 0.5, kLaterShrink = 0.9;

  const Objective& objective_;
  const ExcessiveGapOptions& options_;
  Run run_;
  Visits visits_;
  Sweep sweep_;
  BatchPass pass_;
  BatchReports reports_;
  double bound_;  // L
  double shrink_ = kFirstShrink;
  double curvature_ = 0;    // the L that the adaptive rule believes in
  double log_outputs_ = 0;  // Dom
  double mu_ = 0;           // mu_k
  int k_ = 1;
  DoubleWeights point_, next_point_;  // theta_k
  Moments alpha_, next_alpha_;        // of alpha_k
  Moments gibbs_, next_gibbs_;        // of alpha_mu_k(theta_k)
  double dual_ = 0;                   // what is reported
};

}  // namespace

const OptionTable& excessive_gap_options() {
  static const OptionTable table{
      step_row(&ExcessiveGapTuning::smoothing, {{"auto", Smoothing::adaptive}, {"paper", Smoothing::paper}})};
  return table;
}

Summary excessive_gap(const Objective& objective, const ExcessiveGapOptions& options, Weights& theta,
                      const Observer& observer) {
  ESPALIER_EXPECT(objective.problem.size() > 0 && objective.regularizer.l2 > 0);
  check_maximum_loss("excessive-gap", objective.loss);
  check_eg_loss(objective.loss);
  theta = Weights(objective.problem.weight_shape());
  return ExcessiveGap(objective, options, theta, observer).solve();
}

}  // namespace espalier
