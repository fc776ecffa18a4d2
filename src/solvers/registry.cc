#include "espalier/solvers/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/solvers/bmrm.h"
#include "espalier/solvers/dca.h"
#include "espalier/solvers/eg_batch.h"
#include "espalier/solvers/excessive_gap.h"
#include "espalier/solvers/extragradient.h"
#include "espalier/solvers/frank_wolfe.h"
#include "espalier/solvers/lbfgs.h"
#include "espalier/solvers/perceptron.h"
#include "espalier/solvers/sdca.h"
#include "espalier/solvers/sgd.h"
#include "espalier/solvers/smo.h"
#include "solvers/automatic.h"
#include "solvers/chained.h"

namespace espalier {
namespace {

// What most options have in common.
template <class Options>
Options common(const SolverSettings& settings) {
  Options options;
  options.stopping = settings.stopping;
  if constexpr (requires { options.seed; }) options.seed = settings.seed;
  if constexpr (requires { options.threads; }) options.threads = settings.threads;
  if constexpr (requires { options.sampling; }) options.sampling = settings.sampling;
  if constexpr (requires { options.report_every; }) options.report_every = settings.report_every;
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
  auto options = common<EgOptions>(settings);
  options.step = settings.step;
  options.eta = settings.eta;
  options.log_odds = settings.log_odds;
  options.anneal = settings.anneal;
  options.start = training.dual ? EgStart::warm : settings.start;
  if (!training.dual) training.dual.emplace(objective.problem, settings.keep_marginals);
  return eg(objective, options, *training.dual, training.theta, observer);
}

Summary run_eg_batch(const Objective& objective, const SolverSettings& settings, Training& training,
                     const Observer& observer) {
  auto options = common<EgBatchOptions>(settings);
  if (settings.step == EgStep::safe) options.step = EgBatchStep::safe;
  start_weights(objective, training);
  if (!settings.keep_marginals) return eg_batch(objective, options, training.theta, observer);
  options.start = training.dual ? EgStart::warm : settings.start;
  if (!training.dual) training.dual.emplace(objective.problem);
  return eg_batch(objective, options, *training.dual, training.theta, observer);
}

Summary run_sdca(const Objective& objective, const SolverSettings& settings, Training& training,
                 const Observer& observer) {
  check_sdca(objective.problem, objective.loss);
  start_weights(objective, training);
  if (!training.cliques) training.cliques.emplace(objective.problem);
  return sdca(objective, common<SdcaOptions>(settings), *training.cliques, training.theta, observer);
}

Summary run_frank_wolfe(const Objective& objective, const SolverSettings& settings, Training& training,
                        const Observer& observer) {
  auto options = common<FrankWolfeOptions>(settings);
  options.average = settings.average;
  start_weights(objective, training);
  if (!training.means) training.means.emplace(objective.problem);
  return frank_wolfe(objective, options, *training.means, training.theta, observer);
}

Summary run_smo(const Objective& objective, const SolverSettings& settings, Training& training,
                const Observer& observer) {
  check_smo(objective.problem, objective.loss);
  start_weights(objective, training);
  if (!training.cliques) {
    training.cliques.emplace(objective.problem);
    training.cliques->start_at_gold(objective.problem);
  }
  auto options = common<SmoOptions>(settings);
  options.mass = settings.mass;
  return smo(objective, options, *training.cliques, training.theta, observer);
}

Summary run_excessive_gap(const Objective& objective, const SolverSettings& settings, Training& training,
                          const Observer& observer) {
  auto options = common<ExcessiveGapOptions>(settings);
  if (settings.step == EgStep::paper) options.smoothing = Smoothing::paper;
  return excessive_gap(objective, options, start_weights(objective, training), observer);
}

Summary run_extragradient(const Objective& objective, const SolverSettings& settings, Training& training,
                          const Observer& observer) {
  auto options = common<ExtragradientOptions>(settings);
  if (settings.step == EgStep::safe) options.step = ExtragradientStep::safe;
  return extragradient(objective, options, start_weights(objective, training), observer);
}

Summary run_cutting_plane(const Objective& objective, const SolverSettings& settings, Training& training,
                          const Observer& observer) {
  auto options = common<CuttingPlaneOptions>(settings);
  options.slacks = settings.slacks;
  options.rescaling = settings.rescaling;
  options.cache = settings.cache;
  return cutting_plane(objective, options, start_weights(objective, training), observer);
}

Summary run_mira(const Objective& objective, const SolverSettings& settings, Training& training,
                 const Observer& observer) {
  auto options = common<MiraOptions>(settings);
  options.update = settings.update;
  options.k = settings.kbest;
  return mira(objective, options, start_weights(objective, training), observer);
}

Summary run_sgd(const Objective& objective, const SolverSettings& settings, Training& training,
                const Observer& observer) {
  auto options = common<SgdOptions>(settings);
  options.dev_error = settings.dev_error;
  return sgd(objective, options, start_weights(objective, training), observer);
}

// Solvers that take weights and nothing but the common options.
template <class Options, Summary (*solve)(const Objective&, const Options&, Weights&, const Observer&)>
Summary run_plain(const Objective& objective, const SolverSettings& settings, Training& training,
                  const Observer& observer) {
  return solve(objective, common<Options>(settings), start_weights(objective, training), observer);
}

const SolverEntry& find_one(std::string_view name, const Loss& loss) {
  std::string names;
  for (const SolverEntry& entry : solver_table()) {
    if (entry.name == name) {
      if (entry.losses == Losses::smooth && !loss.smooth()) {
        throw Error(
            fmt::format("--solver {}: not for loss {}; expected a loss of finite beta, or --solver eg", name,
                        loss.name()));
      }
      if (entry.losses == Losses::maximum && loss.smooth()) {
        throw Error(fmt::format("--solver {}: not for loss {}; expected --loss svm, or --solver eg", name,
                                loss.name()));
      }
      if (!entry.perceptron_loss) check_eg_loss(loss);
      return entry;
    }
    names += names.empty() ? "" : ", ";
    names += entry.name;
  }
  throw Error(fmt::format("--solver: {} is no solver; expected one of {}", in_quotes(name), names));
}

}  // namespace

std::span<const SolverEntry> solver_table() {
  static const SolverEntry kSolvers[] = {
      {"eg", "online exponentiated gradient on the dual; needs no learning rate", Losses::any, false, false,
       Duals::scores, run_eg},
      {"eg-batch", "exponentiated gradient on all examples at once", Losses::any, false, false, Duals::scores,
       run_eg_batch},
      {"sdca", "stochastic dual coordinate ascent on clique marginals", Losses::smooth, false, true,
       Duals::cliques, run_sdca},
      {"frank-wolfe", "block-coordinate Frank-Wolfe on the dual", Losses::maximum, false, false, Duals::means,
       run_frank_wolfe},
      {"smo", "sequential minimal optimisation on clique marginals", Losses::maximum, false, true,
       Duals::cliques, run_smo},
      {"excessive-gap", "excessive gap reduction with Bregman projections", Losses::maximum, false, false,
       Duals::anew, run_excessive_gap},
      {"extragradient", "extragradient with Bregman projections", Losses::maximum, false, false, Duals::anew,
       run_extragradient},
      {"cutting-plane", "cutting planes, as in SVM-struct", Losses::maximum, false, false, Duals::none,
       run_cutting_plane},
      {"bmrm", "bundle method on the primal", Losses::any, false, false, Duals::none,
       run_plain<BmrmOptions, bmrm>},
      {"lbfgs", "L-BFGS on the primal", Losses::smooth, false, false, Duals::none,
       run_plain<LbfgsOptions, lbfgs>},
      {"sgd", "stochastic gradient descent on the primal; a loose certificate", Losses::any, true, false,
       Duals::none, run_sgd},
      {"dca", "dual coordinate ascent without stored duals; does not converge, a loose certificate",
       Losses::any, true, false, Duals::none, run_plain<OnlineOptions, dca>},
      {"mira", "margin-infused relaxed algorithm; does not converge, a loose certificate", Losses::maximum,
       true, false, Duals::none, run_mira},
      {"perceptron", "averaged perceptron; does not converge, a loose certificate", Losses::any, true, false,
       Duals::none, run_plain<OnlineOptions, perceptron>},
  };
  return kSolvers;
}

SolverEntry find_solver(std::string_view name, const Loss& loss) {
  if (name == "auto") return automatic_solver(loss);
  std::vector<SolverEntry> stages;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find(',', begin), name.size());
    stages.push_back(find_one(name.substr(begin, end - begin), loss));
    begin = end + 1;
  }
  return stages.size() == 1 ? stages.front() : chain_solvers(std::move(stages));
}

}  // namespace espalier
