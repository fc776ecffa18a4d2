#pragma once

#include <algorithm>
#include <limits>

#include "espalier/learning/certificate.h"

namespace espalier {

// For solvers without duals. The dual point that their weights imply gets better and worse from one report to
// the next, but every dual value bounds the optimum, so the best one seen stays valid for all later weights.
class BestDual {
 public:
  Certificate improve(Certificate certificate) {
    best_ = std::max(best_, certificate.dual);
    certificate.dual = best_;
    return certificate;
  }

 private:
  double best_ = -std::numeric_limits<double>::infinity();
};

}  // namespace espalier
