// Chains of 24 labels, the length of a sentence: the kernels against the reference in logarithms. Rates are positions a
// second.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/base/workspace.h"
#include "espalier/structures/chain.h"

namespace espalier::bench {
namespace {

constexpr std::size_t kLength = 24;

// Few labels, those of CoNLL-2000, and a large set of tags.
void widths(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("width")->Arg(4)->Arg(9)->Arg(22)->Arg(50);
}

template <class Real>
std::vector<Real> random_scores(const Chain& chain) {
  Random random(1);
  std::vector<Real> s(chain.num_statistics());
  for (Real& x : s) x = static_cast<Real>(6 * random.uniform() - 3);
  return s;
}

void count(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kLength));
}

template <class Real, bool scalar>
void log_partition(benchmark::State& state) {
  const Chain chain(kLength, static_cast<std::size_t>(state.range(0)));
  const auto s = random_scores<Real>(chain);
  std::vector<Real> mu(s.size());
  Workspace ws;
  for (auto _ : state) {
    if constexpr (scalar) {
      benchmark::DoNotOptimize(chain.log_partition_reference(s, mu, ws));
    } else {
      benchmark::DoNotOptimize(chain.log_partition(std::span<const Real>(s), std::span<Real>(mu), ws));
    }
    benchmark::ClobberMemory();
  }
  count(state);
}

void decode(benchmark::State& state) {
  const Chain chain(kLength, static_cast<std::size_t>(state.range(0)));
  const auto s = random_scores<float>(chain);
  std::vector<std::uint32_t> y(kLength);
  Workspace ws;
  for (auto _ : state) {
    benchmark::DoNotOptimize(chain.decode_into(std::span<const float>(s), y, ws));
    benchmark::ClobberMemory();
  }
  count(state);
}

BENCHMARK(log_partition<float, false>)->Name("chain_marginals/float")->Apply(widths);
BENCHMARK(log_partition<double, true>)->Name("chain_marginals/float/scalar")->Apply(widths);
BENCHMARK(log_partition<double, false>)->Name("chain_marginals/double")->Apply(widths);
BENCHMARK(log_partition<double, true>)->Name("chain_marginals/double/scalar")->Apply(widths);
BENCHMARK(decode)->Name("chain_best/float")->Apply(widths);

}  // namespace
}  // namespace espalier::bench
