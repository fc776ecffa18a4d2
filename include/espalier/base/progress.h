#pragma once

#include <functional>
#include <string>
#include <vector>

namespace espalier {

// What log-partitions and marginals are, and so what primal and dual bound. From better to worse: of several
// examples the worst one counts.
enum class Inference {
  exact,        // the optimum
  relaxed,      // convex upper bounds with their gradients: the optimum of a relaxed problem
  approximate,  // nothing
};

// primal - dual; 0 where the dual is above, but by no more than rounding may have put it there.
inline double gap_of(double primal, double dual, double rounding) {
  return dual > primal && dual - primal <= rounding ? 0 : primal - dual;
}

// One report of a solver: a certificate, and what it took to get there.
struct Progress {
  int epoch = 0;
  double passes = 0;        // visits (every step size tried is one) divided by n
  double seconds = 0;       // training alone
  double wall_seconds = 0;  // training and certification
  double primal = 0, dual = 0;
  Inference inference = Inference::exact;
  double rounding = 0;  // by which a dual may be above a primal that it is not above (learning/certificate.h)

  bool approximate() const { return inference == Inference::approximate; }  // then the gap bounds nothing
  double gap() const { return gap_of(primal, dual, rounding); }
  // Relative to the primal, as every tolerance here is. A primal of 0 is optimal: losses are never negative.
  double relative_gap() const { return primal > 0 ? gap() / primal : 0; }
};

enum class Control { go_on, stop };

enum class Status {
  not_run,
  converged,  // the certificate meets the tolerance
  out_of_passes,
  out_of_time,
  out_of_rounds,  // of an outer loop: each of its problems met the tolerance
  stopped,        // by the observer, or by the stop flag (Ctrl-C)
  stalled,        // no step improves any more; the certificate says how far it came
  failed,         // a number that is not finite
};

const char* to_string(Status status);

// How a run ended, in a word and in a sentence, with every report on the way.
struct Summary {
  Status status = Status::not_run;
  std::string message = "not run";
  std::vector<Progress> history;
};

}  // namespace espalier
