#include "solvers/hand_over.h"

#include <lbfgs.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "espalier/learning/certificate.h"
#include "learning/certify.h"
#include "learning/implied_betas.h"
#include "learning/sweep.h"
#include "solvers/training.h"

namespace espalier {
namespace {

// How much of the uniform distribution is mixed in: EG cannot leave zero.
constexpr double kUniform = 1e-4;
// How far expected statistics may be from those that are sought, of all that they add up to: not much further
// than mixing took them, so that examples with one output, most of them, are done at once.
constexpr double kClose = 3 * kUniform;

// Scores whose distribution has the expected statistics mu, so nearly as a few rounds find them: those that
// maximise s.mu - log Z(s). They exist where mu is inside the set of expected statistics, also where
// statistics are tied, and log conditionals of cliques would not fit them. They begin as log mu, which is
// right where an output has one statistic that is 1, and go on by L-BFGS. (Iterative scaling lost five to ten
// times as much of the dual on random chains, with as many inferences.)
class Fit {
 public:
  template <class Real>
  Fit(const Problem& problem, std::size_t i, std::span<const Real> means, Workspace& ws)
      : problem_(problem),
        i_(i),
        ws_(ws),
        frame_(ws),
        target_(frame_.take<double>(means.size())),
        padded_(frame_.take<double>((means.size() + kMultiple - 1) / kMultiple * kMultiple)),
        s_(padded_.first(means.size())),
        difference_(frame_.take<double>(means.size())) {
    std::fill(padded_.begin(), padded_.end(), 0.0);
    problem_.log_partition(i_, s_, target_, ws_);
    inferences_ = 1;
    for (std::size_t k = 0; k < means.size(); ++k) {
      target_[k] = (1 - kUniform) * static_cast<double>(means[k]) + kUniform * target_[k];
      // Where the uniform distribution has nothing, no output has the statistic.
      s_[k] = target_[k] > 0 ? std::log(target_[k]) : 0;
    }
    close_ = kClose * std::accumulate(target_.begin(), target_.end(), 0.0);
  }

  void find(Out s) {
    evaluate(s_, difference_);
    if (!is_close(difference_)) {
      lbfgs_parameter_t parameters;
      lbfgs_parameter_init(&parameters);
      parameters.max_iterations = kMostRounds;
      // Whatever stops it, s is the best so far.
      ::lbfgs(static_cast<int>(padded_.size()), padded_.data(), nullptr, evaluate_for_lbfgs, stop_lbfgs, this,
              &parameters);
    }
    std::transform(s_.begin(), s_.end(), s.begin(), [](double x) { return static_cast<float>(x); });
  }
  std::size_t inferences() const { return inferences_; }

 private:
  static constexpr int kMostRounds = 40;
  // A liblbfgs built for SSE wants a multiple of it. What is added stays zero.
  static constexpr std::size_t kMultiple = 16;

  static double evaluate_for_lbfgs(void* fit, const double* s, double* gradient, int n, double) {
    Fit& self = *static_cast<Fit*>(fit);
    const std::size_t length = self.s_.size();
    std::fill(gradient + length, gradient + n, 0.0);
    return self.evaluate({s, length}, {gradient, length});
  }
  static int stop_lbfgs(void* fit, const double*, const double* gradient, double, double, double, double,
                        int n, int, int) {
    return static_cast<Fit*>(fit)->is_close({gradient, static_cast<std::size_t>(n)}) ? 1 : 0;
  }

  // log Z(s) - s.target, and its gradient.
  double evaluate(DoubleIn s, DoubleOut gradient) {
    const double log_z = problem_.log_partition(i_, s, gradient, ws_);
    ++inferences_;
    for (std::size_t k = 0; k < s.size(); ++k) gradient[k] -= target_[k];
    return log_z - std::inner_product(s.begin(), s.end(), target_.begin(), 0.0);
  }
  bool is_close(DoubleIn difference) const {
    double sum = 0;
    for (const double d : difference) sum += std::abs(d);
    return sum <= close_;
  }

