// First-order chains: sum-product and max-product over label sequences.
//
// The fast way is a kernel in probability space (kernels/chain.cc). What follows is the reference in
// logarithms, which takes over where the range of scores is too wide for it:
//
//   forward    log a_t(j) = s_t(j) + log sum_i exp( log a_{t-1}(i) + T_t(i, j) )
//   backward   log b_{t-1}(i) = log sum_j exp( T_t(i, j) + s_t(j) + log b_t(j) )
//   marginals  mu_t(j) = exp( log a_t(j) + log b_t(j) - log Z ),
//              mu_t(i, j) = exp( log a_{t-1}(i) + T_t(i, j) + s_t(j) + log b_t(j) - log Z )
//
// in time O(m L^2), as for the kernel. Chains with n-grams have kernels/ngram_chain.cc and
// structures/ngram_paths.cc.

#include "structures/chain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "espalier/base/error.h"
#include "kernels/chain.h"
#include "kernels/ngram_chain.h"
#include "kernels/vectors.h"
#include "structures/chain_kbest.h"
#include "structures/lazy_paths.h"
#include "structures/log_scores.h"
#include "structures/ngram_paths.h"

namespace espalier {
namespace {

// log a and log b, `length` rows of L, and log Z.
template <class Scores>
double log_messages(const Chain& chain, const Scores& s, std::span<double> a, std::span<double> b) {
  const std::size_t labels = chain.num_labels(), length = chain.length();
  for (std::size_t j = 0; j < labels; ++j) a[j] = s.node(0, j);
  for (std::size_t t = 1; t < length; ++t) {
    const double* before = &a[(t - 1) * labels];
    for (std::size_t j = 0; j < labels; ++j) {
      a[t * labels + j] =
          s.node(t, j) + log_sum(labels, [&](std::size_t i) { return before[i] + s.step(t, i, j); });
    }
  }
  const double* last = &a[(length - 1) * labels];
  const double log_z = log_sum(labels, [&](std::size_t j) { return last[j]; });

  std::fill_n(&b[(length - 1) * labels], labels, 0.0);
  for (std::size_t t = length - 1; t > 0; --t) {
    const double* after = &b[t * labels];
    for (std::size_t i = 0; i < labels; ++i) {
      b[(t - 1) * labels + i] =
          log_sum(labels, [&](std::size_t j) { return s.step(t, i, j) + s.node(t, j) + after[j]; });
    }
  }
  return log_z;
}

}  // namespace

Chain::Chain(std::size_t length, std::size_t num_labels, const ChainConstraints* constraints,
             const LabelNgrams* ngrams)
    : length_(length),
      num_labels_(num_labels),
      num_tables_(length > 1 ? 1 : 0),
      constraints_(constraints),
      ngrams_(ngrams) {
  ESPALIER_EXPECT(length > 0 && num_labels > 0 && (!ngrams || ngrams->num_labels() == num_labels));
}

Chain::Chain(std::size_t length, std::size_t num_labels, std::span<const std::uint32_t> tables,
             std::size_t num_tables, const ChainConstraints* constraints, const LabelNgrams* ngrams)
    : length_(length),
      num_labels_(num_labels),
      num_tables_(num_tables),
      tables_(tables),
      constraints_(constraints),
      ngrams_(ngrams) {
  ESPALIER_EXPECT(length > 0 && num_labels > 0 && (!ngrams || ngrams->num_labels() == num_labels));
  ESPALIER_EXPECT(tables.size() + 1 == length || (ngrams && tables.empty() && num_tables == 0));
}

// Calls use(i, j, probability of label i at t - 1 and j at t).
template <class Scores, class Use>
void Chain::for_each_pair(const Scores& scores, std::size_t t, std::span<const double> a,
                          std::span<const double> b, double log_z, const Use& use) const {
  for (std::size_t i = 0; i < num_labels_; ++i) {
    for (std::size_t j = 0; j < num_labels_; ++j) {
      use(i, j,
          std::exp(a[(t - 1) * num_labels_ + i] + scores.step(t, i, j) + scores.node(t, j) +
                   b[t * num_labels_ + j] - log_z));
    }
  }
}

double Chain::log_partition_reference(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  if (ngrams_) return ngram_log_partition(*this, s, mu, ws);
  Workspace::Frame frame(ws);
  const LogScores<double> scores(*this, constraints_, s);
  const auto a = frame.take<double>(length_ * num_labels_), b = frame.take<double>(length_ * num_labels_);
  const double log_z = log_messages(*this, scores, a, b);
  std::fill(mu.begin(), mu.end(), 0.0);
  if (log_z == kExcluded) return log_z;
  for (std::size_t k = 0; k < a.size(); ++k) mu[k] = std::exp(a[k] + b[k] - log_z);
  for (std::size_t t = 1; t < length_; ++t) {
    for_each_pair(scores, t, a, b, log_z,
                  [&](std::size_t i, std::size_t j, double p) { mu[step_statistic(t, i, j)] += p; });
  }
  return log_z;
}

template <class Real>
kernels::ChainScores<Real> Chain::as_kernel(std::span<const Real> s) const {
  kernels::ChainScores<Real> chain{
      length_,  num_labels_, num_tables_, tables_.empty() ? nullptr : tables_.data(),
      s.data(), nullptr,     nullptr,     nullptr};
  if (constraints_) {
    chain.first = constraints_->first.data();
    chain.last = constraints_->last.data();
    chain.step = constraints_->step.data();
  }
  return chain;
}

template <class Real>
kernels::NgramChainScores<Real> Chain::as_ngram_kernel(std::span<const Real> s) const {
  return {as_kernel(s), &ngrams_->automaton()};
}

template <class Real>
bool Chain::log_partition_by_kernel(std::span<const Real> s, std::span<Real> mu, double& log_z,
                                    Workspace& ws) const {
  ESPALIER_EXPECT(s.size() == num_statistics() && mu.size() == num_statistics());
  Workspace::Frame frame(ws);
  if (ngrams_) {
    const auto scratch =
        frame.take<Real>(kernels::ngram_chain_scratch(length_, num_tables_, ngrams_->automaton()));
    return kernels::ngram_chain_marginals(as_ngram_kernel(s), mu.data(), &log_z, scratch.data());
  }
  const auto scratch = frame.take<Real>(kernels::chain_scratch(length_, num_labels_, num_tables_));
  return kernels::chain_marginals(as_kernel(s), mu.data(), &log_z, scratch.data());
}

// Doubles have seven times the range of floats: hardly any scores need logarithms.
double Chain::log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const {
  double log_z = 0;
  if (log_partition_by_kernel(s, mu, log_z, ws)) return log_z;
  Workspace::Frame frame(ws);
  const auto wide_s = frame.take<double>(s.size()), wide_mu = frame.take<double>(s.size());
  std::copy(s.begin(), s.end(), wide_s.begin());
  log_z = log_partition(std::span<const double>(wide_s), wide_mu, ws);
  for (std::size_t k = 0; k < s.size(); ++k) mu[k] = static_cast<float>(wide_mu[k]);
  return log_z;
}
double Chain::log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  double log_z = 0;
  return log_partition_by_kernel(s, mu, log_z, ws) ? log_z : log_partition_reference(s, mu, ws);
}

