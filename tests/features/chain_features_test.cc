#include "features/chain_features.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "structures/chain.h"
#include "support/random_objective.h"

namespace espalier::chain_features_test {
namespace {

using test_support::any_chain_data;
using test_support::any_chain_data_of_any_shape;
using test_support::ChainData;

// Two labels, two attributes of tokens, two of transitions. Weights of row r are 10 r + 1 and 10 r + 2.
class SmallChains : public ::testing::Test {
 protected:
  SmallChains() {
    for (std::size_t r = 0; r < 6; ++r) {
      w_.row(r)[0] = static_cast<float>(10 * r + 1);
      w_.row(r)[1] = static_cast<float>(10 * r + 2);
    }
    SparseRows& transitions = sequences_.transitions;
    transitions.add(0, 1);
    transitions.finish_row();
    transitions.add(0, 1);
    transitions.add(1, 2);
    transitions.finish_row();
    transitions.finish_row();
  }
  void add_token(std::vector<std::uint32_t> attributes) {
    for (const std::uint32_t a : attributes) sequences_.tokens.add(a, 1);
    sequences_.tokens.finish_row();
  }
  void end_sequence() { sequences_.offsets.push_back(sequences_.tokens.size()); }

  Sequences sequences_;
  const ChainShape shape_{2, 2, 2};
  Weights w_{shape_.weights()};
};

TEST_F(SmallChains, WeightsOfTransitionsComeBehindThoseOfTokens) {
  EXPECT_EQ(shape_.weights(), (WeightShape{6, 2}));
  EXPECT_EQ(shape_.transition_row(0, 0), 2u);
  EXPECT_EQ(shape_.transition_row(1, 1), 5u);
}

TEST_F(SmallChains, TiedScores) {
  add_token({0});
  add_token({});
  add_token({0, 1});
  end_sequence();
  add_token({1});
  end_sequence();
  const ChainFeatures features(sequences_, shape_);
  EXPECT_TRUE(features.tied());
  EXPECT_EQ(features.size(), 2u);
  EXPECT_EQ(features.num_tables(0), 1u);
  EXPECT_EQ(features.num_tables(1), 0u) << "one token makes no step";
  Workspace ws;
  std::vector<float> s(6 + 4);
  features.score(0, w_, 2.0f, std::span(s), ws);
  EXPECT_EQ(s, (std::vector<float>{2, 4, 0, 0, 24, 28, 42, 44, 62, 64}));
  std::vector<float> alone(2);
  features.score(1, w_, 1.0f, std::span(alone), ws);
  EXPECT_EQ(alone, (std::vector<float>{11, 12}));
}

// The row of the step into the first token of a sequence is nobody's.
TEST_F(SmallChains, TablesOfUntiedSequences) {
  for (int t = 0; t < 10; ++t) add_token({});
  sequences_.offsets = {0, 4, 5, 10};
  sequences_.transition_of = {0, 2, 2, 1, 1, 2, 1, 0, 1, 1};
  const ChainFeatures features(sequences_, shape_);
  EXPECT_FALSE(features.tied());
  const auto tables = [&](std::size_t i) {
    return std::vector<std::uint32_t>(features.tables(i).begin(), features.tables(i).end());
  };
  EXPECT_EQ(tables(0), (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(features.num_tables(0), 2u);
  EXPECT_EQ(tables(1), std::vector<std::uint32_t>{});
  EXPECT_EQ(features.num_tables(1), 0u);
  EXPECT_EQ(tables(2), (std::vector<std::uint32_t>{0, 1, 0, 0}));
  EXPECT_EQ(features.num_tables(2), 2u);

  // Rows 2 (empty) and 1 (attribute 0 once, attribute 1 twice), in the order of their first steps.
  Workspace ws;
  std::vector<double> s(8 + 8);
  features.score(0, w_, 1.0, std::span(s), ws);
  const std::vector<double> of_tables(s.begin() + 8, s.end());
  EXPECT_EQ(of_tables, (std::vector<double>{0, 0, 0, 0, 21 + 82, 22 + 84, 31 + 102, 32 + 104}));

  Weights change(shape_.weights());
  std::vector<float> delta(16);
  delta[8] = 100;   // of the empty row
  delta[14] = 0.5;  // of row 1, from label 1 to label 0
  features.accumulate(0, std::span<const float>(delta), change, ws);
  EXPECT_EQ(std::vector<float>(change.values().begin(), change.values().end()),
            (std::vector<float>{0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 1, 0}));
  EXPECT_EQ(features.squared_norm(0, std::span<const float>(delta), ws), 1.25);
}

// Token 0 has label 0, token 1 label 1, token 2 label 0; attribute 0 is seen with label 0 alone.
TEST_F(SmallChains, ObservedWeights) {
  add_token({0, 1});
  add_token({1});
  add_token({0});
  end_sequence();
  const std::vector<std::uint32_t> labels{0, 1, 0};
  const ChainShape shape = chain_shape(shape_, {true, true}, 1, sequences_, labels);
  EXPECT_EQ(shape.weights(), (WeightShape{3 + 2, 1})) << "three pairs, and the n-grams 0 1 and 1 0";
  EXPECT_FALSE(shape.has_tables());
  EXPECT_EQ(shape.token_weight(0, 0), (WeightPlace{0, 0}));
  EXPECT_EQ(shape.token_weight(0, 1), std::nullopt);
  EXPECT_EQ(shape.token_weight(1, 0), (WeightPlace{1, 0}));
  EXPECT_EQ(shape.token_weight(1, 1), (WeightPlace{2, 0}));
  EXPECT_EQ(shape.step_weight(0, 0, 1), std::nullopt);
  EXPECT_EQ(shape.ngram_weight(1), (WeightPlace{4, 0}));

  const ChainFeatures features(sequences_, shape);
  EXPECT_EQ(features.num_tables(0), 0u);
  Weights w(shape.weights());
  for (std::size_t e = 0; e < 5; ++e) *w.row(e) = static_cast<float>(e + 1);
  Workspace ws;
  std::vector<float> s(6 + 2);
  features.score(0, w, 2.0f, std::span(s), ws);
  EXPECT_EQ(s, (std::vector<float>{6, 6, 4, 6, 2, 0, 8, 10}));

  const std::vector<float> delta{1, 10, 2, 20, 3, 30, 5, 7};
  Weights change(shape.weights());
  features.accumulate(0, std::span<const float>(delta), change, ws);
  EXPECT_EQ(std::vector<float>(change.values().begin(), change.values().end()),
            (std::vector<float>{4, 3, 30, 5, 7}));
  EXPECT_EQ(features.squared_norm(0, std::span<const float>(delta), ws), 16 + 9 + 900 + 25 + 49);
}

TEST_F(SmallChains, ObservedTransitionsThatLookAtTheInput) {
  for (int t = 0; t < 4; ++t) add_token({});
  end_sequence();
  sequences_.transition_of = {0, 1, 1, 0};
  const std::vector<std::uint32_t> labels{0, 1, 1, 0};
  const ChainShape shape = chain_shape(shape_, {true, true}, 1, sequences_, labels);
  // Attribute 0 is seen from 0 to 1, from 1 to 1 and from 1 to 0, attribute 1 from 0 to 1 and from 1 to 1.
  EXPECT_EQ(shape.weights(), (WeightShape{5, 1}));
  EXPECT_TRUE(shape.has_tables());
  EXPECT_EQ(shape.step_weight(0, 0, 0), std::nullopt);
  EXPECT_EQ(shape.step_weight(0, 1, 0), (WeightPlace{1, 0}));
  EXPECT_EQ(shape.step_weight(1, 1, 1), (WeightPlace{4, 0}));
  const ChainFeatures features(sequences_, shape);
  Weights w(shape.weights());
  for (std::size_t e = 0; e < 5; ++e) *w.row(e) = static_cast<float>(e + 1);
  Workspace ws;
  std::vector<float> s(8 + 8);
  features.score(0, w, 1.0f, std::span(s), ws);
  EXPECT_EQ(std::vector<float>(s.begin() + 8, s.end()),
            (std::vector<float>{0, 1 + 2 * 4, 2, 3 + 2 * 5, 0, 1, 2, 3}));
}

TEST_F(SmallChains, NgramsFillRowsOfAllLabels) {
  for (int t = 0; t < 5; ++t) add_token({});
  end_sequence();
  const std::vector<std::uint32_t> labels{0, 1, 1, 0, 1};
  const ChainShape shape = chain_shape(shape_, {}, 2, sequences_, labels);
  EXPECT_EQ(shape.num_ngrams(), 3u) << "0 1 1, 1 0 1 and 1 1 0";
  EXPECT_EQ(shape.weights(), (WeightShape{6 + 2, 2}));
  EXPECT_EQ(shape.ngram_weight(0), (WeightPlace{6, 0}));
  EXPECT_EQ(shape.ngram_weight(2), (WeightPlace{7, 0}));
  EXPECT_EQ(shape.token_weight(1, 0), (WeightPlace{1, 0}));
  EXPECT_EQ(shape.step_weight(1, 1, 0), (WeightPlace{5, 0}));
}

// Weights of pairs that were not seen are 0: the scores are those of weights for all features, which have 0
// there.
RC_GTEST_PROP(ChainFeatures, ObservedFeaturesScoreAsAllDoWithZerosForTheOthers, (std::uint64_t seed)) {
  const ChainData data = any_chain_data();
  const ChainShape shape = chain_shape(data.shape, {true, true}, 1, data.sequences, data.gold);
  const Weights theta = test_support::random_weights(seed, shape.weights());
  Weights all(data.shape.weights());
  const auto copy = [&](const std::optional<WeightPlace>& from, const std::optional<WeightPlace>& to) {
    if (from) all.row(to->row)[to->column] = *theta.row(from->row);
  };
  const std::size_t labels = shape.num_labels;
  for (std::size_t j = 0; j < labels; ++j) {
    for (std::size_t a = 0; a < shape.num_attributes; ++a) {
      copy(shape.token_weight(a, j), data.shape.token_weight(a, j));
    }
    for (std::size_t a = 0; a < shape.num_transition_attributes; ++a) {
      for (std::size_t i = 0; i < labels; ++i)
        copy(shape.step_weight(a, i, j), data.shape.step_weight(a, i, j));
    }
  }
  const ChainFeatures some(data.sequences, shape), every(data.sequences, data.shape);
  Workspace ws;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const std::size_t size = (some.length(i) + some.num_tables(i) * labels) * labels;
    std::vector<double> s(size + shape.num_ngrams()),
        expected((some.length(i) + every.num_tables(i) * labels) * labels);
    some.score(i, theta, 1.0, std::span(s), ws);
    every.score(i, all, 1.0, std::span(expected), ws);
    for (std::size_t k = 0; k < size; ++k)
      RC_ASSERT(std::abs(s[k] - expected[k]) <= 1e-14 * (1 + std::abs(s[k])));
    for (std::size_t k = 0; k < shape.num_ngrams(); ++k)
      RC_ASSERT(s[size + k] == *theta.row(shape.ngram_row() + k));
  }
}

// What solvers scale their first steps by is no less than a change of one label moves on average.
RC_GTEST_PROP(ChainFeatures, ObservedTokensChangeByNoMoreThanTheySay, ()) {
  ChainData data = any_chain_data();
  RC_PRE(data.shape.num_labels > 1);
  data.sequences.transition_of.clear();
  const ChainShape shape = chain_shape({data.shape.num_attributes, 0, data.shape.num_labels}, {true, true}, 1,
                                       data.sequences, data.gold);
  const ChainFeatures features(data.sequences, shape);
  const std::size_t labels = shape.num_labels;
  Workspace ws;
  for (std::size_t i = 0; i < features.size(); ++i) {
    double sum = 0;
    std::size_t pairs = 0;
    for (std::size_t t = 0; t < features.length(i); ++t) {
      for (std::size_t from = 0; from < labels; ++from) {
        for (std::size_t to = 0; to < labels; ++to) {
          if (from == to) continue;
          std::vector<double> delta(features.length(i) * labels, 0.0);
          delta[t * labels + from] = -1;
          delta[t * labels + to] = 1;
          sum += features.squared_norm(i, std::span<const double>(delta), ws);
          ++pairs;
        }
      }
    }
    RC_ASSERT(sum / static_cast<double>(pairs) <= features.squared_change(i) * (1 + 1e-12));
  }
}

// Sequence i alone, with the rows of its tables.
struct Alone {
  Sequences sequences;
  std::vector<std::uint32_t> rows;
};

Alone alone(const ChainData& data, std::size_t i) {
  Alone one;
  one.sequences.transitions = data.sequences.transitions;
  const std::size_t begin = data.sequences.offsets[i], end = data.sequences.offsets[i + 1];
  for (std::size_t t = begin; t < end; ++t) {
    const SparseRows::Row row = data.sequences.tokens.row(t);
    for (std::size_t j = 0; j < row.ids.size(); ++j) one.sequences.tokens.add(row.ids[j], row.value(j));
    one.sequences.tokens.finish_row();
    if (t == begin) continue;
    const std::uint32_t table = data.sequences.transition_of.empty() ? 0 : data.sequences.transition_of[t];
    if (std::find(one.rows.begin(), one.rows.end(), table) == one.rows.end()) one.rows.push_back(table);
  }
  one.sequences.offsets.push_back(end - begin);
  return one;
}

RC_GTEST_PROP(ChainFeatures, ASequenceAloneHasTheScoresThatItHasInAProblem, (std::uint64_t seed)) {
  const ChainData data = any_chain_data_of_any_shape();
  const ChainFeatures features(data.sequences, data.shape);
  const Weights theta = test_support::random_weights(seed, data.shape.weights());
  Workspace ws;
  for (std::size_t i = 0; i < features.size(); ++i) {
    Alone one = alone(data, i);
    if (!data.shape.has_tables()) one.rows.clear();
    RC_ASSERT(features.num_tables(i) == one.rows.size());
    const std::size_t labels = data.shape.num_labels;
    const std::size_t size =
        (features.length(i) + one.rows.size() * labels) * labels + data.shape.num_ngrams();
    std::vector<float> s(size, -7), told(size, 7);
    features.score(i, theta, 1.0f, std::span(s), ws);
    score_sequence(one.sequences, one.rows, data.shape, theta, nullptr, std::span(told), ws);
    RC_ASSERT(s == told);
    std::vector<double> exact(size, -7), told_exactly(size, 7);
    features.score(i, theta, 1.0, std::span(exact), ws);
    score_sequence(one.sequences, one.rows, data.shape, theta, nullptr, std::span(told_exactly), ws);
    RC_ASSERT(exact == told_exactly);
  }
}

}  // namespace
}  // namespace espalier::chain_features_test
