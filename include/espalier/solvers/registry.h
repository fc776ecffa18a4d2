#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/features/weights.h"
#include "espalier/learning/loss.h"
#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/solver_options.h"

namespace espalier {

struct Training;

// What single solvers may be told, with what every solver is.
struct SolverSettings : SolverOptions {
  StoppingRule stopping;
  std::uint64_t seed = 1;
  Threads threads;
  double report_every = 5;  // passes between two reports, for solvers that report when they see fit
  // Bytes that the run may take beside the data. Solvers that choose others leave out those that take more.
  double memory = std::numeric_limits<double>::infinity();
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

// What a run of a solver takes at its most beside the data, in bytes, saving its model included: for each
// weight with the padding of its row, for each statistic of the examples, for each of their clique marginals
// (Factored) and for each example.
struct MemoryUse {
  double weight = 0, statistic = 0, clique_marginal = 0, example = 0;
};

// What a solver keeps of the dual in Training, and starts from where it is there. All leave weights.
enum class Duals {
  none,     // starts from weights
  anew,     // none, and starts from nothing that is there
  scores,   // DualState
  means,    // MeanState
  cliques,  // CliqueState
};

// The options of one solver as data: a table, and the object in SolverOptions that it is of.
struct OwnOptions {
  std::string_view solver;
  const OptionTable* table;
  void* (*object)(SolverOptions&);
};

struct SolverEntry {
  std::string name;
  std::string_view summary;
  Losses losses = Losses::any;
  Duals duals = Duals::none;
  // To an optimum that its certificate tells. Others certify loosely, and end where passes or time do: they
  // alone make a model of the perceptron's loss, whose regularised optimum is at zero weights.
  bool converges = true;
  bool needs_cliques = false;  // a structure with clique marginals (Problem::factored)
  bool needs_coordinates =
      false;                // weights that are not coefficients of a kernel's expansion (Problem::kernel)
  bool sparse = false;      // trains with l1, too,
  bool without_l2 = false;  // and with l1 alone
  bool batch = false;       // looks at all examples before it moves, so that the seed decides nothing
  bool allocates = false;   // memory, inside its passes
  bool ranks = false;       // works where each of several ranks has a share of the examples
  // Visits one example at a time: several threads go in batches, so that what they leave is the same for any
  // number of them, but not what one thread leaves.
  bool one_by_one = false;
  std::function<MemoryUse(const Objective&, const SolverSettings&)> memory{};
  std::vector<OwnOptions> options{};  // its own; of several solvers as one, those of all that it may run
  std::function<Summary(const Objective&, const SolverSettings&, Training&, const Observer&)> run{};
};

// What a run is expected to take, in bytes.
struct SolverMemory {
  double weights = 0, duals = 0;
  double total() const { return weights + duals; }
};
SolverMemory memory_of(const SolverEntry& solver, const Objective& objective, const SolverSettings& settings);

// Whether a solver is for a loss, but for the perceptron's.
bool is_for(const SolverEntry& solver, const Loss& loss);
// Throws Error where a solver, or this loss, has no way with the regulariser.
void check_regularizer(const SolverEntry& solver, const Loss& loss, const Regularizer& regularizer);

// The one list of single solvers; `--solver NAME` and its help come from it.
std::span<const SolverEntry> solver_table();
// Throws Error listing the solvers for an unknown name, and one that says why where the loss is not the
// solver's. Names with commas between them are a sequence of solvers: each but the last gets the next one
// close, and hands over what it has. `auto` chooses, and changes its mind where another solver is forecast to
// be faster (docs/solvers.md#auto).
SolverEntry find_solver(std::string_view name, const Loss& loss);
// The same for a problem that is shared out to several ranks (Problem::fleet), which not all solvers are for:
// `auto` is eg, or lbfgs where there is no l2.
SolverEntry find_solver_of_ranks(std::string_view name, const Loss& loss);

}  // namespace espalier
