#include "espalier/base/workspace.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace espalier::workspace_test {
namespace {

template <class T>
std::uintptr_t address(std::span<T> memory) {
  return reinterpret_cast<std::uintptr_t>(memory.data());
}

struct Taken {
  std::span<std::uint32_t> memory;
  std::uint32_t mark;
};

bool intact(const Taken& taken) {
  return std::all_of(taken.memory.begin(), taken.memory.end(),
                     [&](std::uint32_t value) { return value == taken.mark; });
}

// Each step opens a frame, takes memory in the innermost one, or ends it. Every piece of memory is filled
// with a mark of its own, so that an overlap shows as a mark that was overwritten.
RC_GTEST_PROP(Workspace, NestedFramesNeverOverlap, ()) {
  const auto steps = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 12));
  Workspace workspace;
  std::vector<std::unique_ptr<Workspace::Frame>> frames;
  std::vector<std::vector<Taken>> taken;
  std::uint32_t mark = 0;
  for (const std::size_t step : steps) {
    if (step < 2 || frames.empty()) {
      frames.push_back(std::make_unique<Workspace::Frame>(workspace));
      taken.emplace_back();
    } else if (step < 4) {
      for (const Taken& piece : taken.back()) RC_ASSERT(intact(piece));
      frames.pop_back();
      taken.pop_back();
    } else {
      const std::size_t n = (step - 4) * (step - 4) * 300;
      const Taken piece{frames.back()->take<std::uint32_t>(n), ++mark};
      RC_ASSERT(piece.memory.size() == n);
      RC_ASSERT(address(piece.memory) % kCacheLine == 0);
      std::fill(piece.memory.begin(), piece.memory.end(), piece.mark);
      taken.back().push_back(piece);
    }
  }
  for (const auto& frame : taken) {
    for (const Taken& piece : frame) RC_ASSERT(intact(piece));
  }
  while (!frames.empty()) frames.pop_back();
}

// The same sequence of requests gives the same addresses, so a second round needs no memory that the first
// had not.
RC_GTEST_PROP(Workspace, AllocatesNothingOnceWarm, ()) {
  const auto sizes = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 50'000));
  Workspace workspace;
  const auto run = [&] {
    std::vector<std::uintptr_t> addresses;
    Workspace::Frame outer(workspace);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (i % 3 == 0) {
        Workspace::Frame inner(workspace);
        addresses.push_back(address(inner.take<double>(sizes[i])));
        addresses.push_back(address(inner.take<float>(sizes[i] / 2)));
      } else {
        addresses.push_back(address(outer.take<char>(sizes[i])));
      }
    }
    return addresses;
  };
  const auto cold = run();
  RC_ASSERT(run() == cold);
  RC_ASSERT(run() == cold);
}

TEST(Workspace, ARequestLargerThanAnyBlockIsServed) {
  Workspace workspace;
  Workspace::Frame frame(workspace);
  const auto small = frame.take<int>(1);
  small[0] = 17;
  const auto large = frame.take<int>(10'000'000);
  large.front() = large.back() = 18;
  EXPECT_EQ(small[0], 17);
  EXPECT_EQ(frame.take<int>(0).size(), 0u);
}

}  // namespace
}  // namespace espalier::workspace_test
