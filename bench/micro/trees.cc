// Dependency trees over sentences of 10 to 80 words. Rates are sentences a second.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/base/workspace.h"
#include "espalier/structures/projective.h"

namespace espalier::bench {
namespace {

void lengths(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("words")->Arg(10)->Arg(20)->Arg(40)->Arg(80);
}

std::vector<double> random_scores(std::size_t n) {
  Random random(1);
  std::vector<double> s(n);
  for (double& x : s) x = 6 * random.uniform() - 3;
  return s;
}

template <auto log_partition>
void marginals(benchmark::State& state) {
  const auto words = static_cast<std::size_t>(state.range(0));
  const auto s = random_scores(arc_matrix_size(words));
  std::vector<double> mu(s.size());
  Workspace ws;
  for (auto _ : state) {
    benchmark::DoNotOptimize(log_partition(words, true, s, mu, ws));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

template <auto best>
void decode(benchmark::State& state) {
  const auto words = static_cast<std::size_t>(state.range(0));
  const auto s = random_scores(arc_matrix_size(words));
  std::vector<std::uint32_t> heads(words);
  Workspace ws;
  for (auto _ : state) {
    benchmark::DoNotOptimize(best(words, true, s, heads, ws));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

// Scores and probabilities of pairs: siblings alone, or grandparents as well.
struct Pairs {
  std::vector<double> arcs, siblings, grandparents;
  Pairs(std::size_t words, bool with_grandparents)
      : arcs(random_scores(arc_matrix_size(words))),
        siblings(random_scores((words + 1) * arcs.size())),
        grandparents(random_scores(with_grandparents ? siblings.size() : 0)) {}
};

template <bool with_grandparents>
void marginals_of_pairs(benchmark::State& state) {
  const auto words = static_cast<std::size_t>(state.range(0));
  const Pairs s(words, with_grandparents);
  Pairs mu = s;
  Workspace ws;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        projective_log_partition(words, true, SecondOrder<const double>{s.arcs, s.siblings, s.grandparents},
                                 SecondOrder<double>{mu.arcs, mu.siblings, mu.grandparents}, ws));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

template <bool with_grandparents>
void decode_pairs(benchmark::State& state) {
  const auto words = static_cast<std::size_t>(state.range(0));
  const Pairs s(words, with_grandparents);
  std::vector<std::uint32_t> heads(words);
  Workspace ws;
  for (auto _ : state) {
    benchmark::DoNotOptimize(projective_best(
        words, true, SecondOrder<const double>{s.arcs, s.siblings, s.grandparents}, heads, ws));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

using LogPartition = double (*)(std::size_t, bool, std::span<const double>, std::span<double>, Workspace&);
using Best = double (*)(std::size_t, bool, std::span<const double>, Heads, Workspace&);

BENCHMARK(marginals<static_cast<LogPartition>(projective_log_partition)>)
    ->Name("tree/projective_marginals")
    ->Apply(lengths);
BENCHMARK(marginals<static_cast<LogPartition>(projective_log_partition_reference)>)
    ->Name("tree/projective_marginals_in_logarithms")
    ->Apply(lengths);
BENCHMARK(decode<static_cast<Best>(projective_best)>)->Name("tree/projective_best")->Apply(lengths);
BENCHMARK(marginals_of_pairs<false>)->Name("tree/projective_sibling_marginals")->Apply(lengths);
BENCHMARK(decode_pairs<false>)->Name("tree/projective_sibling_best")->Apply(lengths);
BENCHMARK(marginals_of_pairs<true>)->Name("tree/projective_grandparent_marginals")->Apply(lengths);
BENCHMARK(decode_pairs<true>)->Name("tree/projective_grandparent_best")->Apply(lengths);

}  // namespace
}  // namespace espalier::bench
