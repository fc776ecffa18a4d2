#include "cli/run_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace espalier::cli {
namespace {

double seconds_of_steady_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// "0.25 s", "14 s", "3 min", "5.2 h"
std::string duration(double seconds) {
  constexpr double kFew = 10, kMinutes = 120, kMinute = 60, kHours = 7200, kHour = 3600;
  if (seconds < kFew) return fmt::format("{:.2g} s", seconds);
  if (seconds < kMinutes) return fmt::format("{:.0f} s", seconds);
  if (seconds < kHours) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.1f} h", seconds / kHour);
}

}  // namespace

RunForecast::RunForecast(const MemoryForecast& memory, const Target& target, Say say, Clock clock)
    : memory_(memory),
      target_(target),
      say_(std::move(say)),
      clock_(clock ? std::move(clock) : seconds_of_steady_clock),
      begin_(clock_()) {}

void RunForecast::tick(double passes) {
  if (said_) return;
  const double seconds = clock_() - begin_;
  if (!first_pass_) first_pass_ = std::floor(passes);
  const double done = passes - *first_pass_;
  if (!(done > 0)) return;
  if (!start_) start_ = Start{seconds, done};
  const double since = seconds - start_->seconds, passes_since = done - start_->passes;
  if (seconds < kSoon || since < kMeasured || !(passes_since > 0)) return;
  said_ = true;
  const double of_pass = since / passes_since;
  const auto seconds_to = [&](double all) { return start_->seconds + (all - start_->passes) * of_pass; };
  const double to_first = seconds_to(std::min(target_.report_every, target_.passes));
  Json event{{"memory", std::round(memory_.total())}, {"seconds_per_pass", of_pass}};
  std::string line =
      fmt::format("forecast: about {} of memory, {} per pass", in_bytes(memory_.total()), duration(of_pass));
  // Some report when they see fit.
  if (gaps_.empty() && std::isfinite(to_first) && to_first > seconds) {
    event["first_report_seconds"] = to_first;
    line += fmt::format(", first report after {}", duration(to_first));
  }
  // Nobody waits for a default of a thousand passes: only limits that come first are worth saying.
  constexpr double kFewPasses = 100;
  if (target_.passes <= kFewPasses || std::isfinite(target_.seconds)) {
    const double most = std::min(seconds_to(target_.passes), target_.seconds);
    event["most_seconds"] = most;
    line += fmt::format(", at most {}", duration(most));
  }
  say_(line, event);
}

void RunForecast::report(const Progress& progress) {
  if (progress.epoch == 1) gaps_.clear();  // another solver, l2, round or seed
  gaps_.push_back({progress.passes, progress.relative_gap()});
  if (said_end_ || !said_ || progress.relative_gap() <= target_.gap || !(target_.gap > 0)) return;
  const auto passes_left = passes_to_gap(gaps_, target_.gap);
  if (!passes_left || !(progress.passes > 0)) return;
  const double left = *passes_left * progress.wall_seconds / progress.passes;
  constexpr double kTooLong = 1e7;  // nobody knows what happens in months
  if (!(left >= kWorthSaying) || !(left < kTooLong)) return;
  said_end_ = true;
  say_(fmt::format("forecast: about {} more to a gap of {:g}, if it falls on as it does now", duration(left),
                   target_.gap),
       {{"seconds_left", left}});
}

}  // namespace espalier::cli
