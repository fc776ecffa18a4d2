#pragma once

#include "espalier/base/error.h"
#include "espalier/solvers/registry.h"
#include "learning/deadline.h"

namespace espalier {

// A run that was to end, and would have taken too long to certify its first weights.
class NothingCertified : public Stopped {
 public:
  NothingCertified(const std::string& message, Status why) : Stopped(message), status(why) {}
  Status status;  // stopped or out_of_time
};

// The solver under a Deadline: where the certificate of its last weights would take longer than anybody waits
// for it, the run ends with those of its last report, and without duals. Throws NothingCertified where there
// was no report. Of several ranks, nobody leaves the others alone: they certify as ever.
SolverEntry stoppable(SolverEntry solver, double grace = Deadline::kGrace);

}  // namespace espalier
