#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "espalier/base/workspace.h"
#include "espalier/structures/structure.h"
#include "structures/label_ngrams.h"

namespace espalier {

namespace kernels {
template <class Real>
struct ChainScores;
template <class Real>
struct NgramChainScores;
}  // namespace kernels

// Which label sequences are possible, for all chains of a problem: 1 is allowed, 0 is not.
struct ChainConstraints {
  std::vector<std::uint8_t> first, last;  // L: the labels that a sequence may begin and end with
  std::vector<std::uint8_t> step;         // L x L, row = the label before
};

// A sequence of `length` labels out of L, where neighbours interact (a first-order chain). Steps with equal
// features share a table of transition scores, so
//   chi(y) = ( [y_t = j] for each t and j,
//                                           the number of steps t with table k, y_{t-1} = i and y_t = j for
//                                           each k, i, j )
// and K = length * L + num_tables * L^2. Node t, label j is statistic t L + j; table k, i to j is length L +
// (k L + i) L + j. Scores of -infinity exclude, as long as one sequence is left.
//
// With label n-grams (a chain of higher order), chi(y) also has the number of times that each of them occurs
// in y: n-gram k is statistic (length + num_tables L) L + k. They do not replace one another: where three
// labels follow one another, the pairs among them do too.
class Chain {
 public:
  using Output = std::vector<std::uint32_t>;
  struct Scored {
    Output output;
    double score;
  };

  // Tied transitions: one table for every step, and none where there is no step.
  Chain(std::size_t length, std::size_t num_labels, const ChainConstraints* constraints = nullptr,
        const LabelNgrams* ngrams = nullptr);
  // Step t (from label t to label t + 1) has the table tables[t]. Requires length - 1 tables below
  // num_tables; or no tables and num_tables = 0, where there are n-grams: then steps have the scores of
  // n-grams alone.
  Chain(std::size_t length, std::size_t num_labels, std::span<const std::uint32_t> tables,
        std::size_t num_tables, const ChainConstraints* constraints = nullptr,
        const LabelNgrams* ngrams = nullptr);

  std::size_t length() const { return length_; }
  std::size_t num_labels() const { return num_labels_; }
  std::size_t num_tables() const { return num_tables_; }
  std::size_t num_statistics() const { return ngram_statistic(ngrams_ ? ngrams_->size() : 0); }
  const ChainConstraints* constraints() const { return constraints_; }
  const LabelNgrams* ngrams() const { return ngrams_; }  // nullptr: none, and the order is 1
  // The table of the step into position t >= 1.
  std::size_t table(std::size_t t) const { return tables_.empty() ? 0 : tables_[t - 1]; }

  // The statistic of label i at position t - 1 followed by label j. Requires tables.
  std::size_t step_statistic(std::size_t t, std::size_t i, std::size_t j) const {
    return (length_ + table(t) * num_labels_ + i) * num_labels_ + j;
  }

  // The statistic of n-gram k.
  std::size_t ngram_statistic(std::size_t k) const {
    return (length_ + num_tables_ * num_labels_) * num_labels_ + k;
  }

