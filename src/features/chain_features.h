#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/team.h"
#include "espalier/base/workspace.h"
#include "espalier/features/weights.h"
#include "features/kernel_matrix.h"
#include "features/observed_pairs.h"
#include "features/pair_overlap.h"
#include "features/row_changes.h"
#include "features/row_overlap.h"
#include "features/sequences.h"
#include "kernels/rows.h"
#include "structures/label_ngrams.h"

namespace espalier {

// Where the weights of a chain lie. Those of all features: one row of L for each attribute of a token, then L
// rows (one per previous label) for each attribute of a transition, then the n-grams, L a row. Those of
// observed features are one value wide: a row for each pair of an attribute and a label, for each attribute
// of a transition with a pair of labels, for each n-gram. Or, by rows, they are those of all features, where
// pairs that were not seen stay zero: more memory, but vectors of labels at a time.
struct ChainShape {
  std::size_t num_attributes = 0, num_transition_attributes = 0, num_labels = 0;
  std::shared_ptr<const ObservedPairs> tokens = nullptr;  // nullptr: every attribute with every label
  // Where tokens are observed: of transitions that look at the input. nullptr: transitions are all alike, and
  // n-grams.
  std::shared_ptr<const ObservedPairs> steps = nullptr;
  // nullptr: none. Where transitions are n-grams there is a list of them, be it empty.
  std::shared_ptr<const LabelNgrams> ngrams = nullptr;

  // Of observed tokens: whether weights lie as those of all features do. Pairs that were not seen have zeros:
  // nothing is added to them, and scores rely on it. Not with `steps`.
  bool by_rows = false;

  bool observed() const { return tokens != nullptr; }
  // Whether weights are one value wide.
  bool by_pairs() const { return observed() && !by_rows; }
  // Whether steps have tables of statistics.
  bool has_tables() const { return !observed() || steps != nullptr; }
  std::size_t num_ngrams() const { return ngrams ? ngrams->size() : 0; }
  WeightShape weights() const;
  // How many weights there are: not the zeros of rows.
  std::size_t num_weights() const;
  std::size_t transition_row(std::size_t attribute, std::size_t before) const {
    return num_attributes + attribute * num_labels + before;
  }
  // The first row of n-grams; they fill whole rows one after the other.
  std::size_t ngram_row() const;

  // Where weights are; nullopt for those that it does not have.
  std::optional<WeightPlace> token_weight(std::size_t attribute, std::size_t label) const;
  std::optional<WeightPlace> step_weight(std::size_t attribute, std::size_t before, std::size_t label) const;
  WeightPlace ngram_weight(std::size_t k) const;
};

// Whether weights of observed features may lie by rows: labels are bits, and rows fill vectors.
constexpr bool rows_may_be_observed(std::size_t num_labels) { return num_labels > 4 && num_labels <= 64; }

// Which features have weights: of attributes with labels, and of steps, all or those that were observed; and
// only those whose values, where they were observed, add up to at least `min_freq`.
struct ChainFeatureSet {
  bool observed_tokens = false, observed_steps = false;
  double min_freq = 0;
};

// A shape with the counts of `counts`, for chains of this order: with weights for these features, where
// observed means in these sequences with these labels. N-grams of 3 labels and more, up to order + 1, are
// always observed ones.
ChainShape chain_shape(const ChainShape& counts, const ChainFeatureSet& features, std::size_t order,
                       const Sequences& sequences, std::span<const std::uint32_t> labels);

// The scores of one sequence that is not part of a problem, sequence 0 of `sequences`: nodes, then a table
// for each of `tables`, rows of sequences.transitions, then n-grams. Where weights of tokens are coefficients
// of a kernel, the nodes that they belong to; else nullptr.
void score_sequence(const Sequences& sequences, std::span<const std::uint32_t> tables,
                    const ChainShape& shape, WeightsView theta, const KernelNodes* kernel, std::span<float> s,
                    Workspace& ws);
void score_sequence(const Sequences& sequences, std::span<const std::uint32_t> tables,
                    const ChainShape& shape, WeightsView theta, const KernelNodes* kernel,
                    std::span<double> s, Workspace& ws);

// The linear operator of chains. With x_t the attributes of token t and v_k those of the steps with table k,
//   nodes   (F'w)_tj  = sum_a x_ta w_aj           F delta: row a changes by sum_t x_ta delta_t
//   tables  (F'w)_kij = sum_b v_kb w_bij          F delta: matrix b changes by sum_k v_kb delta_k
//   n-grams (F'w)_g   = w_g
// The tables of a sequence are the distinct rows of `transitions` among its steps, in order of appearance.
// Weights that the shape does not have are 0 and stay so.
// Keeps a reference to the sequences. With a kernel, the weights of tokens are coefficients
// (kernel_matrix.h): token t of all sequences is its input t, and the attributes that the shape counts are
// its nodes. `threads` make it, and it does not depend on how many.
class ChainFeatures {
 public:
  ChainFeatures(const Sequences& sequences, const ChainShape& shape,
                std::shared_ptr<const KernelMatrix> kernel = nullptr, std::size_t threads = 1);

