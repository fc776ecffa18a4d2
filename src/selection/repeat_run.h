#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "espalier/learning/objective.h"
#include "espalier/selection/repeat.h"
#include "espalier/solvers/registry.h"
#include "solvers/training.h"

namespace espalier {

// The runs, with what the best of them leaves.
struct RepeatedTraining : Repeats {
  Training training;
};

using RepeatObserver = std::function<Control(std::uint64_t seed, const Progress&, const Weights&)>;

// `times` runs from the same start with seeds settings.seed, settings.seed + 1, and so on, each with passes
// and seconds of its own. A stop (observer or Ctrl-C) ends the run at hand and makes it the last one. Memory:
// `start`, and the states of two runs.
RepeatedTraining repeat(const Objective& objective, std::size_t times, const SolverEntry& solver,
                        const SolverSettings& settings, const Training& start = {},
                        const RepeatObserver& observer = {},
                        const std::function<void(const RepeatedRun&)>& finished = {});

}  // namespace espalier
