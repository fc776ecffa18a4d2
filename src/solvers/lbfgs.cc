// L-BFGS on the primal (Collins et al. 2008, section 7.1.4), by liblbfgs:
//   P(theta) = l2/2 |theta|^2 + sum_i omega_i L_i(theta)
//   grad P   = l2 theta + sum_i omega_i F_i(pi_i - z_i)
// Every point that the line search tries costs one pass: one inference per example. Memory: 2 history + 6
// vectors of doubles, and 2 more for the last digits.
//
// The last digits: rounding of P hides what a step gains long before rounding of grad P does. Where P/l2 is
// large, the gap |grad P|^2/(2 l2) is still large then. So once no step lowers P, the line search sees the
// gain of a step from x to x' by the trapezoid rule instead, whose error is of third order:
//   P(x') - P(x) = (grad P(x) + grad P(x')).(x' - x)/2
//
// With l1 it is OWL-QN (Andrew and Gao 2007), which liblbfgs has, too: the line search stays in one orthant,
// and evaluations are those of P less l1 |theta|_1, whose gradient g belongs to w(u) = l2 theta - g. Values
// are not improved by gradients there. l2 may be 0 then.
//
// The dual point u_i = pi_i(theta) has w(u) = l2 theta - grad P, and without l1 its value is D = P - |grad
// P|^2/(2 l2): each accepted point brings its own certificate, without another pass. That one is of the
// weights in double precision. So the reports on the way are exact up to the rounding of weights to float,
// and the last one, which decides, is evaluated again at the rounded weights.

#include "solvers/lbfgs.h"

#include <fmt/format.h>
#include <lbfgs.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "espalier/base/error.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "solvers/best_dual.h"
#include "solvers/counted_sweep.h"
#include "solvers/euclidean.h"
#include "solvers/visits.h"

namespace espalier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What steps gain, by the trapezoid rule.
class Gains {
 public:
  void begin(std::span<const double> x, std::span<const double> gradient) {
    sum_ = 0;
    move_to(x, gradient);
  }
  // The value at x, that of the first point being 0.
  double at(std::span<const double> x, std::span<const double> gradient) const {
    double twice = 0;
    for (std::size_t j = 0; j < x.size(); ++j) twice += (gradient_[j] + gradient[j]) * (x[j] - x_[j]);
    return sum_ + twice / 2;
  }
  // x is where steps continue from.
  void accept(std::span<const double> x, std::span<const double> gradient) {
    sum_ = at(x, gradient);
    move_to(x, gradient);
  }

 private:
  void move_to(std::span<const double> x, std::span<const double> gradient) {
    x_.assign(x.begin(), x.end());
    gradient_.assign(gradient.begin(), gradient.end());
  }

  double sum_ = 0;
  std::vector<double> x_, gradient_;
};

class Minimiser {
 public:
  Minimiser(const Objective& objective, const LbfgsOptions& options, Weights& theta, const Observer& observer)
      : objective_(objective),
        options_(options),
        theta_(theta),
        run_(objective, options.stopping, observer),
        visits_(options.stopping, run_, objective.problem.total_size()),
        point_(theta.shape()),
        gradient_(theta.shape()),
        sweep_(options.threads, objective.problem.fleet()),
        losses_(objective.problem.size()),
        sizes_(objective.problem.size()) {}

  Summary minimise();

 private:
  double evaluate(std::span<const double> x, double* g);
  void run_lbfgs(double* x, std::size_t length);
  bool add_examples(double& primal);
  void report();
  void imply_dual();
  Certificate certify_theta();
  Certificate improved(const Certificate& certificate) {
    return options_.keep_best_dual ? best_dual_.improve(certificate) : certificate;
  }

  // Runs what liblbfgs calls back. It is C: an exception must not pass through it.
  template <class Action>
  void guarded(Action action) {
    try {
      action();
    } catch (...) {
      error_ = std::current_exception();
      over_ = true;
    }
  }

