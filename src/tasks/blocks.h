#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pipeline.h"

namespace espalier {

// Lists of the k best outputs that are longer than this are written while they are made, instead of with
// their block.
inline constexpr std::size_t kLongList = 1000;

// How many workers a file has where each output comes with its k best ones: a long list can be written early
// where one worker alone reads, works and writes.
constexpr std::size_t workers_for(std::size_t threads, std::size_t kbest) {
  return kbest > kLongList ? 1 : threads;
}

// Writes what a block has so far, once it is enough, where the caller is the only worker.
class EarlyWriter {
 public:
  EarlyWriter(std::size_t workers, const std::function<void(std::string_view)>& write)
      : write_(workers == 1 ? &write : nullptr) {}

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
template <class Block, class Worker, class Read, class Work, class Write>
void run_blocks(std::vector<Worker>& workers, const Read& read, const Work& work, const Write& write) {
  struct Slot {
    Block block;
    std::exception_ptr failure;  // of reading what is after it
  };
  std::vector<Slot> slots(pipeline_slots(workers.size()));
  bool failed = false;
  PipelineStages stages;
  stages.read = [&](std::size_t slot) {
    if (failed) return false;
    try {
      return read(slots[slot].block);
    } catch (...) {
      slots[slot].failure = std::current_exception();
      failed = true;
      return true;
    }
  };
  stages.work = [&](std::size_t worker, std::size_t slot) { work(workers[worker], slots[slot].block); };
  stages.write = [&](std::size_t slot) {
    write(slots[slot].block);
    if (slots[slot].failure) std::rethrow_exception(slots[slot].failure);
  };
  run_pipeline(workers.size(), stages);
}

}  // namespace espalier