double Chain::log_partition(std::span<const double> s, Workspace& ws) const {
  ESPALIER_EXPECT(s.size() == num_statistics());
  Workspace::Frame frame(ws);
  if (!ngrams_) {
    double log_z = 0;
    const auto scratch = frame.take<double>(kernels::chain_scratch(length_, num_labels_, num_tables_));
    if (kernels::chain_log_partition(as_kernel(s), &log_z, scratch.data())) return log_z;
  }
  return log_partition(s, frame.take<double>(s.size()), ws);
}

// Calls use(k) each time that n-gram k occurs.
template <class Use>
void Chain::for_each_ngram_in(std::span<const std::uint32_t> y, const Use& use) const {
  if (!ngrams_) return;
  const NgramAutomaton& automaton = ngrams_->automaton();
  std::size_t state = automaton.single[y[0]];
  for (std::size_t t = 1; t < length_; ++t) {
    automaton.for_each_ngram(state, y[t], use);
    state = automaton.next(state, y[t]);
  }
}

template <class Real>
double Chain::decode_of(std::span<const Real> s, std::span<std::uint32_t> y, Workspace& ws) const {
  ESPALIER_EXPECT(s.size() == num_statistics() && y.size() == length_);
  if (ngrams_) {
    Workspace::Frame frame(ws);
    const NgramAutomaton& automaton = ngrams_->automaton();
    const auto scratch = frame.take<Real>(kernels::ngram_chain_scratch(length_, num_tables_, automaton));
    const auto states = frame.take<std::uint32_t>(3 * automaton.num_states);
    kernels::ngram_chain_best(as_ngram_kernel(s), y.data(), states.data(), scratch.data());
  } else {
    Workspace::Frame frame(ws);
    const auto scratch = frame.take<Real>(kernels::chain_scratch(length_, num_labels_, num_tables_));
    kernels::chain_best(as_kernel(s), y.data(), scratch.data());
  }
  const LogScores<Real> scores(*this, constraints_, s);
  double score = scores.node(0, y[0]);
  for (std::size_t t = 1; t < length_; ++t) score += scores.step(t, y[t - 1], y[t]) + scores.node(t, y[t]);
  for_each_ngram_in(y, [&](std::size_t k) { score += static_cast<double>(s[ngram_statistic(k)]); });
  return score;
}

