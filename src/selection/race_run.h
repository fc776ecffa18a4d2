#pragma once

#include <functional>
#include <span>

#include "espalier/learning/objective.h"
#include "espalier/selection/race.h"
#include "espalier/solvers/registry.h"

namespace espalier {

struct RaceObserver {
  std::function<void(const SolverEntry&)> started{};
  // After the score on held-out data was taken.
  std::function<Control(const SolverEntry&, const Progress&, const Weights&)> reported{};
  std::function<void(const RaceRun&)> finished{};
};

// Runs the solvers one after the other, each with the same settings and from nothing. One that refuses the
// structure does not end the race; a stop, by the observer or by Ctrl-C, ends it with the run at hand.
// `score` rates the weights of each report on held-out data, if there is some.
Race race(const Objective& objective, std::span<const SolverEntry> solvers, const SolverSettings& settings,
          const std::function<HeldOutScore(const Weights&)>& score = {}, const RaceObserver& observer = {});

}  // namespace espalier
