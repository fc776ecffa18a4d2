#include "structures/label_ngrams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/ngram_automaton.h"
#include "support/random_ngrams.h"

namespace espalier::label_ngrams_test {
namespace {

using Labels = std::vector<std::uint32_t>;

Labels ngram(const LabelNgrams& ngrams, std::size_t k) {
  return {ngrams.ngram(k).begin(), ngrams.ngram(k).end()};
}

TEST(LabelNgrams, AreSortedAndFound) {
  const LabelNgrams ngrams(3, {{2, 1, 0}, {1, 0}, {0, 2}, {0, 0, 2}});
  ASSERT_EQ(ngrams.size(), 4U);
  EXPECT_EQ(ngrams.order(), 2U);
  const std::vector<Labels> sorted = {{0, 2}, {1, 0}, {0, 0, 2}, {2, 1, 0}};
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(ngram(ngrams, k), sorted[k]);
    EXPECT_EQ(ngrams.find(sorted[k]), k);
  }
  EXPECT_FALSE(ngrams.find(Labels{1, 2}));
  EXPECT_FALSE(ngrams.find(Labels{2, 1, 0, 0}));
  EXPECT_EQ(LabelNgrams(3, {}).order(), 1U);
}

TEST(LabelNgrams, AreThoseOfTheSequences) {
  const Labels labels = {0, 1, 1, 2, 0, 1};
  const std::vector<std::size_t> offsets = {0, 3, 4, 6};
  const LabelNgrams ngrams = observed_ngrams(labels, offsets, 3, 2, 3);
  ASSERT_EQ(ngrams.size(), 3U);
  EXPECT_EQ(ngram(ngrams, 0), (Labels{0, 1}));
  EXPECT_EQ(ngram(ngrams, 1), (Labels{1, 1}));
  EXPECT_EQ(ngram(ngrams, 2), (Labels{0, 1, 1}));
}

TEST(LabelNgrams, ThatAreFrequentOrPairs) {
  const Labels labels = {0, 1, 1, 0, 1, 2, 0, 1};
  const std::vector<std::size_t> offsets = {0, 5, 8};
  const LabelNgrams frequent = observed_ngrams(labels, offsets, 3, 2, 3, 2);
  ASSERT_EQ(frequent.size(), 1U);
  EXPECT_EQ(ngram(frequent, 0), (Labels{0, 1}));
  const LabelNgrams with_pairs = observed_ngrams(labels, offsets, 3, 2, 3, 0, true);
  EXPECT_EQ(with_pairs.size(), 9U + 4U);
  EXPECT_TRUE(with_pairs.find(Labels{2, 2}));
}

// Pairs need no history but the last label, and then all states behave alike.
TEST(NgramAutomaton, OfPairsIsTheLabels) {
  const LabelNgrams ngrams(5, {{0, 1}, {3, 2}, {4, 4}});
  const NgramAutomaton& automaton = ngrams.automaton();
  EXPECT_EQ(automaton.num_states, 5U);
  EXPECT_EQ(automaton.num_classes, 1U);
  for (std::size_t q = 0; q < 5; ++q) {
    for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(automaton.label[automaton.next(q, j)], j);
  }
}

TEST(NgramAutomaton, OfAllTriplesIsTheLabelsAndTheirPairs) {
  const LabelNgrams ngrams = test_support::all_ngrams(4, 3);
  EXPECT_EQ(ngrams.automaton().num_states, 4U + 16U);
  EXPECT_EQ(ngrams.automaton().num_classes, 5U);  // any label may follow each label, and none in particular
}

TEST(NgramAutomaton, HasNoStateThatNoNgramBeginsWith) {
  const LabelNgrams ngrams(4, {{0, 1, 2, 3}});
  const NgramAutomaton& automaton = ngrams.automaton();
  EXPECT_EQ(automaton.num_states, 6U);   // 0, 1, 2, 3, 0 1, 0 1 2
  EXPECT_EQ(automaton.num_classes, 3U);  // 0 and 0 1 can be extended, and nothing at all
  std::size_t state = automaton.single[0];
  const Labels way = {1, 2, 0, 1, 1};
  const std::vector<bool> is_single = {false, false, true, false, true};
  for (std::size_t t = 0; t < way.size(); ++t) {
    state = automaton.next(state, way[t]);
    EXPECT_EQ(automaton.label[state], way[t]);
    EXPECT_EQ(state == automaton.single[way[t]], is_single[t]) << t;
  }
}

// Every state has a place of its own, and parents come later.
TEST(NgramAutomaton, IsInOrder) {
  Random random(3);
  for (int trial = 0; trial < 50; ++trial) {
    const std::size_t labels = 1 + random.below(6);
    const LabelNgrams ngrams = test_support::random_ngrams(random, labels, 5, random.below(30));
    const NgramAutomaton& automaton = ngrams.automaton();
    auto places = automaton.place;
    std::sort(places.begin(), places.end());
    EXPECT_EQ(std::adjacent_find(places.begin(), places.end()), places.end());
    for (std::size_t q = 0; q < automaton.num_states; ++q) {
      const std::size_t c = automaton.place[q] / automaton.stride;
      EXPECT_EQ(automaton.target[c * labels + automaton.label[q]], q);
      EXPECT_EQ(automaton.passes_float[automaton.place[q]], 0);
    }
    for (std::size_t c = 0; c + 1 < automaton.num_classes; ++c) EXPECT_GT(automaton.parent[c], c);
    EXPECT_EQ(automaton.parent.back(), automaton.num_classes - 1);
  }
}

}  // namespace
}  // namespace espalier::label_ngrams_test
