#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/input.h"
#include "espalier/base/progress.h"

namespace espalier::cli {

// What a long run shows on standard error: one line per report, and on a terminal a line below them that
// moves.
class Display {
 public:
  // `gap` is the relative gap aimed at, which the bar measures progress by; before there is one, it measures
  // the passes to the first report. Quiet shows nothing.
  Display(double gap, double report_every, bool quiet);
  ~Display();

  void note(const std::string& line);
  // What went wrong and does not end the run. Not even quiet keeps it back.
  void warn(const std::string& line);
  // `value` says which one it is of, where a run has several.
  void report(const Progress& progress, const std::string& headline, const std::string& value = "");
  void tick(double passes);
  // How far the reading of a file is.
  void reading(const ReadingProgress& file);

 private:
  void say(const std::string& line);
  bool due();
  // A bar with `text` behind it.
  void draw(double done, const std::string& text);
  void clear_bar();
  std::string time_left(double passes) const;

  bool quiet_, terminal_, bar_shown_ = false;
  double gap_, report_every_;
  std::vector<Progress> history_;  // of the solver at work
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace espalier::cli
