// What training spends its time on, per example: visits of EG and certificates, on digits like those of
// MNIST.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"
#include "digits.h"
#include "espalier/learning/certificate.h"
#include "espalier/solvers/eg.h"
#include "learning/multiclass_problem.h"

namespace espalier::bench {
namespace {

constexpr std::size_t kExamples = 4000, kLabels = 10;
constexpr double kL2 = 1;

// Labels that a linear teacher gives, so that there is something to learn.
class Digits {
 public:
  Digits() : problem_(make()) {}
  Objective objective() const { return {problem_, Loss::crf(), kL2}; }

 private:
  MulticlassExamples make() {
    Random random(1);
    std::vector<double> teacher(kPixels * kLabels);
    for (double& weight : teacher) weight = 2 * random.uniform() - 1;
    std::vector<std::uint32_t> gold;
    for (std::size_t i = 0; i < kExamples; ++i) {
      append_digit(random, rows_);
      const auto row = rows_.row(i);
      std::vector<double> scores(kLabels);
      for (std::size_t j = 0; j < row.ids.size(); ++j) {
        for (std::size_t k = 0; k < kLabels; ++k)
          scores[k] += row.value(j) * teacher[row.ids[j] * kLabels + k];
      }
      gold.push_back(
          static_cast<std::uint32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin()));
    }
    return {rows_, kPixels, std::move(gold), kLabels};
  }

  SparseRows rows_;
  MulticlassProblem problem_;
};

// The seconds of training that the run reports: its certificates are left out, its start is not.
void eg_visit(benchmark::State& state) {
  const Digits digits;
  EgOptions options;
  options.stopping.gap = 0;
  options.stopping.passes = 20;
  options.report_every = options.stopping.passes;
  double visits = 0;
  for (auto _ : state) {
    const Objective objective = digits.objective();
    DualState dual(objective.problem);
    Weights theta;
    const Summary summary = eg(objective, options, dual, theta);
    state.SetIterationTime(summary.history.back().seconds);
    visits += summary.history.back().passes * kExamples;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(visits));
}
BENCHMARK(eg_visit)->UseManualTime()->Unit(benchmark::kMillisecond);

void certify_example(benchmark::State& state) {
  const Digits digits;
  const Objective objective = digits.objective();
  EgOptions options;
  DualState dual(objective.problem);
  Weights theta;
  eg(objective, options, dual, theta);
  for (auto _ : state) benchmark::DoNotOptimize(certify(objective, theta, dual));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kExamples));
}
BENCHMARK(certify_example)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace espalier::bench
