#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/features/row_features.h"
#include "espalier/features/sparse_rows.h"
#include "espalier/learning/capabilities.h"
#include "espalier/learning/structured_problem.h"
#include "features/kernel_matrix.h"
#include "structures/multiclass.h"

namespace espalier {

namespace kernels {
struct LabelCosts;
}

// Multi-class examples: sparse rows, a gold label each, and a cost for every pair of gold and predicted
// label. Requires: labels in range; costs L x L, row = gold, zero on the diagonal, or empty for 0/1; omega
// empty (all 1) or one positive weight an example. Keeps a reference to the rows.
class MulticlassExamples final : public KernelGeometry,
                                 public SlackRescaling,
                                 public BlockMaximisation,
                                 public Sharing {
 public:
  MulticlassExamples(const SparseRows& rows, std::size_t num_attributes, std::vector<std::uint32_t> gold,
                     std::size_t num_labels, std::vector<float> costs = {}, std::vector<double> omega = {});
  // With a kernel, whose input i is example i.
  MulticlassExamples(std::shared_ptr<const KernelMatrix> kernel, std::vector<std::uint32_t> gold,
                     std::size_t num_labels, std::vector<float> costs = {}, std::vector<double> omega = {});

  std::size_t size() const { return gold_.size(); }
  WeightShape weight_shape() const { return features_.shape(); }
  const Multiclass& structure(std::size_t) const { return structure_; }
  double weight(std::size_t i) const { return omega_.empty() ? 1 : omega_[i]; }
  double cost_offset(std::size_t) const { return 0; }
  // z_i - chi(y) is a difference of two unit vectors: |F_i(z_i - chi(y))|^2 = 2 |x_i|^2.
  double squared_diameter(std::size_t i) const { return 2 * features_.squared_length(i); }
  double overlap(std::size_t i) const override { return features_.overlap(i); }
  double score_work(std::size_t i) const override { return features_.score_work(i); }
  void prefetch(std::size_t i, Prefetch what) const {
    if (what == Prefetch::location) __builtin_prefetch(gold_.data() + i);
    features_.prefetch(i, what);
  }
  Capabilities capabilities() const {
    return {.factored = factored_.get(),
            .kernel = kernel() ? this : nullptr,
            .slack_rescaling = this,
            .block_maximisation = this,
            .sharing = this};
  }

  template <class Real>
  void add_gold(std::size_t i, Real scale, std::span<Real> out) const {
    out[gold_[i]] += scale;
  }
  template <class Real>
  void add_cost(std::size_t i, Real scale, std::span<Real> out) const {
    const std::size_t labels = structure_.num_statistics();
    if (costs_.empty()) {
      for (std::size_t k = 0; k < labels; ++k) out[k] += k == gold_[i] ? Real{0} : scale;
    } else {
      for (std::size_t k = 0; k < labels; ++k) out[k] += scale * costs_[gold_[i] * labels + k];
    }
  }
  template <class Real, class Scale>
  void score(std::size_t i, const BasicWeights<Real>& w, Scale scale, std::span<Scale> s,
             Workspace& ws) const {
    features_.score(i, w, scale, s, ws);
  }
  template <class Real>
  void accumulate(std::size_t i, std::span<const Real> delta, BasicWeights<Real>& w, Workspace&) const {
    features_.accumulate(i, delta, w);
  }
  void list_changes(std::size_t i, std::span<const float> delta, RowChanges<float>& changes,
                    Workspace&) const override {
    features_.list_changes(i, delta, changes);
  }
  void list_changes(std::size_t i, std::span<const double> delta, RowChanges<double>& changes,
                    Workspace&) const override {
    features_.list_changes(i, delta, changes);
  }
  template <class Real>
  double squared_norm(std::size_t i, std::span<const Real> delta, Workspace&) const {
    return features_.squared_norm(i, delta);
  }
  // nullptr: none.
  const KernelMatrix* kernel() const { return features_.kernel(); }
  double squared_norm(const Weights& w) const override { return kernel()->squared_norm(w); }
  double squared_norm(const DoubleWeights& w) const override { return kernel()->squared_norm(w); }
  double inner_product(const DoubleWeights& a, const DoubleWeights& b) const override {
    return kernel()->inner_product(a, b);
  }
  double slack_argmax(std::size_t i, std::span<const double> s, double gamma, std::span<double> chi,
                      Workspace& ws) const override;
  // A projection onto the simplex (kernels/simplex.h), since |F_i delta|^2 = |x_i|^2 |delta|^2.
  BlockMaximum maximise_block(std::size_t i, double gamma, double l2, Out mu, Weights& w,
                              Workspace& ws) const override;
  BlockMaximum propose_block(std::size_t i, double gamma, double l2, double crowding, Out mu,
                             const Weights& w, Out delta, Workspace& ws) const override;

 private:
  MulticlassExamples(RowFeatures features, std::vector<std::uint32_t> gold, std::size_t num_labels,
                     std::vector<float> costs, std::vector<double> omega);
  kernels::LabelCosts label_costs(std::size_t i, double gamma) const;

  RowFeatures features_;
  std::vector<std::uint32_t> gold_;
  Multiclass structure_;
  std::vector<float> costs_;
  std::vector<double> omega_;
  std::shared_ptr<const Factored> factored_;
};

using MulticlassProblem = StructuredProblem<MulticlassExamples>;

}  // namespace espalier
