#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <utility>

#include "bind.h"

namespace espalier::python {

// Calls compute(i) for i = 0, ..., n - 1 without the interpreter's lock, some at a time, and collect(i) with
// it; between them Python handles its signals, and other threads take turns.
template <class Compute, class Collect>
void for_each_in_blocks(std::size_t n, std::size_t block, const Compute& compute, const Collect& collect) {
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t end = std::min(begin + block, n);
    {
      const py::gil_scoped_release release;
      for (std::size_t i = begin; i < end; ++i) compute(i);
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    for (std::size_t i = begin; i < end; ++i) collect(i);
  }
}

// The result of work(stop), which runs without the interpreter's lock while this thread waits for Ctrl-C:
// that sets `stop`, and whatever signals raise goes on once the work has ended.
template <class Work>
auto interruptible(const Work& work) {
  std::atomic<bool> stop{false};
  std::future<decltype(work(stop))> result = std::async(std::launch::async, [&] { return work(stop); });
  for (;;) {
    {
      const py::gil_scoped_release release;
      if (result.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready) break;
    }
    if (PyErr_CheckSignals() == 0) continue;
    const py::error_already_set raised;
    stop = true;
    {
      const py::gil_scoped_release release;
      result.wait();
    }
    throw raised;
  }
  return result.get();
}

}  // namespace espalier::python
