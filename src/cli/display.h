#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "espalier/base/progress.h"

namespace espalier::cli {

// What a long run shows on standard error: one line per report, and on a terminal a line below them that
// moves.
class Display {
 public:
  // `gap` is the relative gap aimed at, which the bar measures progress by; quiet shows nothing.
  Display(double gap, bool quiet);
  ~Display();

  void note(const std::string& line);
  // What went wrong and does not end the run. Not even quiet keeps it back.
  void warn(const std::string& line);
  // `l2` where a run has several values.
  void report(const Progress& progress, const std::string& headline, std::optional<double> l2 = std::nullopt);
  void tick(double passes);

 private:
  void say(const std::string& line);
  void clear_bar();

  bool quiet_, terminal_, bar_shown_ = false;
  double gap_, first_gap_ = 0, last_gap_ = 0;
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace espalier::cli
