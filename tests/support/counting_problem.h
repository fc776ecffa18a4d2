#pragma once

#include <cstddef>

#include "learning/forwarding_problem.h"

namespace espalier::test_support {

// Another problem that counts its inferences.
class CountingProblem final : public ForwardingProblem {
 public:
  using ForwardingProblem::ForwardingProblem;

  mutable std::size_t float_log_partitions = 0, double_log_partitions = 0, double_argmaxes = 0;

  double log_partition(std::size_t i, In s, Out mu, Workspace& ws) const override {
    ++float_log_partitions;
    return inner_.log_partition(i, s, mu, ws);
  }
  double log_partition(std::size_t i, DoubleIn s, DoubleOut mu, Workspace& ws) const override {
    ++double_log_partitions;
    return inner_.log_partition(i, s, mu, ws);
  }
  using ForwardingProblem::argmax;
  double argmax(std::size_t i, DoubleIn s, DoubleOut mu, Workspace& ws) const override {
    ++double_argmaxes;
    return inner_.argmax(i, s, mu, ws);
  }
};

}  // namespace espalier::test_support
