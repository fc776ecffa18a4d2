#include "solvers/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace espalier::schedule_test {
namespace {

std::vector<std::uint32_t> round_of(Schedule& schedule, const std::vector<float>& priorities = {}) {
  const auto round = schedule.next_round(priorities);
  return {round.begin(), round.end()};
}

std::vector<std::uint32_t> in_order(std::size_t n) {
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> round) {
  std::sort(round.begin(), round.end());
  return round;
}

TEST(Schedule, CyclicIsTheOrderOfTheFile) {
  Schedule schedule(Sampling::cyclic, 7, 1);
  for (int round = 0; round < 3; ++round) EXPECT_EQ(round_of(schedule), in_order(7));
}

TEST(Schedule, ShuffledVisitsEachOnceInANewOrder) {
  Schedule schedule(Sampling::shuffled, 50, 1);
  const auto first = round_of(schedule), second = round_of(schedule);
  EXPECT_EQ(sorted(first), in_order(50));
  EXPECT_EQ(sorted(second), in_order(50));
  EXPECT_NE(first, in_order(50));
  EXPECT_NE(first, second);
}

TEST(Schedule, RandomIsUniform) {
  constexpr std::size_t kSize = 20;
  constexpr int kRounds = 1000;
  Schedule schedule(Sampling::random, kSize, 1);
  std::vector<int> counts(kSize);
  bool repeats = false;
  for (int round = 0; round < kRounds; ++round) {
    const auto visits = round_of(schedule);
    ASSERT_EQ(visits.size(), kSize);
    for (const auto i : visits) ++counts[i];
    repeats = repeats || sorted(visits) != in_order(kSize);
  }
  EXPECT_TRUE(repeats) << "drawn without replacement";
  // 1000 expected each, with a standard deviation of 31.
  for (const int count : counts) EXPECT_NEAR(count, kRounds, 5 * 31);
}

TEST(Schedule, GapBeginsWithEveryExample) {
  Schedule schedule(Sampling::gap, 40, 1);
  const std::vector<float> zero(40);
  EXPECT_EQ(sorted(round_of(schedule, zero)), in_order(40));
  EXPECT_LT(round_of(schedule, zero).size(), 40u);
}

// c_i = n/4 [0.8 p_i / sum_j p_j + 0.2 / n] visits of each round, never more than one of them early or late.
TEST(Schedule, GapFollowsPriorities) {
  constexpr std::size_t kSize = 40;
  constexpr double kRounded = 1e-3;
  std::vector<float> priorities(kSize);
  for (std::size_t i = 0; i < kSize; ++i) priorities[i] = static_cast<float>(i * i % 7);
  priorities[5] = 200;
  const double total = std::accumulate(priorities.begin(), priorities.end(), 0.0);
  Schedule schedule(Sampling::gap, kSize, 1);
  round_of(schedule, priorities);
  std::vector<double> due(kSize);
  for (int round = 0; round < 400; ++round) {
    for (std::size_t i = 0; i < kSize; ++i) due[i] += 10 * (0.8 * priorities[i] / total + 0.2 / kSize);
    for (const auto i : round_of(schedule, priorities)) --due[i];
    for (std::size_t i = 0; i < kSize; ++i) {
      ASSERT_GE(due[i], -0.5 - kRounded) << i << " in round " << round;
      ASSERT_LE(due[i], 1 + kRounded) << i << " in round " << round;
    }
  }
}

// Nobody twice before everyone has come again, and no round without anybody.
TEST(Schedule, GapWithoutPrioritiesTakesTurns) {
  constexpr std::size_t kSize = 40;
  const std::vector<float> zero(kSize);
  Schedule schedule(Sampling::gap, kSize, 1);
  round_of(schedule, zero);
  std::vector<int> counts(kSize);
  for (int round = 0; round < 100; ++round) {
    const auto visits = round_of(schedule, zero);
    ASSERT_FALSE(visits.empty());
    for (const auto i : visits) ++counts[i];
    const auto [fewest, most] = std::ranges::minmax(counts);
    ASSERT_LE(most - fewest, 1) << "in round " << round;
  }
  EXPECT_GE(std::ranges::min(counts), 25);
}

// The weights knew least when the first ones were visited.
TEST(Schedule, GapComesBackToTheFirstOnesFirst) {
  constexpr std::size_t kSize = 40;
  const std::vector<float> alike(kSize, 1.0f);
  Schedule schedule(Sampling::gap, kSize, 1);
  const auto first = round_of(schedule, alike);
  std::vector<std::uint32_t> again;
  while (again.size() < kSize / 2) {
    const auto round = round_of(schedule, alike);
    again.insert(again.end(), round.begin(), round.end());
  }
  ASSERT_LT(again.size(), kSize);
  const auto end = first.begin() + static_cast<std::ptrdiff_t>(again.size());
  EXPECT_EQ(sorted(again), sorted({first.begin(), end}));
}

// c_i = 1/10 + 1/2 sqrt(p_i)/mean, at most 2, rounded up or down; 1/4, 1/8, ... 1/100 where p_i has been 0
// for 1, 2, ... visits.
TEST(Schedule, SettledExamplesAreLeft) {
  constexpr std::size_t kSize = 40;
  constexpr int kRounds = 4000;
  std::vector<float> priorities(kSize);
  for (std::size_t i = 0; i < kSize; i += 2) priorities[i] = static_cast<float>(1 + i % 3);
  priorities[6] = 4000;
  double mean = 0;
  for (const float p : priorities) mean += std::sqrt(p) / (kSize / 2.0);
  std::vector<double> counts(kSize);
  for (int seed = 0; seed < kRounds; ++seed) {
    Schedule schedule(Sampling::gap, kSize, static_cast<std::uint64_t>(seed), Settled::left);
    ASSERT_EQ(sorted(round_of(schedule, priorities)), in_order(kSize));
    std::vector<int> here(kSize);
    for (const auto i : round_of(schedule, priorities)) ++here[i];
    for (std::size_t i = 0; i < kSize; ++i) {
      const double expected = i % 2 == 1 ? 0.25 : std::min(2.0, 0.1 + 0.5 * std::sqrt(priorities[i]) / mean);
      ASSERT_GE(here[i], std::floor(expected - 1e-4));
      ASSERT_LE(here[i], std::ceil(expected));
      counts[i] += (here[i] - expected) / kRounds;
    }
  }
  for (const double difference : counts) EXPECT_NEAR(difference, 0, 5 * 0.5 / std::sqrt(kRounds));

  // The more often the odd ones were found settled, the more rarely they come.
  Schedule schedule(Sampling::gap, kSize, 1, Settled::left);
  const auto odd_visits = [&](int rounds) {
    double visits = 0;
    for (int round = 0; round < rounds; ++round) {
      for (const auto i : round_of(schedule, priorities)) visits += i % 2;
    }
    return visits / rounds / (kSize / 2.0);
  };
  round_of(schedule, priorities);
  odd_visits(2000);
  EXPECT_NEAR(odd_visits(4000), 0.01, 0.002);
}

TEST(Schedule, WithoutPrioritiesNoneIsLeft) {
  constexpr std::size_t kSize = 40;
  constexpr int kRounds = 4000;
  const std::vector<float> zero(kSize);
  Schedule schedule(Sampling::gap, kSize, 1, Settled::left);
  round_of(schedule, zero);
  std::vector<double> counts(kSize);
  for (int round = 0; round < kRounds; ++round) {
    for (const auto i : round_of(schedule, zero)) ++counts[i];
  }
  for (const double count : counts) EXPECT_NEAR(count / kRounds, 0.25, 5 * 0.5 / std::sqrt(kRounds));
}

TEST(Schedule, OneExample) {
  for (const Sampling order : {Sampling::gap, Sampling::random, Sampling::shuffled, Sampling::cyclic}) {
    for (const float priority : {0.0f, 3.0f}) {
      Schedule schedule(order, 1, 1);
      std::size_t visits = 0;
      for (int round = 0; round < 100; ++round) {
        for (const auto i : round_of(schedule, {priority})) {
          EXPECT_EQ(i, 0u);
          ++visits;
        }
      }
      EXPECT_EQ(visits, 100u);
    }
  }
}

TEST(Schedule, TheSeedDecides) {
  std::vector<float> priorities(60, 1.0f);
  for (const Sampling order : {Sampling::gap, Sampling::random, Sampling::shuffled}) {
    Schedule one(order, 60, 7), same(order, 60, 7), other(order, 60, 8);
    bool differs = false;
    for (int round = 0; round < 4; ++round) {
      const auto visits = round_of(one, priorities);
      EXPECT_EQ(visits, round_of(same, priorities));
      differs = differs || visits != round_of(other, priorities);
    }
    EXPECT_TRUE(differs);
  }
}

#ifdef ESPALIER_CHECKED
TEST(ScheduleDeathTest, PrioritiesAreFiniteAndNotNegative) {
  for (const float bad : {-1.0f, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    Schedule schedule(Sampling::gap, 3, 1);
    round_of(schedule, {1, 1, 1});
    EXPECT_DEATH(round_of(schedule, {1, bad, 1}), "isfinite");
  }
}
#endif

}  // namespace
}  // namespace espalier::schedule_test
