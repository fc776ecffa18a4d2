#include "structures/pcfg_pruner.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "support/all_outputs.h"
#include "support/random_grammar.h"

namespace espalier::pcfg_pruner_test {
namespace {

using test_support::OwnedCfg;
using test_support::random_grammar;
using test_support::random_tags;

// Sentences of a random grammar, each with some of its derivations.
struct Drawn {
  std::shared_ptr<const GrammarIndex> index;
  std::vector<TagSets> tags;
  std::vector<Derivation> derivations;
};

Drawn draw_treebank() {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  Drawn drawn{std::make_shared<const GrammarIndex>(random_grammar(random)), {}, {}};
  while (drawn.tags.size() < 4) {
    const TagSets tags =
        random_tags(random, test_support::draw(random, 1, 4), drawn.index->grammar().num_tags);
    const Cfg forest(*drawn.index, tags);
    if (!forest.possible()) continue;
    drawn.tags.push_back(tags);
    const std::vector<double> zero(forest.num_statistics(), 0.0);
    for (const auto& ranked : forest.kbest(zero, 3)) drawn.derivations.push_back(ranked.output);
  }
  return drawn;
}

std::uint32_t coarse(const Grammar& grammar, std::uint32_t symbol) {
  if (symbol < grammar.num_tags) return symbol;
  if (symbol == grammar.start) return grammar.num_tags + grammar.num_labels;
  return grammar.labels[symbol] == kNoLabel ? grammar.num_tags + grammar.num_labels + 1
                                            : grammar.num_tags + grammar.labels[symbol];
}

// A grammar with one symbol for each coarse one, for which Cfg has the probabilities.
Grammar coarse_grammar(const Grammar& fine, const PcfgPruner& pruner) {
  Grammar grammar;
  grammar.num_tags = fine.num_tags;
  grammar.num_symbols = fine.num_tags + fine.num_labels + 2;
  grammar.start = grammar.num_symbols - 2;
  grammar.num_labels = fine.num_labels + 2;
  grammar.labels.assign(grammar.num_symbols, kNoLabel);
  for (const auto& rule : pruner.binaries()) grammar.binaries.push_back({rule.parent, rule.left, rule.right});
  for (const auto& rule : pruner.unaries()) grammar.unaries.push_back({rule.parent, rule.child, {}});
  return grammar;
}

// Probabilities of symbols over spans, as bottom and as top ones, by enumeration.
struct Probabilities {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, double> bottom, top;
};

Probabilities probabilities(const Grammar& grammar, const PcfgPruner& pruner, const TagSets& tags) {
  std::vector<double> same(grammar.num_symbols, 1);
  for (const auto& rule : pruner.unaries()) same[rule.parent] -= rule.probability;
  Probabilities p;
  double z = 0;
  for (const Derivation& y : test_support::DerivationList(grammar, tags, nullptr).all()) {
    double of_y = 1;
    for (const auto& node : y.nodes) {
      const bool word = node.end - node.begin == 1;
      const std::uint32_t bottom = word ? node.rule : grammar.binaries[node.rule].parent;
      if (!word) of_y *= pruner.binaries()[node.rule].probability;
      of_y *= node.unary == kNoRule ? std::max(same[bottom], 1e-6) : pruner.unaries()[node.unary].probability;
    }
    z += of_y;
    for (const auto& node : y.nodes) {
      const bool word = node.end - node.begin == 1;
      const std::uint32_t bottom = word ? node.rule : grammar.binaries[node.rule].parent;
      p.bottom[{bottom, node.begin, node.end}] += of_y;
      p.top[{node.unary == kNoRule ? bottom : grammar.unaries[node.unary].parent, node.begin, node.end}] +=
          of_y;
    }
  }
  for (auto& [key, value] : p.bottom) value /= z;
  for (auto& [key, value] : p.top) value /= z;
  return p;
}

RC_GTEST_PROP(PcfgPruner, AllowsWhatIsLikelyByEnumeration, ()) {
  const Drawn drawn = draw_treebank();
  const Grammar& grammar = drawn.index->grammar();
  const PcfgPruner pruner(grammar, drawn.derivations);
  const Grammar by_labels = coarse_grammar(grammar, pruner);
  const double threshold = *rc::gen::element(0.0, 1e-3, 0.1, 0.5);
  Workspace ws;
  for (const TagSets& tags : drawn.tags) {
    const SpanMask mask = pruner.mask(tags, threshold, ws);
    Probabilities p = probabilities(by_labels, pruner, tags);
    for (std::uint32_t end = 1; end <= tags.size(); ++end) {
      for (std::uint32_t begin = 0; begin < end; ++begin) {
        for (std::uint32_t symbol = grammar.num_tags; symbol < grammar.num_symbols; ++symbol) {
          const std::uint32_t of = coarse(grammar, symbol);
          const double likely = std::max(p.bottom[{of, begin, end}], p.top[{of, begin, end}]);
          // Parts that are far below the threshold are left out of sums.
          if (mask.allows(symbol, begin, end)) RC_ASSERT(likely >= threshold * (1 - 1e-9));
          if (likely > 2 * threshold) RC_ASSERT(mask.allows(symbol, begin, end));
        }
      }
    }
  }
}

RC_GTEST_PROP(PcfgPruner, IsTheSameFromItsRules, ()) {
  const Drawn drawn = draw_treebank();
  const Grammar& grammar = drawn.index->grammar();
  const PcfgPruner pruner(grammar, drawn.derivations), again(grammar, pruner.binaries(), pruner.unaries());
  Workspace ws;
  for (const TagSets& tags : drawn.tags) {
    const SpanMask a = pruner.mask(tags, 0.01, ws), b = again.mask(tags, 0.01, ws);
    for (std::size_t end = 1; end <= tags.size(); ++end) {
      for (std::size_t begin = 0; begin < end; ++begin) {
        for (std::uint32_t symbol = 0; symbol < grammar.num_symbols; ++symbol)
          RC_ASSERT(a.allows(symbol, begin, end) == b.allows(symbol, begin, end));
      }
    }
  }
}

TEST(PcfgPruner, HasRelativeFrequencies) {
  // S over X; X -> a X (twice), X -> b X (once); X over a and over b.
  Grammar grammar;
  grammar.num_tags = 2;
  grammar.num_symbols = 4;
  grammar.start = 3;
  grammar.num_labels = grammar.num_constituents = 1;
  grammar.labels = {kNoLabel, kNoLabel, 0, kNoLabel};
  grammar.binaries = {{2, 0, 2}, {2, 1, 2}};
  grammar.unaries = {{3, 2, {}}, {2, 0, {}}, {2, 1, {}}};
  const Derivation first{{{0, 1, 3, 0, 0},
                          {0, 0, 1, 0, kNoRule},
                          {1, 2, 3, 0, kNoRule},
                          {1, 1, 2, 0, kNoRule},
                          {2, 2, 3, 1, 2}}};
  const Derivation second{{{0, 1, 2, 1, 0}, {0, 0, 1, 1, kNoRule}, {1, 1, 2, 0, 1}}};
  const std::vector<Derivation> derivations{first, second};
  const PcfgPruner pruner(grammar, derivations);
  ASSERT_EQ(pruner.binaries().size(), 2u);
  EXPECT_DOUBLE_EQ(pruner.binaries()[0].probability, 2.0 / 3);
  EXPECT_DOUBLE_EQ(pruner.binaries()[1].probability, 1.0 / 3);
  // X stands on top three times: once as it is, once over each tag. S is always over X.
  ASSERT_EQ(pruner.unaries().size(), 3u);
  EXPECT_DOUBLE_EQ(pruner.unaries()[0].probability, 1.0 / 3);
  EXPECT_DOUBLE_EQ(pruner.unaries()[1].probability, 1.0 / 3);
  EXPECT_DOUBLE_EQ(pruner.unaries()[2].probability, 1);
}

TEST(PcfgPruner, AllowsNothingWhereThereIsNoDerivation) {
  Grammar grammar;
  grammar.num_tags = 1;
  grammar.num_symbols = 2;
  grammar.start = 1;
  grammar.labels = {kNoLabel, kNoLabel};
  grammar.binaries = {{1, 0, 0}};
  const std::vector<Derivation> derivations{
      {{{0, 1, 2, 0, kNoRule}, {0, 0, 1, 0, kNoRule}, {1, 1, 2, 0, kNoRule}}}};
  const PcfgPruner pruner(grammar, derivations);
  Workspace ws;
  EXPECT_TRUE(pruner.mask({{0}, {0}}, 0.5, ws).allows(1, 0, 2));
  EXPECT_FALSE(pruner.mask({{0}, {0}, {0}}, 0, ws).allows(1, 0, 3));
}

TEST(PruningReport, CountsWhatGoldNeeds) {
  Grammar grammar;
  grammar.num_tags = 1;
  grammar.num_symbols = 3;
  grammar.start = 2;
  grammar.labels.assign(3, kNoLabel);
  grammar.binaries = {{1, 0, 0}};
  grammar.unaries = {{2, 1, {}}};
  const Derivation gold{{{0, 1, 2, 0, 0}, {0, 0, 1, 0, kNoRule}, {1, 1, 2, 0, kNoRule}}};
  SpanMask mask(2, 3);
  PruningReport report;
  EXPECT_EQ(report.recall(), 1);
  mask.allow(1, 0, 2);
  report.note(grammar, mask, gold);
  EXPECT_EQ(report.needed, 2u);
  EXPECT_EQ(report.kept, 1u);
  mask.allow(grammar, gold);
  report.note(grammar, mask, gold);
  EXPECT_EQ(report.recall(), 0.75);
}

}  // namespace
}  // namespace espalier::pcfg_pruner_test
