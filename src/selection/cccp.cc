// The concave-convex procedure. With A_i the outputs that example i may have, the true objective is
//
//   T(theta) = P_0(theta) - sum_i omega_i f_i(theta),
//                                                       f_i = 1/beta log sum_{y in A_i} exp beta theta.F_i
//                                                       chi(y)
//
// where P_0 is the primal without its gold term, and f_i is convex. z_i = E[chi] under pi_theta on A_i makes
// F_i z_i its gradient, so that for all theta'
//
//   T(theta') <= P_0(theta') - sum_i omega_i [ f_i(theta) + (theta' - theta).F_i z_i ]
//       = P_z(theta') + constant
//
// with equality at theta: what lowers P_z, a convex objective with gold statistics z_i, lowers T.

#include "selection/cccp_run.h"

#include <fmt/format.h>

namespace espalier {
namespace {

bool solved(Status status) { return status == Status::converged || status == Status::stalled; }

std::string describe(const Cccp& loop) {
  const CccpRound& last = loop.rounds.back();
  return fmt::format(
      "{}: objective {:.8g} after {} round{}; the last one has relative gap {:.2g} after {:.1f} passes",
      to_string(loop.status), last.objective, last.round, last.round == 1 ? "" : "s",
      last.certificate.relative_gap(), last.certificate.passes);
}

}  // namespace

Cccp cccp(const Objective& objective, LatentGold& gold, const CccpOptions& options, const SolverEntry& solver,
          const SolverSettings& settings, Training& training,
          const std::function<Control(int round, const Progress&, const Weights&)>& observer,
          const std::function<void(const CccpRound&)>& finished) {
  Cccp loop;
  if (training.theta.shape() == objective.problem.weight_shape())
    gold.complete(training.theta, objective.loss);
  Progress before;  // passes and seconds of the rounds so far
  while (loop.status == Status::not_run) {
    CccpRound here;
    here.round = static_cast<int>(loop.rounds.size()) + 1;
    SolverSettings rest = settings;
    rest.stopping.passes = settings.stopping.passes - before.passes;
    rest.stopping.seconds = settings.stopping.seconds - before.seconds;
    const Summary summary =
        solver.run(objective, rest, training, [&](const Progress& p, const Weights& theta) {
          Progress total = p;
          total.passes += before.passes;
          total.seconds += before.seconds;
          total.wall_seconds += before.wall_seconds;
          return observer ? observer(here.round, total, theta) : Control::go_on;
        });
    const Progress& last = summary.history.back();
    before.passes += last.passes;
    before.seconds += last.seconds;
    before.wall_seconds += last.wall_seconds;

    here.objective = last.primal - gold.surplus(training.theta, objective.loss);
    here.certificate = {last.primal, last.dual, before.passes, last.inference, last.rounding};
    here.status = summary.status;
    if (!solved(summary.status)) {
      loop.status = summary.status;
    } else if (!loop.rounds.empty() &&
               loop.rounds.back().objective - here.objective <= options.gap * loop.rounds.back().objective) {
      loop.status = Status::converged;
    } else if (here.round >= options.rounds) {
      loop.status = Status::out_of_rounds;
    } else {
      gold.complete(training.theta, objective.loss);
      // Duals of one round move the weights of the next by F(z' - z)/l2. Where much has changed, that is
      // further from its optimum than the beginning (sentences with 40 % of the labels unknown: 318 passes in
      // all if duals are always kept, 247 if never, 191 like this).
      constexpr double kFar = 0.1;
      const bool far = loop.rounds.empty() || here.objective < (1 - kFar) * loop.rounds.back().objective;
      if (far && training.dual) training = {};
    }
    loop.rounds.push_back(here);
    if (finished) finished(here);
  }
  loop.message = describe(loop);
  return loop;
}

}  // namespace espalier
