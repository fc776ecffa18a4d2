#pragma once

#include <espalier/features/row_features.h>
#include <espalier/learning/structured_problem.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "subset.h"

namespace example {

// What StructuredProblem asks for. F_i = x_i (x) I, as in classification: each item has its own weights on
// x_i.
class SubsetExamples {
 public:
  SubsetExamples(const espalier::SparseRows& rows, std::size_t num_attributes,
                 std::vector<Subset::Output> gold)
      : features_(rows, {num_attributes, gold.at(0).size()}),
        structure_(gold.at(0).size()),
        gold_(std::move(gold)) {}

  std::size_t size() const { return gold_.size(); }
  espalier::WeightShape weight_shape() const { return features_.shape(); }
  const Subset& structure(std::size_t) const { return structure_; }
  double weight(std::size_t) const { return 1; }
  void prefetch(std::size_t i, espalier::Prefetch what) const { features_.prefetch(i, what); }

  // cost(y) = |{k : y_k != z_k}| = p.chi(y) + q with p_k = 1 - 2 z_k and q = |z|
  double cost_offset(std::size_t i) const {
    return static_cast<double>(std::count(gold_[i].begin(), gold_[i].end(), true));
  }
  template <class Real>
  void add_cost(std::size_t i, Real scale, std::span<Real> out) const {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += gold_[i][k] ? -scale : scale;
  }
  template <class Real>
  void add_gold(std::size_t i, Real scale, std::span<Real> out) const {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += gold_[i][k] ? scale : Real{0};
  }

  template <class Real, class Scale>
  void score(std::size_t i, const espalier::BasicWeights<Real>& w, Scale scale, std::span<Scale> s,
             espalier::Workspace& ws) const {
    features_.score(i, w, scale, s, ws);
  }
  template <class Real>
  void accumulate(std::size_t i, std::span<const Real> delta, espalier::BasicWeights<Real>& w,
                  espalier::Workspace&) const {
    features_.accumulate(i, delta, w);
  }
  template <class Real>
  double squared_norm(std::size_t i, std::span<const Real> delta, espalier::Workspace&) const {
    double sum = 0;
    for (const double d : delta) sum += d * d;
    return features_.squared_length(i) * sum;
  }
  // At worst every bit differs.
  double squared_diameter(std::size_t i) const {
    return features_.squared_length(i) * static_cast<double>(structure_.num_statistics());
  }

 private:
  espalier::RowFeatures features_;
  Subset structure_;
  std::vector<Subset::Output> gold_;
};

using SubsetProblem = espalier::StructuredProblem<SubsetExamples>;

}  // namespace example
