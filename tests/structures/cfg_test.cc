#include "structures/cfg.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "structures/chain.h"
#include "support/allocations.h"
#include "support/enumeration.h"
#include "support/helped.h"
#include "support/random_grammar.h"
#include "support/random_scores.h"

namespace espalier::cfg_test {
namespace {

using test_support::check_centre;
using test_support::check_inference;
using test_support::check_kbest;
using test_support::check_uniform;
using test_support::DerivationList;
using test_support::finite_scores;
using test_support::OwnedCfg;
using test_support::random_grammar;
using test_support::random_tags;
using test_support::scores;

// A sentence of a random grammar with few enough derivations, under a mask that leaves one at least.
OwnedCfg draw_cfg(bool masked) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  for (std::size_t words = *rc::gen::inRange<std::size_t>(1, 6);;
       words = std::max<std::size_t>(1, words - 1)) {
    const std::size_t num_tags = test_support::draw(random, 1, 3);
    const auto index = std::make_shared<const GrammarIndex>(
        random_grammar(random, {.tags = num_tags, .binaries = test_support::draw(random, 0, 8)}));
    const TagSets tags = random_tags(random, words, num_tags);
    const OwnedCfg all(index, tags);
    if (!all.possible()) continue;
    std::vector<double> zero(all.num_statistics()), mu(zero.size());
    Workspace ws;
    if (all.log_partition(std::span<const double>(zero), std::span(mu), ws) > std::log(3000.0)) continue;
    if (!masked) return all;
    const auto derivations = all_outputs(all);
    SpanMask mask(words, index->grammar().num_symbols);
    for (std::size_t end = 1; end <= words; ++end) {
      for (std::size_t begin = 0; begin < end; ++begin) {
        for (std::uint32_t symbol = 0; symbol < index->grammar().num_symbols; ++symbol) {
          if (test_support::draw(random, 0, 2) > 0) mask.allow(symbol, begin, end);
        }
      }
    }
    mask.allow(index->grammar(), derivations[test_support::draw(random, 0, derivations.size() - 1)]);
    return OwnedCfg(index, tags, mask);
  }
}

// Scores that leave at least one derivation.
std::vector<double> draw_scores(const OwnedCfg& cfg) {
  auto s = *scores(cfg.num_statistics());
  const auto all = all_outputs(cfg);
  cfg.for_each_statistic(all[all.size() / 2], [&](std::size_t k) {
    if (std::isinf(s[k])) s[k] = 0;
  });
  return s;
}

RC_GTEST_PROP(Cfg, InferenceIsThatOfEnumeration, (bool masked)) {
  const OwnedCfg cfg = draw_cfg(masked);
  const auto s = draw_scores(cfg);
  const std::vector<float> rounded(s.begin(), s.end());
  RC_ASSERT(check_inference<double>(cfg, std::span<const double>(s), 1e-12) == "");
  RC_ASSERT(check_inference<float>(cfg, std::span<const float>(rounded), 2e-6) == "");
}

RC_GTEST_PROP(Cfg, ZeroScoresCountDerivations, (bool masked)) {
  const OwnedCfg cfg = draw_cfg(masked);
  RC_ASSERT(check_uniform<double>(cfg, 1e-12) == "");
  RC_ASSERT(check_uniform<float>(cfg, 2e-6) == "");
}

RC_GTEST_PROP(Cfg, RanksTheBestDerivations, (bool masked)) {
  const OwnedCfg cfg = draw_cfg(masked);
  const auto s = draw_scores(cfg);
  const std::size_t k = *rc::gen::element<std::size_t>(1, 2, 7, 5000);
  RC_ASSERT(check_kbest(cfg, std::span<const double>(s), k, 1e-12) == "");
}

RC_GTEST_PROP(Cfg, CentringShiftsAllDerivationsAlike, (bool masked)) {
  const OwnedCfg cfg = draw_cfg(masked);
  RC_PRE(cfg.num_words() > 1 || cfg.num_tagged() > 0);
  const auto s = *finite_scores(cfg.num_statistics()), d = *finite_scores(cfg.num_statistics());
  const std::vector<float> rounded(s.begin(), s.end()), direction(d.begin(), d.end());
  RC_ASSERT(check_centre(cfg, rounded, direction, 1e-4) == "");
}

// Probabilities and logarithms: the same, and the fast way does not give up on scores of ordinary size.
RC_GTEST_PROP(Cfg, LogarithmsAgree, (bool masked)) {
  const OwnedCfg cfg = draw_cfg(masked);
  const auto s = draw_scores(cfg);
  std::vector<double> fast(s.size()), slow(s.size());
  Workspace ws;
  const double log_z = cfg.log_partition(std::span<const double>(s), std::span(fast), ws);
  const double expected = cfg.log_partition_reference(s, slow, ws);
  RC_ASSERT(std::abs(log_z - expected) <= 1e-12 * (1 + std::abs(expected)));
  for (std::size_t k = 0; k < s.size(); ++k) RC_ASSERT(std::abs(fast[k] - slow[k]) <= 1e-10);
}

// Weights that underflow count where others of the same derivation are heavy.
RC_GTEST_PROP(Cfg, LogarithmsAgreeOnScoresOfAnyRange, (bool masked)) {
  constexpr std::array kScores = {-745.0, -740.0, -372.0, 0.0, 0.0, 372.0, 500.0};
  const OwnedCfg cfg = draw_cfg(masked);
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<double> s(cfg.num_statistics()), fast(s.size()), slow(s.size());
  Workspace ws;
  for (int trial = 0; trial < 20; ++trial) {
    for (double& score : s) score = kScores[random.below(kScores.size())];
    const double log_z = cfg.log_partition(std::span<const double>(s), std::span(fast), ws);
    const double expected = cfg.log_partition_reference(s, slow, ws);
    RC_ASSERT(std::abs(log_z - expected) <= 1e-12 * (1 + std::abs(expected)));
    for (std::size_t k = 0; k < s.size(); ++k) RC_ASSERT(std::abs(fast[k] - slow[k]) <= 1e-10);
  }
}

RC_GTEST_PROP(Cfg, KnowsItsDerivations, ()) {
  const OwnedCfg some = draw_cfg(true);
  const auto left = all_outputs(some);
  for (const Derivation& y : DerivationList(some.owned_index->grammar(), some.tags, nullptr).all()) {
    const bool expected = std::find(left.begin(), left.end(), y) != left.end();
    RC_ASSERT(some.contains(y) == expected);
  }
  Derivation wrong = left.front();
  wrong.nodes.pop_back();
  RC_ASSERT(!some.contains(wrong));
}

// Whatever a statistic is of, some derivation has it.
RC_GTEST_PROP(Cfg, HasStatisticsThatOccurAlone, (bool masked)) {
  const OwnedCfg cfg = draw_cfg(masked);
  std::vector<bool> seen(cfg.num_statistics());
  for (const Derivation& y : all_outputs(cfg))
    cfg.for_each_statistic(y, [&](std::size_t k) { seen[k] = true; });
  RC_ASSERT(std::find(seen.begin(), seen.end(), false) == seen.end());
}

TEST(Cfg, CountsRulesSpansSplitsAndTags) {
  // X -> a X | a a,  S -> X,  X over a word: a
  Grammar grammar;
  grammar.num_tags = 2;
  grammar.num_symbols = 4;
  grammar.start = 3;
  grammar.num_labels = grammar.num_constituents = 2;
  grammar.labels = {kNoLabel, kNoLabel, 0, 1};
  grammar.binaries = {{2, 0, 2}, {2, 1, 2}};
  grammar.unaries = {{2, 0, {}}, {3, 2, {2}}, {3, 0, {}}};
  const OwnedCfg cfg(std::make_shared<const GrammarIndex>(grammar), {{0, 1}, {0}});
  ASSERT_TRUE(cfg.possible());
  EXPECT_EQ(std::vector<std::uint32_t>(cfg.rules().begin(), cfg.rules().end()),
            (std::vector<std::uint32_t>{0, 1, 2, 3}));
  using Labels = std::vector<std::uint16_t>;
  std::vector<Cfg::Place> spans;
  cfg.for_each_span([&](const Cfg::Place& span) { spans.push_back(span); });
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].begin, 1u);
  EXPECT_EQ(spans[0].end, 2u);
  EXPECT_EQ(Labels(spans[0].labels.begin(), spans[0].labels.end()), Labels{0});
  EXPECT_EQ(spans[1].begin, 0u);
  EXPECT_EQ(spans[1].end, 2u);
  EXPECT_EQ(Labels(spans[1].labels.begin(), spans[1].labels.end()), (Labels{0, 1}));
  EXPECT_EQ(cfg.end_of_spans(), 4u + 3u);
  ASSERT_EQ(cfg.num_splits(), 1u);
  EXPECT_EQ(cfg.split(0).begin, 1u);
  ASSERT_EQ(cfg.num_tagged(), 1u);
  EXPECT_EQ(cfg.tagged(0).begin, 0u);
  EXPECT_EQ(cfg.num_statistics(), 4u + 3u + 1u + 2u);

  const Derivation y{{{0, 1, 2, 1, 1}, {0, 0, 1, 1, kNoRule}, {1, 1, 2, 0, 0}}};
  ASSERT_TRUE(cfg.contains(y));
  std::vector<double> chi(cfg.num_statistics());
  cfg.indicator(y, std::span(chi));
  // Rules 1, 2 and 3; label 0 over the second word; over both words label 0 (its own, and once more in the
  // chain) and label 1; label 0 split before the second word; tag 1.
  EXPECT_EQ(chi, (std::vector<double>{0, 1, 1, 1, 1, 2, 1, 1, 0, 1}));
}

