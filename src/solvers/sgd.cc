// Stochastic gradient descent on the primal (Collins et al. 2008, section 7.1.3). A visit to example i is the
// step
//   theta <- theta - eta( l2/n theta + omega_i F_i(pi_i - z_i) ),   eta = eta_0/(1 + k/n) after k visits,
// with pi_i a best output where beta is infinite: then it is a subgradient.
// The shrink would touch every weight, so theta = a v is kept as a scalar and a vector:
//   a <- (1 - eta l2/n) a,   v <- v + eta omega_i / a F_i(z_i - pi_i).
// A visit costs one inference, a gather and a scatter. Memory: three vectors of weights while eta_0 is
// chosen, then one.

#include "solvers/sgd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "espalier/base/error.h"
#include "solvers/best_dual.h"
#include "solvers/finite.h"
#include "solvers/visits.h"

namespace espalier {
namespace {

constexpr std::array kRates{1.0, 0.1, 0.01, 0.001, 0.0001};

void scale(Weights& v, double a) {
  for (float& value : v.values()) value = static_cast<float>(a * value);
}

enum class Outcome {
  complete,
  cut_short,  // the run is over; the weights are what the visits so far made of them
  diverged,   // weights or scores are not finite
};

class Descent {
 public:
  Descent(const Objective& objective, const SgdOptions& options, const Observer& observer)
      : objective_(objective),
        options_(options),
        run_(objective, options.stopping, observer),
        visits_(options.stopping, run_, objective.problem.size()),
        random_(options.seed),
        order_(objective.problem.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  Summary descend(Weights& theta);

 private:
  double choose_rate(Weights& theta);
  Outcome pass(double eta_0, double passes_before, Weights& theta);
  bool visit(std::size_t i, double eta, double& a, Weights& v);
  bool report(const Weights& theta, bool diverged);

  const Objective& objective_;
  const SgdOptions& options_;
  Run run_;
  Visits visits_;
  Random random_;
  std::vector<std::size_t> order_;
  BestDual best_dual_;
  Workspace ws_;
};

Summary Descent::descend(Weights& theta) {
  random_.shuffle(std::span(order_));
  const double eta_0 = choose_rate(theta);
  bool diverged = std::isnan(eta_0);
  for (double passes = 1; !report(theta, diverged); ++passes) {
    random_.shuffle(std::span(order_));
    diverged = pass(eta_0, passes, theta) == Outcome::diverged;
  }
  return run_.finish();
}

// Tries every rate for one pass in the same order and leaves the weights of the best one; NaN if all diverge.
// Where the run ends earlier, the best of the complete passes counts, and theta stays as it is if there is
// none.
double Descent::choose_rate(Weights& theta) {
  const Weights start = theta;
  double best_rate = std::numeric_limits<double>::quiet_NaN(), best = std::numeric_limits<double>::infinity();
  for (const double eta_0 : kRates) {
    Weights candidate = start;
    const Outcome outcome = pass(eta_0, 0, candidate);
    if (outcome == Outcome::cut_short) return std::isnan(best_rate) ? eta_0 : best_rate;
    if (outcome == Outcome::diverged) continue;
    run_.pause();
    const double value =
        options_.dev_error ? options_.dev_error(candidate) : evaluate_primal(objective_, candidate);
    if (value < best) {
      std::swap(theta, candidate);
      best = value;
      best_rate = eta_0;
    }
    run_.resume();
  }
  return best_rate;
}

// One pass in the order at hand.
Outcome Descent::pass(double eta_0, double passes_before, Weights& theta) {
  const double n = static_cast<double>(order_.size());
  double a = 1;
  for (std::size_t k = 0; k < order_.size(); ++k) {
    if (visits_.exhausted()) {
      scale(theta, a);
      return finite(theta.values()) ? Outcome::cut_short : Outcome::diverged;
    }
    if (k + 4 < order_.size()) objective_.problem.prefetch(order_[k + 4], Prefetch::location);
    if (k + 2 < order_.size()) objective_.problem.prefetch(order_[k + 2], Prefetch::contents);
    if (!visit(order_[k], eta_0 / (1 + passes_before + static_cast<double>(k) / n), a, theta)) {
      return Outcome::diverged;
    }
    visits_.count();
  }
  scale(theta, a);
  return finite(theta.values()) ? Outcome::complete : Outcome::diverged;
}

// False if the scores are not finite: no structure promises anything for them.
bool Descent::visit(std::size_t i, double eta, double& a, Weights& v) {
  const Problem& problem = objective_.problem;
  const Loss& loss = objective_.loss;
  Workspace::Frame frame(ws_);
  const auto s = frame.take<float>(problem.num_statistics(i)), pi = frame.take<float>(s.size());

  // pi_i at beta(F_i'theta + gamma p_i); without the factor if beta is infinite
  const double beta = loss.smooth() ? loss.beta : 1;
  problem.score(i, v, static_cast<float>(beta * a), s, ws_);
  if (!finite(s)) return false;
  if (loss.gamma != 0) problem.add_cost(i, static_cast<float>(beta * loss.gamma), s);
  if (loss.smooth()) {
    problem.log_partition(i, s, pi, ws_);
  } else {
    problem.argmax(i, s, pi, ws_);
  }

  a *= 1 - eta * objective_.regularizer.l2 / static_cast<double>(problem.size());
  // v grows as a shrinks. Long before it leaves the range of floats it takes a over; a may even be zero.
  if (std::abs(a) < 1e-9) {
    scale(v, a);
    a = 1;
  }
  const auto step = static_cast<float>(eta * problem.weight(i) / a);
  for (float& p : pi) p *= -step;
  problem.add_gold(i, step, pi);
  problem.accumulate(i, pi, v, ws_);
  return true;
}

bool Descent::report(const Weights& theta, bool diverged) {
  run_.pause();
  // Of weights that are not finite nothing can be certified.
  Certificate certificate{std::numeric_limits<double>::infinity(), 0};
  if (!diverged) certificate = certify_implied(objective_, theta);
  certificate.passes = visits_.passes();
  const bool over = run_.report(best_dual_.improve(certificate), theta);
  run_.resume();
  return over;
}

}  // namespace

Summary sgd(const Objective& objective, const SgdOptions& options, Weights& theta, const Observer& observer) {
  ESPALIER_EXPECT(objective.problem.size() > 0 && objective.regularizer.l2 > 0);
  ESPALIER_EXPECT(theta.shape() == objective.problem.weight_shape());
  return Descent(objective, options, observer).descend(theta);
}

}  // namespace espalier