double Chain::decode_into(std::span<const float> s, std::span<std::uint32_t> y, Workspace& ws) const {
  return decode_of(s, y, ws);
}
double Chain::decode_into(std::span<const double> s, std::span<std::uint32_t> y, Workspace& ws) const {
  return decode_of(s, y, ws);
}
Chain::Output Chain::decode(std::span<const float> s, Workspace& ws) const {
  Output y(length_);
  decode_into(s, y, ws);
  return y;
}
Chain::Output Chain::decode(std::span<const double> s, Workspace& ws) const {
  Output y(length_);
  decode_into(s, y, ws);
  return y;
}

template <class Real>
void Chain::add_count(std::span<const std::uint32_t> y, Real scale, std::span<Real> out) const {
  for (std::size_t t = 0; t < length_; ++t) {
    out[t * num_labels_ + y[t]] += scale;
    if (t > 0 && num_tables_ > 0) out[step_statistic(t, y[t - 1], y[t])] += scale;
  }
  for_each_ngram_in(y, [&](std::size_t k) { out[ngram_statistic(k)] += scale; });
}

template <class Real>
double Chain::argmax_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto y = frame.take<std::uint32_t>(length_);
  const double score = decode_of(s, y, ws);
  std::fill(mu.begin(), mu.end(), Real{0});
  add_count<Real>(y, 1, mu);
  return score;
}

double Chain::argmax(std::span<const float> s, std::span<float> mu, Workspace& ws) const {
  return argmax_of(s, mu, ws);
}
double Chain::argmax(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  return argmax_of(s, mu, ws);
}
void Chain::indicator(const Output& y, std::span<float> mu) const {
  std::fill(mu.begin(), mu.end(), 0.0f);
  add_count<float>(y, 1, mu);
}
void Chain::indicator(const Output& y, std::span<double> mu) const {
  std::fill(mu.begin(), mu.end(), 0.0);
  add_count<double>(y, 1, mu);
}
void Chain::add_indicator(std::span<const std::uint32_t> y, float scale, std::span<float> out) const {
  add_count(y, scale, out);
}
void Chain::add_indicator(std::span<const std::uint32_t> y, double scale, std::span<double> out) const {
  add_count(y, scale, out);
}