// Sentences that share what stands over their spans are the same as by themselves, to the bit.
RC_GTEST_PROP(Cfg, SharedKindsOfSpansChangeNothing, (bool masked)) {
  const OwnedCfg alone = draw_cfg(masked);
  const SpanMask* mask = alone.mask ? &*alone.mask : nullptr;
  const auto kinds = std::make_shared<SpanKinds>(*alone.owned_index);
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  for (std::size_t words = 1; words <= 3; ++words) {
    const std::size_t num_tags = alone.owned_index->grammar().num_tags;
    const Cfg other(*alone.owned_index, random_tags(random, words, num_tags), nullptr, kinds);
  }
  const Cfg shared(*alone.owned_index, alone.tags, mask, kinds);
  const std::size_t size = kinds->size();
  const Cfg again(*alone.owned_index, alone.tags, mask, kinds);
  RC_ASSERT(kinds->size() == size);
  kinds->shrink_to_fit();
  const auto s = draw_scores(alone);
  std::vector<double> mu(s.size()), mu_shared(s.size());
  Workspace ws;
  for (const Cfg* cfg : {&shared, &again}) {
    RC_ASSERT(cfg->num_statistics() == s.size());
    RC_ASSERT(cfg->num_edges() == alone.num_edges());
    RC_ASSERT(cfg->log_partition(std::span<const double>(s), std::span(mu_shared), ws) ==
              alone.log_partition(std::span<const double>(s), std::span(mu), ws));
    RC_ASSERT(mu_shared == mu);
    RC_ASSERT(cfg->decode(std::span<const double>(s), ws) == alone.decode(std::span<const double>(s), ws));
    const auto best = alone.kbest(s, 5), best_shared = cfg->kbest(s, 5);
    RC_ASSERT(best.size() == best_shared.size());
    for (std::size_t k = 0; k < best.size(); ++k) {
      RC_ASSERT(best[k].output == best_shared[k].output);
      RC_ASSERT(best[k].score == best_shared[k].score);
    }
  }
}

