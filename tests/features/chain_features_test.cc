#include "espalier/features/chain_features.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/structures/chain.h"
#include "support/random_objective.h"

namespace espalier {
namespace {

using test_support::any_chain_data;
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
  EXPECT_EQ(features.squared_norm(0, std::span<const float>(delta)), 1.25);
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
  const ChainData data = any_chain_data();
  const ChainFeatures features(data.sequences, data.shape);
  const Weights theta = test_support::random_weights(seed, data.shape.weights());
  Workspace ws;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const Alone one = alone(data, i);
    RC_ASSERT(features.num_tables(i) == one.rows.size());
    const std::size_t labels = data.shape.num_labels;
    const std::size_t size = (features.length(i) + one.rows.size() * labels) * labels;
    std::vector<float> s(size, -7), told(size, 7);
    features.score(i, theta, 1.0f, std::span(s), ws);
    score_sequence(one.sequences, one.rows, data.shape, theta, std::span(told), ws);
    RC_ASSERT(s == told);
    std::vector<double> exact(size, -7), told_exactly(size, 7);
    features.score(i, theta, 1.0, std::span(exact), ws);
    score_sequence(one.sequences, one.rows, data.shape, theta, std::span(told_exactly), ws);
    RC_ASSERT(exact == told_exactly);
  }
}

}  // namespace
}  // namespace espalier
