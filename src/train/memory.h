#pragma once

#include <cstddef>
#include <string>

#include "espalier/solvers/registry.h"
#include "espalier/tasks/task.h"
#include "espalier/train/trainer.h"

namespace espalier {

// Of training on data that were read; `runs` solvers work at the same time, each with one thread where they
// are several. What was freed since is given back to the system first. Nothing is assumed of what data take:
// that is what this process has in memory now. Infers the longest example once, to see what that takes.
MemoryForecast forecast_memory(const Objective& objective, const SolverEntry& solver,
                               const SolverSettings& settings, std::size_t runs = 1);

// What a limit leaves for solvers (SolverSettings::memory).
double memory_left(std::size_t limit);

// Throws Error where that is more than `limit` bytes, with what would take less. 0: no limit.
void check_memory(const MemoryForecast& forecast, std::size_t limit, const TrainingSet& data,
                  const SolverEntry& solver, const SolverSettings& settings);

// Options of this data's task, and of the solver, that would make training take less: "--features observed or
// --min-count 2"; empty where there are none.
std::string smaller_by(const MemoryForecast& forecast, const TrainingSet& data, const SolverEntry& solver,
                       const SolverSettings& settings);

}  // namespace espalier
