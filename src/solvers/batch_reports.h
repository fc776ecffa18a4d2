#pragma once

#include "espalier/learning/certificate.h"
#include "features/assign_weights.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "solvers/visits.h"

namespace espalier {

// When solvers that move all examples at once report, and how. All refer to the solver's own.
class BatchReports {
 public:
  BatchReports(const Objective& objective, double report_every, Run& run, const Visits& visits, Sweep& sweep,
               Weights& theta)
      : objective_(objective),
        report_every_(report_every),
        run_(run),
        visits_(visits),
        sweep_(sweep),
        theta_(theta) {}

  bool due() const {
    const double passes = visits_.passes();
    return passes - reported_at_ >= report_every_ || run_.exhausted(passes);
  }

  // Leaves theta(w), and certifies it with a dual value. True: the run is over.
  bool report_dual(const DoubleWeights& w, double dual) {
    run_.pause();
    objective_.regularizer.assign(theta_, w, sweep_.team());
    return certify(dual);
  }
  // The same of theta itself.
  bool report(const DoubleWeights& point, double dual) {
    run_.pause();
    assign_weights(theta_, point, 1, sweep_.team());
    return certify(dual);
  }

 private:
  bool certify(double dual) {
    const Certificate certificate{evaluate_primal(objective_, theta_, sweep_), dual, visits_.passes(),
                                  objective_.problem.inference()};
    reported_at_ = visits_.passes();
    const bool over = run_.report(certificate, theta_);
    run_.resume();
    return over;
  }

  const Objective& objective_;
  double report_every_;
  Run& run_;
  const Visits& visits_;
  Sweep& sweep_;
  Weights& theta_;
  double reported_at_ = 0;
};

}  // namespace espalier
