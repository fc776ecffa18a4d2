#include "structures/dependency_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "base/random.h"
#include "structures/enumerated_trees.h"
#include "structures/projectivity.h"
#include "support/enumeration.h"
#include "support/random_dependencies.h"
#include "support/random_scores.h"

namespace espalier::dependency_tree_test {
namespace {

using test_support::check_centre;
using test_support::check_entropy;
using test_support::check_inference;
using test_support::check_kbest;
using test_support::check_uniform;
using test_support::draw_between;
using test_support::finite_scores;
using test_support::OwnedArcs;
using test_support::scores;

// A sentence whose trees can be enumerated, with all arcs or some of them. One tree is always possible.
struct Drawn {
  TreeShape shape;
  std::vector<std::uint32_t> possible;  // heads
  bool all;
  OwnedArcs some;

  DependencyTree tree() const { return {all ? ArcSet(possible.size()) : some.view(), shape}; }
};

Drawn draw_tree(std::size_t most_labels = 3) {
  Drawn drawn;
  drawn.shape.projective = *rc::gen::arbitrary<bool>();
  drawn.shape.single_root = *rc::gen::arbitrary<bool>();
  drawn.shape.num_labels = draw_between(1, most_labels);
  // 4 words with 3 labels have 10,125 trees.
  const std::size_t words = draw_between(1, drawn.shape.num_labels == 3 ? 3 : 4);
  const auto trees = test_support::all_trees(words, drawn.shape.projective, drawn.shape.single_root);
  drawn.possible = trees[draw_between(0, trees.size() - 1)];
  drawn.all = *rc::gen::arbitrary<bool>();
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  drawn.some = test_support::random_arcs(random, drawn.possible, *rc::gen::element(0.2, 0.5, 0.9));
  return drawn;
}

// Scores that leave at least that tree.
std::vector<double> draw_scores(const Drawn& drawn) {
  const DependencyTree tree = drawn.tree();
  auto s = *scores(tree.num_statistics());
  for (std::size_t d = 1; d <= tree.num_words(); ++d) {
    double& x = s[tree.arcs().find(drawn.possible[d - 1], d) * tree.num_labels()];
    if (std::isinf(x)) x = 0;
  }
  return s;
}

RC_GTEST_PROP(DependencyTree, InferenceIsThatOfEnumeration, ()) {
  const Drawn drawn = draw_tree();
  const DependencyTree tree = drawn.tree();
  const auto s = draw_scores(drawn);
  const std::vector<float> rounded(s.begin(), s.end());
  RC_ASSERT(check_inference<double>(tree, std::span<const double>(s), 1e-12) == "");
  RC_ASSERT(check_inference<float>(tree, std::span<const float>(rounded), 1e-6) == "");
}

RC_GTEST_PROP(DependencyTree, ZeroScoresCountTrees, ()) {
  const Drawn drawn = draw_tree();
  RC_ASSERT(check_uniform<double>(drawn.tree(), 1e-13) == "");
  RC_ASSERT(check_uniform<float>(drawn.tree(), 1e-6) == "");
}

// Every shape of four words once, with the largest number of labels.
TEST(DependencyTree, FourWordsWithThreeLabels) {
  Random random(1);
  for (const bool projective : {true, false}) {
    for (const bool single_root : {true, false}) {
      const DependencyTree tree(ArcSet(4), {projective, single_root, 3});
      ASSERT_EQ(tree.num_statistics(), 16u * 3);
      std::vector<double> s(tree.num_statistics());
      for (double& x : s) x = 4 * random.uniform() - 2;
      EXPECT_EQ(check_inference<double>(tree, std::span<const double>(s), 1e-12), "")
          << projective << single_root;
      EXPECT_EQ(check_entropy(tree, std::span<const double>(s), 1e-12), "") << projective << single_root;
    }
  }
}

RC_GTEST_PROP(DependencyTree, BestTreesAreThoseOfEnumeration, ()) {
  const Drawn drawn = draw_tree(1);
  const auto s = draw_scores(drawn);
  RC_ASSERT(check_kbest(drawn.tree(), std::span<const double>(s), draw_between(1, 12), 1e-12) == "");
}

// With labels: each tree once, with the best label of each of its arcs.
RC_GTEST_PROP(DependencyTree, BestTreesHaveTheirBestLabels, ()) {
  const Drawn drawn = draw_tree();
  const DependencyTree tree = drawn.tree();
  const auto s = draw_scores(drawn);
  const auto e = test_support::enumerate(tree, std::span<const double>(s));
  std::map<std::vector<std::uint32_t>, double> best_of;  // by heads
  for (std::size_t y = 0; y < e.outputs.size(); ++y) {
    if (std::isinf(e.scores[y])) continue;
    const auto [entry, is_new] = best_of.try_emplace(e.outputs[y].heads, e.scores[y]);
    entry->second = std::max(entry->second, e.scores[y]);
  }
  std::vector<double> expected;
  for (const auto& tree_and_score : best_of) expected.push_back(tree_and_score.second);
  std::sort(expected.begin(), expected.end(), std::greater<>());

  const std::size_t k = draw_between(1, 12);
  const auto best = tree.kbest(s, k);
  RC_ASSERT(best.size() == std::min(k, expected.size()));
  const double rounding = 1e-12 * (1 + e.largest);
  std::map<std::vector<std::uint32_t>, bool> seen;
  for (std::size_t r = 0; r < best.size(); ++r) {
    RC_ASSERT(std::abs(best[r].score - expected[r]) <= rounding);
    const std::size_t y = e.find(best[r].output);
    RC_ASSERT(y < e.outputs.size());
    RC_ASSERT(std::abs(best[r].score - e.scores[y]) <= rounding);
    RC_ASSERT(std::abs(best[r].score - best_of[best[r].output.heads]) <= rounding);
    RC_ASSERT(!seen[best[r].output.heads]);
    seen[best[r].output.heads] = true;
  }
}

RC_GTEST_PROP(DependencyTree, EntropyIsThatOfEnumeration, ()) {
  const Drawn drawn = draw_tree();
  const auto s = draw_scores(drawn);
  // It is a difference of numbers of the size of the scores.
  const double tolerance = 100 * test_support::rounding(drawn.possible.size(), s);
  RC_ASSERT(check_entropy(drawn.tree(), std::span<const double>(s), tolerance) == "");
}

RC_GTEST_PROP(DependencyTree, CentringChangesNoDistribution, ()) {
  const Drawn drawn = draw_tree();
  const DependencyTree tree = drawn.tree();
  const auto as_floats = [&](double range) {
    std::vector<float> floats;
    for (const double v : *finite_scores(tree.num_statistics()))
      floats.push_back(static_cast<float>(std::fmod(v, range)));
    return floats;
  };
  const auto s = as_floats(20), d = as_floats(50);
  RC_ASSERT(check_centre(tree, std::span<const float>(s), std::span<const float>(d), 1e-5) == "");
  // Word by word, too.
  std::vector<float> mu(s.size()), centred = d;
  Workspace ws;
  tree.log_partition(std::span<const float>(s), std::span(mu), ws);
  tree.centre(mu, centred);
  for (std::size_t word = 1; word <= tree.num_words(); ++word) {
    double mean = 0;
    for (std::size_t k = tree.arcs().begin(word) * tree.num_labels();
         k < tree.arcs().end(word) * tree.num_labels(); ++k)
      mean += static_cast<double>(mu[k]) * centred[k];
    RC_ASSERT(std::abs(mean) <= 50 * 1e-5);
  }
}

// Arcs that are not allowed are arcs that score -infinity.
RC_GTEST_PROP(DependencyTree, SomeArcsAreAllArcsWithoutTheOthers, ()) {
  const Drawn drawn = draw_tree();
  const ArcSet all(drawn.possible.size());
  const DependencyTree some(drawn.some.view(), drawn.shape), every(all, drawn.shape);
  const std::size_t labels = drawn.shape.num_labels;
  const auto s = *finite_scores(some.num_statistics());
  std::vector<double> spread(every.num_statistics(), -std::numeric_limits<double>::infinity());
  std::vector<std::size_t> place(s.size());
  for (std::size_t d = 1; d <= all.words(); ++d) {
    for (std::size_t a = some.arcs().begin(d); a < some.arcs().end(d); ++a) {
      for (std::size_t l = 0; l < labels; ++l) {
        place[a * labels + l] = all.find(some.arcs().head(a, d), d) * labels + l;
        spread[place[a * labels + l]] = s[a * labels + l];
      }
    }
  }
  Workspace ws;
  std::vector<double> mu(s.size()), expected(spread.size());
  RC_ASSERT(some.log_partition(std::span<const double>(s), std::span(mu), ws) ==
            every.log_partition(std::span<const double>(spread), std::span(expected), ws));
  for (std::size_t k = 0; k < s.size(); ++k) {
    RC_ASSERT(mu[k] == expected[place[k]]);
    expected[place[k]] = 0;
  }
  RC_ASSERT(expected == std::vector<double>(spread.size(), 0.0));
  RC_ASSERT(some.decode(std::span<const double>(s), ws) == every.decode(std::span<const double>(spread), ws));
}

RC_GTEST_PROP(DependencyTree, IndicatorsAddUp, ()) {
  const Drawn drawn = draw_tree();
  const DependencyTree tree = drawn.tree();
  const auto outputs = all_outputs(tree);
  const auto& y = outputs[draw_between(0, outputs.size() - 1)];
  std::vector<double> chi(tree.num_statistics(), 7.0), sum(chi.size(), 0.5);
  std::vector<float> float_chi(chi.size(), 7.0f);
  tree.indicator(y, std::span(chi));
  tree.indicator(y, std::span(float_chi));
  tree.add_indicator<double>(y.heads, y.labels, -2, sum);
  std::size_t ones = 0;
  for (std::size_t d = 1; d <= tree.num_words(); ++d) {
    for (std::size_t a = tree.arcs().begin(d); a < tree.arcs().end(d); ++a) {
      for (std::size_t l = 0; l < tree.num_labels(); ++l) {
        const bool has = tree.arcs().head(a, d) == y.heads[d - 1] && l == y.labels[d - 1];
        const std::size_t k = a * tree.num_labels() + l;
        RC_ASSERT(chi[k] == (has ? 1 : 0));
        RC_ASSERT(float_chi[k] == (has ? 1 : 0));
        RC_ASSERT(sum[k] == (has ? -1.5 : 0.5));
        ones += has ? 1 : 0;
      }
    }
  }
  RC_ASSERT(ones == tree.num_words());
}

TEST(DependencyTree, OneWordHasTheRootForItsHead) {
  Workspace ws;
  for (const bool projective : {true, false}) {
    const DependencyTree tree(ArcSet(1), {projective, true, 3});
    const std::vector<double> s{-1, 2, -std::numeric_limits<double>::infinity()};
    EXPECT_EQ(check_inference<double>(tree, std::span<const double>(s), 1e-15), "");
    EXPECT_EQ(tree.decode(std::span<const double>(s), ws), (DependencyTree::Output{{0}, {1}}));
    const auto best = tree.kbest(s, 5);
    ASSERT_EQ(best.size(), 1u);
    EXPECT_EQ(best[0].score, 2);
  }
}

TEST(DependencyTree, EquallyGoodLabelsGiveTheFirst) {
  Workspace ws;
  const DependencyTree tree(ArcSet(2), {true, false, 3});
  std::vector<double> s(tree.num_statistics(), 0.0);
  s[tree.arcs().find(0, 1) * 3 + 1] = s[tree.arcs().find(0, 1) * 3 + 2] = 1;
  s[tree.arcs().find(1, 2) * 3 + 2] = 1;
  EXPECT_EQ(tree.decode(std::span<const double>(s), ws), (DependencyTree::Output{{0, 1}, {1, 2}}));
}

// Long sentences and many labels cannot be enumerated, but must agree with what is known of them.
TEST(DependencyTree, LongSentencesOfManyLabels) {
  constexpr std::size_t kWords = 200, kLabels = 70;
  Random random(2);
  Workspace ws;
  std::vector<std::uint32_t> chain(kWords);
  for (std::size_t d = 1; d <= kWords; ++d) chain[d - 1] = static_cast<std::uint32_t>(d - 1);
  const OwnedArcs arcs = test_support::random_arcs(random, chain, 0.05);
  for (const bool projective : {true, false}) {
    const DependencyTree tree(arcs.view(), {projective, true, kLabels});
    std::vector<double> s(tree.num_statistics()), mu(s.size());
    for (double& x : s) x = static_cast<float>(10 * random.uniform());
    const std::vector<float> rounded(s.begin(), s.end());
    std::vector<float> float_mu(s.size());
    const double log_z = tree.log_partition(std::span<const double>(s), std::span(mu), ws);
    EXPECT_NEAR(tree.log_partition(std::span<const float>(rounded), std::span(float_mu), ws), log_z,
                1e-12 * log_z);
    for (std::size_t d = 1; d <= kWords; ++d) {
      double sum = 0;
      for (std::size_t k = tree.arcs().begin(d) * kLabels; k < tree.arcs().end(d) * kLabels; ++k) {
        sum += mu[k];
        ASSERT_NEAR(float_mu[k], mu[k], 1e-7);
      }
      EXPECT_NEAR(sum, 1, 1e-11) << "word " << d;
    }
    // One arc more or less likely: the derivative of log Z.
    const std::size_t k = tree.arcs().begin(100) * kLabels + 3;
    auto moved = s;
    std::vector<double> unused(s.size());
    moved[k] += 1e-3;
    const double above = tree.log_partition(std::span<const double>(moved), std::span(unused), ws);
    moved[k] -= 2e-3;
    const double below = tree.log_partition(std::span<const double>(moved), std::span(unused), ws);
    EXPECT_NEAR((above - below) / 2e-3, mu[k], 1e-6);

    const auto y = tree.decode(std::span<const double>(s), ws);
    EXPECT_TRUE(test_support::is_tree(y.heads));
    EXPECT_TRUE(!projective || is_projective(y.heads));
    EXPECT_EQ(std::count(y.heads.begin(), y.heads.end(), 0u), 1);
    const auto best = tree.kbest(s, 3);
    ASSERT_EQ(best.size(), 3u);
    EXPECT_EQ(best[0].output, y);
    const double entropy = tree.entropy(s, ws);
    EXPECT_GT(entropy, 0);
    EXPECT_LE(best[0].score, log_z);
    EXPECT_GE(best[0].score + entropy, log_z) << "the best tree scores no less than they do on average";
  }
}

}  // namespace
}  // namespace espalier::dependency_tree_test
