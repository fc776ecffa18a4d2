#pragma once

#include <cstddef>
#include <vector>

#include "espalier/base/memory.h"
#include "learning/forwarding_problem.h"
#include "learning/latent_gold.h"
#include "learning/sweep.h"

namespace espalier {

// A round of training with a difference of losses (Loss::difference): the problem inside with statistics z_i
// in the place of its gold ones, which costs alone still know.
//
// It begins with the gold statistics themselves. Then its primal is that of L_{beta,gamma}, which is nowhere
// below the difference, since L_{beta,0} >= 0: a first round that is as good a bound as any where no weights
// are known. Bounds of the inner problem (squared_diameter) hold for any two outputs, and so for z_i.
class DifferenceProblem final : public ForwardingProblem, public LatentGold {
 public:
  explicit DifferenceProblem(const Problem& inner, std::size_t threads = 1);

  void add_gold(std::size_t i, float scale, Out out) const override;
  void add_gold(std::size_t i, double scale, DoubleOut out) const override;
  void add_near_gold(std::size_t i, float kappa, Out s) const override;
  // Without rescaled slacks, whose loss is not of the family.
  Capabilities capabilities() const override;

  double surplus(const Weights& theta, const Loss& loss) const override;
  void complete(const Weights& theta, const Loss& loss) override;

 private:
  DoubleIn z(std::size_t i) const { return {z_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]}; }
  DoubleOut z(std::size_t i) { return {z_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]}; }
  // 1/beta log sum_y exp beta theta.F_i chi(y) and, in `mean`, E[chi]. Leaves s = F_i'theta in `s`.
  double infer(std::size_t i, const Weights& theta, const Loss& loss, DoubleOut s, DoubleOut mean,
               Workspace& ws) const;

  std::vector<std::size_t> offsets_;
  ZeroedArray<double> z_;
  bool completed_ = false;  // else z_i are the gold statistics
  mutable Sweep sweep_;
};

}  // namespace espalier
