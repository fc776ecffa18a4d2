#pragma once

#include <string>
#include <string_view>

#include "espalier/solvers/registry.h"
#include "espalier/train/train.h"

namespace espalier {

// What a solver is told, without what depends on data.
SolverSettings solver_settings(const TrainOptions& options);

// The regulariser of an l2, with the l1 that goes with it.
Regularizer regularizer_at(const TrainOptions& options, const TrainingSet& data, double l2);
// Throws Error for one that is none, or that the solver, the loss or the data has no way with.
void check_regularizer(const Regularizer& regularizer, const SolverEntry& solver, const TrainOptions& options,
                       const TrainingSet& data);

// What makes the objective one that is not convex, so that it is lowered in rounds, for messages; empty:
// nothing does.
std::string reason_for_rounds(const TrainOptions& options, TrainingSet& data);
// Throws Error where a difference of losses has no way with the data, the solver or another option.
void check_difference(const TrainOptions& options, TrainingSet& data, const SolverEntry& solver);
// Throws Error where the loss is a difference. `where` says what has no rounds.
void refuse_difference(const Loss& loss, std::string_view where);

// Throws Error if options ask for what belongs to one run: an initial model, a checkpoint, several seeds.
// `what` says where they are not for.
void refuse_options_of_one_run(const TrainOptions& options, std::string_view what);

}  // namespace espalier
