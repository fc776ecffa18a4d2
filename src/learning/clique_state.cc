#include "learning/clique_state.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/learning/problem.h"
#include "learning/certify.h"
#include "learning/sweep.h"

namespace espalier {

CliqueState::CliqueState(const Problem& problem) : examples_(problem.size() + 1) {
  const Factored* factored = problem.factored();
  ESPALIER_EXPECT(factored);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    examples_[i + 1].cliques = examples_[i].cliques + factored->num_clique_marginals(i);
    examples_[i + 1].mu = examples_[i].mu + problem.num_statistics(i);
  }
  cliques_ = ZeroedArray<float>(examples_.back().cliques);
  marginals_ = ZeroedArray<float>(examples_.back().mu);
  start_near_gold(problem, kGoldLogOdds);
}

void CliqueState::start_near_gold(const Problem& problem, float kappa) {
  Workspace ws;
  for (std::size_t i = 0; i < size(); ++i) {
    Workspace::Frame frame(ws);
    const auto s = frame.take<float>(mu(i).size());
    std::fill(s.begin(), s.end(), 0.0f);
    problem.add_near_gold(i, kappa, s);
    set_scores(problem, i, s, ws);
  }
}

void CliqueState::set_scores(const Problem& problem, std::size_t i, In s, Workspace& ws) {
  // H = log Z - s.mu
  const double log_z = problem.factored()->clique_marginals(i, s, cliques(i), mu(i), ws);
  entropy(i) = log_z - std::inner_product(s.begin(), s.end(), mu(i).begin(), 0.0);
}

void CliqueState::restore(const Problem& problem, In all) {
  ESPALIER_EXPECT(all.size() == cliques_.size());
  std::copy(all.begin(), all.end(), cliques_.begin());
  Workspace ws;
  for (std::size_t i = 0; i < size(); ++i) {
    Workspace::Frame frame(ws);
    const auto statistics = frame.take<double>(mu(i).size());
    entropy(i) = problem.factored()->rebuild(i, std::as_const(*this).cliques(i), statistics);
    std::copy(statistics.begin(), statistics.end(), mu(i).begin());
  }
}

void CliqueState::start_at_gold(const Problem& problem) {
  const Factored& factored = *problem.factored();
  Workspace ws;
  for (std::size_t i = 0; i < size(); ++i) {
    Workspace::Frame frame(ws);
    const auto s = frame.take<float>(mu(i).size());
    const auto output = frame.take<std::uint32_t>(factored.num_cliques(i));
    std::fill(s.begin(), s.end(), 0.0f);
    problem.add_near_gold(i, kGoldLogOdds, s);
    problem.argmax(i, s, mu(i), ws);
    factored.cliques_of(i, mu(i), output);
    std::fill(cliques(i).begin(), cliques(i).end(), 0.0f);
    for (const auto c : output) cliques(i)[c] = 1;
    entropy(i) = 0;
  }
}

void CliqueState::prefetch(std::size_t i, Prefetch what) const {
  if (what == Prefetch::location) {
    __builtin_prefetch(&examples_[i]);
    return;
  }
  constexpr std::size_t kPerLine = kCacheLine / sizeof(float);
  // What follows comes by itself, once the hardware sees the stream.
  constexpr std::size_t kLines = 64;
  const In all = cliques(i), statistics = mu(i);
  for (std::size_t k = 0; k < std::min(all.size(), kLines * kPerLine); k += kPerLine)
    __builtin_prefetch(&all[k]);
  for (std::size_t k = 0; k < statistics.size(); k += kPerLine) __builtin_prefetch(&statistics[k]);
}

void evaluate_dual(const Objective& objective, const CliqueState& state, DualValue& result, Sweep& sweep) {
  const Problem& problem = objective.problem;
  const Factored& factored = *problem.factored();
  result.w = DoubleWeights(problem.weight_shape());
  result.conjugate.resize(problem.size());
  double longest = 0;
  for (std::size_t i = 0; i < problem.size(); ++i)
    longest = std::max(longest, 4.0 * static_cast<double>(factored.num_cliques(i)));
  const double sum = sweep.accumulate(problem, result.w, [&](std::size_t i, DoubleOut mu, Workspace& ws) {
    const double entropy = factored.rebuild(i, state.cliques(i), mu);
    result.conjugate[i] = entropy * objective.loss.inverse_beta();
    if (objective.loss.gamma != 0) {
      Workspace::Frame frame(ws);
      const auto cost = frame.take<double>(mu.size());
      std::fill(cost.begin(), cost.end(), 0.0);
      problem.add_cost(i, 1.0, cost);
      const double expected =
          std::inner_product(cost.begin(), cost.end(), mu.begin(), problem.cost_offset(i));
      result.conjugate[i] += objective.loss.gamma * expected;
    }
    const double omega = problem.weight(i);
    for (double& m : mu) m *= -omega;
    problem.add_gold(i, omega, mu);
    return omega * result.conjugate[i];
  });
  // Entropies of rebuilt distributions are sums of what is not negative. Each statistic is a product along
  // the clique tree.
  result.value = certain_dual(objective, sum, result.w, {longest, 0});
}

}  // namespace espalier
