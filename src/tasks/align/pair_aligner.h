#pragma once

#include <cstddef>
#include <vector>

#include "espalier/features/sparse_rows.h"
#include "espalier/features/weights.h"
#include "espalier/learning/loss.h"
#include "structures/matching.h"
#include "tasks/align/model.h"
#include "tasks/align/pair_attributes.h"

namespace espalier {

// Aligns one sentence pair after another, in memory that is reused. The model and the weights have to outlive
// it.
class PairAligner {
 public:
  PairAligner(const AlignModel& model, WeightsView theta, const Loss& loss)
      : model_(&model), theta_(theta), loss_(loss), attributes_(model.pair_attributes()) {}

  void set(const SentencePair& pair);

  const Matching& matching() const { return matching_; }
  Matching::Output best() { return matching_.decode(std::span<const double>(s_), ws_); }
  std::vector<Matching::Scored> kbest(std::size_t k);
  // At least so probable is a matching of such a score: log Z is at most its bound.
  double probability(double score);
  double marginal(std::size_t pair);

 private:
  void find_marginals();

  const AlignModel* model_;
  WeightsView theta_;
  Loss loss_;
  PairAttributes attributes_;
  Matching matching_{0, 0, 1};
  SparseRows rows_;
  std::vector<double> s_, mu_;
  double bound_ = 0;
  Workspace ws_;
};

}  // namespace espalier
