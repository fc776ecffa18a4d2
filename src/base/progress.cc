#include "espalier/base/progress.h"

namespace espalier {

const char* to_string(Status status) {
  switch (status) {
    case Status::not_run:
      return "not run";
    case Status::converged:
      return "converged";
    case Status::out_of_passes:
      return "out of passes";
    case Status::out_of_time:
      return "out of time";
    case Status::out_of_rounds:
      return "out of rounds";
    case Status::stopped:
      return "stopped";
    case Status::stalled:
      return "stalled";
    case Status::failed:
      return "failed";
  }
  return "unknown";
}

}  // namespace espalier
