#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "espalier/learning/objective.h"
#include "espalier/solvers/registry.h"

namespace espalier {

// One of several runs that differ in their seed.
struct RepeatedRun {
  std::uint64_t seed = 0;
  Certificate certificate;
  Status status = Status::not_run;
  std::string message;
};

struct Repeats {
  std::vector<RepeatedRun> runs;
  std::size_t best = 0;  // the run of the largest dual; the first of equals
  Training training;     // its weights and duals

  // Runs that came to their end: neither stopped nor failed.
  std::size_t ended() const;
  // Collins et al. 2008, section 5.1. How far a run's dual ends below the optimum is a random number that is never negative,
  // so by Markov's inequality it is more than twice its mean for at most every other seed. With at least this probability,
  // 1 - 2^-k for k runs that ended, the best dual is at most twice that mean from the optimum; and so, for eg with
  // safe steps and random order, within twice the bound of Theorem 2.
  double confidence() const;
};

using RepeatObserver = std::function<Control(std::uint64_t seed, const Progress&, const Weights&)>;

// `times` runs from the same start with seeds settings.seed, settings.seed + 1, and so on, each with passes and seconds of its
// own. A stop (observer or Ctrl-C) ends the run at hand and makes it the last one. Memory: `start`, and the states of two runs.
Repeats repeat(const Objective& objective, std::size_t times, const SolverEntry& solver,
               const SolverSettings& settings, const Training& start = {},
               const RepeatObserver& observer = {},
               const std::function<void(const RepeatedRun&)>& finished = {});

}  // namespace espalier
