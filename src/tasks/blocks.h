#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pipeline.h"
#include "tasks/blocks_on_ranks.h"

namespace espalier {

// Lists of the k best outputs that are longer than this are written while they are made, instead of with
// their block.
inline constexpr std::size_t kLongList = 1000;

// How many workers a file has where each output comes with its k best ones: a long list can be written early
// where one worker alone reads, works and writes.
constexpr std::size_t workers_for(std::size_t threads, std::size_t kbest) {
  return kbest > kLongList ? 1 : threads;
}

// Writes what a block has so far, once it is enough, where the caller is the only worker, of all ranks.
class EarlyWriter {
 public:
  EarlyWriter(std::size_t workers, const std::function<void(std::string_view)>& write)
      : write_(workers == 1 && BlocksOnRanks::fleet() == nullptr ? &write : nullptr) {}

  void operator()(std::string& text) const {
    constexpr std::size_t kEnough = std::size_t{1} << 16;
    if (write_ == nullptr || text.size() < kEnough) return;
    (*write_)(text);
    text.clear();
  }

 private:
  const std::function<void(std::string_view)>* write_;
};

// A file in blocks: read(block) takes in what comes next (false: nothing does), work(worker, block) is done
// by several workers at the same time, write(block) in the order of the file. Blocks are used again. With the
// same blocks whatever the number of workers, what is written before an error is the same, too: where read()
// throws, what it took in before is worked on and written first.
//
// While there is a BlocksOnRanks, all ranks share the work, and rank 0 alone writes. So each has to read the
// same, and results() of a block refer to all that work() leaves in it and write() wants.
template <class Block, class Worker, class Read, class Work, class Write>
void run_blocks(std::vector<Worker>& workers, const Read& read, const Work& work, const Write& write) {
  struct Slot {
    Block block;
    std::exception_ptr failure;  // of reading what is after it
    std::size_t number = 0;
    std::exception_ptr of_work;  // where ranks share the work
  };
  std::vector<Slot> slots(pipeline_slots(workers.size()));
  bool failed = false;
  std::size_t blocks = 0;
  PipelineStages stages;
  stages.read = [&](std::size_t slot) {
    if (failed) return false;
    slots[slot].number = blocks;
    try {
      const bool more = read(slots[slot].block);
      blocks += more ? 1 : 0;
      return more;
    } catch (...) {
      slots[slot].failure = std::current_exception();
      failed = true;
      ++blocks;
      return true;
    }
  };
  stages.work = [&](std::size_t worker, std::size_t slot) { work(workers[worker], slots[slot].block); };
  stages.write = [&](std::size_t slot) {
    write(slots[slot].block);
    if (slots[slot].failure) std::rethrow_exception(slots[slot].failure);
  };
  Communicator* const fleet = BlocksOnRanks::fleet();
  if (fleet == nullptr) return run_pipeline(workers.size(), stages);

  ResultExchange results(*fleet);
  stages.work = [&](std::size_t worker, std::size_t slot) {
    slots[slot].of_work = nullptr;
    if (!results.is_mine(slots[slot].number)) return;
    try {
      work(workers[worker], slots[slot].block);
    } catch (const Error&) {
      slots[slot].of_work = std::current_exception();
    }
  };
  std::string bytes;
  const auto rethrow = [&](const std::exception_ptr& failure) {
    if (results.is_first()) std::rethrow_exception(failure);
    try {
      std::rethrow_exception(failure);
    } catch (const Error& error) {
      results.fail(error);
    }
  };
  stages.write = [&](std::size_t slot) {
    Slot& own = slots[slot];
    if (own.of_work) rethrow(own.of_work);
    if (results.is_mine(own.number)) {
      bytes.clear();
      if (!results.is_first()) ResultWriter(bytes).write(own.block.results());
      results.hand_in(bytes);
    } else if (results.is_first()) {
      ResultReader(results.results_of(own.number)).read(own.block.results());
    }
    if (results.is_first()) write(own.block);
    if (own.failure) rethrow(own.failure);
  };
  run_pipeline(workers.size(), stages);
  results.end(blocks);
}

}  // namespace espalier
