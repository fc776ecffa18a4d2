#pragma once

#include <functional>
#include <string>
#include <vector>

#include "espalier/learning/objective.h"
#include "espalier/selection/cccp.h"
#include "espalier/solvers/registry.h"
#include "learning/latent_gold.h"
#include "solvers/training.h"

namespace espalier {

struct Cccp {
  std::vector<CccpRound> rounds;
  Status status = Status::not_run;
  std::string message = "not run";
};

// Minimises an objective with latent gold outputs by the concave-convex procedure (Yuille & Rangarajan 2003;
// for beta = 1 it is EM, for beta = infinity that of Yu & Joachims 2009). Each round solves the convex
// problem with the gold statistics z_i fixed, to the tolerance of `settings`, then sets them again by its
// weights. The true objective goes down from round to round, up to the gap of the convex problems. A first
// round from weights in `training` begins with what they say of the z_i; from none, with the z_i as they are.
// Weights stay as a warm start, and so do duals once rounds change little.
// The observer sees passes and seconds that run on over all rounds; a stop, by it or by Ctrl-C, ends the loop
// with the round at hand.
Cccp cccp(const Objective& objective, LatentGold& gold, const CccpOptions& options, const SolverEntry& solver,
          const SolverSettings& settings, Training& training,
          const std::function<Control(int round, const Progress&, const Weights&)>& observer = {},
          const std::function<void(const CccpRound&)>& finished = {});

}  // namespace espalier
