#include "solvers/hand_over.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "espalier/learning/certificate.h"

namespace espalier {
namespace {

// How much of the uniform distribution is mixed in: EG cannot leave zero.
constexpr float kUniform = 1e-4f;
// Inferences for each example, at most, to find scores for its statistics.
constexpr int kMostRounds = 20;
// As close as floats come, for what statistics add up to.
constexpr double kClose = 1e-5;

// Scores whose distribution has the expected statistics mu, so nearly as a few rounds find them: those that maximise
// s.mu - log Z(s). They exist where mu is inside the set of expected statistics, also where statistics are tied, and log
// conditionals of cliques would not fit them. s_k += rho log(mu_k / E_k) finds them at once, with rho = 1, where an output has one
// statistic that is 1, and always for small rho (generalised iterative scaling): rho adapts. Returns the inferences.
std::size_t fit_scores(const Problem& problem, std::size_t i, In means, Out s, Workspace& ws) {
  const std::size_t length = means.size();
  Workspace::Frame frame(ws);
  const auto target = frame.take<float>(length), expected = frame.take<float>(length),
             tried = frame.take<float>(length);
  std::fill(s.begin(), s.end(), 0.0f);
  problem.log_partition(i, s, target, ws);
  std::transform(means.begin(), means.end(), target.begin(), target.begin(), [](float mean, float uniform) {
    return (1 - kUniform) * std::max(mean, 0.0f) + kUniform * uniform;
  });
  const auto move = [&](Out to, float rho) {
    for (std::size_t k = 0; k < length; ++k) {
      // Where the uniform distribution has nothing, no output has the statistic.
      constexpr float kTiny = 1e-30f;
      const bool possible = target[k] > 0 && expected[k] > kTiny;
      to[k] = s[k] + (possible ? rho * std::log(target[k] / expected[k]) : 0.0f);
    }
  };
  const auto value = [&](In scores, double log_z) {
    double sum = -log_z;
    for (std::size_t k = 0; k < length; ++k) sum += static_cast<double>(scores[k]) * target[k];
    return sum;
  };
  std::fill(expected.begin(), expected.end(), 1.0f);
  move(s, 1);
  double best = value(s, problem.log_partition(i, s, expected, ws));
  std::size_t inferences = 2;
  float rho = 1;
  const auto distance = [&] {
    double sum = 0;
    for (std::size_t k = 0; k < length; ++k) sum += std::abs(static_cast<double>(target[k]) - expected[k]);
    return sum;
  };
  const auto better = frame.take<float>(length);
  for (int round = 1; round < kMostRounds && distance() > kClose; ++round) {
    move(tried, rho);
    const double now = value(tried, problem.log_partition(i, tried, better, ws));
    ++inferences;
    if (now > best) {
      best = now;
      std::copy(tried.begin(), tried.end(), s.begin());
      std::copy(better.begin(), better.end(), expected.begin());
      rho *= 1.5f;
    } else {
      rho /= 2;
    }
  }
  return inferences;
}

// Of the means of every example.
template <class Means>
std::size_t fit_all(const Problem& problem, const Means& means, DualState& dual, Sweep& sweep) {
  const double inferences = sweep.sum(problem.size(), [&](std::size_t i, Workspace& ws) {
    const std::size_t fitted = fit_scores(problem, i, means.mu(i), dual.s(i), ws);
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
