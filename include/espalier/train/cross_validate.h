#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "espalier/selection/cross_validation.h"
#include "espalier/train/trainer.h"

namespace espalier {

// How to cross-validate. The defaults are those of `espalier cross-validate`.
struct CrossValidateOptions {
  // Of each fold: passes and seconds are its limits. Its l2 does not count, and a fold trains with one
  // thread: `threads` is how many folds train at the same time.
  TrainOptions train{};
  Trainer::Values l2 = L2Range{};  // a search, a path, or one value to rate
  std::size_t folds = 5;           // dealt out by train.seed
};

// A fold is done with a value of l2.
struct FoldReport {
  std::size_t fold;  // from 0
  const PathPoint& point;
  const Progress& progress;    // its last
  const Evaluation& held_out;  // how good its weights are on what it was not trained on
};

// The examples 0, ..., n - 1 of data dealt out to folds of nearly equal size, groups whole where
// the data has them. Throws Error if there are not enough.
std::vector<std::vector<std::uint32_t>> make_folds(const TrainingSet& data, std::size_t folds,
                                                   std::uint64_t seed);

// Trains on all folds but one, for each of them, and rates the weights on that one: which l2 is best, without
// held-out data. The result depends on neither threads nor timing; a run that was stopped returns the values
// so far. The next step is train() on all data with the best l2. Throws Error for options that do not fit
// each other or the data, and if an objective is not finite. `report` is called by one fold at a time.
struct CrossValidated : CrossValidation {
  std::string metric{};  // what means and deviations are of: "accuracy %"
};
CrossValidated cross_validate(const TrainingSet& data, const CrossValidateOptions& options = {},
                              const std::function<void(const FoldReport&)>& report = {});

}  // namespace espalier
