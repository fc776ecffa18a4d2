#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "espalier/learning/objective.h"
#include "solvers/cutting_plane.h"

namespace espalier {

// What an output y demands of the loss of its example, whatever the weights:
//   L_i(theta) >= scale theta.F_i(chi(y) - z_i) + offset,
// with scale 1 and offset gamma cost(y) where margins are rescaled, scale cost(y) and offset gamma cost(y)
// where slacks are.
struct Demand {
  double scale = 0, offset = 0;
};

// The output that demands most at theta: in chi, with L_i(theta) in `loss` and F_i'theta in s. One inference.
struct ViolatedOutput {
  double loss = 0;
  Demand demand;
};
template <class Real>
ViolatedOutput most_violated(const Objective& objective, Rescaling rescaling, std::size_t i,
                             const BasicWeights<Real>& theta, DoubleOut s, DoubleOut chi, Workspace& ws);

// The counts of an output, without the zeros. They are small whole numbers, so floats are exact.
class SparseOutput {
 public:
  explicit SparseOutput(DoubleIn chi);

  double dot(DoubleIn x) const;
  void add_to(double scale, DoubleOut out) const;
  friend bool operator==(const SparseOutput&, const SparseOutput&) = default;

 private:
  struct Count {
    std::uint32_t statistic;
    float value;
    friend bool operator==(const Count&, const Count&) = default;
  };
  std::vector<Count> counts_;
};

}  // namespace espalier