  const Objective& objective_;
  const LbfgsOptions& options_;
  Weights& theta_;  // the last point reported, rounded
  Run run_;
  Visits visits_;
  BestDual best_dual_;
  DoubleWeights point_, gradient_;
  DoubleWeights implied_w_;  // with l1
  Sweep sweep_;
  double primal_ = 0;           // P at point_
  double reached_ = kInfinity;  // P at the last point accepted
  double mismatch_ =
      kInfinity;               // what the dual implied there is below it but for rounding: |grad P|^2/(2 l2)
  double dual_ = -kInfinity;   // that it implies
  bool by_gradients_ = false;  // for the last digits: the line search sees gains_
  Gains gains_;
  std::vector<double> losses_, sizes_;  // of every example at point_, for ImpliedPoint
  bool starting_ = false;               // the next point evaluated is the first one of a run of liblbfgs
  bool reported_ = false;               // something has been
  bool over_ = false;                   // evaluate nothing any more
  bool rounded_ = false;                // what may be gained is less than what rounding takes from the dual
  bool certified_ = false;              // the report that ended the run was exact
  std::exception_ptr error_;
};

Summary Minimiser::minimise() {
  const auto values = theta_.values();
  // A liblbfgs built for SSE wants a multiple of 16. What is added stays zero, as the padding of rows does:
  // its gradient is zero.
  const std::size_t length = (values.size() + 15) / 16 * 16;
  if (length > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Error(fmt::format("lbfgs: {} weights; expected at most {}", values.size(),
                            std::numeric_limits<int>::max()));
  }
  const std::unique_ptr<double, decltype(&lbfgs_free)> x(lbfgs_malloc(static_cast<int>(length)), &lbfgs_free);
  if (!x) throw std::bad_alloc();
  std::fill_n(x.get(), length, 0.0);
  std::copy(values.begin(), values.end(), x.get());

  // A line search may fail because of what is remembered of curvatures far away: then it restarts where it
  // is, as long as that leads somewhere.
  double before;
  do {
    before = reached_;
    run_lbfgs(x.get(), length);
  } while (!over_ && reached_ < before);
  by_gradients_ = !objective_.regularizer.sparse();
  while (!over_ && by_gradients_) {
    constexpr double kLess = 0.5;
    before = mismatch_;
    run_lbfgs(x.get(), length);
    if (!(mismatch_ < kLess * before)) break;
  }

  if (!certified_) {
    run_.pause();
    if (!run_.report(certify_theta(), theta_)) {
      run_.stall(rounded_ ? "rounding in double precision hides what is left"
                          : "the line search finds no better weights");
    }
  }
  return run_.finish();
}

// One run of liblbfgs from x, until its line search finds nothing better or the run is over.
void Minimiser::run_lbfgs(double* x, std::size_t length) {
  lbfgs_parameter_t parameters;
  lbfgs_parameter_init(&parameters);
  parameters.m = options_.history;
  parameters.epsilon = 0;  // the gap decides
  if (const SoftThreshold& l1 = objective_.regularizer.l1; l1.any()) {
    const std::size_t stride = theta_.stride(), rows = theta_.shape().rows;
    parameters.orthantwise_c = l1.value;
    parameters.orthantwise_start = static_cast<int>(std::min(l1.first, rows) * stride);
    parameters.orthantwise_end = static_cast<int>(std::min(l1.last, rows) * stride);
    parameters.linesearch = LBFGS_LINESEARCH_BACKTRACKING;  // the only one that it has for orthants
  }

  const auto evaluate = [](void* self, const double* x, double* g, int n, double) {
    auto& minimiser = *static_cast<Minimiser*>(self);
    double value = 0;
    minimiser.guarded([&] { value = minimiser.evaluate({x, static_cast<std::size_t>(n)}, g); });
    if (!minimiser.over_) return value;
    // The way out of a line search is a point that is never accepted; out of the first evaluation, a zero
    // gradient.
    std::fill_n(g, n, 0.0);
    return std::numeric_limits<double>::infinity();
  };
  // A step was accepted. The line search evaluates that point last: it is point_.
  const auto progress = [](void* self, const double* x, const double* g, double, double, double, double,
                           int n, int, int) {
    auto& minimiser = *static_cast<Minimiser*>(self);
    const auto length = static_cast<std::size_t>(n);
    minimiser.guarded([&] {
      if (minimiser.by_gradients_) minimiser.gains_.accept({x, length}, {g, length});
      minimiser.report();
    });
    return minimiser.over_ ? 1 : 0;
  };
  starting_ = true;
  const int outcome = ::lbfgs(static_cast<int>(length), x, nullptr, evaluate, progress, this, &parameters);
  if (error_) std::rethrow_exception(error_);
  if (outcome == LBFGSERR_OUTOFMEMORY) throw std::bad_alloc();
}

