#pragma once

#include "espalier/base/progress.h"
#include "espalier/learning/certificate.h"

namespace espalier {

// Training where gold outputs are not all known, or the loss is a difference: convex problems one after
// another (the concave-convex procedure).
struct CccpOptions {
  double gap = 1e-3;  // stop when a round lowers the true objective by less than this, relative to it
  int rounds = 20;    // at most
};

// One convex problem of the loop, optimised.
struct CccpRound {
  int round = 0;            // from 1
  double objective = 0;     // the true one, which is not convex
  Certificate certificate;  // of this round's convex problem, with the passes of all rounds so far
  Status status = Status::not_run;
};

}  // namespace espalier
