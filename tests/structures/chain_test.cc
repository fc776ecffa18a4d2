#include "structures/chain.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "structures/multiclass.h"
#include "support/chain_checks.h"
#include "support/enumeration.h"
#include "support/random_scores.h"

namespace espalier {
namespace {

using test_support::check_centre;
using test_support::check_entropy;
using test_support::check_fast_way;
using test_support::check_inference;
using test_support::check_kbest;
using test_support::check_sampling;
using test_support::check_uniform;
using test_support::enumerate;
using test_support::finite_scores;
using test_support::scores;

// What a Chain refers to, and the chain.
struct Drawn {
  std::size_t length, labels, num_tables;
  bool tied;
  std::vector<std::uint32_t> tables;
  bool constrained;
  ChainConstraints constraints;

  Chain chain() const {
    const ChainConstraints* limits = constrained ? &constraints : nullptr;
    return tied ? Chain(length, labels, limits) : Chain(length, labels, tables, num_tables, limits);
  }
};

// Chains that can be enumerated: tied, with some steps alike, or all different; with and without constraints.
Drawn draw_chain(bool may_be_constrained) {
  Drawn drawn;
  drawn.length = *rc::gen::inRange<std::size_t>(1, 6);
  drawn.labels = *rc::gen::inRange<std::size_t>(1, drawn.length > 4 ? 4 : 6);
  drawn.tied = *rc::gen::arbitrary<bool>();
  drawn.num_tables = *rc::gen::inRange<std::size_t>(1, 4);
  drawn.tables = *rc::gen::container<std::vector<std::uint32_t>>(
      drawn.length - 1, rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(drawn.num_tables)));
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

RC_GTEST_PROP(Chain, InferenceIsThatOfEnumeration, ()) {
  const Drawn drawn = draw_chain(true);
  const Chain chain = drawn.chain();
  const auto s = draw_scores(chain);
  const std::vector<float> rounded(s.begin(), s.end());
  RC_ASSERT(check_inference<double>(chain, std::span<const double>(s), 1e-12) == "");
  RC_ASSERT(check_inference<float>(chain, std::span<const float>(rounded), 3e-6) == "");
}

RC_GTEST_PROP(Chain, TheFastWayIsThatOfLogarithms, ()) {
  const Drawn drawn = draw_chain(true);
  const Chain chain = drawn.chain();
  const auto s = *scores(chain.num_statistics());
  check_fast_way(chain, s);
}

RC_GTEST_PROP(Chain, ZeroScoresCountSequences, ()) {
  const Drawn drawn = draw_chain(true);
  const Chain chain = drawn.chain();
  RC_ASSERT(check_uniform<double>(chain, 1e-13) == "");
  RC_ASSERT(check_uniform<float>(chain, 2e-6) == "");
}

RC_GTEST_PROP(Chain, BestSequencesAreThoseOfEnumeration, ()) {
  const Drawn drawn = draw_chain(true);
  const Chain chain = drawn.chain();
  const auto s = draw_scores(chain);
  const auto k = *rc::gen::inRange<std::size_t>(1, 12);
  RC_ASSERT(check_kbest(chain, std::span<const double>(s), k, 1e-12) == "");
}

RC_GTEST_PROP(Chain, EntropyIsThatOfEnumeration, ()) {
  const Drawn drawn = draw_chain(true);
  const Chain chain = drawn.chain();
  const auto s = draw_scores(chain);
  RC_ASSERT(check_entropy(chain, std::span<const double>(s), 1e-10) == "");
}

RC_GTEST_PROP(Chain, CentringChangesNoDistribution, ()) {
  const Drawn drawn = draw_chain(false);
  const Chain chain = drawn.chain();
  const auto as_floats = [&](double range) {
    auto values = *finite_scores(chain.num_statistics());
    std::vector<float> floats;
    for (const double v : values) floats.push_back(static_cast<float>(std::fmod(v, range)));
    return floats;
  };
  const auto s = as_floats(20), d = as_floats(50);
  RC_ASSERT(check_centre(chain, std::span<const float>(s), std::span<const float>(d), 1e-5) == "");
}

TEST(Chain, CentresEveryPositionAndEveryTable) {
  const std::vector<std::uint32_t> tables = {0, 1, 0};
  const Chain chain(4, 3, tables, 2);
  std::vector<float> s(chain.num_statistics()), d(s.size()), mu(s.size());
  Random random(4);
  for (float& x : s) x = static_cast<float>(random.uniform());
  for (float& x : d) x = static_cast<float>(10 * random.uniform());
  Workspace ws;
  chain.log_partition(std::span<const float>(s), std::span(mu), ws);
  chain.centre(mu, d);
  for (std::size_t begin = 0; begin < s.size(); begin += begin < 12 ? 3 : 9) {
    const std::size_t size = begin < 12 ? 3 : 9;
    double mean = 0;
    for (std::size_t k = begin; k < begin + size; ++k) mean += static_cast<double>(mu[k]) * d[k];
    EXPECT_NEAR(mean, 0, 1e-5) << "from statistic " << begin;
  }
}

TEST(Chain, SamplesHaveTheirFrequencies) {
  Random random(11);
  const std::vector<std::uint32_t> tables = {1, 0, 1};
  for (const Chain& chain : {Chain(1, 4), Chain(4, 3), Chain(4, 3, tables, 2)}) {
    std::vector<double> s(chain.num_statistics());
    for (double& x : s) x = 3 * random.uniform() - 1.5;
    EXPECT_EQ(check_sampling(chain, std::span<const double>(s), 5, 20000), "");
  }
}

TEST(Chain, SamplesKeepToTheConstraints) {
  const ChainConstraints constraints{{1, 0, 1}, {1, 1, 0}, {1, 1, 0, 0, 1, 1, 1, 0, 1}};
  const Chain chain(4, 3, &constraints);
  std::vector<double> s(chain.num_statistics(), 0.0);
  for (std::size_t k = 0; k < s.size(); ++k) s[k] = 0.1 * static_cast<double>(k % 7);
  EXPECT_EQ(check_sampling(chain, std::span<const double>(s), 6, 20000), "");
}

RC_GTEST_PROP(Chain, OfLengthOneIsMulticlass, ()) {
  const auto labels = *rc::gen::inRange<std::size_t>(1, 40);
  const auto s = *scores(labels);
  const Chain chain(1, labels);
  const Multiclass multiclass(labels);
  RC_PRE(enumerate(multiclass, std::span<const double>(s)).possible());
  Workspace ws;
  std::vector<double> mu(labels), expected(labels);
  RC_ASSERT(chain.num_statistics() == labels);
  const double log_z = chain.log_partition(std::span<const double>(s), std::span(mu), ws);
  const double expected_log_z = multiclass.log_partition(std::span<const double>(s), std::span(expected), ws);
  RC_ASSERT(std::abs(log_z - expected_log_z) <= 1e-13 * (1 + std::abs(expected_log_z)));
  for (std::size_t k = 0; k < labels; ++k) RC_ASSERT(std::abs(mu[k] - expected[k]) <= 1e-13);
  RC_ASSERT(chain.decode(std::span<const double>(s), ws).front() ==
            multiclass.decode(std::span<const double>(s), ws));
}

// The same scores written once for all steps, and once for each of them.
RC_GTEST_PROP(Chain, TiesAreSumsOverSteps, ()) {
  const auto length = *rc::gen::inRange<std::size_t>(2, 8), labels = *rc::gen::inRange<std::size_t>(1, 6);
  const Chain tied(length, labels);
  std::vector<std::uint32_t> tables(length - 1);
  std::iota(tables.begin(), tables.end(), 0);
  const Chain untied(length, labels, tables, length - 1);
  const auto s = *finite_scores(tied.num_statistics());
  const std::size_t nodes = length * labels, square = labels * labels;
  std::vector<double> spread(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(nodes));
  for (std::size_t t = 1; t < length; ++t)
    spread.insert(spread.end(), s.begin() + static_cast<std::ptrdiff_t>(nodes), s.end());
  std::vector<double> mu(s.size()), apart(spread.size());
  Workspace ws;
  const double log_z = tied.log_partition(std::span<const double>(s), std::span(mu), ws);
  RC_ASSERT(std::abs(untied.log_partition(std::span<const double>(spread), std::span(apart), ws) - log_z) <=
            1e-12 * (1 + std::abs(log_z)));
  for (std::size_t k = 0; k < square; ++k) {
    double sum = 0;
    for (std::size_t t = 1; t < length; ++t) sum += apart[nodes + (t - 1) * square + k];
    RC_ASSERT(std::abs(sum - mu[nodes + k]) <= 1e-11);
  }
  RC_ASSERT(tied.decode(std::span<const double>(s), ws) ==
            untied.decode(std::span<const double>(spread), ws));
}

// Clique marginals: consistent with the statistics, with the entropy, and with the scores that they hand
// over.
RC_GTEST_PROP(Chain, CliqueMarginalsDetermineTheDistribution, ()) {
  const Drawn drawn = draw_chain(true);
  const Chain chain = drawn.chain();
  const auto s = draw_scores(chain);
  Workspace ws;
  std::vector<double> cliques(chain.num_clique_marginals()), mu(s.size()), expected(s.size());
  chain.clique_marginals(s, cliques, ws);
  chain.statistics(cliques, mu);
  chain.log_partition(std::span<const double>(s), std::span(expected), ws);
  for (std::size_t k = 0; k < s.size(); ++k) RC_ASSERT(std::abs(mu[k] - expected[k]) <= 1e-11);

  // The handed-over scores are those of a chain with a table for every step.
  std::vector<double> clique_s(cliques.size());
  chain.log_conditionals(cliques, clique_s);
  const std::size_t length = drawn.length, labels = drawn.labels;
  std::vector<std::uint32_t> tables(length - 1);
  std::iota(tables.begin(), tables.end(), 0);
  const Chain untied(length, labels, tables, length - 1);
  std::vector<double> untied_s(untied.num_statistics(), 0.0), again(cliques.size());
  const std::size_t skip = length == 1 ? 0 : length * labels;
  std::copy(clique_s.begin(), clique_s.end(), untied_s.begin() + static_cast<std::ptrdiff_t>(skip));
  untied.clique_marginals(untied_s, again, ws);
  for (std::size_t k = 0; k < again.size(); ++k) RC_ASSERT(std::abs(again[k] - cliques[k]) <= 1e-9);
}

TEST(Chain, EquallyGoodSequencesGiveTheFirst) {
  const Chain chain(4, 3);
  Workspace ws;
  const std::vector<double> s(chain.num_statistics(), 0.0);
  EXPECT_EQ(chain.decode(std::span<const double>(s), ws), (Chain::Output{0, 0, 0, 0}));
}

// A label that is all but impossible where it is, and the only way on: the likely labels at one position lead
// nowhere. Its probability is 1, though in probability space its forward message is far below the smallest
// float.
TEST(Chain, PathsThroughUnlikelyLabelsAreFound) {
  for (const double gap : {60.0, 90.0, 150.0, 800.0, 5000.0}) {
    const Chain chain(5, 2);
    std::vector<double> s(chain.num_statistics(), 0.0);
    for (std::size_t t = 0; t < 3; ++t) s[t * 2 + 1] = -gap / 3;  // label 1 is unlikely at first
    for (std::size_t t = 3; t < 5; ++t) s[t * 2 + 0] = -2 * gap;  // and the only one left at the end,
    s[10 + 0 * 2 + 1] = -4 * gap;                                 // which label 0 does not lead to
    const std::vector<float> rounded(s.begin(), s.end());
    EXPECT_EQ(check_inference<double>(chain, std::span<const double>(s), 1e-12), "") << gap;
    EXPECT_EQ(check_inference<float>(chain, std::span<const float>(rounded), 2e-6), "") << gap;
  }
}

// Long and wide chains cannot be enumerated, but compared.
TEST(Chain, LongChainsAgreeWithTheReference) {
  Random random(3);
  Workspace ws;
  for (const std::size_t labels : {2, 3, 7, 8, 22, 33, 70}) {
    for (const double range : {1.0, 20.0, 200.0}) {
      const Chain chain(300, labels);
      std::vector<double> s(chain.num_statistics()), mu(s.size()), exact(s.size());
      for (double& x : s) x = static_cast<float>(range * (2 * random.uniform() - 1));
      const std::vector<float> rounded(s.begin(), s.end());
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
