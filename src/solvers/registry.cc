#include "espalier/solvers/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/names.h"
#include "espalier/base/error.h"
#include "espalier/solvers/eg.h"
#include "solvers/automatic.h"
#include "solvers/bmrm.h"
#include "solvers/cutting_plane.h"
#include "solvers/dca.h"
#include "solvers/eg_batch.h"
#include "solvers/excessive_gap.h"
#include "solvers/extragradient.h"
#include "solvers/frank_wolfe.h"
#include "solvers/lbfgs.h"
#include "solvers/mira.h"
#include "solvers/perceptron.h"
#include "solvers/sdca.h"
#include "solvers/sgd.h"
#include "solvers/smo.h"
#include "solvers/solver_sequence.h"
#include "solvers/stoppable.h"
#include "solvers/training.h"

namespace espalier {
namespace {

// What every solver is told, with what is its own.
template <class Options>
Options common(const SolverSettings& settings) {
  Options options;
  options.stopping = settings.stopping;
  if constexpr (requires { options.seed; }) options.seed = settings.seed;
  if constexpr (requires { options.threads; }) options.threads = settings.threads;
  if constexpr (requires { options.report_every; }) options.report_every = settings.report_every;
  return options;
}
template <class Options, class Tuning>
Options with(const SolverSettings& settings, const Tuning& own) {
  Options options = common<Options>(settings);
  static_cast<Tuning&>(options) = own;
  return options;
}

// Solvers on the primal start from zero, or from the weights of the l2 before.
Weights& start_weights(const Objective& objective, Training& training) {
  if (training.theta.shape() != objective.problem.weight_shape())
    training.theta = Weights(objective.problem.weight_shape());
  return training.theta;
}

Summary run_eg(const Objective& objective, const SolverSettings& settings, Training& training,
               const Observer& observer) {
  auto options = with<EgOptions>(settings, settings.eg);
  if (training.dual) options.start = EgStart::warm;
  if (!training.dual) training.dual.emplace(objective.problem, !options.recompute);
  return eg(objective, options, *training.dual, training.theta, observer);
}

Summary run_eg_batch(const Objective& objective, const SolverSettings& settings, Training& training,
                     const Observer& observer) {
  auto options = with<EgBatchOptions>(settings, settings.eg_batch);
  start_weights(objective, training);
  if (options.recompute) return eg_batch(objective, options, training.theta, observer);
  if (training.dual) options.start = EgStart::warm;
  if (!training.dual) training.dual.emplace(objective.problem);
  return eg_batch(objective, options, *training.dual, training.theta, observer);
}

Summary run_sdca(const Objective& objective, const SolverSettings& settings, Training& training,
                 const Observer& observer) {
  check_sdca(objective.problem, objective.loss);
  start_weights(objective, training);
  if (!training.cliques) training.cliques.emplace(objective.problem);
  return sdca(objective, with<SdcaOptions>(settings, settings.sdca), *training.cliques, training.theta,
              observer);
}

Summary run_frank_wolfe(const Objective& objective, const SolverSettings& settings, Training& training,
                        const Observer& observer) {
  start_weights(objective, training);
  if (!training.means) training.means.emplace(objective.problem);
  return frank_wolfe(objective, with<FrankWolfeOptions>(settings, settings.frank_wolfe), *training.means,
                     training.theta, observer);
}

Summary run_smo(const Objective& objective, const SolverSettings& settings, Training& training,
                const Observer& observer) {
  check_smo(objective.problem, objective.loss);
  start_weights(objective, training);
  if (!training.cliques) {
    training.cliques.emplace(objective.problem);
    training.cliques->start_at_gold(objective.problem);
  }
  return smo(objective, with<SmoOptions>(settings, settings.smo), *training.cliques, training.theta,
             observer);
}

Summary run_sgd(const Objective& objective, const SolverSettings& settings, Training& training,
                const Observer& observer) {
  auto options = common<SgdOptions>(settings);
  options.dev_error = settings.dev_error;
  return sgd(objective, options, start_weights(objective, training), observer);
}

// Solvers that take weights, and options of their own.
template <class Options, auto own,
          Summary (*solve)(const Objective&, const Options&, Weights&, const Observer&)>
Summary run_tuned(const Objective& objective, const SolverSettings& settings, Training& training,
                  const Observer& observer) {
  return solve(objective, with<Options>(settings, settings.*own), start_weights(objective, training),
               observer);
}

using Objectives = const Objective&;
using Settings = const SolverSettings&;

// What was measured: w(u) and theta are floats, certificates take a copy in double, and models are put
// together in memory before they are written.
template <int weight, int statistic = 0, int clique_marginal = 0, int example = 0>
MemoryUse takes(Objectives, Settings) {
  return {weight, statistic, clique_marginal, example};
}
MemoryUse memory_of_eg(Objectives, Settings settings) { return {20, settings.eg.recompute ? 4.0 : 8.0}; }
MemoryUse memory_of_eg_batch(Objectives, Settings settings) {
  return settings.eg_batch.recompute ? MemoryUse{36} : MemoryUse{20, 16};
}
// A plane of all weights for each pass. Those that are not used any more go.
MemoryUse memory_of_planes(Objectives, Settings settings) {
  constexpr double kPlanes = 40, kPlane = sizeof(float);
  return {24 + kPlane * std::min(settings.stopping.passes, kPlanes)};
}
// Of one slack for each example, planes are the outputs that are wrong.
MemoryUse memory_of_cutting_plane(Objectives objective, Settings settings) {
  if (settings.cutting_plane.slacks == Slacks::one) return memory_of_planes(objective, settings);
  return {20, 2, 0, 1000};
}

// Solvers that take weights and nothing but the common options.
template <class Options, Summary (*solve)(const Objective&, const Options&, Weights&, const Observer&)>
Summary run_plain(const Objective& objective, const SolverSettings& settings, Training& training,
                  const Observer& observer) {
  return solve(objective, common<Options>(settings), start_weights(objective, training), observer);
}

template <auto own>
OwnOptions own_options(std::string_view solver, const OptionTable& table) {
  return {solver, &table, [](SolverOptions& options) -> void* { return &(options.*own); }};
}

const SolverEntry& find_one(std::string_view name, const Loss& loss, bool of_sequence) {
  std::vector<std::string> names;
  if (!of_sequence) names.emplace_back("auto");
  for (const SolverEntry& entry : solver_table()) {
    if (entry.name == name) {
      if (entry.losses == Losses::smooth && !loss.smooth()) {
        throw Error(fmt::format("{0} {1}: not for loss {2}; expected a loss of finite beta, or {0} eg",
                                setting("solver"), name, loss.name()));
      }
      if (entry.losses == Losses::maximum && loss.smooth()) {
        throw Error(fmt::format("{0} {1}: not for loss {2}; expected {3} svm, or {0} eg", setting("solver"),
                                name, loss.name(), setting("loss")));
      }
      if (entry.converges) check_eg_loss(loss);
      return entry;
    }
    names.push_back(entry.name);
  }
  throw Error(fmt::format("{}: {}", setting("solver"), unknown_name("solver", name, names)));
}

}  // namespace

SolverMemory memory_of(const SolverEntry& solver, const Objective& objective,
                       const SolverSettings& settings) {
  const Problem& problem = objective.problem;
  // Who brings a solver of its own need not know.
  const MemoryUse use = solver.memory ? solver.memory(objective, settings) : MemoryUse{20, 8};
  const Factored* factored = use.clique_marginal > 0 ? problem.factored() : nullptr;
  const WeightShape shape = problem.weight_shape();
  constexpr double kOfExample = 64;  // values, gaps and sizes that certificates and schedules note
  SolverMemory memory{use.weight * static_cast<double>(shape.rows * row_stride(shape.width)),
                      (kOfExample + use.example) * static_cast<double>(problem.size())};
  for (std::size_t i = 0; i < problem.size(); ++i) {
    memory.duals += use.statistic * static_cast<double>(problem.num_statistics(i));
    if (factored)
      memory.duals += use.clique_marginal * static_cast<double>(factored->num_clique_marginals(i));
  }
  return memory;
}

bool is_for(const SolverEntry& solver, const Loss& loss) {
  return solver.losses == Losses::any || loss.smooth() == (solver.losses == Losses::smooth);
}

void check_regularizer(const SolverEntry& solver, const Loss& loss, const Regularizer& regularizer) {
  const auto names_where = [&](bool SolverEntry::*column) {
    std::vector<std::string> names;
    for (const SolverEntry& entry : solver_table()) {
      if (entry.*column && is_for(entry, loss)) names.push_back(entry.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
  };
  // Beyond, weights and scores that are float are next to infinite or to nothing.
  constexpr double kMost = 1e12;
  if ((loss.smooth() && (loss.beta > kMost || loss.beta < 1 / kMost)) || loss.gamma > kMost) {
    throw Error(fmt::format(
        "{} {}: beyond what floats can train; expected BETA from {:g} to {:g}, or inf, and GAMMA <= {:g}",
        setting("loss"), loss.name(), 1 / kMost, kMost, kMost));
  }
  if (regularizer.sparse() && !solver.sparse) {
    throw Error(fmt::format("{} {}: not with {}; expected one of auto, {}", setting("solver"), solver.name,
                            setting("l1"), names_where(&SolverEntry::sparse)));
  }
  if (regularizer.l2 > 0) return;
  if (!regularizer.sparse())
    throw Error(fmt::format("{} 0; expected a number > 0, or {}", setting("l2"), setting("l1")));
  if (!loss.smooth()) {
    throw Error(fmt::format("{} 0: not for loss {}; expected a number > 0, or a loss of finite beta",
                            setting("l2"), loss.name()));
  }
  if (!solver.without_l2) {
    throw Error(fmt::format("{} {}: not with {} 0; expected auto or {}", setting("solver"), solver.name,
                            setting("l2"), names_where(&SolverEntry::without_l2)));
  }
}

std::span<const SolverEntry> solver_table() {
  using Options = SolverOptions;
  static const SolverEntry kSolvers[] = {
      {.name = "eg",
       .summary = "online exponentiated gradient on the dual; needs no learning rate",
       .duals = Duals::scores,
       .sparse = true,
       .ranks = true,
       .one_by_one = true,
       .memory = memory_of_eg,
       .options = {own_options<&Options::eg>("eg", eg_options())},
       .run = run_eg},
      {.name = "eg-batch",
       .summary = "exponentiated gradient on all examples at once",
       .duals = Duals::scores,
       .sparse = true,
       .batch = true,
       .allocates = true,
       .ranks = true,
       .memory = memory_of_eg_batch,
       .options = {own_options<&Options::eg_batch>("eg-batch", eg_batch_options())},
       .run = run_eg_batch},
      {.name = "sdca",
       .summary = "stochastic dual coordinate ascent on clique marginals",
       .losses = Losses::smooth,
       .duals = Duals::cliques,
       .needs_cliques = true,
       .sparse = true,
       .one_by_one = true,
       .memory = takes<20, 4, 4>,
       .options = {own_options<&Options::sdca>("sdca", sdca_options())},
       .run = run_sdca},
      {.name = "frank-wolfe",
       .summary = "block-coordinate Frank-Wolfe on the dual",
       .losses = Losses::maximum,
       .duals = Duals::means,
       .sparse = true,
       .one_by_one = true,
       .memory = takes<24, 20, 0, 1000>,
       .options = {own_options<&Options::frank_wolfe>("frank-wolfe", frank_wolfe_options())},
       .run = run_frank_wolfe},
      {.name = "smo",
       .summary = "sequential minimal optimisation on clique marginals",
       .losses = Losses::maximum,
       .duals = Duals::cliques,
       .needs_cliques = true,
       .sparse = true,
       .one_by_one = true,
       .memory = takes<20, 4, 4>,
       .options = {own_options<&Options::smo>("smo", smo_options())},
       .run = run_smo},
      {.name = "excessive-gap",
       .summary = "excessive gap reduction with Bregman projections",
       .losses = Losses::maximum,
       .duals = Duals::anew,
       .sparse = true,
       .batch = true,
       .allocates = true,
       .memory = takes<52>,
       .options = {own_options<&Options::excessive_gap>("excessive-gap", excessive_gap_options())},
       .run = run_tuned<ExcessiveGapOptions, &Options::excessive_gap, excessive_gap>},
      {.name = "extragradient",
       .summary = "extragradient with Bregman projections",
       .losses = Losses::maximum,
       .duals = Duals::anew,
       .sparse = true,
       .batch = true,
       .allocates = true,
       .memory = takes<100>,
       .options = {own_options<&Options::extragradient>("extragradient", extragradient_options())},
       .run = run_tuned<ExtragradientOptions, &Options::extragradient, extragradient>},
      {.name = "cutting-plane",
       .summary = "cutting planes, as in SVM-struct",
       .losses = Losses::maximum,
       .allocates = true,
       .memory = memory_of_cutting_plane,
       .options = {own_options<&Options::cutting_plane>("cutting-plane", cutting_plane_options())},
       .run = run_tuned<CuttingPlaneOptions, &Options::cutting_plane, cutting_plane>},
      {.name = "bmrm",
       .summary = "bundle method on the primal",
       .needs_coordinates = true,
       .batch = true,
       .allocates = true,
       .ranks = true,
       .memory = memory_of_planes,
       .run = run_plain<BmrmOptions, bmrm>},
      {.name = "lbfgs",
       .summary = "L-BFGS on the primal",
       .losses = Losses::smooth,
       .needs_coordinates = true,
       .sparse = true,
       .without_l2 = true,
       .batch = true,
       .allocates = true,
       .ranks = true,
       .memory = takes<136>,
       .run = run_plain<LbfgsOptions, lbfgs>},
      {.name = "sgd",
       .summary = "stochastic gradient descent on the primal; a loose certificate",
       .converges = false,
       .allocates = true,
       .memory = takes<20>,
       .run = run_sgd},
      {.name = "dca",
       .summary = "dual coordinate ascent without stored duals; does not converge, a loose certificate",
       .converges = false,
       .memory = takes<28>,
       .run = run_plain<OnlineOptions, dca>},
      {.name = "mira",
       .summary = "margin-infused relaxed algorithm; does not converge, a loose certificate",
       .losses = Losses::maximum,
       .converges = false,
       .memory = takes<28>,
       .options = {own_options<&Options::mira>("mira", mira_options())},
       .run = run_tuned<MiraOptions, &Options::mira, mira>},
      {.name = "perceptron",
       .summary = "averaged perceptron; does not converge, a loose certificate",
       .converges = false,
       .memory = takes<24>,
       .run = run_plain<OnlineOptions, perceptron>},
  };
  return kSolvers;
}

SolverEntry find_solver_of_ranks(std::string_view name, const Loss& loss) {
  SolverEntry entry = find_solver(name == "auto" ? "eg" : name, loss);
  if (name == "auto") {
    entry.name = "auto";
    entry.without_l2 = loss.smooth();
    entry.run = [](const Objective& objective, const SolverSettings& settings, Training& training,
                   const Observer& observer) {
      const auto run = objective.regularizer.l2 > 0 ? run_eg : run_plain<LbfgsOptions, lbfgs>;
      return run(objective, settings, training, observer);
    };
  }
  if (entry.ranks) return entry;
  std::vector<std::string> names{"auto"};
  for (const SolverEntry& other : solver_table()) {
    if (other.ranks && is_for(other, loss)) names.push_back(other.name);
  }
  throw Error(fmt::format("{} {}: not on several ranks; expected one of {}", setting("solver"), name,
                          fmt::join(names, ", ")));
}

SolverEntry find_solver(std::string_view name, const Loss& loss) {
  if (name == "auto") return stoppable(automatic_solver(loss));
  std::vector<SolverEntry> stages;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find(',', begin), name.size());
    stages.push_back(find_one(name.substr(begin, end - begin), loss, name.find(',') != name.npos));
    begin = end + 1;
  }
  return stoppable(stages.size() == 1 ? stages.front() : solvers_in_sequence(std::move(stages)));
}

}  // namespace espalier
