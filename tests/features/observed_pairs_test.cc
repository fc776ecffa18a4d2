#include "features/observed_pairs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "support/random_objective.h"

namespace espalier::observed_pairs_test {
namespace {

using test_support::any_chain_data;
using test_support::ChainData;

using Labels = std::vector<std::uint32_t>;

Labels labels_of(const ObservedPairs& pairs, std::size_t attribute) {
  return {pairs.labels(attribute).begin(), pairs.labels(attribute).end()};
}

TEST(ObservedPairs, LabelsOfEachAttributeInOrder) {
  Sequences sequences;
  for (const auto& attributes : std::vector<Labels>{{1, 0}, {1}, {}, {1, 3}}) {
    for (const std::uint32_t a : attributes) sequences.tokens.add(a, 0.5f);
    sequences.tokens.finish_row();
  }
  sequences.offsets.push_back(4);
  const ObservedPairs pairs = observed_pairs(sequences, Labels{5, 2, 0, 5}, 4);
  EXPECT_EQ(pairs.num_attributes(), 4u);
  EXPECT_EQ(pairs.size(), 4u);
  EXPECT_EQ(labels_of(pairs, 0), Labels{5});
  EXPECT_EQ(labels_of(pairs, 1), (Labels{2, 5}));
  EXPECT_EQ(labels_of(pairs, 2), Labels{});
  EXPECT_EQ(labels_of(pairs, 3), Labels{5});
  EXPECT_EQ(pairs.begin(1), 1u);
  EXPECT_EQ(pairs.begin(3), 3u);
}

// Values are summed over the tokens of a label, as CRFsuite sums them.
TEST(ObservedPairs, OnlyThoseThatAreFrequent) {
  Sequences sequences;
  for (const auto& [a, value] : std::vector<std::pair<std::uint32_t, float>>{
           {0, 0.5f}, {0, 0.5f}, {0, 0.75f}, {1, 2.0f}, {1, -1.5f}, {1, 1.0f}}) {
    sequences.tokens.add(a, value);
    sequences.tokens.finish_row();
  }
  sequences.offsets.push_back(6);
  const Labels labels{0, 0, 1, 2, 2, 3};
  const ObservedPairs pairs = observed_pairs(sequences, labels, 2, 1);
  EXPECT_EQ(labels_of(pairs, 0), Labels{0});
  EXPECT_EQ(labels_of(pairs, 1), Labels{3});
  EXPECT_EQ(observed_pairs(sequences, labels, 2, 0).size(), 4u);
}

TEST(ObservedPairs, All) {
  const ObservedPairs pairs = all_pairs(2, 3);
  EXPECT_EQ(labels_of(pairs, 0), (Labels{0, 1, 2}));
  EXPECT_EQ(labels_of(pairs, 1), (Labels{0, 1, 2}));
}

TEST(ObservedPairs, NoAttributesAtAll) {
  const ObservedPairs none;
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.num_attributes(), 0u);
}

RC_GTEST_PROP(ObservedPairs, AreThoseOfTokensAndSteps, ()) {
  const ChainData data = any_chain_data();
  std::set<std::pair<std::uint32_t, std::uint32_t>> tokens, steps;
  const Sequences& sequences = data.sequences;
  const auto labels = static_cast<std::uint32_t>(data.shape.num_labels);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    for (std::size_t t = sequences.offsets[i]; t < sequences.offsets[i + 1]; ++t) {
      for (const std::uint32_t a : sequences.tokens.row(t).ids) tokens.emplace(a, data.gold[t]);
      if (t == sequences.offsets[i]) continue;
      const std::size_t row = sequences.transition_of.empty() ? 0 : sequences.transition_of[t];
      for (const std::uint32_t a : sequences.transitions.row(row).ids) {
        steps.emplace(a, data.gold[t - 1] * labels + data.gold[t]);
      }
    }
  }
  const auto listed = [](const ObservedPairs& pairs) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
    for (std::uint32_t a = 0; a < pairs.num_attributes(); ++a) {
      for (const std::uint32_t label : pairs.labels(a)) all.emplace_back(a, label);
    }
    return all;
  };
  RC_ASSERT(listed(observed_pairs(sequences, data.gold, data.shape.num_attributes)) ==
            std::vector(tokens.begin(), tokens.end()));
  RC_ASSERT(listed(observed_steps(sequences, data.gold, labels, data.shape.num_transition_attributes)) ==
            std::vector(steps.begin(), steps.end()));
}

}  // namespace
}  // namespace espalier::observed_pairs_test
