// L-BFGS on the primal (Collins et al. 2008, section 7.1.4), by liblbfgs:
//   P(theta) = l2/2 |theta|^2 + sum_i omega_i L_i(theta)
//   grad P   = l2 theta + sum_i omega_i F_i(pi_i - z_i)
// Every point that the line search tries costs one pass: one inference an example. Memory: 2 history + 6
// vectors of doubles.
//
// The dual point u_i = pi_i(theta) has w(u) = l2 theta - grad P, and its value is D = P - |grad P|^2/(2 l2):
// each accepted point brings its own certificate, without another pass. That one is of the weights in double
// precision. So the reports on the way are exact up to the rounding of weights to float, and the last one,
// which decides, is evaluated anew at the rounded weights.

#include "espalier/solvers/lbfgs.h"

#include <fmt/format.h>
#include <lbfgs.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "espalier/base/error.h"
#include "solvers/best_dual.h"
#include "solvers/euclidean.h"
#include "solvers/visits.h"

namespace espalier {
namespace {

class Minimiser {
 public:
  Minimiser(const Objective& objective, const LbfgsOptions& options, Weights& theta, const Observer& observer)
      : objective_(objective),
        options_(options),
        theta_(theta),
        run_(objective, options.stopping, observer),
        visits_(options.stopping, run_, objective.problem.size()),
        point_(theta.shape()),
        gradient_(theta.shape()),
        sweep_(options.threads),
        sizes_(objective.problem.size()) {}

  Summary minimise();

 private:
  double evaluate(const double* x, double* g);
  bool add_examples(double& primal);
  void report(const double* x, double primal, double squared_gradient);
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
  Sweep sweep_;
  double reached_ = std::numeric_limits<double>::infinity();  // the primal of the last point accepted
  std::vector<double> sizes_;                                 // implied_size() of every example
  bool started_ = false;                                      // the first point has been evaluated
  bool over_ = false;                                         // evaluate nothing any more
  bool certified_ = false;                                    // the report that ended the run was exact
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

  lbfgs_parameter_t parameters;
  lbfgs_parameter_init(&parameters);
  parameters.m = options_.history;
  parameters.epsilon = 0;  // the gap decides

  const auto evaluate = [](void* self, const double* x, double* g, int n, double) {
    auto& minimiser = *static_cast<Minimiser*>(self);
    double primal = 0;
    minimiser.guarded([&] { primal = minimiser.evaluate(x, g); });
    if (!minimiser.over_) return primal;
    // The way out of a line search is a point that is never accepted; out of the first evaluation, a zero
    // gradient.
    std::fill_n(g, n, 0.0);
    return std::numeric_limits<double>::infinity();
  };
  const auto progress = [](void* self, const double* x, const double*, double primal, double,
                           double gradient_norm, double, int, int, int) {
    auto& minimiser = *static_cast<Minimiser*>(self);
    minimiser.guarded([&] { minimiser.report(x, primal, gradient_norm * gradient_norm); });
    return minimiser.over_ ? 1 : 0;
  };
  // A line search may fail because of what is remembered of curvatures far away: then it starts anew where it is, as long as
  // that leads somewhere.
  double before;
  do {
    before = reached_;
    const int outcome =
        ::lbfgs(static_cast<int>(length), x.get(), nullptr, evaluate, progress, this, &parameters);
    if (error_) std::rethrow_exception(error_);
    if (outcome == LBFGSERR_OUTOFMEMORY) throw std::bad_alloc();
  } while (!over_ && reached_ < before);

  if (!certified_) {
    run_.pause();
    if (!run_.report(certify_theta(), theta_)) run_.stall("the line search finds no better weights");
  }
  return run_.finish();
}

// P and, in g, its gradient. Leaves g alone if the run is over.
double Minimiser::evaluate(const double* x, double* g) {
  if (over_) return 0;
  const auto point = point_.values(), gradient = gradient_.values();
  std::copy_n(x, point.size(), point.begin());
  double primal = objective_.l2 / 2 * objective_.problem.squared_norm(point_);
  for (std::size_t j = 0; j < point.size(); ++j) gradient[j] = objective_.l2 * point[j];
  over_ = !add_examples(primal);
  if (over_) return 0;

  std::copy(gradient.begin(), gradient.end(), g);
  // Iterations are reported once a step is accepted; the start needs none.
  if (!started_) report(x, primal, euclidean_squared_norm(gradient_));
  started_ = true;
  return primal;
}

// primal += sum_i omega_i L_i, gradient += sum_i omega_i F_i(pi_i - z_i). False if the run ends before the
// last example.
bool Minimiser::add_examples(double& primal) {
  const Problem& problem = objective_.problem;
  bool complete = true;
  std::size_t counted = 0;
  const auto go_on = [&](std::size_t examples) {
    visits_.count(examples - counted);
    counted = examples;
    return complete = !visits_.exhausted();
  };
  primal += sweep_.accumulate(
      problem, gradient_,
      [&](std::size_t i, DoubleOut pi, Workspace& ws) {
        Workspace::Frame frame(ws);
        const auto s = frame.take<double>(pi.size());
        const double omega = problem.weight(i);
        const double loss = example_loss(objective_, i, point_, s, pi, ws);
        sizes_[i] = implied_size(loss, s, pi);
        for (double& p : pi) p *= omega;
        problem.add_gold(i, -omega, pi);
        return omega * loss;
      },
      go_on);
  if (complete) visits_.count(problem.size() - counted);
  return complete;
}

void Minimiser::report(const double* x, double primal, double squared_gradient) {
  run_.pause();
  reached_ = primal;
  const auto theta = theta_.values();
  for (std::size_t j = 0; j < theta.size(); ++j) theta[j] = static_cast<float>(x[j]);

  const double passes = visits_.passes();
  // u_i = pi_i(theta), as in certify_implied().
  const DualRounding rounding = implied_rounding(objective_.problem, sizes_, objective_.loss.beta, 1);
  const double difference = squared_gradient / (2 * objective_.l2);
  const double dual = certain_dual(objective_, primal - difference, 2 * (primal + difference), rounding);
  Certificate certificate = improved({primal, dual, passes, !objective_.problem.exact()});
  const bool last = run_.exhausted(passes) || certificate.relative_gap() <= options_.stopping.gap;
  if (last) certificate = certify_theta();
  over_ = run_.report(certificate, theta_);
  certified_ = over_ && last;
  run_.resume();
}

Certificate Minimiser::certify_theta() {
  Certificate certificate = certify_implied(objective_, theta_, sweep_);
  certificate.passes = visits_.passes();
  return improved(certificate);
}

}  // namespace

Summary lbfgs(const Objective& objective, const LbfgsOptions& options, Weights& theta,
              const Observer& observer) {
  ESPALIER_EXPECT(objective.problem.size() > 0 && objective.l2 > 0 && options.history > 0);
  ESPALIER_EXPECT(theta.shape() == objective.problem.weight_shape());
  if (!objective.loss.smooth()) {
    throw Error::in("lbfgs", fmt::format("the loss {} is not smooth", objective.loss.name()),
                    "expected one with finite beta");
  }
  check_euclidean("lbfgs", objective.problem);
  return Minimiser(objective, options, theta, observer).minimise();
}

}  // namespace espalier