void Chain::centre(std::span<const float> mu, std::span<float> d) const {
  const auto centre_block = [&](std::size_t begin, std::size_t size, double total) {
    const auto mean = static_cast<float>(kernels::dot(&mu[begin], &d[begin], size) / total);
    for (std::size_t k = begin; k < begin + size; ++k) d[k] -= mean;
  };
  for (std::size_t t = 0; t < length_; ++t) centre_block(t * num_labels_, num_labels_, 1);
  // All of its steps pass through a table, whatever the labels.
  const std::size_t square = num_labels_ * num_labels_;
  for (std::size_t k = 0; k < num_tables_; ++k) {
    const auto steps = tables_.empty()
                           ? length_ - 1
                           : static_cast<std::size_t>(std::count(tables_.begin(), tables_.end(), k));
    if (steps > 0) centre_block(length_ * num_labels_ + k * square, square, static_cast<double>(steps));
  }
}

std::vector<Chain::Scored> Chain::kbest(std::span<const double> s, std::size_t k) const {
  std::vector<Scored> best;
  KbestMemory memory;
  for_each_best(*this, s, k, [&](std::span<const std::uint32_t> y, double score) {
    memory.add(sizeof(Scored) + y.size_bytes());
    best.push_back({Output(y.begin(), y.end()), score});
  });
  return best;
}

namespace {

// States are labels.
class LabelLattice {
 public:
  LabelLattice(const Chain& chain, std::span<const double> s)
      : chain_(chain), scores_(chain, chain.constraints(), s) {}

  std::size_t length() const { return chain_.length(); }
  std::size_t num_states() const { return chain_.num_labels(); }
  double first(std::uint32_t j) const { return scores_.node(0, j); }
  template <class Call>
  void for_each_before(std::size_t t, std::uint32_t j, const Call& call) const {
    if (scores_.node(t, j) == kExcluded) return;
    for (std::uint32_t i = 0; i < chain_.num_labels(); ++i) {
      if (scores_.step(t, i, j) != kExcluded) call(i);
    }
  }
  double extend(double score, std::size_t t, std::uint32_t i, std::uint32_t j) const {
    return score + scores_.step(t, i, j) + scores_.node(t, j);
  }

 private:
  const Chain& chain_;
  LogScores<double> scores_;
};

}  // namespace

void for_each_best(const Chain& chain, std::span<const double> s, std::size_t k, const VisitSequence& visit) {
  if (chain.ngrams()) return for_each_best_of_ngrams(chain, s, k, visit);
  const LabelLattice lattice(chain, s);
  LazyPaths paths(lattice);
  Chain::Output y(chain.length());
  double score = 0;
  for (std::size_t n = 0; n < k && paths.next(y, score); ++n) visit(y, score);
}

// From the left, each label given the one before: u(y_t = j | y_{t-1} = i) ~ exp( T_t(i, j) + s_t(j) + log
// b_t(j) ).
std::vector<Chain::Output> Chain::samples(std::span<const double> s, std::size_t n, Random& random,
                                          Workspace& ws) const {
  if (ngrams_) return ngram_samples(*this, s, n, random, ws);
  Workspace::Frame frame(ws);
  const LogScores<double> scores(*this, constraints_, s);
  const auto a = frame.take<double>(length_ * num_labels_), b = frame.take<double>(length_ * num_labels_);
  log_messages(*this, scores, a, b);
  std::vector<Output> drawn(n, Output(length_));
  const auto terms = frame.take<double>(num_labels_);
  for (Output& y : drawn) {
    for (std::size_t t = 0; t < length_; ++t) {
      for (std::size_t j = 0; j < num_labels_; ++j) {
        const double step = t > 0 ? scores.step(t, y[t - 1], j) : 0;
        terms[j] = step + scores.node(t, j) + b[t * num_labels_ + j];
      }
      y[t] = draw_label(terms, random);
    }
  }
  return drawn;
}

