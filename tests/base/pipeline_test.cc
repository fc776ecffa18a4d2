#include "base/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace espalier::pipeline_test {
namespace {

// Numbers 0, 1, 2, ... are read, doubled and written.
struct Doubling {
  explicit Doubling(std::size_t workers) : workers(workers), items(pipeline_slots(workers)) {}

  void run(std::size_t count) {
    run_pipeline(workers, {[&](std::size_t slot) {
                             if (read == fail_to_read)
                               throw std::runtime_error("read " + std::to_string(read));
                             if (read == count) return false;
                             items[slot] = read++;
                             most_in_flight = std::max(most_in_flight, read - written.size());
                             return true;
                           },
                           [&](std::size_t worker, std::size_t slot) {
                             EXPECT_LT(worker, workers);
                             if (items[slot] >= fail_to_work) {
                               throw std::runtime_error("work " + std::to_string(items[slot]));
                             }
                             // Later ones overtake.
                             if (items[slot] % 3 == 0) std::this_thread::yield();
                             items[slot] *= 2;
                           },
                           [&](std::size_t slot) {
                             if (written.size() == fail_to_write) throw std::runtime_error("write");
                             written.push_back(items[slot]);
                           }});
  }
  std::string failure(std::size_t count) {
    try {
      run(count);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "(none)";
  }
  static std::vector<std::size_t> doubled(std::size_t count) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(2 * i);
    return all;
  }

  static constexpr std::size_t kNever = ~std::size_t{0};
  std::size_t workers;
  std::vector<std::size_t> items, written;
  std::size_t read = 0, most_in_flight = 0;
  std::size_t fail_to_read = kNever, fail_to_work = kNever, fail_to_write = kNever;
};

TEST(Pipeline, WritesInTheOrderOfReading) {
  for (const std::size_t workers : {1, 2, 5}) {
    for (const std::size_t count : {0, 1, 2, 1000}) {
      Doubling pipeline(workers);
      pipeline.run(count);
      EXPECT_EQ(pipeline.written, Doubling::doubled(count)) << workers;
      EXPECT_LE(pipeline.most_in_flight, pipeline_slots(workers));
    }
  }
}

TEST(Pipeline, WorkersWorkAtTheSameTime) {
  std::atomic<int> arrived{0};
  std::size_t read = 0;
  run_pipeline(3, {[&](std::size_t) { return read++ < 3; },
                   [&](std::size_t, std::size_t) {
                     ++arrived;
                     while (arrived < 3) std::this_thread::yield();
                   },
                   [](std::size_t) {}});
  EXPECT_EQ(arrived, 3);
}

TEST(Pipeline, OnlyTheCallerReadsAndWrites) {
  const auto caller = std::this_thread::get_id();
  std::size_t read = 0;
  run_pipeline(4, {[&](std::size_t) {
                     EXPECT_EQ(std::this_thread::get_id(), caller);
                     return read++ < 100;
                   },
                   [](std::size_t, std::size_t) {},
                   [&](std::size_t) { EXPECT_EQ(std::this_thread::get_id(), caller); }});
  EXPECT_EQ(read, 101u);
}

TEST(Pipeline, FailsAsALoopWould) {
  for (const std::size_t workers : {1, 2, 5}) {
    Doubling reading(workers), working(workers), writing(workers), both(workers);
    reading.fail_to_read = 17;
    EXPECT_EQ(reading.failure(100), "read 17");
    EXPECT_EQ(reading.written, Doubling::doubled(17));
    working.fail_to_work = 17;  // and everything behind
    EXPECT_EQ(working.failure(100), "work 17");
    EXPECT_EQ(working.written, Doubling::doubled(17));
    writing.fail_to_write = 17;
    EXPECT_EQ(writing.failure(100), "write");
    EXPECT_EQ(writing.written, Doubling::doubled(17));
    // What comes first in the input is what is told, whatever happened first.
    both.fail_to_work = 16;
    both.fail_to_read = 17;
    EXPECT_EQ(both.failure(100), "work 16");
    EXPECT_EQ(both.written, Doubling::doubled(16));
  }
}

}  // namespace
}  // namespace espalier::pipeline_test
