#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bind.h"
#include "espalier/train/trainer.h"

namespace espalier::python {

// Training data of any task, with Python as its owner.
struct TrainingData {
  std::unique_ptr<TrainingSet> set;
};

// What a run leaves behind.
struct TrainedRun {
  Model model;
  std::vector<Progress> history;
  std::string status, message;
  bool interrupted = false;  // by Ctrl-C, after it had trained something
};

// Asks Python now and then, also from another thread than Python's, whether to go on: signals are handled at
// ticks, and what they or callbacks raise ends the run. Everything but the constructor may be called without
// the interpreter's lock.
class Conductor {
 public:
  // Told of every report, as progress(dict); may be none.
  explicit Conductor(py::object report) : report_(std::move(report)) {}

  const std::atomic<bool>* stop() const { return &stop_; }
  void tick();
  void report(const Progress& progress, const Evaluation* dev);
  // Raises what ended the run, unless that was Ctrl-C and there is something to keep. True: there is.
  bool rethrow(bool worth_keeping);

 private:
  template <class Call>
  void with_python(const Call& call);

  py::object report_;
  std::atomic<bool> stop_{false};
  std::optional<py::error_already_set> raised_;
  std::atomic<std::chrono::steady_clock::time_point> last_ = std::chrono::steady_clock::now();
};

// Trains with the interpreter's lock released. `report` is called with a Progress and a dict of rates on
// held-out data, or None.
TrainedRun train(TrainingSet& data, TrainOptions options, py::object report);

}  // namespace espalier::python
