#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace espalier::parallel_test {
namespace {

TEST(RunInParallel, CallsEachWorkerOnce) {
  for (const std::size_t workers : {0, 1, 2, 7}) {
    std::vector<int> calls(workers, 0);
    run_in_parallel(workers, [&](std::size_t worker) { ++calls[worker]; });
    EXPECT_EQ(calls, std::vector<int>(workers, 1));
  }
}

TEST(RunInParallel, RunsWorkersAtTheSameTime) {
  std::atomic<int> arrived{0};
  run_in_parallel(3, [&](std::size_t) {
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 3);
}

TEST(RunInParallel, RunsTheFirstWorkerOnTheCallersThread) {
  const auto caller = std::this_thread::get_id();
  std::thread::id first, second;
  run_in_parallel(2,
                  [&](std::size_t worker) { (worker == 0 ? first : second) = std::this_thread::get_id(); });
  EXPECT_EQ(first, caller);
  EXPECT_NE(second, caller);
}

TEST(RunInParallel, ThrowsTheFailureOfTheFirstWorkerAfterAllAreDone) {
  std::atomic<int> done{0};
  try {
    run_in_parallel(4, [&](std::size_t worker) {
      ++done;
      if (worker > 0) throw std::runtime_error("worker " + std::to_string(worker));
    });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "worker 1");
  }
  EXPECT_EQ(done, 4);
}

TEST(Team, RunsJobAfterJobAndGoesOnAfterAFailure) {
  Team team(3);
  EXPECT_EQ(team.size(), 3u);
  std::vector<int> calls(3, 0);
  for (int job = 0; job < 1000; ++job) {
    const Team::Job count = [&](std::size_t worker) {
      ++calls[worker];
      if (job == 500) throw std::runtime_error("no");
    };
    if (job == 500) {
      EXPECT_THROW(team.run(count), std::runtime_error);
    } else {
      team.run(count);
    }
  }
  EXPECT_EQ(calls, std::vector<int>(3, 1000));
}

}  // namespace
}  // namespace espalier::parallel_test