RC_GTEST_PROP(Cfg, KnowsHowManyRulesAndLabelsThereAreAtMost, (bool masked)) {
  const OwnedCfg cfg = draw_cfg(masked);
  Workspace ws;
  const Cfg::Counts most = cfg.most_counts(ws);
  for (const Derivation& y : all_outputs(cfg)) {
    std::size_t rules = 0, labels = 0;
    cfg.for_each_statistic(y, [&](std::size_t k) {
      rules += k < cfg.rules().size() ? 1 : 0;
      labels += k >= cfg.rules().size() && k < cfg.end_of_spans() ? 1 : 0;
    });
    RC_ASSERT(rules <= most.rules);
    RC_ASSERT(labels <= most.labels);
  }
}

// Rules are found by their children, and no others.
RC_GTEST_PROP(GrammarIndex, FindsRulesByTheirChildren, (std::uint64_t seed)) {
  Random random(seed);
  const std::size_t tags = test_support::draw(random, 1, 6);
  const GrammarIndex index(random_grammar(random, {.tags = tags,
                                                   .phrases = test_support::draw(random, 1, 9),
                                                   .binaries = test_support::draw(random, 0, 60)}));
  const Grammar& grammar = index.grammar();
  std::size_t found = 0;
  for (std::uint32_t left = 0; left < grammar.num_symbols; ++left) {
    for (std::uint32_t right = 0; right < grammar.num_symbols; ++right) {
      for (const auto* above = index.above(left, right); above->rule != kNoRule; ++above, ++found) {
        const Grammar::Binary expected{above->parent, left, right};
        RC_ASSERT(grammar.binaries.at(above->rule) == expected);
      }
    }
  }
  RC_ASSERT(found == grammar.binaries.size());
}

