#pragma once

#include <algorithm>

#include "espalier/learning/certificate.h"

namespace espalier {

// For solvers without duals. The dual point that their weights imply gets better and worse from one report to
// the next, but every dual value bounds the optimum, so the best one seen stays valid for all later weights.
// The first is 0, that of the gold outputs themselves: far from the optimum, implied ones are often worse.
class BestDual {
 public:
  Certificate improve(Certificate certificate) {
    best_ = std::max(best_, certificate.dual);
    certificate.dual = best_;
    return certificate;
  }

 private:
  double best_ = 0;
};

}  // namespace espalier
