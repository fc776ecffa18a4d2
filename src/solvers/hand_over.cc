#include "solvers/hand_over.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "espalier/learning/certificate.h"
#include "kernels/vectors.h"

namespace espalier {
namespace {

// How much of the uniform distribution is mixed in: EG cannot leave zero.
constexpr float kUniform = 1e-4f;
// How far expected statistics may be from those that are sought, all together: KCLOSE
constexpr double kClose = 1e-3;

// Scores whose distribution has the expected statistics mu, so nearly as a few rounds find them: those that maximise
// s.mu - log Z(s). They exist where mu is inside the set of expected statistics, also where statistics are tied, and log
// conditionals of cliques would not fit them. They begin as log mu, which is right where an output has one statistic that is 1,
// and go on with s_k += rho log(mu_k / E_k), generalised iterative scaling, with a step that adapts and with momentum: on random
// chains, 20 rounds with it lost half of the dual that 20 without it did.
class Fit {
 public:
  Fit(const Problem& problem, std::size_t i, std::size_t length, Workspace& ws)
      : problem_(problem),
        i_(i),
        ws_(ws),
        frame_(ws),
        target_(frame_.take<float>(length)),
        expected_(frame_.take<float>(length)),
        tried_(frame_.take<float>(length)),
        its_expected_(frame_.take<float>(length)),
        last_move_(frame_.take<float>(length)) {}

  // Returns the inferences.
  std::size_t find(In means, Out s) {
    set_target(means, s);
    for (std::size_t k = 0; k < s.size(); ++k) s[k] = target_[k] > 0 ? std::log(target_[k]) : 0;
    std::fill(last_move_.begin(), last_move_.end(), 0.0f);
    double best = value(s, problem_.log_partition(i_, s, expected_, ws_));
    std::size_t inferences = 2;
    float rho = kFirstStep;
    for (int round = 0; round < kMostRounds && distance() > kClose; ++round) {
      try_step(s, rho);
      const double now = value(tried_, problem_.log_partition(i_, tried_, its_expected_, ws_));
      ++inferences;
      if (now > best) {
        best = now;
        std::transform(tried_.begin(), tried_.end(), s.begin(), last_move_.begin(), std::minus<>());
        std::copy(tried_.begin(), tried_.end(), s.begin());
        std::swap(expected_, its_expected_);
        rho *= 1.5f;
      } else {
        std::fill(last_move_.begin(), last_move_.end(), 0.0f);
        rho /= 2;
      }
    }
    return inferences;
  }

 private:
  static constexpr float kFirstStep = 0.3f, kMomentum = 0.7f;
  static constexpr int kMostRounds = 20;

  void set_target(In means, Out s) {
    std::fill(s.begin(), s.end(), 0.0f);
    problem_.log_partition(i_, s, target_, ws_);
    for (std::size_t k = 0; k < s.size(); ++k)
      target_[k] = (1 - kUniform) * std::max(means[k], 0.0f) + kUniform * target_[k];
  }

  void try_step(In s, float rho) {
    constexpr float kTiny = 1e-30f;
    for (std::size_t k = 0; k < s.size(); ++k) {
      // Where the uniform distribution has nothing, no output has the statistic.
      const bool possible = target_[k] > 0 && expected_[k] > kTiny;
      const float step = possible ? rho * std::log(target_[k] / expected_[k]) : 0.0f;
      tried_[k] = s[k] + step + kMomentum * last_move_[k];
    }
  }

  double value(In s, double log_z) const { return kernels::dot(s.data(), target_.data(), s.size()) - log_z; }

  double distance() const {
    double sum = 0;
    for (std::size_t k = 0; k < target_.size(); ++k)
      sum += std::abs(static_cast<double>(target_[k]) - expected_[k]);
    return sum;
  }

  const Problem& problem_;
  std::size_t i_;
  Workspace& ws_;
  Workspace::Frame frame_;
  std::span<float> target_, expected_;  // the statistics that are sought, and those of s
  std::span<float> tried_, its_expected_, last_move_;
};

// Of the means of every example.
template <class Means>
std::size_t fit_all(const Problem& problem, const Means& means, DualState& dual, Sweep& sweep) {
  const double inferences = sweep.sum(problem.size(), [&](std::size_t i, Workspace& ws) {
    const std::size_t fitted = Fit(problem, i, dual.s(i).size(), ws).find(means.mu(i), dual.s(i));
    dual.refresh(problem, i, ws);
    return static_cast<double>(fitted + 1);
  });
  return static_cast<std::size_t>(inferences);
}

// The distributions that weights imply, s_i = beta(F_i'theta + gamma p_i); where beta is infinite, of the finite one that has the
// best dual. None where that is below 0.
std::size_t imply(const Objective& objective, const Weights& theta, bool keep_marginals, Sweep& sweep,
                  std::optional<DualState>& result) {
  constexpr double kBetas[] = {10, 30, 100, 300, 1000};
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
    for (const double beta : kBetas) at(beta / loss.gamma);
  }
  return inferences;
}

MeanState means_of(const Problem& problem, const DualState& dual, Sweep& sweep) {
  MeanState means(problem);
  sweep.sum(problem.size(), [&](std::size_t i, Workspace& ws) {
    Workspace::Frame frame(ws);
    const In mu = dual.mu(problem, i, frame, ws);
    std::copy(mu.begin(), mu.end(), means.mu(i).begin());
    return 0.0;
  });
  return means;
}

MeanState means_of(const Problem& problem, const CliqueState& cliques) {
  MeanState means(problem);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const In mu = cliques.mu(i);
    std::copy(mu.begin(), mu.end(), means.mu(i).begin());
  }
  return means;
}

std::size_t cliques_of(const Problem& problem, const DualState& dual, Sweep& sweep,
                       std::optional<CliqueState>& result) {
  result.emplace(problem);
  sweep.sum(problem.size(), [&](std::size_t i, Workspace& ws) {
    problem.factored()->clique_marginals(i, dual.s(i), result->cliques(i), result->mu(i), ws);
    result->entropy(i) = problem.factored()->entropy_along(i, result->means(i), result->means(i), 0).value;
    return 0.0;
  });
  return problem.size();
}

}  // namespace

std::size_t hand_over(const Objective& objective, Duals from, Duals to, const SolverSettings& settings,
                      Training& training) {
  const Problem& problem = objective.problem;
  if (from == to) return 0;
  Sweep sweep(settings.threads);
  std::size_t inferences = 0;
  std::optional<DualState> dual = std::exchange(training.dual, std::nullopt);
  std::optional<MeanState> means = std::exchange(training.means, std::nullopt);
  std::optional<CliqueState> cliques = std::exchange(training.cliques, std::nullopt);
  const bool wanted = to != Duals::none && !(to == Duals::cliques && !objective.loss.smooth());
  if (!wanted) return 0;
  if (!dual && !means && !cliques) {
    inferences += imply(objective, training.theta, settings.keep_marginals, sweep, dual);
    if (!dual) return inferences;
  }
  if (to == Duals::scores && !dual) {
    dual.emplace(problem, settings.keep_marginals);
    inferences += means ? fit_all(problem, *means, *dual, sweep)
                        : fit_all(problem, std::as_const(*cliques), *dual, sweep);
  }
  if (to == Duals::scores) training.dual = std::move(dual);
  if (to == Duals::means)
    training.means = cliques ? means_of(problem, *cliques) : means_of(problem, *dual, sweep);
  if (to == Duals::cliques) inferences += cliques_of(problem, *dual, sweep, training.cliques);
  return inferences;
}

}  // namespace espalier
