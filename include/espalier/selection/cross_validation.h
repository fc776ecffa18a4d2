#pragma once

#include <cstddef>
#include <vector>

#include "espalier/base/progress.h"

namespace espalier {

// How good weights are on held-out examples: what selection minimises, and the same as people say it.
struct HeldOutScore {
  double dev_error = 0, value = 0;
};

// One value of l2, over the folds.
struct CrossValidatedValue {
  double l2 = 0;
  std::size_t folds = 0;           // that got to it
  double mean = 0, deviation = 0;  // of HeldOutScore::value; sample standard deviation over folds
  double dev_error = 0;            // mean
  double standard_error = 0;       // of dev_error
  double passes = 0;               // of all folds
};

struct CrossValidation {
  std::vector<CrossValidatedValue> values;  // those that some fold got to, the largest l2 first
  // Among the values that the most folds got to: the one of the smallest dev_error, and the largest l2 whose
  // mean is within one standard error of it. Of equals the first, with the largest l2.
  std::size_t best = 0, simplest = 0;
  Status status = Status::not_run;  // of the first fold that did not get through its path, if there is one
};

}  // namespace espalier
