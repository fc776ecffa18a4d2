#pragma once

#include <cstddef>

#include "espalier/learning/dual_state.h"
#include "espalier/learning/objective.h"
#include "espalier/solvers/eg.h"
#include "espalier/solvers/run.h"

namespace espalier {

class OptionTable;

enum class EgBatchStep {
  automatic,  // one eta that halves where the dual would fall and grows where it does not
  safe,       // the theorem's eta, from a bound on the features: the dual never falls
};

// What is eg-batch's own to choose.
struct EgBatchTuning {
  EgBatchStep step = EgBatchStep::automatic;
  EgStart start = EgStart::gold;  // of stored duals
  bool recompute = false;         // where a run has the choice: the form without stored duals
};
const OptionTable& eg_batch_options();  // of EgBatchTuning

struct EgBatchOptions : EgBatchTuning {
  StoppingRule stopping;
  std::size_t threads = 1;  // the result is the same with any number of them
  double report_every = 5;  // passes at most between two reports; a report costs about a pass of time
};

// Batch exponentiated gradient on the dual (Collins et al. 2008, Figure 1), for every beta in (0, inf] and gamma >= 0. Leaves
// the duals in `dual` and theta = w(u)/l2 in `theta`.
Summary eg_batch(const Objective& objective, const EgBatchOptions& options, DualState& dual, Weights& theta,
                 const Observer& observer = {});

// The same iterates without stored duals: one more vector of weights implies them all (Bartlett et al. 2004, section 3).
// Starts from uniform distributions.
Summary eg_batch(const Objective& objective, const EgBatchOptions& options, Weights& theta,
                 const Observer& observer = {});

}  // namespace espalier