  std::size_t size() const { return sequences_.size(); }
  std::size_t length(std::size_t i) const { return sequences_.length(i); }
  const ChainShape& shape() const { return shape_; }
  // nullptr: none.
  const KernelMatrix* kernel() const { return kernel_.get(); }
  bool tied() const { return sequences_.transition_of.empty(); }
  // The table of each step, and how many tables there are. Steps of tied sequences all have table 0.
  std::span<const std::uint32_t> tables(std::size_t i) const;
  std::size_t num_tables(std::size_t i) const { return rows(i).size(); }

  void score(std::size_t i, const Weights& w, float scale, std::span<float> s, Workspace& ws) const;
  void score(std::size_t i, const Weights& w, double scale, std::span<double> s, Workspace& ws) const;
  void score(std::size_t i, const DoubleWeights& w, double scale, std::span<double> s, Workspace& ws) const;
  void accumulate(std::size_t i, std::span<const float> delta, Weights& w, Workspace& ws) const;
  void accumulate(std::size_t i, std::span<const double> delta, DoubleWeights& w, Workspace& ws) const;
  // Sharing::owned_rows()
  std::shared_ptr<const OwnedRows> owned_rows(std::size_t shares, Team& team) const;
  // What it adds, appended to lists.
  void list_changes(std::size_t i, std::span<const float> delta, RowChanges<float>& changes,
                    Workspace& ws) const;
  void list_changes(std::size_t i, std::span<const double> delta, RowChanges<double>& changes,
                    Workspace& ws) const;
  double squared_norm(std::size_t i, std::span<const float> delta, Workspace& ws) const;
  double squared_norm(std::size_t i, std::span<const double> delta, Workspace& ws) const;
  // An upper bound on |F_i(chi(y) - chi(y'))|^2 over all pairs of outputs.
  double squared_diameter(std::size_t i) const { return sizes_[i].diameter; }
  // The mean of |F_i(chi(y) - chi(y'))|^2 over outputs that differ in one label; where not every feature has
  // a weight, over labels that have, roughly.
  double squared_change(std::size_t i) const { return sizes_[i].change; }
  // The part of it in rows that another sequence, picked at random, has too.
  double overlap(std::size_t i) const { return sizes_[i].overlap; }
  double score_work(std::size_t i) const {
    const SparseRows::Range rows = tokens(i);
    return static_cast<double>((rows.offsets[rows.size] - rows.offsets[0]) * shape_.num_labels);
  }

  void prefetch(std::size_t i, Prefetch what) const;

 private:
  struct Sizes {
    double diameter, change, overlap;
  };
  Sizes sizes_of(std::size_t i, std::span<const float> frequencies, Workspace& ws) const;
  double largest_change(std::size_t token) const;
  void add_token_overlaps(Team& team);
  // Rows of sequences.transitions: the tables of sequence i.
  std::span<const std::uint32_t> rows(std::size_t i) const;
  // Attributes of the tokens of sequence i, or their nodes.
  SparseRows::Range tokens(std::size_t i) const {
    return tokens_.range(sequences_.offsets[i], sequences_.offsets[i + 1]);
  }
  RowBlock token_block() const;
  template <class Real, class Sink>
  void add_all(std::size_t i, std::span<const Real> delta, const Sink& sink, Workspace& ws) const;
  template <class Real>
  void list_all(std::size_t i, std::span<const Real> delta, RowChanges<Real>& changes, Workspace& ws) const;
  template <class W, class Real>
  void score_all(std::size_t i, const BasicWeights<W>& w, Real scale, std::span<Real> s, Workspace& ws) const;
  template <class Real>
  double squared_norm_of(std::size_t i, std::span<const Real> delta, Workspace& ws) const;

  const Sequences& sequences_;
  std::shared_ptr<const KernelMatrix> kernel_;
  const SparseRows& tokens_;
  ChainShape shape_;
  std::vector<std::uint64_t> observed_columns_;  // by rows: labels seen with each attribute, a bit each
  RowOverlap token_overlap_, table_overlap_;
  std::optional<PairOverlap> token_pairs_, table_pairs_;  // instead of those above, where the shape has pairs
  std::vector<std::uint32_t> table_of_;                   // untied: of the step into each token
  std::vector<std::uint32_t> rows_{0};      // untied: of all sequences; tied: the one that there is
  std::vector<std::size_t> rows_begin_{0};  // untied: where those of a sequence begin
  std::vector<Sizes> sizes_;
};

}  // namespace espalier