double Chain::entropy(std::span<const double> s, Workspace& ws) const {
  if (ngrams_) return ngram_entropy(*this, s, ws);
  Workspace::Frame frame(ws);
  const auto clique_mu = frame.take<double>(num_clique_marginals());
  clique_marginals(s, clique_mu, ws);
  return clique_entropy(clique_mu);
}

void Chain::clique_marginals(std::span<const double> s, std::span<double> clique_mu, Workspace& ws) const {
  ESPALIER_EXPECT(factored());
  Workspace::Frame frame(ws);
  const LogScores<double> scores(*this, constraints_, s);
  const auto a = frame.take<double>(length_ * num_labels_), b = frame.take<double>(length_ * num_labels_);
  const double log_z = log_messages(*this, scores, a, b);
  if (length_ == 1) {
    for (std::size_t j = 0; j < num_labels_; ++j) clique_mu[j] = std::exp(a[j] - log_z);
    return;
  }
  for (std::size_t t = 1; t < length_; ++t) {
    double* pairs = &clique_mu[(t - 1) * num_labels_ * num_labels_];
    for_each_pair(scores, t, a, b, log_z,
                  [&](std::size_t i, std::size_t j, double p) { pairs[i * num_labels_ + j] = p; });
  }
}

double Chain::clique_marginals(std::span<const float> s, std::span<float> clique_mu, std::span<float> mu,
                               Workspace& ws) const {
  ESPALIER_EXPECT(factored() && s.size() == num_statistics() && clique_mu.size() == num_clique_marginals());
  Workspace::Frame frame(ws);
  const auto scratch = frame.take<float>(kernels::chain_scratch(length_, num_labels_, num_tables_));
  double log_z = 0;
  if (kernels::chain_pair_marginals(as_kernel(s), mu.data(), clique_mu.data(), &log_z, scratch.data())) {
    if (length_ == 1) std::copy_n(mu.begin(), num_labels_, clique_mu.begin());
    return log_z;
  }
  const auto wide_s = frame.take<double>(s.size()), wide_mu = frame.take<double>(s.size());
  const auto wide_cliques = frame.take<double>(clique_mu.size());
  std::copy(s.begin(), s.end(), wide_s.begin());
  clique_marginals(wide_s, wide_cliques, ws);
  std::transform(wide_cliques.begin(), wide_cliques.end(), clique_mu.begin(),
                 [](double p) { return static_cast<float>(p); });
  log_z = log_partition(std::span<const double>(wide_s), wide_mu, ws);
  std::transform(wide_mu.begin(), wide_mu.end(), mu.begin(), [](double p) { return static_cast<float>(p); });
  return log_z;
}

