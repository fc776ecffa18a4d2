// Proves the gap of a model anew, from its weights theta and its data. With the notation of certificate.h:
//
//   primal   P(theta), in double precision
//   dual     D(u) for any u bounds the optimum from below: D(u) <= P* <= P(theta), so that P(theta) - D(u) is
//            a gap whoever found u. Those that are looked at are, in this order:
//              - the gold outputs, D = 0
//              - the distributions that theta implies: for finite beta u_i = pi_i(theta), which depends on
//                the weights alone; for beta = infinity the best of some finite betas (certify_implied)
//              - those that a dual solver reaches from there in block steps, an example at a time
//
// Its solver is told nothing that the file claims but when to stop. Weights that it comes by have a primal
// that no true bound can be above.

#include "espalier/train/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "espalier/base/error.h"
#include "espalier/solvers/registry.h"
#include "learning/certify.h"
#include "learning/difference_problem.h"
#include "learning/latent_gold.h"
#include "model/data_fingerprint.h"
#include "solvers/hand_over.h"
#include "solvers/training.h"
#include "train/recertify.h"

namespace espalier {
namespace {

// Relative to the objective, where a model claims none.
constexpr double kUsualGap = 1e-3;

Rescaling rescaling_of(const Model& model) {
  return model.info().slack_rescaling ? Rescaling::slack : Rescaling::margin;
}

void check_verifiable(const Model& model, const TrainingSet& data) {
  const ModelInfo& info = model.info();
  if (info.task != data.task()) {
    throw Error::in(model.name(), fmt::format("a model of the task {}", info.task),
                    fmt::format("expected one of the task {}", data.task()));
  }
  if (!info.l2) {
    throw Error::in(model.name(), fmt::format("a model {}, which states no objective", info.solver),
                    "expected one that was trained here");
  }
  if (info.slack_rescaling && !data.problem().slack_rescaling()) {
    throw Error::in(model.name(), "a model of rescaled slacks, which these data do not allow",
                    "expected the data and the options of its training");
  }
}

// The gap to reach.
double target_of(const Verification& result) {
  if (result.claimed && !result.claimed->approximate()) return result.claimed->gap();
  return kUsualGap * result.proven.primal;
}

// Block steps from the distributions that the weights imply.
void tighten(const Objective& objective, Rescaling rescaling, const Weights& theta,
             const VerifyOptions& options, Verification& result) {
  const double target = target_of(result);
  const auto reached = [&] { return result.proven.primal - result.proven.dual <= target + result.rounding; };
  // At the optimum of the perceptron's loss all weights are zero, and so is the dual.
  const bool settled = !objective.loss.smooth() && objective.loss.gamma == 0;
  if (reached() || settled || !(options.passes > 0)) return;
  const bool slack = rescaling == Rescaling::slack;
  const SolverEntry solver = find_solver(slack ? "cutting-plane" : "auto", objective.loss);
  SolverSettings settings;
  settings.cutting_plane.rescaling = rescaling;
  settings.threads = Threads::of(options.threads);
  settings.report_every = 1;
  settings.stopping.passes = options.passes;
  settings.stopping.stop = options.stop;
  settings.stopping.tick = options.tick;
  // Its own weights are better than those of the model, which the gap that is sought belongs to.
  settings.stopping.gap = 0.1 * target / result.proven.primal;
  Training training;
  training.theta = theta;
  hand_over(objective, Duals::none, solver.duals, settings, training);
  if (options.stop && options.stop->load()) return;
  solver.run(objective, settings, training, [&](const Progress& progress, const Weights&) {
    result.proven.passes = progress.passes;
    result.proven.dual = std::max(result.proven.dual, progress.dual);
    if (std::isfinite(progress.primal)) result.lowest = std::min(result.lowest, progress.primal);
    return reached() ? Control::stop : Control::go_on;
  });
}

Verdict verdict_of(const Verification& result) {
  if (result.same_data == false) return Verdict::other_data;
  if (result.claimed_objective &&
      !(std::abs(*result.claimed_objective - result.objective) <= result.rounding))
    return Verdict::other_objective;
  if (!result.claimed) return result.claimed_objective ? Verdict::agrees : Verdict::nothing_claimed;
  // Then there is nothing else to prove.
  if (result.claimed->approximate()) return Verdict::agrees;
  if (result.claimed->dual > result.lowest + result.rounding) return Verdict::false_bound;
  if (result.proven.gap() > kProvenEnough * result.claimed->gap() + result.rounding) return Verdict::unproven;
  return Verdict::agrees;
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::other_data:
      return "other_data";
    case Verdict::other_objective:
      return "other_objective";
    case Verdict::false_bound:
      return "false_bound";
    case Verdict::unproven:
      return "unproven";
    case Verdict::nothing_claimed:
      return "nothing_claimed";
    case Verdict::agrees:
      break;
  }
  return "agrees";
}

Verification verify(const Model& model, TrainingSet& data, const VerifyOptions& options) {
  check_verifiable(model, data);
  const ModelInfo& info = model.info();
  const Weights theta = weights_on(data, model);
  const Threads threads = Threads::of(options.threads);
  std::optional<DifferenceProblem> difference;
  if (info.loss.difference) difference.emplace(data.problem(), threads.number);
  LatentGold* latent = difference ? &*difference : data.latent_gold();
  const Objective objective = difference ? objective_of(model, data, *difference) : objective_of(model, data);
  const Rescaling rescaling = rescaling_of(model);
  Sweep sweep(threads);
  Verification result;
  if (!info.data.empty())
    result.same_data = info.data == data_fingerprint(data, data.latent_gold() == nullptr);
  if (latent) {
    latent->complete(theta, objective.loss);
    result.claimed_objective = info.objective;
  } else if (info.certificate) {
    result.claimed_objective = info.certificate->primal;
    result.claimed = info.certificate;
  }
  Certificate& proven = result.proven;
  proven.inference = data.problem().inference();
  proven.primal = evaluate_primal(objective, rescaling, theta, sweep);
  result.objective = proven.primal - (latent ? latent->surplus(theta, objective.loss) : 0);
  result.lowest = proven.primal;
  result.rounding = rounding_bound(objective, proven.primal);
  if (rescaling == Rescaling::margin) proven.dual = certify_implied(objective, theta, sweep).dual;
  if (!proven.approximate()) {
    // Of the gold outputs.
    proven.dual = std::max(proven.dual, 0.0);
    tighten(objective, rescaling, theta, options, result);
    if (proven.dual > proven.primal) proven.rounding = result.rounding;
  }
  result.verdict = verdict_of(result);
  return result;
}

}  // namespace espalier
