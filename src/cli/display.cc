#include "cli/display.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "espalier/base/error.h"
#include "solvers/forecast.h"

namespace espalier::cli {

Display::Display(double gap, double report_every, bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0), gap_(gap), report_every_(report_every) {}

Display::~Display() { clear_bar(); }

void Display::note(const std::string& line) {
  if (!quiet_) say(line);
}

void Display::warn(const std::string& line) { say("espalier: " + line); }

void Display::say(const std::string& line) {
  clear_bar();
  std::fputs((one_line(line) + '\n').c_str(),
             stderr);  // a full disk behind standard error must not end the training
}

void Display::report(const Progress& progress, const std::string& headline, const std::string& value) {
  if (progress.epoch == 1) history_.clear();  // another solver, l2, round or seed
  history_.push_back(progress);
  note(fmt::format("{}pass {:>6.2f}  {:>7.2f} s  primal {:<12.8g} dual {:<12.8g} {}gap {:.2e}{}", value,
                   progress.passes, progress.seconds, progress.primal, progress.dual,
                   progress.approximate() ? "approximate " : "", progress.relative_gap(),
                   headline.empty() ? "" : "  dev " + headline));
}

void Display::tick(double passes) {
  if (!due()) return;
  if (history_.empty()) {
    const bool soon = std::isfinite(report_every_) && report_every_ < 1e6;
    draw(passes / report_every_,
         fmt::format("pass {:.1f}{}", passes,
                     soon ? fmt::format(", first report after {:g}", report_every_) : ""));
    return;
  }
  // Gaps shrink by factors, so their logarithm is what grows evenly.
  const double first = history_.front().relative_gap(), last = history_.back().relative_gap();
  double done = 0;
  if (last > 0 && first > gap_ && gap_ > 0) done = std::log(first / last) / std::log(first / gap_);
  std::string text = fmt::format("pass {:.1f}", passes);
  if (last > 0) text += fmt::format(", gap {:.1e} of {:.1e}", last, gap_);
  draw(done, text + time_left(passes));
}

// Where the gap would be met if it fell on as it did of late, at the pace of this run so far.
std::string Display::time_left(double passes) const {
  std::vector<GapAt> gaps;
  for (const Progress& report : history_) gaps.push_back({report.passes, report.relative_gap()});
  const auto passes_left = passes_to_gap(gaps, gap_);
  const Progress& last = history_.back();
  if (!passes_left || !(last.passes > 0)) return {};
  const double seconds = (last.passes + *passes_left - passes) * last.wall_seconds / last.passes;
  constexpr double kMinute = 60, kHour = 3600, kTooLong = 1000 * kHour;
  if (!(seconds > 0) || !(seconds < kTooLong)) return {};
  if (seconds >= kHour) return fmt::format(", about {:.1f} h left", seconds / kHour);
  if (seconds >= kMinute) return fmt::format(", about {:.0f} min left", seconds / kMinute);
  return fmt::format(", about {:.0f} s left", std::ceil(seconds));
}

void Display::reading(const ReadingProgress& file) {
  if (!due()) return;
  constexpr double kMegabyte = 1e6;
  const auto megabytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / kMegabyte; };
  if (file.size == 0) {
    draw(0, fmt::format("reading {}: {:.1f} MB", file.name, megabytes(file.bytes)));
  } else {
    draw(static_cast<double>(file.bytes) / static_cast<double>(file.size),
         fmt::format("reading {}: {:.1f} of {:.1f} MB", file.name, megabytes(file.bytes),
                     megabytes(file.size)));
  }
}

// Whether the bar is shown at all, and was not just drawn.
bool Display::due() {
  if (quiet_ || !terminal_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < std::chrono::milliseconds(100)) return false;
  drawn_ = now;
  return true;
}

void Display::draw(double done, const std::string& text) {
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(kWidth * std::clamp(done, 0.0, 1.0));
  std::fputs(fmt::format("\r[{:#<{}}{:.<{}}] {}\x1b[K", "", filled, "", kWidth - filled, text).c_str(),
             stderr);
  bar_shown_ = true;
}

void Display::clear_bar() {
  if (bar_shown_) std::fputs("\r\x1b[K", stderr);
  bar_shown_ = false;
}

}  // namespace espalier::cli