// H = H(y_0) + sum_t E[ H(y_t | y_{t-1}) ], every term >= 0.
double Chain::markov_chain(std::span<const float> clique_mu, std::span<double> mu) const {
  ESPALIER_EXPECT(factored() && clique_mu.size() == num_clique_marginals() && mu.size() == num_statistics());
  const std::size_t labels = num_labels_;
  std::fill(mu.begin(), mu.end(), 0.0);
  const auto pairs_from = [&](std::size_t t, std::size_t i) { return &clique_mu[(t * labels + i) * labels]; };
  // Rounding may leave a label with mass whose pairs have none: a chain that went there could not continue.
  // Such labels are marked, last position first, and no chain goes there.
  constexpr double kDeadEnd = -1;
  for (std::size_t t = length_ - 1; t-- > 0;) {
    for (std::size_t i = 0; i < labels; ++i) {
      const float* pairs = pairs_from(t, i);
      bool goes_on = false;
      for (std::size_t j = 0; j < labels && !goes_on; ++j)
        goes_on = pairs[j] > 0 && mu[(t + 1) * labels + j] != kDeadEnd;
      if (!goes_on) mu[t * labels + i] = kDeadEnd;
    }
  }
  // Of the pairs of a label with labels from which it goes on.
  const auto sum_of = [&](std::size_t t, std::size_t i) {
    const float* pairs = pairs_from(t, i);
    double sum = 0;
    for (std::size_t j = 0; j < labels; ++j) sum += mu[(t + 1) * labels + j] == kDeadEnd ? 0 : pairs[j];
    return sum;
  };
  double total = 0, entropy = 0;
  for (std::size_t i = 0; i < labels; ++i) {
    mu[i] = mu[i] == kDeadEnd ? 0 : length_ == 1 ? clique_mu[i] : sum_of(0, i);
    total += mu[i];
  }
  if (!(total > 0))
    throw Error("chain: clique marginals that no output has; expected those of a distribution");
  for (std::size_t i = 0; i < labels; ++i) {
    mu[i] /= total;
    entropy += surprise(mu[i]);
  }
  // What is left out of the entropy of labels that hardly occur makes a dual smaller, never larger.
  constexpr double kRare = 1e-14;
  for (std::size_t t = 1; t < length_; ++t) {
    for (std::size_t i = 0; i < labels; ++i) {
      const double node = mu[(t - 1) * labels + i];
      if (node == 0) continue;
      const float* pairs = pairs_from(t - 1, i);
      const double sum = sum_of(t - 1, i);
      for (std::size_t j = 0; j < labels; ++j) {
        double& next = mu[t * labels + j];
        if (pairs[j] == 0 || next == kDeadEnd) continue;
        const double weight = static_cast<double>(pairs[j]) / sum;
        next += node * weight;
        mu[step_statistic(t, i, j)] += node * weight;
        if (node >= kRare) entropy += node * surprise(weight);
      }
    }
    std::replace(mu.begin() + static_cast<std::ptrdiff_t>(t * labels),
                 mu.begin() + static_cast<std::ptrdiff_t>((t + 1) * labels), kDeadEnd, 0.0);
  }
  return entropy;
}

// The probability of label i at position t: a sum over the pair that begins there, or ends there at the end.
double Chain::node_marginal(std::span<const double> clique_mu, std::size_t t, std::size_t i) const {
  if (length_ == 1) return clique_mu[i];
  const std::size_t square = num_labels_ * num_labels_;
  double sum = 0;
  for (std::size_t j = 0; j < num_labels_; ++j) {
    sum += t + 1 < length_ ? clique_mu[t * square + i * num_labels_ + j]
                           : clique_mu[(t - 1) * square + j * num_labels_ + i];
  }
  return sum;
}

void Chain::statistics(std::span<const double> clique_mu, std::span<double> mu) const {
  ESPALIER_EXPECT(factored());
  std::fill(mu.begin(), mu.end(), 0.0);
  for (std::size_t t = 0; t < length_; ++t) {
    for (std::size_t i = 0; i < num_labels_; ++i) {
      mu[t * num_labels_ + i] = node_marginal(clique_mu, t, i);
      if (t == 0) continue;
      for (std::size_t j = 0; j < num_labels_; ++j)
        mu[step_statistic(t, i, j)] += clique_mu[((t - 1) * num_labels_ + i) * num_labels_ + j];
    }
  }
}

double Chain::clique_entropy(std::span<const double> clique_mu) const {
  ESPALIER_EXPECT(factored());
  double sum = 0;
  for (const double p : clique_mu) sum += surprise(p);
  for (std::size_t t = 1; t + 1 < length_; ++t) {
    for (std::size_t i = 0; i < num_labels_; ++i) sum -= surprise(node_marginal(clique_mu, t, i));
  }
  return sum;
}

