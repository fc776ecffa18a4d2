// Derivations by a random grammar of about the size of a treebank's, over sentences of 10 to 80 words: what
// pruning, packing and inference take. Rates are sentences a second.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "espalier/base/workspace.h"
#include "features/span_features.h"
#include "structures/cfg.h"
#include "structures/pcfg_pruner.h"

namespace espalier::bench {
namespace {

void lengths(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("words")->Arg(10)->Arg(20)->Arg(40)->Arg(80);
}

// 40 tags, 50 phrases with a label each, and rules in which some symbols are much more frequent than others.
// Every sentence has a derivation.
Grammar random_grammar() {
  constexpr std::uint32_t kTags = 40, kPhrases = 50;
  constexpr std::size_t kBinaries = 1500, kUnaries = 130;
  Random random(1);
  const auto draw = [&](std::uint32_t first, std::uint32_t size) {
    const double skewed = random.uniform() * random.uniform();
    return first + static_cast<std::uint32_t>(skewed * size);
  };
  Grammar grammar;
  grammar.num_tags = kTags;
  grammar.num_symbols = kTags + kPhrases + 1;
  grammar.start = kTags + kPhrases;
  grammar.num_labels = grammar.num_constituents = kPhrases;
  grammar.labels.assign(grammar.num_symbols, kNoLabel);
  for (std::uint32_t a = 0; a < kPhrases; ++a) grammar.labels[kTags + a] = a;
  const auto child = [&] { return random.uniform() < 0.3 ? draw(0, kTags) : draw(kTags, kPhrases); };
  for (std::size_t r = 0; r < kBinaries; ++r) {
    const std::uint32_t left = child();
    grammar.binaries.push_back({draw(kTags, kPhrases), left, child()});
  }
  grammar.binaries.push_back({kTags, kTags, kTags});
  for (std::size_t r = 0; r < kUnaries; ++r) {
    const std::uint32_t below = child();
    grammar.unaries.push_back({draw(kTags, kPhrases), below, {}});
  }
  for (std::uint32_t a = 0; a < kTags; ++a) grammar.unaries.push_back({kTags, a, {}});
  grammar.unaries.push_back({grammar.start, kTags, {}});
  return grammar;
}

// The grammar, its rules as the pruner wants them, and one sentence.
struct Sentence {
  explicit Sentence(std::size_t length)
      : index(random_grammar()), pruner(index.grammar(), binaries(), unaries()) {
    Random random(2);
    for (std::size_t t = 0; t < length; ++t) {
      const auto tag = static_cast<std::uint32_t>(random.below(index.grammar().num_tags));
      tags.push_back({tag});
      words.push_back(span_word("word" + std::to_string(random.below(5000)), std::to_string(tag)));
    }
  }
  // Of a skewed distribution.
  std::vector<PcfgPruner::Binary> binaries() const {
    Random random(3);
    std::vector<PcfgPruner::Binary> list;
    for (const auto& rule : index.grammar().binaries) {
      const double p = random.uniform();
      list.push_back({rule.parent, rule.left, rule.right, p * p * p * p * 0.1});
    }
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.parent < b.parent; });
    return list;
  }
  std::vector<PcfgPruner::Unary> unaries() const {
    std::vector<PcfgPruner::Unary> list;
    for (const auto& rule : index.grammar().unaries) list.push_back({rule.parent, rule.child, 0.005});
    return list;
  }
  Cfg forest() {
    const SpanMask mask = pruner.mask(tags, 1e-4, ws);
    return Cfg(index, tags, &mask);
  }

  Workspace ws;
  GrammarIndex index;
  PcfgPruner pruner;
  TagSets tags;
  std::vector<SpanWord> words;
};

std::vector<float> random_scores(std::size_t n) {
  Random random(1);
  std::vector<float> s(n);
  for (float& x : s) x = static_cast<float>(6 * random.uniform() - 3);
  return s;
}

void prune(benchmark::State& state) {
  Sentence sentence(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(sentence.pruner.mask(sentence.tags, 1e-4, sentence.ws));
  state.SetItemsProcessed(state.iterations());
}

void pack(benchmark::State& state) {
  Sentence sentence(static_cast<std::size_t>(state.range(0)));
  const SpanMask mask = sentence.pruner.mask(sentence.tags, 1e-4, sentence.ws);
  for (auto _ : state) benchmark::DoNotOptimize(Cfg(sentence.index, sentence.tags, &mask).num_statistics());
  state.SetItemsProcessed(state.iterations());
}

template <bool kBest>
void infer(benchmark::State& state) {
  Sentence sentence(static_cast<std::size_t>(state.range(0)));
  const Cfg forest = sentence.forest();
  const auto s = random_scores(forest.num_statistics());
  std::vector<float> mu(s.size());
  for (auto _ : state) {
    const std::span<const float> in(s);
    benchmark::DoNotOptimize(kBest ? forest.argmax(in, std::span(mu), sentence.ws)
                                   : forest.log_partition(in, std::span(mu), sentence.ws));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["edges"] = static_cast<double>(forest.num_edges());
}

void score(benchmark::State& state) {
  Sentence sentence(static_cast<std::size_t>(state.range(0)));
  const Cfg forest = sentence.forest();
  const CfgFeatures features(sentence.index, {});
  const Weights w(features.weight_shape());
  std::vector<float> s(forest.num_statistics());
  for (auto _ : state) {
    features.score(sentence.words, forest, w.row(0), 1.0f, std::span(s), sentence.ws);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(prune)->Name("grammar/prune")->Apply(lengths);
BENCHMARK(pack)->Name("grammar/pack")->Apply(lengths);
BENCHMARK(infer<false>)->Name("grammar/marginals")->Apply(lengths);
BENCHMARK(infer<true>)->Name("grammar/best")->Apply(lengths);
BENCHMARK(score)->Name("grammar/features")->Apply(lengths);

}  // namespace
}  // namespace espalier::bench
