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
