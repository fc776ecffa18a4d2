#include "espalier/solvers/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "espalier/base/error.h"
#include "fleet/communicator.h"
#include "learning/certify.h"
#include "learning/deadline.h"

namespace espalier {
namespace {

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

StoppingRule StoppingRule::rest(const Progress& now) const {
  StoppingRule rule = *this;
  rule.before = now;
  rule.passes -= now.passes - before.passes;
  rule.seconds -= now.seconds - before.seconds;
  return rule;
}

Run::Run(const Objective& objective, const StoppingRule& rule, const Observer& observer)
    : objective_(objective), rule_(rule), observer_(observer), started_(Clock::now()), resumed_(started_) {
  if (Deadline* deadline = Deadline::current()) deadline->resume();
}

double Run::seconds() const { return trained_ + (running_ ? since(resumed_) : 0); }

void Run::pause() {
  trained_ = seconds();
  running_ = false;
  if (Deadline* deadline = Deadline::current()) deadline->pause();
}

void Run::resume() {
  resumed_ = Clock::now();
  running_ = true;
  if (Deadline* deadline = Deadline::current()) deadline->resume();
}

bool Run::exhausted_here(double passes) const {
  if (rule_.tick) rule_.tick(rule_.before.passes + passes);
  return rule_.interrupted() || passes >= rule_.passes || seconds() >= rule_.seconds;
}

bool Run::exhausted(double passes) const {
  Communicator* fleet = objective_.problem.fleet();
  if (!fleet) return exhausted_here(passes);
  if (rule_.tick) rule_.tick(rule_.before.passes + passes);
  const bool out_of_time = fleet->rank() == 0 && seconds() >= rule_.seconds;
  return fleet->any(rule_.interrupted() || out_of_time) || passes >= rule_.passes;
}

Certificate checked(const Objective& objective, Certificate certificate) {
  // Nobody asks for a gap below this, relative to the primal.
  constexpr double kNoGap = 1e-11;
  if (certificate.approximate() || !(certificate.gap() <= kNoGap * certificate.primal)) return certificate;
  const double bound = rounding_bound(objective, certificate.primal);
  if (certificate.dual <= certificate.primal) {
    // A dual has been lowered by what rounding may have raised it, so that a gap of none looks like twice
    // that.
    certificate.rounding = std::min(2 * bound, kNoGap * certificate.primal);
    return certificate;
  }
  certificate.rounding = bound;
  if (certificate.gap() < 0) {
    throw Error(fmt::format(
        "the dual {:.17g} exceeds the primal {:.17g} by more than rounding explains ({:.2g}); this is "
        "a bug, please report it",
        certificate.dual, certificate.primal, certificate.rounding));
  }
  return certificate;
}

bool Run::report(Certificate certificate, const Weights& theta) {
  ESPALIER_EXPECT(!running_);
  certificate = checked(objective_, certificate);
  Communicator* fleet = objective_.problem.fleet();
  if (fleet) trained_ = fleet->of_first(trained_);
  Progress progress;
  progress.epoch = static_cast<int>(summary_.history.size()) + 1;
  progress.passes = rule_.before.passes + certificate.passes;
  progress.seconds = rule_.before.seconds + trained_;
  progress.wall_seconds = rule_.before.wall_seconds + since(started_);
  progress.primal = certificate.primal;
  progress.dual = certificate.dual;
  progress.inference = certificate.inference;
  progress.rounding = certificate.rounding;
  summary_.history.push_back(progress);
  const Control control = observer_ ? observer_(progress, theta) : Control::go_on;
  const bool interrupted = fleet ? fleet->any(rule_.interrupted()) : rule_.interrupted();

  if (!std::isfinite(progress.primal) || !std::isfinite(progress.dual)) {
    summary_.status = Status::failed;
  } else if (std::abs(certificate.relative_gap()) <= rule_.gap) {
    summary_.status = Status::converged;
  } else if (control == Control::stop || interrupted) {
    summary_.status = Status::stopped;
  } else if (certificate.passes >= rule_.passes) {
    summary_.status = Status::out_of_passes;
  } else if (trained_ >= rule_.seconds) {
    summary_.status = Status::out_of_time;
  }
  return summary_.status != Status::not_run;
}

void Run::stall(const std::string& why) {
  summary_.status = Status::stalled;
  summary_.message = why;
}

Summary Run::finish() {
  if (summary_.history.empty()) return summary_;
  summary_.message = describe_ending(summary_.status, summary_.history.back(), summary_.message);
  return summary_;
}

std::string describe_ending(Status status, const Progress& last, const std::string& why) {
  const std::string sentence =
      fmt::format("{}relative gap {:.2g} after {:.1f} passes", last.approximate() ? "approximate " : "",
                  last.relative_gap(), last.passes);
  switch (status) {
    case Status::converged:
      return "converged: " + sentence;
    case Status::out_of_passes:
      return "out of passes: " + sentence;
    case Status::out_of_time:
      return "out of time: " + sentence;
    case Status::stopped:
      return "stopped: " + sentence;
    case Status::stalled:
      return fmt::format("stalled ({}): {}", why, sentence);
    case Status::failed:
      return fmt::format("failed: the objective is not finite after {:.1f} passes", last.passes);
    case Status::out_of_rounds:
    case Status::not_run:
      break;
  }
  return why;
}

}  // namespace espalier
