// Files in blocks that several ranks work on, as threads of this process.

#include "tasks/blocks_on_ranks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "fleet/threads.h"
#include "tasks/blocks.h"

namespace espalier::blocks_on_ranks_test {
namespace {

struct NumberBlock {
  std::size_t number = 0;
  std::string text;
  std::vector<std::uint32_t> squares;
  StringBuffer names;
  std::size_t sum = 0;

  auto results() { return std::tie(text, squares, names, sum); }
};

struct Numbers {
  std::size_t blocks = 0, threads = 1;
  std::optional<std::size_t> fails_at{};        // to be worked on
  std::optional<std::size_t> cannot_read{};     // after this one
  std::optional<std::size_t> cannot_on_rank{};  // so many ranks from the first on can read all the same
};

// What is written before the error, and the error.
std::string go_through(const Numbers& numbers, std::size_t rank, std::size_t& worked_on) {
  std::string written;
  std::size_t next = 0;
  std::vector<std::size_t> workers(numbers.threads);
  try {
    run_blocks<NumberBlock>(
        workers,
        [&](NumberBlock& block) {
          if (next == numbers.blocks) return false;
          block.number = next++;
          if (numbers.cannot_read == block.number && rank >= numbers.cannot_on_rank.value_or(0))
            throw Error("cannot be read");
          return true;
        },
        [&](std::size_t&, NumberBlock& block) {
          std::atomic_ref<std::size_t>(worked_on).fetch_add(1);
          if (numbers.fails_at == block.number) throw Error("wrong: " + setting("a_setting"));
          block.text = "block " + std::to_string(block.number);
          block.squares.assign(block.number % 5, static_cast<std::uint32_t>(block.number * block.number));
          block.names.clear();
          for (std::size_t k = 0; k < block.number % 3; ++k) block.names.add(std::string(k, 'x'));
          block.sum = 7 * block.number;
        },
        [&](const NumberBlock& block) {
          written += block.text + ':';
          for (const std::uint32_t square : block.squares) written += std::to_string(square) + ',';
          for (std::size_t k = 0; k < block.names.size(); ++k) written += std::string(block.names[k]) + ';';
          written += std::to_string(block.sum) + '\n';
        });
  } catch (const Error& error) {
    if (rank != 0) throw;  // as rank 0 has ended all
    written += std::string(error.marked());
  }
  return written;
}

// Rank 0's outcome; the others have none.
std::string on_ranks(const Numbers& numbers, std::size_t ranks, std::vector<std::size_t>& worked) {
  std::string first;
  worked.assign(ranks, 0);
  try {
    run_ranks(ranks, [&](Communicator& fleet) {
      const BlocksOnRanks blocks(fleet);
      if (fleet.rank() == 0) {
        first = go_through(numbers, 0, worked[0]);
        if (first.empty() || first.back() != '\n') throw Error("ends all");
        return;
      }
      try {
        go_through(numbers, fleet.rank(), worked[fleet.rank()]);
        ADD_FAILURE() << "went on";
      } catch (const BlocksOnRanks::Done&) {
      }
    });
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "ends all");
  }
  return first;
}

TEST(BlocksOnRanks, RankZeroWritesWhatOneProcessWrites) {
  for (const std::size_t blocks : {1, 2, 6, 13}) {
    for (const std::size_t threads : {1, 3}) {
      std::size_t alone = 0;
      const Numbers numbers{blocks, threads};
      const std::string expected = go_through(numbers, 0, alone);
      for (const std::size_t ranks : {1, 2, 3, 5}) {
        SCOPED_TRACE(std::to_string(blocks) + " blocks on " + std::to_string(ranks));
        std::vector<std::size_t> worked;
        EXPECT_EQ(on_ranks(numbers, ranks, worked), expected);
        // Each block is worked on once, and none has more than its share.
        std::size_t sum = 0;
        for (const std::size_t of_rank : worked) {
          EXPECT_LE(of_rank, (blocks + ranks - 1) / ranks);
          sum += of_rank;
        }
        EXPECT_EQ(sum, blocks);
      }
    }
  }
}

// An error has the words that it has in one process, and what is before it was written.
TEST(BlocksOnRanks, ErrorsComeWhereTheyDoInOneProcess) {
  for (const std::size_t at : {0, 1, 4, 5, 6}) {
    for (const bool read : {false, true}) {
      Numbers numbers{7, 1};
      (read ? numbers.cannot_read : numbers.fails_at) = at;
      std::size_t alone = 0;
      const std::string expected = go_through(numbers, 0, alone);
      EXPECT_NE(expected.back(), '\n');
      for (const std::size_t ranks : {2, 3, 4}) {
        SCOPED_TRACE(std::to_string(at) + " on " + std::to_string(ranks) + (read ? ", read" : ", worked on"));
        std::vector<std::size_t> worked;
        EXPECT_EQ(on_ranks(numbers, ranks, worked), expected);
      }
    }
  }
}

// What only one rank cannot read ends all, too, with its words.
TEST(BlocksOnRanks, OneRankThatFailsEndsAll) {
  for (const std::size_t at : {0, 3, 5, 6}) {
    Numbers numbers{7, 1};
    numbers.cannot_read = at;
    numbers.cannot_on_rank = 2;
    SCOPED_TRACE(at);
    std::vector<std::size_t> worked;
    EXPECT_TRUE(on_ranks(numbers, 3, worked).ends_with("cannot be read"));
  }
}

}  // namespace
}  // namespace espalier::blocks_on_ranks_test
