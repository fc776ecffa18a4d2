#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "espalier/base/options.h"
#include "espalier/learning/loss.h"
#include "espalier/model/model.h"
#include "espalier/selection/cccp.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/solver_options.h"
#include "espalier/tasks/task.h"

namespace espalier {

class Communicator;

// Where a run keeps what is needed to continue after an interruption.
struct CheckpointOptions {
  std::string file;     // empty: nowhere
  double every = 60;    // seconds at least between two checkpoints; they are written at reports
  bool resume = false;  // continue from the file: the same data and options, but for passes, seconds and gap
};

// How to train. The defaults are those of `espalier train`.
struct TrainOptions {
  Loss loss = Loss::crf();
  double l2 = 1;        // l2/2 |theta|^2 against the sum of losses
  double l1 = 0;        // l1 |theta|_1 beside it: many weights become exactly zero. With it, l2 may be 0
  double l1_ratio = 0;  // and l1_ratio l2 |theta|_1, for several values of l2
  std::string solver =
      "auto";  // by its name; several with commas between them in sequence (solvers/registry.h)
  SolverOptions solver_options{};  // of single solvers
  double gap = 1e-3;               // stop at this duality gap, relative to the objective,
  double passes = 1000;            // after so many passes over the data
  double seconds = std::numeric_limits<double>::infinity();  // or after so many seconds of training
  std::size_t threads = 0;  // 0: one for each processor. Two and more give the same model, one may give
                            // another, as does 0 with fewer than Threads::kWorthSharing processors
  std::uint64_t seed = 1;
  std::size_t repeat = 1;          // runs with seeds from this one on, of which the best dual wins
  double report_every = 5;         // passes between two reports
  std::size_t patience = 0;        // stop where held-out data has not improved for so many reports, and
                                   // keep the weights that were best there; 0: neither
  CccpOptions rounds{};            // where gold outputs are not all known (TrainingSet::latent_gold), or
                                   // the loss is a difference
  std::optional<Model> init{};     // start from this model's weights, matched by name
  int bits = 32;                   // of each weight of the model; 16: the last weights are rounded, and
                                   // certified as they are then
  CheckpointOptions checkpoint{};  // whoever saved the model may remove the file
  const std::atomic<bool>* stop = nullptr;            // ends the run once it is set, also between reports
  std::function<void(double passes)> tick{};          // called now and then between reports: a sign of life
  std::function<void(const std::string&)> notice{};   // told what a solver decides on its way
  std::function<void(const std::string&)> warning{};  // told what went wrong and does not end the run
  // Bytes of memory that the run may take, as far as that is known before it begins: where it would be more,
  // nothing is trained, and an Error says what would take less. 0: no limit.
  std::size_t memory = 0;
  // Several ranks, all of which train with the same data and options, each on its share of the examples; all
  // get the same model. nullptr: one.
  Communicator* fleet = nullptr;
};

// The options above as data, but for those that are objects of a program and those of single solvers, which
// SolverArguments (solvers/solver_arguments.h) has.
const OptionTable& train_option_table();

// Trains to the gap asked for, or as far as passes and seconds go: the certificate of the model says how far
// that is. Held-out data that was read (TrainingSet::read_dev) is for solvers that choose a setting by it.
// The observer sees every report, with the weights that it certifies, and may end the run there. Throws Error
// for options that do not fit each other or the data, and where the objective is not finite. For more than
// that: train/trainer.h.
Model train(TrainingSet& data, const TrainOptions& options = {}, const Observer& observer = {});

}  // namespace espalier
