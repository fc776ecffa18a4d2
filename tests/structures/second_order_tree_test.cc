#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "structures/dependency_tree.h"
#include "support/all_trees.h"
#include "support/enumeration.h"

namespace espalier::second_order_tree_test {
namespace {

// Some of the arcs of a sentence, with those of a tree among them, and their parts.
struct Sentence {
  Sentence(std::size_t words, bool all, const TreeShape& shape, Random& random) : offsets{0} {
    for (std::size_t d = 1; d <= words; ++d) {
      for (std::size_t h = 0; h <= words; ++h) {
        // A chain of words is a tree of every shape.
        if (h != d && (all || h + 1 == d || random.below(3) > 0))
          heads.push_back(static_cast<std::uint16_t>(h));
      }
      offsets.push_back(static_cast<std::uint32_t>(heads.size()));
    }
    parts.append(arcs(), shape.adjacent_siblings());
  }
  ArcSet arcs() const { return ArcSet(offsets, heads); }

  std::vector<std::uint32_t> offsets;
  std::vector<std::uint16_t> heads;
  TreePartLists parts;
};

std::vector<double> random_scores(std::size_t n, double size, Random& random) {
  std::vector<double> s(n);
  for (double& value : s) value = size * (2 * random.uniform() - 1);
  return s;
}

RC_GTEST_PROP(SecondOrderTree, AgreesWithEnumerationWhereProjective, (std::uint64_t seed)) {
  Random random(seed);
  TreeShape shape;
  shape.single_root = random.below(2) == 0;
  shape.num_labels = 1 + random.below(2);
  const Sentence sentence(1 + random.below(4), random.below(2) == 0, shape, random);
  const DependencyTree tree(sentence.arcs(), shape, sentence.parts(0));
  const auto s = random_scores(tree.num_statistics(), 3, random);
  RC_ASSERT(tree.exact());
  RC_ASSERT(test_support::check_inference<double>(tree, std::span<const double>(s), 1e-12) == "");
}

// Without scores of parts belief propagation has nothing to approximate but their marginals, and the
// indicator counts right.
RC_GTEST_PROP(SecondOrderTree, IsFirstOrderWhereNoPartHasAScore, (std::uint64_t seed)) {
  Random random(seed);
  TreeShape shape;
  shape.projective = random.below(2) == 0;
  shape.inference = TreeInference::bp;
  const Sentence sentence(1 + random.below(4), random.below(2) == 0, shape, random);
  const DependencyTree first(sentence.arcs(), shape), second(sentence.arcs(), shape, sentence.parts(0));
  RC_ASSERT(second.exact() == (shape.projective || sentence.parts(0).size() == 0));
  auto s = random_scores(second.num_statistics(), 3, random);
  std::fill(s.begin() + static_cast<std::ptrdiff_t>(first.num_statistics()), s.end(), 0.0);
  Workspace ws;
  std::vector<double> mu(first.num_statistics()), mu2(second.num_statistics());
  const std::span<const double> of_arcs(s.data(), mu.size());
  RC_ASSERT(std::abs(first.log_partition(of_arcs, mu, ws) -
                     second.log_partition(std::span<const double>(s), mu2, ws)) < 1e-6);
  for (std::size_t k = 0; k < mu.size(); ++k) RC_ASSERT(std::abs(mu[k] - mu2[k]) < 1e-6);
}

// In trees that may cross, the score of what is decoded is that of the tree.
RC_GTEST_PROP(SecondOrderTree, SaysTheScoreOfWhatItDecodes, (std::uint64_t seed)) {
  Random random(seed);
  TreeShape shape;
  shape.projective = false;
  shape.num_labels = 2;
  shape.inference = random.below(2) == 0 ? TreeInference::bp : TreeInference::trw;
  const Sentence sentence(2 + random.below(4), false, shape, random);
  const DependencyTree tree(sentence.arcs(), shape, sentence.parts(0));
  const auto s = random_scores(tree.num_statistics(), 1, random);
  Workspace ws;
  std::vector<double> chi(s.size()), again(s.size());
  const double score = tree.argmax(std::span<const double>(s), chi, ws);
  const auto y = tree.decode(std::span<const double>(s), ws);
  RC_ASSERT(test_support::is_tree(y.heads));
  tree.indicator(y, again);
  RC_ASSERT(chi == again);
  double sum = 0;
  for (std::size_t k = 0; k < s.size(); ++k) sum += chi[k] * s[k];
  RC_ASSERT(std::abs(sum - score) < 1e-10);
}

// Bounds of sums and maxima over all labelled trees, and marginals that agree with the trees'.
RC_GTEST_PROP(SecondOrderTree, BoundsHoldForAllTrees, (std::uint64_t seed)) {
  Random random(seed);
  TreeShape shape;
  shape.projective = false;
  shape.single_root = random.below(2) == 0;
  shape.num_labels = 1 + random.below(2);
  const Sentence sentence(1 + random.below(4), random.below(2) == 0, shape, random);
  const DependencyTree tree(sentence.arcs(), shape, sentence.parts(0));
  const auto s = random_scores(tree.num_statistics(), 2, random);
  const auto all = test_support::enumerate(tree, std::span<const double>(s));
  Workspace ws;
  std::vector<double> mu(s.size());
  std::vector<float> of_floats(s.size());
  const std::vector<float> rounded(s.begin(), s.end());
  const double bound = tree.log_partition(std::span<const double>(s), mu, ws);
  RC_ASSERT(bound >= all.log_z - 1e-9);
  RC_ASSERT(std::abs(tree.log_partition(std::span<const float>(rounded), of_floats, ws) - bound) <= 1e-5);
  std::vector<std::uint32_t> heads(tree.num_words()), labels(tree.num_words());
  const auto best = tree.best_into(std::span<const double>(s), heads, labels, ws);
  RC_ASSERT(best.score <= all.highest + 1e-9);
  if (best.optimal) RC_ASSERT(best.score >= all.highest - 1e-9);
}

TEST(TreeParts, AreThoseOfArcsThatAreAllowed) {
  // 1 <- 0, 1 -> 2, 1 -> 3, 2 -> 3
  const std::vector<std::uint32_t> offsets{0, 1, 2, 4};
  const std::vector<std::uint16_t> heads{0, 1, 1, 2};
  TreePartLists lists;
  lists.append(ArcSet(offsets, heads), true);
  lists.append(ArcSet(offsets, heads), false);
  const auto list = [](std::span<const TreePart> parts) {
    return std::vector<TreePart>(parts.begin(), parts.end());
  };
  EXPECT_EQ(list(lists(0).siblings),
            (std::vector<TreePart>{{0, 0, 1}, {1, 1, 2}, {1, 1, 3}, {1, 2, 3}, {2, 2, 3}}));
  EXPECT_EQ(list(lists(1).siblings), (std::vector<TreePart>{{1, 2, 3}}));
  const std::vector<TreePart> grandparents{{1, 0, 2}, {1, 0, 3}, {2, 1, 3}};
  EXPECT_EQ(list(lists(0).grandparents), grandparents);
  EXPECT_EQ(list(lists(1).grandparents), grandparents);
}

}  // namespace
}  // namespace espalier::second_order_tree_test
