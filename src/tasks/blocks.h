#pragma once

#include <cstddef>
#include <exception>
#include <vector>

#include "base/pipeline.h"

namespace espalier {

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
