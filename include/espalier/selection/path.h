#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "espalier/base/progress.h"
#include "espalier/features/weights.h"
#include "espalier/learning/certificate.h"

namespace espalier {

// Where a search for l2 may look. The defaults are further than anybody has wanted to go.
struct L2Range {
  double min = 1e-6, max = 1e6;

  // Throws Error if there is nothing between these.
  void check() const;
  // "auto", with the range where it is not the default.
  std::string name() const;
  // Where a search begins: the decade, or the end of the range, that is nearest to 10.
  double start() const;
  // The values that a search may try, the largest first: four in a decade, with two digits, and the ends of
  // the range.
  std::vector<double> values() const;
};

// l2_max, l2_max * factor, ... down to l2_min (which counts if it is hit but for rounding).
struct PathOptions {
  double l2_max = 1000, l2_min = 0.3, factor = 0.7;

  // Throws Error if these describe no decreasing sequence.
  std::vector<double> values() const;
};

// The same of l1, at one l2.
struct L1Path {
  double l1_max = 10, l1_min = 0.01, factor = 0.5;
  double l2 = 1;

  std::vector<double> values() const;
};

// One regularisation constant of a path, optimised.
struct PathPoint {
  double l2 = 0;
  Certificate certificate;  // with the passes of this value alone
  double total_passes = 0;
  double dev_error = 0;  // on held-out data (Evaluation::dev_error)
  Status status = Status::not_run;
  double l1 = 0;
  std::size_t active = 0;  // weights that are not zero
};

struct Path {
  std::vector<PathPoint> points;
  std::size_t best = 0;  // the point of the smallest dev_error; the first (largest l2, then l1) of equals
  Weights theta;         // its weights
  Status status = Status::not_run;
  std::string message;  // how its last value ended
  Progress progress;    // what all of it took
};

}  // namespace espalier
