#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "espalier/learning/capabilities.h"
#include "espalier/learning/structured_problem.h"
#include "features/chain_features.h"
#include "learning/partial_gold.h"
#include "structures/chain.h"

namespace espalier {

// The label sequences of sequence i.
inline Chain chain_of(const ChainFeatures& features, std::size_t i, const ChainConstraints* constraints) {
  const std::size_t length = features.length(i), labels = features.shape().num_labels;
  const LabelNgrams* ngrams = features.shape().ngrams.get();
  if (!features.shape().has_tables()) return Chain(length, labels, {}, 0, constraints, ngrams);
  return features.tied()
             ? Chain(length, labels, constraints, ngrams)
             : Chain(length, labels, features.tables(i), features.num_tables(i), constraints, ngrams);
}

// Label sequences: attributes of tokens and transitions, a gold label for each token, and the number of wrong
// labels as the cost. Requires: no empty sequence; labels in range; gold sequences that the constraints
// allow; omega empty (all 1) or one positive weight a sequence. Keeps references to the sequences and the
// constraints.
class ChainExamples final : public KernelGeometry, public SlackRescaling, public Sharing {
 public:
  ChainExamples(const Sequences& sequences, const ChainShape& shape, std::vector<std::uint32_t> gold,
                const ChainConstraints* constraints = nullptr, std::vector<double> omega = {},
                std::shared_ptr<const KernelMatrix> kernel = nullptr, std::size_t threads = 1);

  // The cost of each pair of gold and predicted label, L x L, row = gold, zero on the diagonal; empty: 1
  // each.
  void set_costs(std::vector<float> costs);
  // Sequences with labels that are not known for sure: `gold` does not count for them.
  void set_partial(std::shared_ptr<const PartialGold> partial) { partial_ = std::move(partial); }

  std::size_t size() const { return features_->size(); }
  WeightShape weight_shape() const { return features_->shape().weights(); }
  Chain structure(std::size_t i) const { return chain_of(*features_, i, constraints_); }
  double weight(std::size_t i) const { return omega_.empty() ? 1 : omega_[i]; }
  double cost_offset(std::size_t) const { return 0; }
  double squared_diameter(std::size_t i) const { return features_->squared_diameter(i); }
  double squared_change(std::size_t i) const { return features_->squared_change(i); }
  double overlap(std::size_t i) const override { return features_->overlap(i); }
  double score_work(std::size_t i) const override { return features_->score_work(i); }
  void prefetch(std::size_t i, Prefetch what) const;
  Capabilities capabilities() const {
    return {.factored = factored_.get(),
            .kernel = kernel() ? this : nullptr,
            .slack_rescaling = rescales_slack() ? this : nullptr,
            .sharing = this};
  }

  template <class Real>
  void add_gold(std::size_t i, Real scale, std::span<Real> out) const {
    if (const auto* partial = find_partial(i)) {
      for (std::size_t k = 0; k < out.size(); ++k) out[k] += scale * static_cast<Real>(partial->z[k]);
      return;
    }
    structure(i).add_indicator({gold(i), features_->length(i)}, scale, out);
  }
  // p_tj = [j is not the gold label], or what that costs
  template <class Real>
  void add_cost(std::size_t i, Real scale, std::span<Real> out) const {
    const std::size_t length = features_->length(i), labels = features_->shape().num_labels;
    if (const auto* partial = find_partial(i)) {
      for (std::size_t k = 0; k < partial->cost.size(); ++k) out[k] += scale * partial->cost[k];
      return;
    }
    const std::uint32_t* y = gold(i);
    for (std::size_t t = 0; t < length; ++t) {
      if (!costs_.empty()) {
        const float* cost = &costs_[y[t] * labels];
        for (std::size_t j = 0; j < labels; ++j) out[t * labels + j] += scale * cost[j];
        continue;
      }
      for (std::size_t j = 0; j < labels; ++j) out[t * labels + j] += j == y[t] ? Real{0} : scale;
    }
  }
  // -kappa [j is not the gold label], whatever that costs: wrong labels that are free would begin with as
  // much mass as right ones. Where labels are not sure, max( log z_tj, -kappa ).
  void add_near_gold(std::size_t i, float kappa, std::span<float> s) const;
  template <class Real, class Scale>
  void score(std::size_t i, const BasicWeights<Real>& w, Scale scale, std::span<Scale> s,
             Workspace& ws) const {
    features_->score(i, w, scale, s, ws);
  }
  template <class Real>
  void accumulate(std::size_t i, std::span<const Real> delta, BasicWeights<Real>& w, Workspace& ws) const {
    features_->accumulate(i, delta, w, ws);
  }
  std::shared_ptr<const OwnedRows> owned_rows(std::size_t shares, Team& team) const override {
    return features_->owned_rows(shares, team);
  }
  void list_changes(std::size_t i, std::span<const float> delta, RowChanges<float>& changes,
                    Workspace& ws) const override {
    features_->list_changes(i, delta, changes, ws);
  }
  void list_changes(std::size_t i, std::span<const double> delta, RowChanges<double>& changes,
                    Workspace& ws) const override {
    features_->list_changes(i, delta, changes, ws);
  }
  template <class Real>
  double squared_norm(std::size_t i, std::span<const Real> delta, Workspace& ws) const {
    return features_->squared_norm(i, delta, ws);
  }
  // nullptr: none.
  const KernelMatrix* kernel() const { return features_->kernel(); }
  double squared_norm(const Weights& w) const override { return kernel()->squared_norm(w); }
  double squared_norm(const DoubleWeights& w) const override { return kernel()->squared_norm(w); }
  double inner_product(const DoubleWeights& a, const DoubleWeights& b) const override {
    return kernel()->inner_product(a, b);
  }
  // By dynamic programming over labels and cost so far.
  double slack_argmax(std::size_t i, std::span<const double> s, double gamma, std::span<double> chi,
                      Workspace& ws) const override;

 private:
  // Costs must be small whole numbers, and labels known and of order 1.
  bool rescales_slack() const;
  const std::uint32_t* gold(std::size_t i) const { return gold_.data() + sequences_->offsets[i]; }
  const PartialGold::Sequence* find_partial(std::size_t i) const {
    return partial_ ? partial_->find(i) : nullptr;
  }

  const Sequences* sequences_;
  std::shared_ptr<const ChainFeatures> features_;  // shared with factored_
  std::vector<std::uint32_t> gold_;
  const ChainConstraints* constraints_;
  std::vector<double> omega_;
  std::vector<float> costs_;                    // empty: 1 each
  std::shared_ptr<const PartialGold> partial_;  // null: all labels are known
  std::shared_ptr<const Factored> factored_;    // null where there are n-grams
};

using ChainProblem = StructuredProblem<ChainExamples>;

}  // namespace espalier
