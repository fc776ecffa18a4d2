#pragma once

#include <cstddef>
#include <functional>

namespace espalier {

// What happens to one item after the other. Items live in slots, which are used again and again: the caller
// keeps an array of them, so memory does not grow with the number of items.
struct PipelineStages {
  std::function<bool(std::size_t slot)> read;  // the next item into the slot; false: there is none
  std::function<void(std::size_t worker, std::size_t slot)> work;  // several at the same time
  std::function<void(std::size_t slot)> write;                     // in the order in which they were read
};

// The number of slots that keeps this many workers busy.
constexpr std::size_t pipeline_slots(std::size_t workers) { return workers == 1 ? 1 : 2 * workers; }

// Runs `workers` threads, the caller's among them, which alone reads and writes. What comes out is that of a
// loop that reads, works on and writes one item after the other: where a stage throws, all items before are
// written and nothing behind, and the exception is thrown again. Requires at least one worker.
void run_pipeline(std::size_t workers, const PipelineStages& stages);

}  // namespace espalier
