#include "solvers/stoppable.h"

#include <optional>
#include <utility>

#include "solvers/training.h"

namespace espalier {
namespace {

using Solve = decltype(SolverEntry::run);

// Copies the weights of reports whose certificates take so long that they may be needed.
class LastReport {
 public:
  explicit LastReport(Deadline& deadline) : deadline_(deadline) {}

  void take(const Progress& progress, const Weights& theta) {
    history_.push_back(progress);
    // The next one will take as long. Under half of the grace, it is waited for.
    const bool slow = deadline_.seconds_paused() > deadline_.grace() / 2;
    deadline_.enable(slow);
    if (slow) {
      theta_ = theta;
    } else {
      theta_.reset();
    }
  }

  // What the run ends with.
  Summary give_up(Training& training) {
    const bool stopped = deadline_.stopped();
    const Status status = stopped ? Status::stopped : Status::out_of_time;
    if (!theta_) {
      throw NothingCertified(
          stopped
              ? "interrupted before the first weights were certified; nothing was saved"
              : "out of time before the first weights were certified; nothing was saved; expected more time",
          status);
    }
    training = {};
    training.theta = *std::move(theta_);
    Summary summary;
    summary.status = status;
    summary.history = std::move(history_);
    summary.message = describe_ending(status, summary.history.back());
    return summary;
  }

 private:
  Deadline& deadline_;
  std::vector<Progress> history_;
  std::optional<Weights> theta_;
};

Summary solve_to_deadline(const Solve& solve, double grace, const Objective& objective,
                          const SolverSettings& settings, Training& training, const Observer& observer) {
  if (objective.problem.fleet() || Deadline::current()) return solve(objective, settings, training, observer);
  Deadline deadline(settings.stopping.stop, settings.stopping.seconds, grace);
  LastReport last(deadline);
  try {
    return solve(objective, settings, training, [&](const Progress& progress, const Weights& theta) {
      last.take(progress, theta);
      return observer ? observer(progress, theta) : Control::go_on;
    });
  } catch (const SweepGivenUp&) {
    return last.give_up(training);
  }
}

}  // namespace

SolverEntry stoppable(SolverEntry solver, double grace) {
  solver.run = [solve = std::move(solver.run), grace](const Objective& objective,
                                                      const SolverSettings& settings, Training& training,
                                                      const Observer& observer) {
    return solve_to_deadline(solve, grace, objective, settings, training, observer);
  };
  return solver;
}

}  // namespace espalier
