#include "cli/display.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace espalier::cli {

Display::Display(double gap, bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0), gap_(gap) {}

Display::~Display() { clear_bar(); }

void Display::note(const std::string& line) {
  if (!quiet_) say(line);
}

void Display::warn(const std::string& line) { say("espalier: " + line); }

void Display::say(const std::string& line) {
  clear_bar();
  std::fputs((line + '\n').c_str(), stderr);  // a full disk behind standard error must not end the training
}

void Display::report(const Progress& progress, const std::string& headline, std::optional<double> l2) {
  if (first_gap_ == 0) first_gap_ = progress.relative_gap();
  last_gap_ = progress.relative_gap();
  note(fmt::format("{}pass {:>6.2f}  {:>7.2f} s  primal {:<12.8g} dual {:<12.8g} {}gap {:.2e}{}",
                   l2 ? fmt::format("l2 {:<8.6g} ", *l2) : "", progress.passes, progress.seconds,
                   progress.primal, progress.dual, progress.approximate() ? "approximate " : "",
                   progress.relative_gap(), headline.empty() ? "" : "  dev " + headline));
}

void Display::tick(double passes) {
  if (quiet_ || !terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  // Gaps shrink by factors, so their logarithm is what grows evenly.
  constexpr int kWidth = 30;
  double done = 0;
  if (last_gap_ > 0 && first_gap_ > gap_ && gap_ > 0)
    done = std::log(first_gap_ / last_gap_) / std::log(first_gap_ / gap_);
  const int filled = static_cast<int>(kWidth * std::clamp(done, 0.0, 1.0));
  std::string bar = fmt::format("\r[{:#<{}}{:.<{}}] pass {:.1f}", "", filled, "", kWidth - filled, passes);
  if (last_gap_ > 0) bar += fmt::format(", gap {:.1e} of {:.1e}", last_gap_, gap_);
  std::fputs((bar + "\x1b[K").c_str(), stderr);
  bar_shown_ = true;
}

void Display::clear_bar() {
  if (bar_shown_) std::fputs("\r\x1b[K", stderr);
  bar_shown_ = false;
}

}  // namespace espalier::cli
