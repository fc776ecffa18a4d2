#pragma once

#include "espalier/features/weights.h"
#include "espalier/learning/loss.h"

namespace espalier {

// A loss that is a difference of convex functions, since the gold output is only known to be among some,
// y_i in A_i:
//   L_i(theta) = 1/beta log sum_y exp beta( theta.F_i chi(y) + gamma cost_i(y) ) - 1/beta log sum_{y in A_i}
//   exp beta theta.F_i chi(y)
// A Problem has its second part made linear, by gold statistics z_i: a mean of chi over A_i. Where A_i is all
// outputs this is a difference of losses (Loss::difference), whose costs are those against one gold output.
class LatentGold {
 public:
  virtual ~LatentGold() = default;

  // sum_i omega_i [ 1/beta log sum_{y in A_i} exp beta theta.F_i chi(y) - theta.F_i z_i ], with a maximum
  // where beta is infinite: the primal of the problem at theta less this is the true objective.
  virtual double surplus(const Weights& theta, const Loss& loss) const = 0;
  // z_i <- E[chi] under pi(y) ~ exp beta theta.F_i chi(y) on A_i; chi of the best output where beta is
  // infinite. The problem has another objective from then on.
  virtual void complete(const Weights& theta, const Loss& loss) = 0;
};

}  // namespace espalier
