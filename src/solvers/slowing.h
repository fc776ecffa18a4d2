#pragma once

namespace espalier {

// Sees where a method that closes a gap pass by pass is left with nothing but rounding.
class Slowing {
 public:
  // After each pass. True once several in a row have not changed the gap at all.
  bool stalled(double gap_before, double gap) {
    constexpr int kMostStill = 10;
    quiet_ = gap > (1 - 1e-6) * gap_before;
    still_ = gap < gap_before ? 0 : still_ + 1;
    return still_ == kMostStill;
  }
  // The last pass hardly did.
  bool quiet() const { return quiet_; }

 private:
  bool quiet_ = false;
  int still_ = 0;
};

}  // namespace espalier
