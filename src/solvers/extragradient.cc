// Extragradient with Bregman projections (Taskar, Lacoste-Julien and Jordan 2006; Nemirovski's mirror-prox)
// for beta = infinity. P and D are the two sides of one saddle point,
//
//   min_theta max_u  g(theta) - theta.w(u) + gamma cost(u),          w(u) = sum_i omega_i F_i(z_i - mu_i)
//                                                                    cost(u) = sum_i omega_i (p_i.mu_i + q_i)
//
// Taskar et al. bound |theta| and project onto the ball. Here l2 takes its place: the steps of theta are
// proximal ones, which take g(theta) = l2/2 |theta|^2 as it is, and those of u are in the divergence sum_i
// omega_i KL(u_i|v_i), so that with u_i(y) ~ exp s_i.chi(y) one iteration is
//
//   theta+ = (theta + a w(u))/(1 + a l2)        s_i+ = s_i + b(F_i'theta + gamma p_i)        a look ahead
//   theta' = (theta + a w(u+))/(1 + a l2)       s_i' = s_i + b(F_i'theta+ + gamma p_i)       the step
//
// With l1 it is theta+ = soft(theta + a w(u), a l1)/(1 + a l2), and likewise theta'. From s_i = 0, s_i =
// F_i'z + c gamma p_i with one vector z and one number c (as in eg_batch.cc), and nothing asks for more of u
// than w(u) and cost(u). Where
//
//   (*)  a/(1 + a l2) |w(u+) - w(u)|^2 + (theta+ - theta).(w(u+) - w(u'))
//          <=  ( |theta+ - theta|^2 + |theta' - theta+|^2 )/(2a)
//              + sum_i omega_i ( KL(u+_i|u_i) + KL(u'_i|u+_i) )/b
//
// in every iteration, the means of theta+ and u+ over T of them have the gap
//
//   P - D <= 1/T ( |w(u+)/l2 - theta_1|^2/(2a) + sum_i omega_i log|Y_i| / b )
//
// (w(u+) at the mean). It holds for a b sum_i omega_i R_i^2 <= 1 (Cauchy-Schwarz and Pinsker: moments.h). The
// automatic rule looks at (*) itself, halves both steps where it fails and lets them grow otherwise. a/b
// makes the two terms of the bound about equal, with |theta_1|^2 for the unknown distance. And it takes the
// means over the last half of the iterations or more: on random problems that took a sixth of the passes to a
// gap of 1e-3. The bound above is for means over all of them, which the safe rule takes.
//
// Cost per iteration: two inferences per example, in double precision. Memory: fourteen vectors of weights in
// double precision, whatever the number of examples.

#include "solvers/extragradient.h"

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

// out <- a + factor b
void combine(const DoubleWeights& a, double factor, const DoubleWeights& b, DoubleWeights& out) {
  const auto of_a = a.values(), of_b = b.values();
  const auto sum = out.values();
  for (std::size_t j = 0; j < sum.size(); ++j) sum[j] = of_a[j] + factor * of_b[j];
}

// Distributions u_i(y) ~ exp (F_i'z + c gamma p_i).chi(y), with their moments.
struct Distributions {
  explicit Distributions(WeightShape shape) : z(shape) { moments.w = DoubleWeights(shape); }
  DoubleWeights z;
  double c = 0;
  Moments moments;
  double cumulant = 0;  // sum_i omega_i log sum_y exp( z.F_i(chi(y) - z_i) + c gamma cost_i(y) )
};

// Means of theta+ and u+ over iterations, weighted by their steps.
struct Means {
  DoubleWeights theta;
  Moments u;
  double weight = 0;

  void add(const DoubleWeights& point, const Moments& moments, double step) {
    weight += step;
    mix(theta, point, step / weight, theta);
    mix(u, moments, step / weight, u);
  }
};

class Extragradient {
 public:
  Extragradient(const Objective& objective, const ExtragradientOptions& options, Weights& theta,
                const Observer& observer)
      : objective_(objective),
        options_(options),
        run_(objective, options.stopping, observer),
        visits_(options.stopping, run_, objective.problem.size()),
        sweep_(options.threads),
        pass_(objective, sweep_, visits_),
        reports_(objective, options.report_every, run_, visits_, sweep_, theta),
        point_(theta.shape()),
        ahead_point_(theta.shape()),
        next_point_(theta.shape()),
        difference_(theta.shape()),
        now_(theta.shape()),
        ahead_(theta.shape()),
        next_(theta.shape()) {
    // Until there is something to take means of: the gold outputs, which have no weights and no cost.
    means_.theta = DoubleWeights(theta.shape());
    means_.u.w = DoubleWeights(theta.shape());
  }

  Summary solve() {
    start();
    while (!reports_.due() || !report()) step();
    return run_.finish();
  }

