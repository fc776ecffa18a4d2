#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "espalier/features/row_overlap.h"
#include "espalier/features/sequences.h"
#include "espalier/features/weights.h"

namespace espalier {

// Where the weights of a chain lie: one row of L for each attribute of a token, then L rows (one a label before) for each
// attribute of a transition.
struct ChainShape {
  std::size_t num_attributes = 0, num_transition_attributes = 0, num_labels = 0;
  WeightShape weights() const {
    return {num_attributes + num_transition_attributes * num_labels, num_labels};
  }
  std::size_t transition_row(std::size_t attribute, std::size_t before) const {
    return num_attributes + attribute * num_labels + before;
  }
};

// The scores of one sequence that is not part of a problem, sequence 0 of `sequences`: nodes, then a table for each of
// `tables`, rows of sequences.transitions.
void score_sequence(const Sequences& sequences, std::span<const std::uint32_t> tables,
                    const ChainShape& shape, WeightsView theta, std::span<float> s, Workspace& ws);
void score_sequence(const Sequences& sequences, std::span<const std::uint32_t> tables,
                    const ChainShape& shape, WeightsView theta, std::span<double> s, Workspace& ws);

// The linear operator of chains. With x_t the attributes of token t and v_k those of the steps with table k,
//   nodes   (F'w)_tj  = sum_a x_ta w_aj           F delta: row a changes by sum_t x_ta delta_t
//   tables  (F'w)_kij = sum_b v_kb w_bij          F delta: matrix b changes by sum_k v_kb delta_k
// The tables of a sequence are the distinct rows of `transitions` among its steps, in order of appearance.
// Keeps a reference to the sequences.
class ChainFeatures {
 public:
  ChainFeatures(const Sequences& sequences, ChainShape shape);

  std::size_t size() const { return sequences_.size(); }
  std::size_t length(std::size_t i) const { return sequences_.length(i); }
  const ChainShape& shape() const { return shape_; }
  bool tied() const { return sequences_.transition_of.empty(); }
  // The table of each step, and how many tables there are. Steps of tied sequences all have table 0.
  std::span<const std::uint32_t> tables(std::size_t i) const;
  std::size_t num_tables(std::size_t i) const { return rows(i).size(); }

  void score(std::size_t i, const Weights& w, float scale, std::span<float> s, Workspace& ws) const;
  void score(std::size_t i, const Weights& w, double scale, std::span<double> s, Workspace& ws) const;
  void score(std::size_t i, const DoubleWeights& w, double scale, std::span<double> s, Workspace& ws) const;
  void accumulate(std::size_t i, std::span<const float> delta, Weights& w, Workspace& ws) const;
  void accumulate(std::size_t i, std::span<const double> delta, DoubleWeights& w, Workspace& ws) const;
  void accumulate(std::size_t i, std::span<const double> delta, RowShare share, DoubleWeights& w,
                  Workspace& ws) const;
  double squared_norm(std::size_t i, std::span<const float> delta) const;
  double squared_norm(std::size_t i, std::span<const double> delta) const;
  // An upper bound on |F_i(chi(y) - chi(y'))|^2 over all pairs of outputs.
  double squared_diameter(std::size_t i) const { return sizes_[i].diameter; }
  // The mean of |F_i(chi(y) - chi(y'))|^2 over outputs that differ in one label.
  double squared_change(std::size_t i) const { return sizes_[i].change; }
  // The part of it in rows that another sequence, picked at random, has too.
  double overlap(std::size_t i) const { return sizes_[i].overlap; }

  void prefetch(std::size_t i, Prefetch what) const;

 private:
  struct Sizes {
    double diameter, change, overlap;
  };
  Sizes sizes_of(std::size_t i, std::span<const float> frequencies) const;
  // Rows of sequences.transitions: the tables of sequence i.
  std::span<const std::uint32_t> rows(std::size_t i) const;
  template <class Real>
  double squared_norm_of(std::size_t i, std::span<const Real> delta) const;

  const Sequences& sequences_;
  ChainShape shape_;
  RowOverlap token_overlap_, table_overlap_;
  std::vector<std::uint32_t> table_of_;     // untied: of the step into each token
  std::vector<std::uint32_t> rows_{0};      // untied: of all sequences; tied: the one that there is
  std::vector<std::size_t> rows_begin_{0};  // untied: where those of a sequence begin
  std::vector<Sizes> sizes_;
};

}  // namespace espalier
