#include "fleet/communicator.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "fleet/launched.h"
#include "fleet/threads.h"

namespace espalier::communicator_test {
namespace {

TEST(Communicator, GathersInTheOrderOfRanks) {
  std::atomic<int> right = 0;
  run_ranks(5, [&](Communicator& fleet) {
    const std::vector<std::string> all = fleet.gather(std::string(fleet.rank(), 'x'));
    bool as_expected = all.size() == 5;
    for (std::size_t r = 0; as_expected && r < 5; ++r) as_expected = all[r] == std::string(r, 'x');
    right += as_expected ? 1 : 0;
  });
  EXPECT_EQ(right, 5);
}

TEST(Communicator, ExchangesAndCountsBytes) {
  std::atomic<int> right = 0;
  run_ranks(3, [&](Communicator& fleet) {
    std::vector<std::string> to;
    for (std::size_t r = 0; r < 3; ++r) to.push_back(std::to_string(fleet.rank()) + ">" + std::to_string(r));
    const std::vector<std::string> from = fleet.exchange(to);
    bool as_expected = fleet.traffic().bytes == 6;  // what it keeps is not sent
    for (std::size_t r = 0; r < 3; ++r)
      as_expected &= from[r] == std::to_string(r) + ">" + std::to_string(fleet.rank());
    right += as_expected ? 1 : 0;
  });
  EXPECT_EQ(right, 3);
}

// The same bits on every rank, and those of adding rank after rank.
RC_GTEST_PROP(Communicator, AddsUpInTheOrderOfRanks, ()) {
  const auto ranks = *rc::gen::inRange<std::size_t>(1, 8), length = *rc::gen::inRange<std::size_t>(0, 9);
  const auto seed = *rc::gen::inRange(0, 1000);
  const auto value = [&](std::size_t rank, std::size_t k) {
    return static_cast<double>((rank * 7919 + k * 104729 + static_cast<std::size_t>(seed)) % 1000) * 1e-3 +
           1e-17;
  };
  std::vector<double> expected(length, 0.0);
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::size_t k = 0; k < length; ++k) expected[k] += value(r, k);
  }
  std::atomic<std::size_t> right = 0;
  run_ranks(ranks, [&](Communicator& fleet) {
    std::vector<double> values(length);
    for (std::size_t k = 0; k < length; ++k) values[k] = value(fleet.rank(), k);
    fleet.add_up(values);
    right += values == expected ? 1 : 0;
  });
  RC_ASSERT(right == ranks);
}

TEST(Communicator, OneThatFailsEndsAll) {
  const auto run = [] {
    run_ranks(4, [](Communicator& fleet) {
      if (fleet.rank() == 2) throw Error("this is why");
      for (;;) fleet.meet();
    });
  };
  try {
    run();
    FAIL() << "no exception";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "this is why");
  }
}

TEST(Communicator, TellsRanksThatDiffer) {
  const auto run = [](const std::string& last) {
    run_ranks(3, [&](Communicator& fleet) {
      fleet.check_same("other data", fleet.rank() == 2 ? last : "a", "the same on all ranks");
    });
  };
  EXPECT_NO_THROW(run("a"));
  try {
    run("b");
    FAIL() << "no exception";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "rank 2 has other data than rank 0; expected the same on all ranks");
  }
}

TEST(Communicator, SumsAndMaxima) {
  std::atomic<int> right = 0;
  run_ranks(4, [&](Communicator& fleet) {
    const std::size_t rank = fleet.rank();
    const bool as_expected = fleet.sum(rank) == 6 && fleet.sum_before(rank + 1) == rank * (rank + 1) / 2 &&
                             fleet.largest(static_cast<double>(rank)) == 3 && fleet.any(rank == 1) &&
                             !fleet.any(false) && fleet.of_first(static_cast<double>(rank) + 5) == 5 &&
                             fleet.of_first(rank == 0 ? "first" : "other") == "first";
    right += as_expected ? 1 : 0;
  });
  EXPECT_EQ(right, 4);
}

}  // namespace
}  // namespace espalier::communicator_test
