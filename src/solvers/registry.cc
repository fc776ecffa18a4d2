#include "espalier/solvers/registry.h"

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/solvers/lbfgs.h"
#include "espalier/solvers/sgd.h"

namespace espalier {
namespace {

Summary run_eg(const Objective& objective, const SolverSettings& settings, Training& training,
               const Observer& observer) {
  EgOptions options;
  options.stopping = settings.stopping;
  options.sampling = settings.sampling;
  options.step = settings.step;
  options.start = training.dual ? EgStart::warm : settings.start;
  options.seed = settings.seed;
  options.threads = settings.threads;
  options.report_every = settings.report_every;
  if (!training.dual) training.dual.emplace(objective.problem, settings.keep_marginals);
  return eg(objective, options, *training.dual, training.theta, observer);
}

// Solvers on the primal start from zero, or from the weights of the l2 before.
void start_weights(const Objective& objective, Training& training) {
  if (training.theta.shape() != objective.problem.weight_shape())
    training.theta = Weights(objective.problem.weight_shape());
}

Summary run_lbfgs(const Objective& objective, const SolverSettings& settings, Training& training,
                  const Observer& observer) {
  LbfgsOptions options;
  options.stopping = settings.stopping;
  options.threads = settings.threads;
  start_weights(objective, training);
  return lbfgs(objective, options, training.theta, observer);
}

Summary run_sgd(const Objective& objective, const SolverSettings& settings, Training& training,
                const Observer& observer) {
  SgdOptions options;
  options.stopping = settings.stopping;
  options.seed = settings.seed;
  options.dev_error = settings.dev_error;
  start_weights(objective, training);
  return sgd(objective, options, training.theta, observer);
}

constexpr SolverEntry kSolvers[] = {
    {"eg", "online exponentiated gradient on the dual; every loss, needs no learning rate", true, true,
     run_eg},
    {"lbfgs", "L-BFGS on the primal; losses of finite beta", false, false, run_lbfgs},
    {"sgd", "stochastic gradient descent on the primal; every loss, a loose certificate", true, false,
     run_sgd},
};

}  // namespace

std::span<const SolverEntry> solver_table() { return kSolvers; }

const SolverEntry& find_solver(std::string_view name, const Loss& loss) {
  std::string names;
  for (const SolverEntry& entry : kSolvers) {
    if (entry.name == name) {
      if (!loss.smooth() && !entry.any_loss) {
        throw Error(
            fmt::format("--solver {}: not for loss {}; expected a loss of finite beta, or --solver eg", name,
                        loss.name()));
      }
      if (entry.run == run_eg) check_eg_loss(loss);
      return entry;
    }
    names += names.empty() ? "" : ", ";
    names += entry.name;
  }
  throw Error(fmt::format("--solver: {} is no solver; expected one of {}", in_quotes(name), names));
}

}  // namespace espalier
