#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/learning/structured_problem.h"
#include "features/graph_features.h"
#include "structures/matching.h"

namespace espalier {

// What a pair of sentences has besides its features. Places of pairs of words are those of the structure.
struct MatchingExample {
  Matching structure;
  Matching::Output gold;
  std::vector<std::uint32_t> free;  // pairs that are not gold, and cost nothing either
  float missing = 1;  // cost of a gold link that is missing; one that should not be there costs 1
};

// Matchings: features of pairs of words, and as cost the number of gold links that are missing and of links
// that should not be there. Requires gold outputs of the structures, and features of one type with one
// column, a row for each pair. Keeps a reference to the features.
class MatchingExamples final : public Sharing {
 public:
  // `maxima`: the loss is one of maxima (beta = infinity). It needs no log-partitions, and marginals only as
  // points of the convex hull of matchings, where those of the bound always lie: that is exact.
  MatchingExamples(const GraphFeatures& features, std::vector<MatchingExample> examples, bool maxima = false);

  std::size_t size() const { return examples_.size(); }
  WeightShape weight_shape() const { return features_->weights().shape(); }
  const Matching& structure(std::size_t i) const { return examples_[i].structure; }
  Inference inference() const { return inference_; }
  double weight(std::size_t) const { return 1; }
  double cost_offset(std::size_t i) const {
    return static_cast<double>(examples_[i].missing) * static_cast<double>(examples_[i].gold.size());
  }
  double squared_diameter(std::size_t i) const { return squared_diameters_[i]; }
  // A link that moves is two pairs that change.
  double squared_change(std::size_t i) const { return features_->squared_change(i); }
  void prefetch(std::size_t i, Prefetch what) const { features_->prefetch(i, what); }
  Capabilities capabilities() const { return {.sharing = this}; }

  template <class Real>
  void add_gold(std::size_t i, Real scale, std::span<Real> out) const {
    for (const std::uint32_t e : examples_[i].gold) out[e] += scale;
  }
  // p_e = -c for gold pairs, where c is the cost of a missing one, 0 for those that are free, 1 for others;
  // q = c |z|
  template <class Real>
  void add_cost(std::size_t i, Real scale, std::span<Real> out) const {
    for (Real& cost : out) cost += scale;
    const auto missing = static_cast<Real>(examples_[i].missing);
    for (const std::uint32_t e : examples_[i].gold) out[e] -= (1 + missing) * scale;
    for (const std::uint32_t e : examples_[i].free) out[e] -= scale;
  }
  // What is free is not near the gold matching either.
  void add_near_gold(std::size_t i, float kappa, std::span<float> s) const {
    for (float& score : s) score -= kappa;
    for (const std::uint32_t e : examples_[i].gold) s[e] += 2 * kappa;
  }
  template <class Real, class Scale>
  void score(std::size_t i, const BasicWeights<Real>& w, Scale scale, std::span<Scale> s,
             Workspace& ws) const {
    features_->score(i, w.row(0), scale, s, ws, w.threshold().value);
  }
  template <class Real>
  void accumulate(std::size_t i, std::span<const Real> delta, BasicWeights<Real>& w, Workspace&) const {
    features_->accumulate(i, delta, w.row(0));
  }
  void list_changes(std::size_t i, std::span<const float> delta, RowChanges<float>& changes,
                    Workspace&) const override {
    features_->list_changes(i, delta, changes);
  }
  void list_changes(std::size_t i, std::span<const double> delta, RowChanges<double>& changes,
                    Workspace&) const override {
    features_->list_changes(i, delta, changes);
  }
  template <class Real>
  double squared_norm(std::size_t i, std::span<const Real> delta, Workspace& ws) const {
    return features_->squared_norm(i, delta, ws);
  }

 private:
  const GraphFeatures* features_;
  std::vector<MatchingExample> examples_;
  std::vector<double> squared_diameters_;
  Inference inference_;
};

using MatchingProblem = StructuredProblem<MatchingExamples>;

}  // namespace espalier
