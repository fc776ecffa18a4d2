#pragma once

namespace espalier {

// Detects that a method which closes a gap pass by pass has nothing left to fix but rounding.
class StallDetector {
 public:
  // After each pass. True once several consecutive passes have not reduced the gap at all.
  bool stalled(double gap_before, double gap) {
    constexpr int kPassesWithoutProgress = 10;
    slow_ = gap > (1 - 1e-6) * gap_before;
    without_progress_ = gap < gap_before ? 0 : without_progress_ + 1;
    return without_progress_ == kPassesWithoutProgress;
  }
  // Whether the last pass reduced the gap by less than a millionth.
  bool slow() const { return slow_; }

 private:
  bool slow_ = false;
  int without_progress_ = 0;
};

}  // namespace espalier