TEST(Cfg, SaysWhereThereIsNoDerivation) {
  Grammar grammar;
  grammar.num_tags = 1;
  grammar.num_symbols = 2;
  grammar.start = 1;
  grammar.labels = {kNoLabel, kNoLabel};
  grammar.binaries = {{1, 0, 0}};
  const auto index = std::make_shared<const GrammarIndex>(grammar);
  EXPECT_TRUE(OwnedCfg(index, {{0}, {0}}).possible());
  EXPECT_FALSE(OwnedCfg(index, {{0}}).possible());
  EXPECT_FALSE(OwnedCfg(index, {{0}, {0}, {0}}).possible());
  EXPECT_FALSE(OwnedCfg(index, {{0}, {0}}, SpanMask(2, 2)).possible());
}

// A chain is a grammar: state j over the words from t on is tag j, followed by the state of the next word.
TEST(Cfg, OfARightLinearGrammarIsAChain) {
  constexpr std::uint32_t kLabels = 3;
  Grammar grammar;
  grammar.num_tags = kLabels;
  grammar.num_symbols = 2 * kLabels + 1;
  grammar.start = 2 * kLabels;
  grammar.labels.assign(grammar.num_symbols, kNoLabel);
  for (std::uint32_t i = 0; i < kLabels; ++i) {
    for (std::uint32_t j = 0; j < kLabels; ++j) grammar.binaries.push_back({kLabels + i, i, kLabels + j});
  }
  for (std::uint32_t j = 0; j < kLabels; ++j) grammar.unaries.push_back({kLabels + j, j, {}});
  for (std::uint32_t j = 0; j < kLabels; ++j) grammar.unaries.push_back({grammar.start, kLabels + j, {}});
  const auto index = std::make_shared<const GrammarIndex>(grammar);

  Random random(7);
  for (const std::size_t words : {2u, 3u, 11u, 40u}) {
    const OwnedCfg cfg(index, TagSets(words, {0, 1, 2}));
    const Chain chain(words, kLabels);
    ASSERT_EQ(cfg.num_statistics(), chain.num_statistics() + 2 * kLabels);
    ASSERT_EQ(cfg.num_tagged(), words);
    std::vector<double> s(cfg.num_statistics()), of_chain(chain.num_statistics());
    for (std::size_t t = 0; t < words; ++t) {
      for (std::size_t j = 0; j < kLabels; ++j)
        of_chain[t * kLabels + j] = s[cfg.tagged(t).first + j] = 4 * random.uniform() - 2;
    }
    for (std::size_t k = 0; k < kLabels * kLabels; ++k)
      of_chain[words * kLabels + k] = s[k] = 4 * random.uniform() - 2;
    std::vector<double> mu(s.size()), mu_of_chain(of_chain.size());
    Workspace ws;
    const double expected =
        chain.log_partition(std::span<const double>(of_chain), std::span(mu_of_chain), ws);
    EXPECT_NEAR(cfg.log_partition(std::span<const double>(s), std::span(mu), ws), expected, 1e-12 * expected);
    for (std::size_t t = 0; t < words; ++t) {
      for (std::size_t j = 0; j < kLabels; ++j)
        EXPECT_NEAR(mu[cfg.tagged(t).first + j], mu_of_chain[t * kLabels + j], 1e-12);
    }
    for (std::size_t k = 0; k < kLabels * kLabels; ++k)
      EXPECT_NEAR(mu[k], mu_of_chain[words * kLabels + k], 1e-11);
    EXPECT_NEAR(cfg.argmax(std::span<const double>(s), std::span(mu), ws),
                chain.argmax(std::span<const double>(of_chain), std::span(mu_of_chain), ws),
                1e-12 * expected);
  }
}

