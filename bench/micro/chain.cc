// Chains of 24 labels, the length of a sentence: the kernels against the reference in logarithms. Rates are
// positions a second.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "espalier/base/workspace.h"
#include "structures/chain.h"

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

// The n-grams of up to `longest` labels that one meets in a text the size of CoNLL-2000 (which has 145 pairs,
// 762 triples and 2848 quadruples of 22 labels), drawn from a chain where each label is followed by 1 to 14
// others.
LabelNgrams observed_in_text(std::size_t labels, std::size_t longest) {
  constexpr std::size_t kTokens = 200000;
  Random random(2);
  std::vector<std::vector<std::uint32_t>> followers(labels);
  for (std::size_t i = 0; i < labels; ++i) {
    for (std::size_t k = 0; k <= i * 14 / labels; ++k)
      followers[i].push_back(static_cast<std::uint32_t>(random.below(labels)));
  }
  std::vector<std::uint32_t> text = {0};
  while (text.size() < kTokens) {
    const auto& next = followers[text.back()];
    const double u = random.uniform();
    text.push_back(next[static_cast<std::size_t>(u * u * u * u * static_cast<double>(next.size()))]);
  }
  const std::vector<std::size_t> offsets = {0, kTokens};
  return observed_ngrams(text, offsets, labels, 2, longest);
}

// A tenth of all pairs of many labels.
LabelNgrams some_pairs(std::size_t labels) {
  Random random(3);
  std::vector<std::vector<std::uint32_t>> pairs;
  for (std::uint32_t i = 0; i < labels; ++i) {
    for (std::uint32_t j = 0; j < labels; ++j) {
      if (random.uniform() < 0.1) pairs.push_back({i, j});
    }
  }
  return {labels, pairs};
}

template <class Real, bool scalar>
void log_partition_of(benchmark::State& state, const Chain& chain) {
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

void decode_of(benchmark::State& state, const Chain& chain) {
  const auto s = random_scores<float>(chain);
  std::vector<std::uint32_t> y(kLength);
  Workspace ws;
  for (auto _ : state) {
    benchmark::DoNotOptimize(chain.decode_into(std::span<const float>(s), y, ws));
    benchmark::ClobberMemory();
  }
  count(state);
}

template <class Real, bool scalar>
void log_partition(benchmark::State& state) {
  log_partition_of<Real, scalar>(state, Chain(kLength, static_cast<std::size_t>(state.range(0))));
}

void decode(benchmark::State& state) {
  decode_of(state, Chain(kLength, static_cast<std::size_t>(state.range(0))));
}

// Chains of an order above 1 have no table: n-grams of all lengths stand for it.
template <std::size_t order, class Real, bool scalar>
void log_partition_of_order(benchmark::State& state) {
  const auto labels = static_cast<std::size_t>(state.range(0));
  const LabelNgrams ngrams = observed_in_text(labels, order + 1);
  log_partition_of<Real, scalar>(state, Chain(kLength, labels, {}, 0, nullptr, &ngrams));
}

template <std::size_t order>
void decode_of_order(benchmark::State& state) {
  const auto labels = static_cast<std::size_t>(state.range(0));
  const LabelNgrams ngrams = observed_in_text(labels, order + 1);
  decode_of(state, Chain(kLength, labels, {}, 0, nullptr, &ngrams));
}

void log_partition_of_pairs(benchmark::State& state) {
  const auto labels = static_cast<std::size_t>(state.range(0));
  const LabelNgrams ngrams = some_pairs(labels);
  log_partition_of<float, false>(state, Chain(kLength, labels, {}, 0, nullptr, &ngrams));
}

void of_text(benchmark::internal::Benchmark* benchmark) { benchmark->ArgName("width")->Arg(22); }
void many(benchmark::internal::Benchmark* benchmark) { benchmark->ArgName("width")->Arg(300); }

BENCHMARK(log_partition<float, false>)->Name("chain_marginals/float")->Apply(widths);
BENCHMARK(log_partition<double, true>)->Name("chain_marginals/float/scalar")->Apply(widths);
BENCHMARK(log_partition<double, false>)->Name("chain_marginals/double")->Apply(widths);
BENCHMARK(log_partition<double, true>)->Name("chain_marginals/double/scalar")->Apply(widths);
BENCHMARK(decode)->Name("chain_best/float")->Apply(widths);
BENCHMARK(log_partition<float, false>)->Name("chain_marginals/float")->Apply(many);
BENCHMARK(log_partition_of_pairs)->Name("chain_of_pairs_marginals/float")->Apply(many);
BENCHMARK(log_partition_of_order<1, float, false>)->Name("chain_of_order_1_marginals/float")->Apply(of_text);
BENCHMARK(log_partition_of_order<2, float, false>)->Name("chain_of_order_2_marginals/float")->Apply(of_text);
BENCHMARK(log_partition_of_order<2, double, true>)
    ->Name("chain_of_order_2_marginals/float/scalar")
    ->Apply(of_text);
BENCHMARK(log_partition_of_order<3, float, false>)->Name("chain_of_order_3_marginals/float")->Apply(of_text);
BENCHMARK(decode_of_order<2>)->Name("chain_of_order_2_best/float")->Apply(of_text);
BENCHMARK(decode_of_order<3>)->Name("chain_of_order_3_best/float")->Apply(of_text);

}  // namespace
}  // namespace espalier::bench