  double log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  double log_partition(std::span<const double> s, Workspace& ws) const;  // without marginals: faster
  // The same in logarithms throughout: slow, for scores of any range, and what the fast way is tested
  // against.
  double log_partition_reference(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  double argmax(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double argmax(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  // Of equally good sequences, the one whose labels come first, compared from the end.
  Output decode(std::span<const float> s, Workspace& ws) const;
  Output decode(std::span<const double> s, Workspace& ws) const;
  // The same without an allocation: y has room for `length` labels. Returns the score.
  double decode_into(std::span<const float> s, std::span<std::uint32_t> y, Workspace& ws) const;
  double decode_into(std::span<const double> s, std::span<std::uint32_t> y, Workspace& ws) const;

  void indicator(const Output& y, std::span<float> mu) const;
  void indicator(const Output& y, std::span<double> mu) const;
  // out += scale chi(y)
  void add_indicator(std::span<const std::uint32_t> y, float scale, std::span<float> out) const;
  void add_indicator(std::span<const std::uint32_t> y, double scale, std::span<double> out) const;

  // Shifts a direction d of scores so that its mean under mu is zero at every position and in every table.
  // N-grams stay as they are: sequences differ in how many of them they have, so that a shift would change
  // the distribution.
  void centre(std::span<const float> mu, std::span<float> d) const;

  // The k best sequences, best first; all that are possible, if there are not k. Equal ones always come in
  // the same order.
  std::vector<Scored> kbest(std::span<const double> s, std::size_t k) const;
  // A sequence drawn from u.
  Output sample(std::span<const double> s, Random& random, Workspace& ws) const {
    return std::move(samples(s, 1, random, ws).front());
  }
  std::vector<Output> samples(std::span<const double> s, std::size_t n, Random& random, Workspace& ws) const;
  // H(u), and 0 log 0 = 0.
  double entropy(std::span<const double> s, Workspace& ws) const;

  // The Factored capability (learning/capabilities.h), which chains with n-grams lack. Cliques are pairs of
  // neighbours (a single node where length = 1), each with its own L^2 marginals, row = the label before.
  bool factored() const { return ngrams_ == nullptr; }
  std::size_t num_clique_marginals() const {
    return length_ == 1 ? num_labels_ : (length_ - 1) * num_labels_ * num_labels_;
  }
  void clique_marginals(std::span<const double> s, std::span<double> clique_mu, Workspace& ws) const;
  // The same in float, with the statistics; returns log Z.
  double clique_marginals(std::span<const float> s, std::span<float> clique_mu, std::span<float> mu,
                          Workspace& ws) const;
  // The statistics that they add up to: ties are sums over steps.
  void statistics(std::span<const double> clique_mu, std::span<double> mu) const;
  // sum of H(pair) - sum of H(node) over the nodes that two pairs share
  double clique_entropy(std::span<const double> clique_mu) const;
  // The Markov chain that begins as these marginals do and continues with their conditionals: its statistics,
  // and its entropy or a little less. It is a distribution even where rounding left marginals of none.
  double markov_chain(std::span<const float> clique_mu, std::span<double> mu) const;
  // A sequence by its pairs: pair t, i to j is clique (t L + i) L + j.
  std::size_t num_cliques() const { return length_ == 1 ? 1 : length_ - 1; }
  void cliques_of(std::span<const float> chi, std::span<std::uint32_t> cliques) const;
  bool lowest(std::span<const float> s, std::span<const float> clique_mu, std::span<std::uint32_t> cliques,
              Workspace& ws) const;
  void add_output(std::span<const std::uint32_t> cliques, float scale, std::span<float> out) const;
  double probability(std::span<const float> clique_mu, std::span<const std::uint32_t> cliques) const;

 private:
  template <class Real>
  kernels::ChainScores<Real> as_kernel(std::span<const Real> s) const;
  template <class Real>
  kernels::NgramChainScores<Real> as_ngram_kernel(std::span<const Real> s) const;
  template <class Real>
  bool log_partition_by_kernel(std::span<const Real> s, std::span<Real> mu, double& log_z,
                               Workspace& ws) const;
  template <class Scores, class Use>
  void for_each_pair(const Scores& scores, std::size_t t, std::span<const double> a,
                     std::span<const double> b, double log_z, const Use& use) const;
  template <class Real>
  double decode_of(std::span<const Real> s, std::span<std::uint32_t> y, Workspace& ws) const;
  template <class Real>
  double argmax_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const;
  template <class Use>
  void for_each_ngram_in(std::span<const std::uint32_t> y, const Use& use) const;
  template <class Real>
  void add_count(std::span<const std::uint32_t> y, Real scale, std::span<Real> out) const;
  double node_marginal(std::span<const double> clique_mu, std::size_t t, std::size_t i) const;

  std::size_t length_, num_labels_, num_tables_;
  std::span<const std::uint32_t> tables_;  // empty: all 0
  const ChainConstraints* constraints_;
  const LabelNgrams* ngrams_;
};

static_assert(Structure<Chain>);

}  // namespace espalier
