#include "espalier/base/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/team.h"

namespace espalier::memory_test {
namespace {

// Around the size from which arrays come from the system, and well beyond it.
constexpr std::size_t kSizes[] = {
    0, 1, 17, kHugePage / 4 - 1, kHugePage / 4, kHugePage / 4 + 1, 3000001, 4 * kHugePage};

TEST(ZeroedArray, IsZeroAndOnCacheLines) {
  for (const std::size_t size : kSizes) {
    ZeroedArray<float> array(size);
    EXPECT_EQ(array.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % kCacheLine, 0u) << size;
    EXPECT_TRUE(std::all_of(array.begin(), array.end(), [](float v) { return v == 0; })) << size;
    std::fill(array.begin(), array.end(), 1.0f);  // up to the last one it is ours
  }
}

TEST(ZeroedArray, CopiesAndMoves) {
  for (const std::size_t size : kSizes) {
    ZeroedArray<float> array(size);
    for (std::size_t j = 0; j < size; ++j) array[j] = static_cast<float>(j % 1000);
    const ZeroedArray<float> copy(array);
    const float* place = array.data();
    const ZeroedArray<float> moved(std::move(array));
    EXPECT_EQ(moved.data(), place) << size;
    EXPECT_TRUE(std::equal(copy.begin(), copy.end(), moved.begin(), moved.end())) << size;
    ZeroedArray<float> assigned(3);
    assigned = copy;
    EXPECT_TRUE(std::equal(copy.begin(), copy.end(), assigned.begin(), assigned.end())) << size;
  }
}

TEST(ZeroedArray, RefusesWhatNoMachineHas) {
  EXPECT_THROW(ZeroedArray<double>(static_cast<std::size_t>(-1) / 4), std::bad_alloc);
  EXPECT_THROW(ZeroedArray<double>(std::size_t{1} << 58), std::bad_alloc);
}

TEST(TeamRange, IsSharedOutWhole) {
  for (const std::size_t workers : {1, 2, 5}) {
    Team team(workers);
    for (const std::size_t n : {0, 1, 4, 1000}) {
      ZeroedArray<std::uint32_t> visits(n);
      share_range(team, n, [&](std::size_t begin, std::size_t end) {
        for (std::size_t j = begin; j < end; ++j) ++visits[j];
      });
      EXPECT_EQ(std::count(visits.begin(), visits.end(), 1u), static_cast<std::ptrdiff_t>(n)) << workers;
    }
  }
}

}  // namespace
}  // namespace espalier::memory_test
