#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/input_files.h"
#include "espalier/base/options.h"
#include "espalier/base/threads.h"
#include "espalier/features/weights.h"
#include "espalier/learning/loss.h"
#include "espalier/learning/problem.h"
#include "espalier/tasks/task.h"

namespace espalier {

class Communicator;

// A simpler model that a task needs before it has its problem, such as parse's to prune heads: a CRF, roughly
// trained.
struct RoughRun {
  double l2, gap, passes;
  Threads threads;
  const std::atomic<bool>* stop = nullptr;
};
// Who trains it: tasks make problems, and know nothing of who solves them. Of a run that was stopped, any
// weights.
using RoughTrainer = std::function<Weights(const Problem& problem, const RoughRun& run)>;

// What reading training data depends on besides the task's own options.
struct Reading {
  std::function<void(std::string_view)> notice{};  // told what takes long, or looks like a mistake
  const std::atomic<bool>* stop = nullptr;  // ends it, where it is work in itself: then Stopped is thrown
  Threads threads;
  // Several ranks, which read the same files at the same time: each its share, where the task can do that
  // (TrainingSet::fleet), else all of them. nullptr: one.
  Communicator* fleet = nullptr;
  Loss loss = Loss::crf();  // that it is read for
  std::string group_by{};   // which examples belong together, where the task knows groups; empty: nobody asks
  RoughTrainer train_roughly{};  // read_training() (train/read.h) brings one
};

// Data to try a task with, from `espalier generate NAME`.
struct TaskGenerator {
  std::string_view name, summary;
  // Appends one example with each call. The same seed gives the same examples.
  std::function<void(std::string& to)> (*start)(std::uint64_t seed);
};

// The main job on generated data, command by command.
struct TaskDemo {
  struct Step {
    std::string_view why;      // empty: it goes with the step before
    std::string_view command;  // of espalier, with a single space between arguments
  };
  std::string_view question{};
  std::vector<Step> steps{};           // run in an empty folder
  std::string (*outcome)() = nullptr;  // what to see in the files there afterwards
  std::string_view next = "options";   // what else the help of `train` has
};

// A task: all that the rest of the program knows of it.
struct TaskEntry {
  std::string_view name, summary;
  int version = 1;  // of what the task keeps in a model file; older programs refuse newer ones
  const OptionTable& (*options)() = nullptr;          // of training
  const OptionTable& (*predict_options)() = nullptr;  // that its predictors take (PredictOptions)
  // Both throw Error for what they cannot read. Who reads training data calls read_training() (train/read.h).
  std::unique_ptr<TrainingSet> (*read)(const InputFiles& files, const OptionValues& options,
                                       const Reading& reading) = nullptr;
  std::unique_ptr<Predictor> (*load)(const StoredTask&) = nullptr;

  // The flag among the options that allows gold outputs that are not all known; empty: they always are.
  std::string_view latent{};
  // What may say which examples belong together (Reading::group_by), for help; empty: nothing may.
  std::string_view groups{}, group_value{};            // and what help calls a value
  std::string_view train_examples{}, path_examples{};  // lines for help
  std::vector<TaskGenerator> generators{};
  TaskDemo demo{};  // without steps: there is none
};

// The one list of tasks.
std::span<const TaskEntry> task_table();
const TaskEntry* find_task(std::string_view name);  // nullptr if there is none

// For programs that bring a task of their own: before anybody looks at the table.
void add_task(TaskEntry task);

}  // namespace espalier
