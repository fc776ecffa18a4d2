// Dependency trees over sentences of 10 to 80 words, and the features of their arcs. Rates are sentences a
// second.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "espalier/base/memory.h"
#include "espalier/base/workspace.h"
#include "features/arc_features.h"
#include "structures/nonprojective.h"
#include "structures/projective.h"

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

// Words of a vocabulary of thousands, with some tens of tags: weights are met as in a treebank, most of them
// not in the cache.
struct Sentences {
  static constexpr std::size_t kSentences = 256;
  static constexpr unsigned kHashBits = 22;
  std::vector<std::vector<WordAtoms>> sentences{kSentences};
  ArcFeatures features{arc_templates(), kHashBits};
  AlignedVector<float> w = AlignedVector<float>(features.num_weights());

  explicit Sentences(std::size_t words) {
    Random random(1);
    for (auto& sentence : sentences) {
      for (std::size_t i = 0; i < words; ++i) {
        const double u = random.uniform();
        const auto word = static_cast<int>(5000 * u * u * u);  // a few are frequent
        const std::string form = fmt::format("{}word", word), fine = fmt::format("{}", word % 40);
        sentence.push_back(word_atoms(form, form, fmt::format("{}", word % 15), fine, "_"));
      }
    }
  }
};

void score_arcs(benchmark::State& state) {
  const auto words = static_cast<std::size_t>(state.range(0));
  const Sentences data(words);
  const ArcSet arcs(words);
  std::vector<float> s(arcs.size());
  Workspace ws;
  std::size_t i = 0;
  for (auto _ : state) {
    data.features.score(data.sentences[i], arcs, data.w.data(), 1.0f, std::span(s), ws);
    i = (i + 1) % data.sentences.size();
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

void accumulate_arcs(benchmark::State& state) {
  const auto words = static_cast<std::size_t>(state.range(0));
  Sentences data(words);
  const ArcSet arcs(words);
  const std::vector<float> delta(arcs.size(), 1e-3f);
  Workspace ws;
  std::size_t i = 0;
  for (auto _ : state) {
    data.features.accumulate(data.sentences[i], arcs, std::span(delta), 0.0f, WeightsSink(data.w.data()), ws);
    i = (i + 1) % data.sentences.size();
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
BENCHMARK(marginals<nonprojective_log_partition>)->Name("tree/nonprojective_marginals")->Apply(lengths);
BENCHMARK(decode<nonprojective_best>)->Name("tree/nonprojective_best")->Apply(lengths);
BENCHMARK(marginals_of_pairs<false>)->Name("tree/projective_sibling_marginals")->Apply(lengths);
BENCHMARK(decode_pairs<false>)->Name("tree/projective_sibling_best")->Apply(lengths);
BENCHMARK(marginals_of_pairs<true>)->Name("tree/projective_grandparent_marginals")->Apply(lengths);
BENCHMARK(decode_pairs<true>)->Name("tree/projective_grandparent_best")->Apply(lengths);
BENCHMARK(score_arcs)->Name("tree/features_score")->Apply(lengths);
BENCHMARK(accumulate_arcs)->Name("tree/features_accumulate")->Apply(lengths);

}  // namespace
}  // namespace espalier::bench