  const Problem& problem_;
  std::size_t i_;
  Workspace& ws_;
  Workspace::Frame frame_;
  DoubleOut target_, padded_, s_, difference_;
  double close_ = 0;
  std::size_t inferences_ = 0;
};

// Of the means of every example.
template <class Means>
std::size_t fit_all(const Problem& problem, const Means& means, const StoppingRule& stopping, DualState& dual,
                    Sweep& sweep) {
  const double inferences = sweep.sum(problem.size(), [&](std::size_t i, Workspace& ws) {
    if (stopping.interrupted()) return 0.0;
    Fit fit(problem, i, std::as_const(means).mu(i), ws);
    fit.find(dual.s(i));
    dual.refresh(problem, i, ws);
    return static_cast<double>(fit.inferences() + 1);
  });
  return static_cast<std::size_t>(inferences);
}

// The distributions that weights imply, s_i = beta(F_i'theta + gamma p_i); where beta is infinite, of the
// finite one that has the best dual. None where that is below 0.
std::size_t imply(const Objective& objective, const Weights& theta, bool keep_marginals, Sweep& sweep,
                  std::optional<DualState>& result) {
  const Problem& problem = objective.problem;
  const Loss& loss = objective.loss;
  std::size_t inferences = 0;
  double best = 0;
  const auto at = [&](double beta) {
    DualState dual(problem, keep_marginals);
    dual.start_at(problem, theta, beta, loss.gamma);
    inferences += problem.size();
    DualValue value;
    evaluate_dual(objective, dual, value, sweep);
    if (!(value.value > best)) return;
    best = value.value;
    result.emplace(std::move(dual));
  };
  if (loss.smooth()) {
    at(loss.beta);
  } else {
    for (const double beta : kStartBetas) at(beta / loss.gamma);
  }
  return inferences;
}

// Anew in double precision: marginals that are kept, as floats, would not be those of any distribution.
MeanState means_of(const Problem& problem, const DualState& dual, Sweep& sweep) {
  MeanState means(problem);
  sweep.sum(problem.size(), [&](std::size_t i, Workspace& ws) {
    Workspace::Frame frame(ws);
    const In stored = dual.s(i);
    const auto s = frame.take<double>(stored.size());
    std::copy(stored.begin(), stored.end(), s.begin());
    return problem.log_partition(i, s, means.mu(i), ws);
  });
  return means;
}

MeanState means_of(const Problem& problem, const CliqueState& cliques) {
  MeanState means(problem);
  for (std::size_t i = 0; i < problem.size(); ++i)
    problem.factored()->rebuild(i, cliques.cliques(i), means.mu(i));
  return means;
}

std::size_t cliques_of(const Problem& problem, const DualState& dual, Sweep& sweep,
                       std::optional<CliqueState>& result) {
  result.emplace(problem);
  sweep.sum(problem.size(), [&](std::size_t i, Workspace& ws) {
    result->set_scores(problem, i, dual.s(i), ws);
    return 0.0;
  });
  return problem.size();
}

}  // namespace

std::size_t hand_over(const Objective& objective, Duals from, Duals to, const SolverSettings& settings,
                      Training& training) {
  const Problem& problem = objective.problem;
  const bool there = to == Duals::scores    ? training.dual.has_value()
                     : to == Duals::means   ? training.means.has_value()
                     : to == Duals::cliques ? training.cliques.has_value()
                                            : true;
  if (from == to && there) return 0;
  Sweep sweep(settings.threads);
  std::size_t inferences = 0;
  std::optional<DualState> dual = std::exchange(training.dual, std::nullopt);
  std::optional<MeanState> means = std::exchange(training.means, std::nullopt);
  std::optional<CliqueState> cliques = std::exchange(training.cliques, std::nullopt);
  const bool wanted =
      to != Duals::none && to != Duals::anew && !(to == Duals::cliques && !objective.loss.smooth());
  if (!wanted) return 0;
  if (!dual && !means && !cliques) {
    inferences += imply(objective, training.theta, settings.keep_marginals(), sweep, dual);
    if (!dual) return inferences;
  }
  if (to == Duals::scores && !dual) {
    dual.emplace(problem, settings.keep_marginals());
    inferences += means ? fit_all(problem, *means, settings.stopping, *dual, sweep)
                        : fit_all(problem, std::as_const(*cliques), settings.stopping, *dual, sweep);
  }
  if (to == Duals::means)
    training.means = cliques ? means_of(problem, *cliques) : means_of(problem, *dual, sweep);
  if (to == Duals::cliques) inferences += cliques_of(problem, *dual, sweep, training.cliques);
  if (to == Duals::scores) training.dual = std::move(dual);
  return inferences;
}

}  // namespace espalier