 private:
  // u is uniform, theta = w(u)/l2, unless the run is over before.
  void start() {
    if (!evaluate(now_)) return;
    objective_.regularizer.assign(point_, now_.moments.w, sweep_.team());
    means_.theta = point_;
    means_.u = now_.moments;
    later_means_ = means_;
    const double diameter = total_squared_diameter(objective_.problem);
    const double distance = objective_.problem.squared_norm(point_);
    // now_.cumulant is sum_i omega_i log|Y_i|
    const double ratio =
        distance > 0 && now_.cumulant > 0 ? distance / (2 * now_.cumulant) : 1 / objective_.regularizer.l2;
    const double product = diameter > 0 ? 1 / diameter : 1;
    a_ = std::sqrt(product * ratio);
    b_ = std::sqrt(product / ratio);
    safe_a_ = a_;
  }

  void proximal_step(const DoubleWeights& w, DoubleWeights& to) const {
    combine(point_, a_, w, to);
    objective_.regularizer.proximal_step(a_, to);
  }

  bool evaluate(Distributions& u) {
    return pass_.gibbs({1, u.c * objective_.loss.gamma}, u.z, u.moments, u.cumulant);
  }

  // One iteration, or a first part of it.
  void step() {
    proximal_step(now_.moments.w, ahead_point_);
    combine(now_.z, b_, point_, ahead_.z);
    ahead_.c = now_.c + b_;
    if (!evaluate(ahead_)) return;

    proximal_step(ahead_.moments.w, next_point_);
    combine(now_.z, b_, ahead_point_, next_.z);
    next_.c = ahead_.c;
    if (!evaluate(next_)) return;

    const bool automatic = options_.step == ExtragradientStep::automatic;
    if (automatic && a_ > safe_a_ && !inequality_holds()) {
      a_ /= 2;
      b_ /= 2;
      growth_ = kLaterGrowth;
      return;
    }
    if (automatic) begin_means_anew();
    means_.add(ahead_point_, ahead_.moments, b_);
    if (automatic) later_means_.add(ahead_point_, ahead_.moments, b_);
    std::swap(point_, next_point_);
    std::swap(now_, next_);
    if (automatic) {
      a_ *= growth_;
      b_ *= growth_;
    }
  }

  // Drops the first half of the iterations from the means, whenever their number has doubled.
  void begin_means_anew() {
    if (++iterations_ < anew_at_) return;
    anew_at_ *= 2;
    std::swap(means_, later_means_);
    later_means_.weight = 0;
  }

  // (*), with sum_i omega_i KL(v_i|u_i) = (z_u - z_v).w(v) + (c_v - c_u) gamma cost(v) - cumulant_v +
  // cumulant_u.
  bool inequality_holds() {
    const Problem& problem = objective_.problem;
    const auto squared_distance = [&](const DoubleWeights& x, const DoubleWeights& y) {
      combine(x, -1, y, difference_);
      return problem.squared_norm(difference_);
    };
    const double forward = -b_ * problem.inner_product(point_, ahead_.moments.w) +
                           b_ * objective_.loss.gamma * ahead_.moments.cost - ahead_.cumulant + now_.cumulant;
    combine(ahead_point_, -1, point_, difference_);
    const double along_next = problem.inner_product(difference_, next_.moments.w),
                 along_ahead = problem.inner_product(difference_, ahead_.moments.w);
    const double onward = -b_ * along_next - next_.cumulant + ahead_.cumulant;

    const double left =
        a_ / (1 + a_ * objective_.regularizer.l2) * squared_distance(ahead_.moments.w, now_.moments.w) +
        along_ahead - along_next;
    const double right =
        (squared_distance(ahead_point_, point_) + squared_distance(next_point_, ahead_point_)) / (2 * a_) +
        (forward + onward) / b_;
    return left <= right + kRounding * std::abs(now_.cumulant) / b_;
  }

  bool report() {
    const double dual = dual_of_maximum(objective_, means_.u);
    return reports_.report(means_.theta, certain_dual(objective_, means_.u, dual));
  }

  // The safe step is far too small where examples have little in common, so it doubles until that is too
  // much.
  static constexpr double kFirstGrowth = 2, kLaterGrowth = 1.1;
  static constexpr double kRounding = 1e-13;

  const Objective& objective_;
  const ExtragradientOptions& options_;
  Run run_;
  Visits visits_;
  Sweep sweep_;
  BatchPass pass_;
  BatchReports reports_;
  double a_ = 0, b_ = 0, safe_a_ = 0, growth_ = kFirstGrowth;
  DoubleWeights point_, ahead_point_, next_point_, difference_;
  Distributions now_, ahead_, next_;
  Means means_, later_means_;
  std::size_t iterations_ = 0, anew_at_ = 1;
};

}  // namespace

const OptionTable& extragradient_options() {
  static const OptionTable table{step_row(&ExtragradientTuning::step, {{"auto", ExtragradientStep::automatic},
                                                                       {"safe", ExtragradientStep::safe}})};
  return table;
}

Summary extragradient(const Objective& objective, const ExtragradientOptions& options, Weights& theta,
                      const Observer& observer) {
  ESPALIER_EXPECT(objective.problem.size() > 0 && objective.regularizer.l2 > 0);
  check_maximum_loss("extragradient", objective.loss);
  check_eg_loss(objective.loss);
  theta = Weights(objective.problem.weight_shape());
  return Extragradient(objective, options, theta, observer).solve();
}

}  // namespace espalier
