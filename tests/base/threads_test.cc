#include "espalier/base/threads.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace espalier::threads_test {
namespace {

TEST(Threads, AreAsManyAsAskedFor) {
  for (const std::size_t asked : {1, 2, 7}) {
    EXPECT_EQ(Threads::of(asked).number, asked);
    EXPECT_TRUE(Threads::of(asked).share_visits);
  }
}

TEST(Threads, AreOneForEachProcessorWhereNobodyAsks) {
  EXPECT_EQ(Threads::of(0).number, processors());
  EXPECT_EQ(Threads::of(0).share_visits, processors() >= 4);
}

// taskset, Slurm and mpirun leave a process some of the machine.
TEST(Threads, AreThoseOfTheProcessorsThatTheProcessMayUse) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(processors(), static_cast<std::size_t>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  std::size_t first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(processors(), 1u);
  EXPECT_FALSE(Threads::of(0).share_visits);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace
}  // namespace espalier::threads_test
