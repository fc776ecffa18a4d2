#include "base/helping.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "base/relax.h"
#include "base/team.h"

namespace espalier::helping_test {
namespace {

TEST(HelpingParallel, EachPartIsDoneOnceWhoeverDoesIt) {
  constexpr std::size_t kRounds = 2000, kParts = 7;
  for (const std::size_t threads : {1, 2, 5}) {
    SharedWork shared;
    std::atomic<bool> over{false};
    std::array<std::atomic<int>, kParts> done{};
    Team team(threads);
    team.run([&](std::size_t k) {
      Workspace ws;
      while (k > 0 && !over) shared.help(ws);
      if (k > 0) return;
      for (std::size_t round = 0; round < kRounds; ++round) {
        const std::size_t parts = 1 + round % kParts;
        shared.share(parts, ws, [&](std::size_t part, Workspace&) { ++done.at(part); });
        // They are done when share() returns.
        for (std::size_t part = 0; part < kParts; ++part) {
          const std::size_t rounds_with_it = part < parts ? 1 : 0;
          EXPECT_EQ(done[part].exchange(0), static_cast<int>(rounds_with_it)) << part << " of " << parts;
        }
      }
      over = true;
    });
  }
}

// Each of two parts waits for the other one.
TEST(HelpingParallel, OthersDoPartsMeanwhile) {
  SharedWork shared;
  std::atomic<bool> over{false};
  std::array<std::atomic<bool>, 2> begun{};
  Team team(2);
  team.run([&](std::size_t k) {
    Workspace ws;
    while (k > 0 && !over) shared.help(ws);
    if (k > 0) return;
    shared.share(2, ws, [&](std::size_t part, Workspace&) {
      begun.at(part) = true;
      while (!begun.at(1 - part)) relax();
    });
    over = true;
  });
  EXPECT_TRUE(begun[0] && begun[1]);
}

TEST(HelpingParallel, WhatAPartThrowsReachesWhoSharedIt) {
  for (const std::size_t threads : {1, 3}) {
    SharedWork shared;
    std::atomic<bool> over{false};
    Team team(threads);
    team.run([&](std::size_t k) {
      Workspace ws;
      while (k > 0 && !over) shared.help(ws);
      if (k > 0) return;
      const auto fail = [](std::size_t part, Workspace&) {
        if (part == 3) throw std::runtime_error("no such part");
      };
      EXPECT_THROW(shared.share(5, ws, fail), std::runtime_error);
      EXPECT_NO_THROW(shared.share(3, ws, fail));  // nothing of it is left
      over = true;
    });
  }
}

TEST(Helping, PartsAreDoneInOrderWhereNobodyCouldHelp) {
  Workspace ws;
  std::vector<std::size_t> parts;
  in_parts(ws, 4, [&](std::size_t part, Workspace& own) {
    EXPECT_EQ(&own, &ws);
    parts.push_back(part);
  });
  EXPECT_EQ(parts, (std::vector<std::size_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace espalier::helping_test