void Chain::cliques_of(std::span<const float> chi, std::span<std::uint32_t> cliques) const {
  ESPALIER_EXPECT(factored() && cliques.size() == num_cliques());
  const auto label = [&](std::size_t t) {
    const float* nodes = &chi[t * num_labels_];
    return static_cast<std::size_t>(std::max_element(nodes, nodes + num_labels_) - nodes);
  };
  std::size_t here = label(0);
  if (length_ == 1) cliques[0] = static_cast<std::uint32_t>(here);
  for (std::size_t t = 1; t < length_; ++t) {
    const std::size_t before = here;
    here = label(t);
    cliques[t - 1] = static_cast<std::uint32_t>(((t - 1) * num_labels_ + before) * num_labels_ + here);
  }
}

// Viterbi's recursion over pairs that have mass. Most have none, and whole rows with them.
bool Chain::lowest(std::span<const float> s, std::span<const float> clique_mu,
                   std::span<std::uint32_t> cliques, Workspace& ws) const {
  ESPALIER_EXPECT(factored() && clique_mu.size() == num_clique_marginals() &&
                  cliques.size() == num_cliques());
  constexpr float kNone = std::numeric_limits<float>::infinity();
  Workspace::Frame frame(ws);
  const std::size_t labels = num_labels_;
  auto value = frame.take<float>(labels), next = frame.take<float>(labels);
  const auto from = frame.take<std::uint32_t>(length_ * labels);
  for (std::size_t j = 0; j < labels; ++j) value[j] = length_ > 1 || clique_mu[j] > 0 ? s[j] : kNone;
  for (std::size_t t = 1; t < length_; ++t) {
    std::fill(next.begin(), next.end(), kNone);
    const float* pairs = &clique_mu[(t - 1) * labels * labels];
    std::uint32_t* back = &from[t * labels];
    for (std::size_t i = 0; i < labels; ++i) {
      if (value[i] == kNone) continue;
      const float* steps = &s[step_statistic(t, i, 0)];
      for (std::size_t j = 0; j < labels; ++j) {
        if (!(pairs[i * labels + j] > 0)) continue;
        const float candidate = value[i] + steps[j];
        if (candidate >= next[j]) continue;
        next[j] = candidate;
        back[j] = static_cast<std::uint32_t>(i);
      }
    }
    for (std::size_t j = 0; j < labels; ++j) next[j] += s[t * labels + j];
    std::swap(value, next);
  }
  auto label = static_cast<std::size_t>(std::min_element(value.begin(), value.end()) - value.begin());
  if (value[label] == kNone) return false;
  if (length_ == 1) cliques[0] = static_cast<std::uint32_t>(label);
  for (std::size_t t = length_ - 1; t > 0; --t) {
    const std::size_t before = from[t * labels + label];
    cliques[t - 1] = static_cast<std::uint32_t>(((t - 1) * labels + before) * labels + label);
    label = before;
  }
  return true;
}

void Chain::add_output(std::span<const std::uint32_t> cliques, float scale, std::span<float> out) const {
  if (length_ == 1) {
    out[cliques[0]] += scale;
    return;
  }
  out[cliques[0] / num_labels_] += scale;
  for (std::size_t t = 1; t < length_; ++t) {
    const std::size_t pair = cliques[t - 1] - (t - 1) * num_labels_ * num_labels_;
    out[t * num_labels_ + pair % num_labels_] += scale;
    out[step_statistic(t, pair / num_labels_, pair % num_labels_)] += scale;
  }
}

double Chain::probability(std::span<const float> clique_mu, std::span<const std::uint32_t> cliques) const {
  double product = clique_mu[cliques[0]];
  for (std::size_t t = 1; t < cliques.size(); ++t) {
    const float* row = &clique_mu[cliques[t] - cliques[t] % num_labels_];
    product *= clique_mu[cliques[t]] / std::accumulate(row, row + num_labels_, 0.0);
  }
  return product;
}

}  // namespace espalier
