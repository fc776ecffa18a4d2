// Chains with label n-grams.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/random.h"
#include "structures/chain.h"
#include "support/chain_checks.h"
#include "support/enumeration.h"
#include "support/random_ngrams.h"
#include "support/random_scores.h"

namespace espalier {
namespace {

using test_support::all_ngrams;
using test_support::check_entropy;
using test_support::check_fast_way;
using test_support::check_inference;
using test_support::check_kbest;
using test_support::check_sampling;
using test_support::check_uniform;
using test_support::enumerate;
using test_support::finite_scores;
using test_support::random_ngrams;
using test_support::score_of;
using test_support::scores;

enum class Tables { none, tied, several };

// What a Chain refers to, and the chain.
struct Drawn {
  std::size_t length, labels;
  Tables kind;
  std::vector<std::uint32_t> tables;
  std::optional<LabelNgrams> ngrams;
  bool constrained;
  ChainConstraints constraints;

  Chain chain() const {
    const ChainConstraints* limits = constrained ? &constraints : nullptr;
    if (kind == Tables::none) return {length, labels, {}, 0, limits, &*ngrams};
    return kind == Tables::tied ? Chain(length, labels, limits, &*ngrams)
                                : Chain(length, labels, tables, 3, limits, &*ngrams);
  }
};

// Chains that can be enumerated, of an order up to 4.
Drawn draw_chain(bool may_be_constrained) {
  Drawn drawn;
  drawn.length = *rc::gen::inRange<std::size_t>(1, 7);
  drawn.labels = *rc::gen::inRange<std::size_t>(1, drawn.length > 4 ? 4 : 6);
  drawn.kind = *rc::gen::element(Tables::none, Tables::tied, Tables::several);
  drawn.tables = *rc::gen::container<std::vector<std::uint32_t>>(drawn.length - 1,
                                                                 rc::gen::inRange<std::uint32_t>(0, 3));
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  drawn.ngrams = random_ngrams(random, drawn.labels, *rc::gen::inRange<std::size_t>(2, 6),
                               *rc::gen::inRange<std::size_t>(0, 40));
  drawn.constrained = may_be_constrained && *rc::gen::arbitrary<bool>();
  const auto mask = [](std::size_t n) {
    return *rc::gen::container<std::vector<std::uint8_t>>(n, rc::gen::element<std::uint8_t>(0, 1, 1, 1));
  };
  drawn.constraints = {mask(drawn.labels), mask(drawn.labels), mask(drawn.labels * drawn.labels)};
  // The sequence of zeros is always possible.
  drawn.constraints.first[0] = drawn.constraints.last[0] = drawn.constraints.step[0] = 1;
  return drawn;
}

// Scores that leave at least the sequence of zeros.
std::vector<double> draw_scores(const Chain& chain) {
  auto s = *scores(chain.num_statistics());
  std::vector<double> chi(s.size());
  chain.indicator(Chain::Output(chain.length(), 0), std::span(chi));
  for (std::size_t k = 0; k < s.size(); ++k) {
    if (chi[k] > 0 && std::isinf(s[k])) s[k] = 0;
  }
  return s;
}

std::vector<double> random_values(Random& random, std::size_t n, double range) {
  std::vector<double> values(n);
  for (double& x : values) x = static_cast<float>(range * (2 * random.uniform() - 1));
  return values;
}

RC_GTEST_PROP(NgramChain, StatisticsCountOccurrences, ()) {
  const Drawn drawn = draw_chain(false);
  const Chain chain = drawn.chain();
  const auto y = *rc::gen::container<Chain::Output>(
      drawn.length, rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(drawn.labels)));
  std::vector<double> expected(chain.num_statistics(), 0.0), chi(expected.size(), -1.0);
  for (std::size_t t = 0; t < y.size(); ++t) {
    expected[t * drawn.labels + y[t]] += 1;
    if (t > 0 && drawn.kind != Tables::none) expected[chain.step_statistic(t, y[t - 1], y[t])] += 1;
  }
  for (std::size_t k = 0; k < drawn.ngrams->size(); ++k) {
    const auto ngram = drawn.ngrams->ngram(k);
    for (std::size_t t = 0; t + ngram.size() <= y.size(); ++t) {
      if (std::equal(ngram.begin(), ngram.end(), y.begin() + static_cast<std::ptrdiff_t>(t)))
        expected[chain.ngram_statistic(k)] += 1;
    }
  }
  RC_ASSERT(chain.ngram_statistic(drawn.ngrams->size()) == chain.num_statistics());
  chain.indicator(y, std::span(chi));
  RC_ASSERT(chi == expected);
  chain.add_indicator(y, -0.5, std::span(chi));
  for (std::size_t k = 0; k < chi.size(); ++k) RC_ASSERT(chi[k] == 0.5 * expected[k]);
}

RC_GTEST_PROP(NgramChain, InferenceIsThatOfEnumeration, ()) {
  const Drawn drawn = draw_chain(true);
  const Chain chain = drawn.chain();
  const auto s = draw_scores(chain);
  const std::vector<float> rounded(s.begin(), s.end());
  RC_ASSERT(check_inference<double>(chain, std::span<const double>(s), 1e-12) == "");
  RC_ASSERT(check_inference<float>(chain, std::span<const float>(rounded), 3e-6) == "");
}

RC_GTEST_PROP(NgramChain, TheFastWayIsThatOfLogarithms, ()) {
  const Drawn drawn = draw_chain(true);
  const Chain chain = drawn.chain();
  const auto s = *scores(chain.num_statistics());
  check_fast_way(chain, s);
}

RC_GTEST_PROP(NgramChain, ZeroScoresCountSequences, ()) {
  const Drawn drawn = draw_chain(true);
  const Chain chain = drawn.chain();
  RC_ASSERT(check_uniform<double>(chain, 1e-13) == "");
  RC_ASSERT(check_uniform<float>(chain, 2e-6) == "");
}

RC_GTEST_PROP(NgramChain, BestSequencesAreThoseOfEnumeration, ()) {
  const Drawn drawn = draw_chain(true);
  const Chain chain = drawn.chain();
  const auto s = draw_scores(chain);
  const auto k = *rc::gen::inRange<std::size_t>(1, 12);
  RC_ASSERT(check_kbest(chain, std::span<const double>(s), k, 1e-12) == "");
}

RC_GTEST_PROP(NgramChain, EntropyIsThatOfEnumeration, ()) {
  const Drawn drawn = draw_chain(true);
  const Chain chain = drawn.chain();
  const auto s = draw_scores(chain);
  RC_ASSERT(check_entropy(chain, std::span<const double>(s), 1e-10) == "");
}

// Scores of whole numbers are added without rounding, so that ties are exact.
RC_GTEST_PROP(NgramChain, EquallyGoodSequencesGiveTheFirst, ()) {
  const Drawn drawn = draw_chain(true);
  const Chain chain = drawn.chain();
  const auto s =
      *rc::gen::container<std::vector<double>>(chain.num_statistics(), rc::gen::element(-1.0, 0.0, 0.0, 1.0));
  const auto e = enumerate(chain, std::span<const double>(s));
  Chain::Output first;
  for (std::size_t k = 0; k < e.outputs.size(); ++k) {
    const auto& y = e.outputs[k];
    if (e.scores[k] == e.highest &&
        (first.empty() || std::lexicographical_compare(y.rbegin(), y.rend(), first.rbegin(), first.rend())))
      first = y;
  }
  const std::vector<float> rounded(s.begin(), s.end());
  Workspace ws;
  RC_ASSERT(chain.decode(std::span<const double>(s), ws) == first);
  RC_ASSERT(chain.decode(std::span<const float>(rounded), ws) == first);
}

RC_GTEST_PROP(NgramChain, MarginalsAreDerivativesOfLogZ, ()) {
  const Drawn drawn = draw_chain(true);
  const Chain chain = drawn.chain();
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  auto s = random_values(random, chain.num_statistics(), 2);
  std::vector<double> mu(s.size()), other(s.size());
  Workspace ws;
  chain.log_partition(std::span<const double>(s), std::span(mu), ws);
  constexpr double kStep = 1e-4;
  for (std::size_t k = 0; k < s.size(); ++k) {
    const double here = s[k];
    s[k] = here + kStep;
    const double above = chain.log_partition(std::span<const double>(s), std::span(other), ws);
    s[k] = here - kStep;
    const double below = chain.log_partition(std::span<const double>(s), std::span(other), ws);
    s[k] = here;
    RC_ASSERT(std::abs((above - below) / (2 * kStep) - mu[k]) <= 1e-6);
  }
}

// Every output's score moves by the same, positions and tables have mean zero, and n-grams are left alone.
RC_GTEST_PROP(NgramChain, CentringChangesNoDistribution, ()) {
  const Drawn drawn = draw_chain(false);
  const Chain chain = drawn.chain();
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const auto wide = random_values(random, chain.num_statistics(), 20);
  const std::vector<float> s(wide.begin(), wide.end()), direction(wide.rbegin(), wide.rend());
  std::vector<float> mu(s.size()), d = direction;
  Workspace ws;
  chain.log_partition(std::span<const float>(s), std::span(mu), ws);
  chain.centre(mu, d);
  double shift = 0;
  std::vector<double> chi(s.size());
  for (const auto& y : all_outputs(chain)) {
    chain.indicator(y, std::span(chi));
    const double moved =
        score_of(std::span<const float>(d), chi) - score_of(std::span<const float>(direction), chi);
    if (y == Chain::Output(drawn.length, 0)) shift = moved;
    RC_ASSERT(std::abs(moved - shift) <= 2e-4);
  }
  const auto mean_of = [&](std::size_t begin, std::size_t end) {
    double mean = 0;
    for (std::size_t k = begin; k < end; ++k) mean += static_cast<double>(mu[k]) * d[k];
    return mean;
  };
  for (std::size_t t = 0; t < drawn.length; ++t)
    RC_ASSERT(std::abs(mean_of(t * drawn.labels, (t + 1) * drawn.labels)) <= 1e-4);
  const std::size_t square = drawn.labels * drawn.labels;
  for (std::size_t k = 0; k < chain.num_tables(); ++k) {
    const std::size_t begin = drawn.length * drawn.labels + k * square;
    RC_ASSERT(std::abs(mean_of(begin, begin + square)) <= 1e-4);
  }
  for (std::size_t k = chain.ngram_statistic(0); k < d.size(); ++k) RC_ASSERT(d[k] == direction[k]);
}

TEST(NgramChain, SamplesHaveTheirFrequencies) {
  Random random(11);
  const ChainConstraints constraints{{1, 0, 1}, {1, 1, 0}, {1, 1, 0, 0, 1, 1, 1, 0, 1}};
  const std::vector<std::uint32_t> tables = {1, 0, 1};
  const LabelNgrams ngrams = random_ngrams(random, 3, 4, 20);
  for (const Chain& chain :
       {Chain(1, 3, nullptr, &ngrams), Chain(4, 3, nullptr, &ngrams),
        Chain(4, 3, tables, 2, &constraints, &ngrams), Chain(4, 3, {}, 0, &constraints, &ngrams)}) {
    const auto s = random_values(random, chain.num_statistics(), 1.5);
    EXPECT_EQ(check_sampling(chain, std::span<const double>(s), 5, 20000), "");
  }
}

// The pairs as n-grams have the scores that a table has.
RC_GTEST_PROP(NgramChain, AllPairsAreATable, ()) {
  const auto length = *rc::gen::inRange<std::size_t>(1, 9), labels = *rc::gen::inRange<std::size_t>(1, 20);
  const LabelNgrams ngrams = all_ngrams(labels, 2);
  ChainConstraints constraints;
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  for (std::size_t k = 0; k < labels; ++k) {
    constraints.first.push_back(k == 0 || random.uniform() < 0.8 ? 1 : 0);
    constraints.last.push_back(k == 0 || random.uniform() < 0.8 ? 1 : 0);
  }
  for (std::size_t k = 0; k < labels * labels; ++k)
    constraints.step.push_back(k == 0 || random.uniform() < 0.8 ? 1 : 0);
  const std::vector<std::uint32_t> tables(length - 1, 0);
  const Chain dense(length, labels, tables, 1, &constraints),
      sparse(length, labels, {}, 0, &constraints, &ngrams);
  RC_ASSERT(dense.num_statistics() == sparse.num_statistics());
  const auto s = *finite_scores(dense.num_statistics());
  std::vector<double> mu(s.size()), expected(s.size());
  Workspace ws;
  const double log_z = dense.log_partition(std::span<const double>(s), std::span(expected), ws);
  RC_ASSERT(std::abs(sparse.log_partition(std::span<const double>(s), std::span(mu), ws) - log_z) <=
            1e-12 * (1 + std::abs(log_z)));
  for (std::size_t k = 0; k < s.size(); ++k) RC_ASSERT(std::abs(mu[k] - expected[k]) <= 1e-11);
  RC_ASSERT(sparse.decode(std::span<const double>(s), ws) == dense.decode(std::span<const double>(s), ws));
  const auto best = sparse.kbest(s, 5), dense_best = dense.kbest(s, 5);
  RC_ASSERT(best.size() == dense_best.size());
  for (std::size_t r = 0; r < best.size(); ++r) RC_ASSERT(best[r].output == dense_best[r].output);
}

// With all triples, a chain of order 2 is one of order 1 over pairs of labels, where i j is followed by j k
// alone.
TEST(NgramChain, AllTriplesAreAChainOverPairs) {
  Random random(8);
  Workspace ws;
  for (std::size_t labels = 1; labels <= 5; ++labels) {
    const std::size_t length = 7, pairs = labels * labels;
    const LabelNgrams ngrams = all_ngrams(labels, 3);
    const Chain chain(length, labels, {}, 0, nullptr, &ngrams);
    ChainConstraints constraints{std::vector<std::uint8_t>(pairs, 1), std::vector<std::uint8_t>(pairs, 1),
                                 std::vector<std::uint8_t>(pairs * pairs, 0)};
    const Chain over_pairs(length - 1, pairs, &constraints);
    const auto s = random_values(random, chain.num_statistics(), 3);
    std::vector<double> pair_s(over_pairs.num_statistics(), 0.0), mu(s.size()), pair_mu(pair_s.size());
    for (std::uint32_t i = 0; i < labels; ++i) {
      for (std::uint32_t j = 0; j < labels; ++j) {
        const std::size_t pair = i * labels + j;
        for (std::size_t t = 1; t < length; ++t)
          pair_s[(t - 1) * pairs + pair] = s[t * labels + j] + (t == 1 ? s[i] : 0);
        for (std::uint32_t k = 0; k < labels; ++k) {
          const std::size_t step = pair * pairs + j * labels + k;
          constraints.step[step] = 1;
          const std::vector<std::uint32_t> triple = {i, j, k};
          pair_s[(length - 1) * pairs + step] = s[chain.ngram_statistic(*ngrams.find(triple))];
        }
      }
    }
    const double log_z = over_pairs.log_partition(std::span<const double>(pair_s), std::span(pair_mu), ws);
    EXPECT_NEAR(chain.log_partition(std::span<const double>(s), std::span(mu), ws), log_z,
                1e-12 * (1 + log_z));
    for (std::size_t k = 0; k < ngrams.size(); ++k) {
      const auto triple = ngrams.ngram(k);
      const std::size_t step = (triple[0] * labels + triple[1]) * pairs + triple[1] * labels + triple[2];
      EXPECT_NEAR(mu[chain.ngram_statistic(k)], pair_mu[(length - 1) * pairs + step], 1e-12);
    }
    const auto y = chain.decode(std::span<const double>(s), ws),
               y_pairs = over_pairs.decode(std::span<const double>(pair_s), ws);
    for (std::size_t t = 1; t < length; ++t) EXPECT_EQ(y_pairs[t - 1], y[t - 1] * labels + y[t]);
  }
}

TEST(NgramChain, HasNoCliques) {
  const LabelNgrams ngrams(2, {{0, 1}});
  EXPECT_TRUE(Chain(3, 2).factored());
  EXPECT_FALSE(Chain(3, 2, nullptr, &ngrams).factored());
}

// A triple that is all but impossible where the pairs in it are likely, and the only way on: too far for
// floats, and then for doubles.
TEST(NgramChain, PathsThroughUnlikelyNgramsAreFound) {
  const LabelNgrams ngrams(2, {{0, 0}, {0, 0, 1}, {0, 1}, {1, 0, 0, 0}});
  for (const double gap : {60.0, 90.0, 150.0, 800.0, 5000.0}) {
    const Chain chain(6, 2, nullptr, &ngrams);
    std::vector<double> s(chain.num_statistics(), 0.0);
    for (std::size_t t = 0; t < 3; ++t) s[t * 2 + 1] = -gap / 3;
    for (std::size_t t = 4; t < 6; ++t) s[t * 2 + 0] = -2 * gap;
    s[chain.ngram_statistic(*ngrams.find(std::vector<std::uint32_t>{0, 0, 1}))] = -4 * gap;
    s[chain.ngram_statistic(*ngrams.find(std::vector<std::uint32_t>{0, 0}))] = gap;
    const std::vector<float> rounded(s.begin(), s.end());
    EXPECT_EQ(check_inference<double>(chain, std::span<const double>(s), 1e-12), "") << gap;
    EXPECT_EQ(check_inference<float>(chain, std::span<const float>(rounded), 2e-6), "") << gap;
  }
}

// Long and wide chains cannot be enumerated, but compared.
TEST(NgramChain, LongChainsAgreeWithTheReference) {
  Random random(3);
  Workspace ws;
  for (const std::size_t labels : {2, 3, 8, 22, 33}) {
    const LabelNgrams ngrams = random_ngrams(random, labels, 4, 60);
    for (const double range : {1.0, 20.0, 200.0}) {
      const Chain chain(200, labels, nullptr, &ngrams);
      const auto s = random_values(random, chain.num_statistics(), range);
      const std::vector<float> rounded(s.begin(), s.end());
      std::vector<double> mu(s.size()), exact(s.size());
      std::vector<float> float_mu(s.size());
      const double exact_log_z = chain.log_partition_reference(s, exact, ws);
      const double log_z = chain.log_partition(std::span<const double>(s), std::span(mu), ws);
      const double float_log_z =
          chain.log_partition(std::span<const float>(rounded), std::span(float_mu), ws);
      EXPECT_NEAR(log_z, exact_log_z, 1e-13 * exact_log_z);
      EXPECT_NEAR(float_log_z, exact_log_z, 1e-6 * exact_log_z);
      for (std::size_t k = 0; k < s.size(); ++k) {
        const double size = 1 + exact[k];
        ASSERT_NEAR(mu[k], exact[k], 1e-10 * size) << labels << " labels, range " << range << ", " << k;
        ASSERT_NEAR(float_mu[k], exact[k], 1e-5 * size) << labels << " labels, range " << range << ", " << k;
      }
    }
  }
}

}  // namespace
}  // namespace espalier
