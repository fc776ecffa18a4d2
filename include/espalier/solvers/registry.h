#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "espalier/learning/clique_state.h"
#include "espalier/learning/dual_state.h"
#include "espalier/learning/mean_state.h"
#include "espalier/learning/objective.h"
#include "espalier/solvers/cutting_plane.h"
#include "espalier/solvers/eg.h"
#include "espalier/solvers/mira.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/smo.h"

namespace espalier {

// What a run starts from and leaves behind. Dual solvers keep their duals as a warm start for the next l2, each in its way.
struct Training {
  Weights theta;
  std::optional<DualState> dual;       // scores
  std::optional<MeanState> means;      // expected statistics
  std::optional<CliqueState> cliques;  // clique marginals
};

// What single solvers may be told, with their defaults; each takes what concerns it.
struct SolverOptions {
  Sampling sampling = Sampling::gap;
  EgStep step = EgStep::automatic;
  double eta = 0;  // of EgStep::fixed, positive
  // Of a first run; one with duals at hand goes on from them.
  EgStart start = EgStart::gold;
  double log_odds = EgOptions().log_odds;
  EgAnneal anneal = EgAnneal::automatic;
  bool keep_marginals =
      true;  // of every example, in memory: false halves the duals, and adds an inference to each visit
  bool average = false;  // weights, where a solver has a choice
  Slacks slacks = Slacks::n;
  std::size_t cache = 0;  // outputs of each example that cutting planes remember
  Rescaling rescaling = Rescaling::margin;
  MiraUpdate update = MiraUpdate::max_loss;
  std::size_t kbest = 1;  // outputs that a visit of mira looks at
  SmoMass mass = SmoMass::cliques;
};

// The same with what every solver is told.
struct SolverSettings : SolverOptions {
  StoppingRule stopping;
  std::uint64_t seed = 1;
  std::size_t threads = 1;
  double report_every = 5;  // passes between two reports, for solvers that report when they see fit
  // Told what a solver decides on its way, in a sentence.
  std::function<void(const std::string&)> notice;
  // The error of weights on held-out data, for solvers that choose a setting by it.
  std::function<double(const Weights&)> dev_error;
};

// The losses that a solver is for.
enum class Losses {
  any,
  smooth,   // finite beta
  maximum,  // beta = infinity
};

// What a solver keeps of the dual in Training, and starts from where it is there. All leave weights.
enum class Duals {
  none,     // starts from weights
  anew,     // none, and starts from nothing that is there
  scores,   // DualState
  means,    // MeanState
  cliques,  // CliqueState
};

struct SolverEntry {
  std::string name;
  std::string_view summary;
  Losses losses;
  // The perceptron's loss has its regularised optimum at zero weights: only solvers that do not converge make a model of it.
  bool perceptron_loss;
  bool factored;  // needs a structure with clique marginals (Problem::factored)
  Duals duals;
  std::function<Summary(const Objective&, const SolverSettings&, Training&, const Observer&)> run;
};

// The one list of single solvers; `--solver NAME` and its help come from it.
std::span<const SolverEntry> solver_table();
// Throws Error listing the solvers for a name that is none, and one that says why where the loss is not the solver's. Names
// with commas between them are a chain: each solver but the last gets the next one close, and hands over what it has. `auto`
// chooses, and changes its mind where another solver is forecast to be faster (docs/solvers.md#auto).
SolverEntry find_solver(std::string_view name, const Loss& loss);

}  // namespace espalier