// P, or what has been gained, and in g the gradient. Leaves g alone if the run is over.
double Minimiser::evaluate(std::span<const double> x, double* g) {
  if (over_) return 0;
  const auto point = point_.values(), gradient = gradient_.values();
  std::copy_n(x.begin(), point.size(), point.begin());
  const double smooth = objective_.regularizer.l2 / 2 * objective_.problem.squared_norm(point_);
  primal_ = objective_.regularizer.value(objective_.problem, point_);
  const double absolutes = primal_ - smooth;  // what liblbfgs adds itself
  for (std::size_t j = 0; j < point.size(); ++j) gradient[j] = objective_.regularizer.l2 * point[j];
  over_ = !add_examples(primal_);
  if (over_) return 0;

  std::copy(gradient.begin(), gradient.end(), g);
  // Iterations are reported once a step is accepted; the start needs none.
  if (!reported_) report();
  if (by_gradients_ && starting_) gains_.begin(x, {g, x.size()});
  starting_ = false;
  return by_gradients_ ? gains_.at(x, {g, x.size()}) : primal_ - absolutes;
}

// primal += sum_i omega_i L_i, gradient += sum_i omega_i F_i(pi_i - z_i). False if the run ends before the
// last example.
bool Minimiser::add_examples(double& primal) {
  const Problem& problem = objective_.problem;
  double losses = 0;
  const bool complete = counted_sweep(
      sweep_, visits_, problem, gradient_,
      [&](std::size_t i, DoubleOut pi, Workspace& ws) {
        Workspace::Frame frame(ws);
        const auto s = frame.take<double>(pi.size());
        const double omega = problem.weight(i);
        const double loss = example_loss(objective_, i, point_, s, pi, ws);
        losses_[i] = loss;
        sizes_[i] = implied_size(loss, s, pi);
        for (double& p : pi) p *= omega;
        problem.add_gold(i, -omega, pi);
        return omega * loss;
      },
      losses);
  primal += losses;
  return complete;
}

// Of point_.
void Minimiser::report() {
  run_.pause();
  reported_ = true;
  reached_ = primal_;
  theta_.assign(point_);

  const double passes = visits_.passes();
  imply_dual();
  Certificate certificate = improved({primal_, dual_, passes, objective_.problem.inference()});
  const bool last = run_.exhausted(passes) || certificate.relative_gap() <= options_.stopping.gap;
  if (last) certificate = certify_theta();
  over_ = run_.report(certificate, theta_);
  certified_ = over_ && last;
  constexpr double kLittle = 0.1;
  rounded_ = !over_ && mismatch_ < kLittle * (primal_ - mismatch_ - dual_);
  over_ = over_ || rounded_;
  run_.resume();
}

// The dual at point_, and how far below P it is but for rounding.
void Minimiser::imply_dual() {
  const Regularizer& regularizer = objective_.regularizer;
  if (!regularizer.sparse()) {
    mismatch_ = euclidean_squared_norm(gradient_) / (2 * regularizer.l2);
    dual_ = certain_dual(objective_,
                         {primal_, objective_.problem.squared_norm(point_), mismatch_, losses_, sizes_});
    return;
  }
  implied_w_.assign(gradient_, -1);
  const auto point = point_.values(), w = implied_w_.values();
  for (std::size_t j = 0; j < w.size(); ++j) w[j] += regularizer.l2 * point[j];
  dual_ = implied_dual(objective_, primal_, point_, implied_w_, losses_, sizes_);
  mismatch_ = primal_ - dual_;
}

Certificate Minimiser::certify_theta() {
  Certificate certificate = certify_implied(objective_, theta_, sweep_);
  certificate.passes = visits_.passes();
  // Before they were rounded, the weights implied a better one.
  certificate.dual = std::max(certificate.dual, dual_);
  return improved(certificate);
}

}  // namespace

Summary lbfgs(const Objective& objective, const LbfgsOptions& options, Weights& theta,
              const Observer& observer) {
  ESPALIER_EXPECT(objective.problem.total_size() > 0 && options.history > 0);
  ESPALIER_EXPECT(objective.regularizer.l2 > 0 || objective.regularizer.sparse());
  ESPALIER_EXPECT(theta.shape() == objective.problem.weight_shape());
  if (!objective.loss.smooth()) {
    throw Error::in("lbfgs", fmt::format("the loss {} is not smooth", objective.loss.name()),
                    "expected one with finite beta");
  }
  check_euclidean("lbfgs", objective.problem);
  return Minimiser(objective, options, theta, observer).minimise();
}

}  // namespace espalier
