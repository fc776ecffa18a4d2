#include "structures/kbest_memory.h"

#include <gtest/gtest.h>

#include "structures/chain_kbest.h"
#include "support/error_message.h"

namespace espalier {
namespace {

using espalier::testing::error_message;

TEST(KbestMemory, RefusesWhatTakesTooMuch) {
  KbestMemory memory;
  memory.add(KbestMemory::kMost - 1);
  memory.add(1);
  EXPECT_EQ(error_message([&] { memory.add(1); }),
            "kbest: that many outputs take more than 1 GiB of memory; expected a smaller number");
}

// However many are asked for, only those that exist count, and -infinity excludes some of them.
TEST(KbestMemory, KnowsBeforeItBegins) {
  constexpr std::size_t kMany = 99'999'999, kBytes = 64;
  Workspace ws;
  const auto message_for = [&](std::size_t length, std::size_t allowed) {
    const Chain chain(length, 9);
    std::vector<double> s(chain.num_statistics(), 1.5);
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t y = allowed; y < 9; ++y) s[t * 9 + y] = -std::numeric_limits<double>::infinity();
    }
    return error_message([&] { KbestMemory::check(chain, s, kMany, kBytes, ws); });
  };
  // 64 bytes each: 9^7 and 2^23 fit into 2^30 bytes, 9^8 and 2^25 do not.
  EXPECT_EQ(message_for(7, 9), "(no error)");
  EXPECT_EQ(message_for(8, 9),
            "kbest: that many outputs take more than 1 GiB of memory; expected a smaller number");
  EXPECT_EQ(message_for(23, 2), "(no error)");
  EXPECT_EQ(message_for(25, 2),
            "kbest: that many outputs take more than 1 GiB of memory; expected a smaller number");
  EXPECT_EQ(message_for(2000, 1), "(no error)");
}

// 9^2000 sequences exist. Those that nobody looks at cost nothing, whatever k is, and a chain may be long.
TEST(KbestMemory, SequencesComeOneAtATime) {
  struct Enough {};
  constexpr std::size_t kLength = 2000, kLabels = 9;
  const Chain chain(kLength, kLabels);
  std::vector<double> s(chain.num_statistics());
  for (std::size_t k = 0; k < s.size(); ++k) s[k] = static_cast<double>(k * k % 97) / 97;
  std::vector<std::vector<std::uint32_t>> first;
  double last = std::numeric_limits<double>::infinity();
  const auto visit = [&](std::span<const std::uint32_t> y, double score) {
    EXPECT_LE(score, last);
    last = score;
    first.emplace_back(y.begin(), y.end());
    if (first.size() == 300) throw Enough();
  };
  EXPECT_THROW(for_each_best(chain, s, 99'999'999, visit), Enough);
  const auto best = chain.kbest(s, 300);
  ASSERT_EQ(best.size(), 300u);
  for (std::size_t r = 0; r < best.size(); ++r) EXPECT_EQ(best[r].output, first[r]);
}

}  // namespace
}  // namespace espalier