// Edges are found, and sums made, in parts that others may take: the same to the bit whoever does.
TEST(CfgParallel, InferenceOfALongSentenceIsTheSameWhoeverHelps) {
  Random random(11);
  const auto index = std::make_shared<const GrammarIndex>(
      random_grammar(random, {.tags = 4, .phrases = 12, .binaries = 300, .unaries = 10}));
  const OwnedCfg cfg(index, random_tags(random, 40, 4));
  ASSERT_TRUE(cfg.possible());
  ASSERT_GT(cfg.num_edges(), 100000u);
  std::vector<double> s(cfg.num_statistics()), reference(s.size());
  for (double& score : s) score = random.uniform() - 0.5;
  Workspace own;
  const double log_z = cfg.log_partition_reference(s, reference, own);
  std::vector<double> first;
  for (const std::size_t helpers : {0, 1, 3}) {
    test_support::with_helpers(helpers, [&](Workspace& ws) {
      std::vector<double> mu(s.size());
      EXPECT_NEAR(cfg.log_partition(std::span<const double>(s), std::span(mu), ws), log_z, 1e-11 * log_z);
      for (std::size_t k = 0; k < mu.size(); ++k) EXPECT_NEAR(mu[k], reference[k], 1e-10) << k;
      if (first.empty()) first = mu;
      EXPECT_EQ(mu, first) << helpers << " helpers";
    });
  }
}

TEST(Cfg, AllocatesNothingOnceWarm) {
  Random random(3);
  const OwnedCfg cfg(std::make_shared<const GrammarIndex>(random_grammar(random)), random_tags(random, 9, 2));
  ASSERT_TRUE(cfg.possible());
  std::vector<float> s(cfg.num_statistics()), mu(s.size());
  Workspace ws;
  const auto run = [&](float width) {
    for (auto& x : s) x = width * static_cast<float>(random.uniform());
    cfg.log_partition(std::span<const float>(s), std::span(mu), ws);
    cfg.argmax(std::span<const float>(s), std::span(mu), ws);
  };
  run(1);
  run(1000);  // in logarithms
  const auto before = test_support::allocations.load();
  run(1);
  run(1000);
  EXPECT_EQ(test_support::allocations.load(), before);
}

}  // namespace
}  // namespace espalier::cfg_test
