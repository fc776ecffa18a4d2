#pragma once

#include <cstddef>
#include <memory>

#include "learning/chain_problem.h"
#include "learning/latent_gold.h"

namespace espalier {

// The partly known labels of a chain problem's sequences. They start with the mean over all sequences that
// are possible, which is what theta = 0 says of them. Refers to the problem, which has this gold
// (ChainExamples::set_partial).
class ChainLatentGold final : public LatentGold {
 public:
  ChainLatentGold(const ChainProblem& problem, std::shared_ptr<PartialGold> gold);

  double surplus(const Weights& theta, const Loss& loss) const override;
  void complete(const Weights& theta, const Loss& loss) override;

 private:
  // 1/beta log sum_{y in A_i} exp beta s.chi(y) and, in z, E[chi]. Leaves s = F_i'theta in `s`.
  double infer(const PartialGold::Sequence& sequence, const Weights& theta, const Loss& loss, DoubleOut s,
               DoubleOut z, Workspace& ws) const;

  const ChainProblem& problem_;
  std::shared_ptr<PartialGold> gold_;
};

}  // namespace espalier
