#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "espalier/model/model.h"
#include "espalier/selection/cccp.h"
#include "espalier/selection/path.h"
#include "espalier/selection/repeat.h"
#include "espalier/solvers/registry.h"
#include "espalier/tasks/task.h"
#include "espalier/train/train.h"

namespace espalier {

// One report of a run, and where in it that was.
struct TrainReport {
  double l2;
  const Progress& progress;
  const Weights& theta;                 // which the report certifies
  std::optional<int> round{};           // where gold outputs are not all known
  std::optional<std::uint64_t> seed{};  // of repeated runs
  const Evaluation* dev = nullptr;      // theta on held-out data, where options.patience looks at it
  double l1 = 0;
};

// What a run tells of itself; each may be empty.
struct TrainObserver {
  std::function<Control(const TrainReport&)> report{};
  // A value of l2 with how good it is on held-out data, for people; also those that the run it resumes had
  // finished.
  std::function<void(const PathPoint&, const std::string& headline)> finished{};
  std::function<void(const CccpRound&)> round{};
  std::function<void(const RepeatedRun&)> repeated{};
};

// What a run is expected to take of memory at its most, in bytes (docs/scale.md).
struct MemoryForecast {
  double data = 0;     // the program and what was read: all that there is before training
  double weights = 0;  // with all copies of them, those for certificates and for the model included
  double duals = 0;
  double scratch = 0;  // of threads, while they look at the longest example

  double of_training() const { return weights + duals + scratch; }
  double total() const { return data + of_training(); }
};

// A training run with all that belongs to it: what it starts from, checkpoints, one or several values of l2.
// train() is the short form for those who want a model and nothing else.
class Trainer {
 public:
  // One value, a path, or a search by held-out data; then options.l2 does not count. In a path over l1,
  // options.l1 does not count either.
  using Values = std::variant<double, PathOptions, L2Range, L1Path>;

  // Finds out all that can be wrong before the first pass, and throws Error: options that do not fit each
  // other or the data, a checkpoint of another run, an initial model that has nothing to do with the data.
  // The data must outlive it.
  Trainer(TrainingSet& data, const TrainOptions& options, const Values& l2);
  ~Trainer();

  // What the run starts from, in a sentence; empty: from nothing.
  const std::string& beginning() const;
  const SolverEntry& solver() const;
  // What the run will take, as of before it begins, and which options would make that less ("--recompute or
  // --first N"); empty: none. Infers the longest example, to see what that takes.
  MemoryForecast memory() const;
  std::string smaller_by(const MemoryForecast& forecast) const;

  // Once. Without a path or a search there is one point in the result. How it ended is in its status and
  // message.
  const Path& run(const TrainObserver& observer = {});

  // Values of l2 with their reports so far, and how good each is for people.
  const Path& path() const;
  const std::vector<std::string>& headlines() const;
  // Where options.repeat asked for several; else nullptr.
  const Repeats* repeats() const;

  // The best of what was trained. Throws Error if that is not finite, or the run ended before its first
  // report.
  Model model() const;

  // Whether there is a checkpoint of this run. Once its model is saved, nobody needs it.
  bool checkpointed() const;
  void remove_checkpoint();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
