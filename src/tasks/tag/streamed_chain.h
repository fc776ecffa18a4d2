#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "features/chain_features.h"
#include "features/step_tables.h"
#include "structures/chain.h"

namespace espalier {

// The chain of one sequence after the other and its scores, in memory that they share: once it has seen a
// long sequence, it allocates no more.
class StreamedChain {
 public:
  // kernel: the nodes that weights of tokens are coefficients of; nullptr: none.
  StreamedChain(const ChainShape& shape, WeightsView theta, const ChainConstraints* constraints = nullptr,
                const KernelNodes* kernel = nullptr)
      : shape_(shape), theta_(theta), constraints_(constraints), kernel_(kernel) {}

  // Goes on to a sequence, the only one in `sequence`, which has to stay as it is while this is used.
  void set(const Sequences& sequence);

  Chain structure() const;
  // Recomputed by every call, so that they may be changed.
  std::span<float> scores(Workspace& ws);
  std::span<double> double_scores(Workspace& ws);

 private:
  ChainShape shape_;
  WeightsView theta_;
  const ChainConstraints* constraints_;
  const KernelNodes* kernel_;
  const Sequences* sequence_ = nullptr;
  bool tied_ = true;
  std::vector<std::uint32_t> tables_;         // rows of transitions, each once, in the order of the steps
  std::vector<std::uint32_t> table_of_step_;  // untied: from each token to the next
  StepTables step_tables_;
  std::vector<float> scores_;
  std::vector<double> double_scores_;
};

}  // namespace espalier
