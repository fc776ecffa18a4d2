// Paths through the states of chains with n-grams, in logarithms (for the states see
// kernels/ngram_automaton.h, for the fast way kernels/ngram_chain.cc). With w_t(q, j) the sum of all scores
// that label j brings after state q, its own included, and q j the state that it leads to,
//
//   forward    log a_t(q') = log sum_{q, j: q j = q'} exp( log a_{t-1}(q) + w_t(q, j) )
//   backward   log b_{t-1}(q) = log sum_j exp( w_t(q, j) + log b_t(q j) )
//
// in time O(m states L).

#include "structures/ngram_paths.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/ngram_automaton.h"
#include "structures/lazy_paths.h"
#include "structures/log_scores.h"

namespace espalier {
namespace {

class NgramPaths {
 public:
  NgramPaths(const Chain& chain, std::span<const double> s, Workspace::Frame& frame)
      : chain_(chain), automaton_(chain.ngrams()->automaton()), nodes_(chain, chain.constraints(), s) {
    const std::size_t labels = chain.num_labels(), rows = automaton_.num_states;
    const std::size_t tables = std::max<std::size_t>(chain.num_tables(), 1);
    arcs_ = frame.take<double>(chain.length() > 1 ? tables * rows * labels : 0);
    const auto filled = frame.take<std::uint8_t>(tables);
    std::fill(filled.begin(), filled.end(), std::uint8_t{0});
    for (std::size_t t = 1; t < chain.length(); ++t) {
      if (std::exchange(filled[chain.table(t)], std::uint8_t{1})) continue;
      double* arcs = &arcs_[chain.table(t) * rows * labels];
      for (const std::uint32_t q : automaton_.by_length) {
        double* to = arcs + q * labels;
        const std::size_t shorter = automaton_.shorter[q];
        for (std::size_t j = 0; j < labels; ++j)
          to[j] = shorter == q ? nodes_.step(t, automaton_.label[q], j) : arcs[shorter * labels + j];
        for (std::uint32_t n = automaton_.ngram_begin[q]; n < automaton_.ngram_begin[q + 1]; ++n)
          to[automaton_.ngram_label[n]] += s[chain.ngram_statistic(automaton_.ngram_index[n])];
      }
    }
  }

  const NgramAutomaton& automaton() const { return automaton_; }
  std::size_t num_states() const { return automaton_.num_states; }
  double node(std::size_t t, std::size_t j) const { return nodes_.node(t, j); }
  // What label j brings at position t >= 1 after state q, its own score left out.
  double arc(std::size_t t, std::size_t q, std::size_t j) const {
    return arcs_[(chain_.table(t) * automaton_.num_states + q) * chain_.num_labels() + j];
  }

  // log a and log b, `length` rows of states, and log Z.
  double messages(std::span<double> a, std::span<double> b, Workspace::Frame& frame) const {
    const std::size_t states = num_states(), labels = chain_.num_labels(), length = chain_.length();
    const auto highest = frame.take<double>(states), sums = frame.take<double>(states);
    std::fill(a.begin(), a.end(), kExcluded);
    for (std::size_t j = 0; j < labels; ++j) a[automaton_.single[j]] = node(0, j);
    for (std::size_t t = 1; t < length; ++t) {
      const double* before = &a[(t - 1) * states];
      std::fill(highest.begin(), highest.end(), kExcluded);
      std::fill(sums.begin(), sums.end(), 0.0);
      const auto for_each_arc = [&](const auto& use) {
        for (std::size_t q = 0; q < states; ++q) {
          if (before[q] == kExcluded) continue;
          for (std::size_t j = 0; j < labels; ++j) {
            const double term = before[q] + arc(t, q, j) + node(t, j);
            if (term != kExcluded) use(automaton_.next(q, j), term);
          }
        }
      };
      for_each_arc([&](std::size_t to, double term) { highest[to] = std::max(highest[to], term); });
      for_each_arc([&](std::size_t to, double term) { sums[to] += std::exp(term - highest[to]); });
      for (std::size_t q = 0; q < states; ++q) {
        if (highest[q] != kExcluded) a[t * states + q] = highest[q] + std::log(sums[q]);
      }
    }
    const double* last = &a[(length - 1) * states];
    const double log_z = log_sum(states, [&](std::size_t q) { return last[q]; });

    std::fill_n(&b[(length - 1) * states], states, 0.0);
    for (std::size_t t = length - 1; t > 0; --t) {
      for (std::size_t q = 0; q < states; ++q) {
        b[(t - 1) * states + q] = log_sum(labels, [&](std::size_t j) { return way_on(t, q, j, b); });
      }
    }
    return log_z;
  }

  // w_t(q, j) + log b_t(q j)
  double way_on(std::size_t t, std::size_t q, std::size_t j, std::span<const double> b) const {
    return arc(t, q, j) + node(t, j) + b[t * num_states() + automaton_.next(q, j)];
  }

 private:
  const Chain& chain_;
  const NgramAutomaton& automaton_;
  LogScores<double> nodes_;
  std::span<double> arcs_;
};

}  // namespace

double ngram_log_partition(const Chain& chain, std::span<const double> s, std::span<double> mu,
                           Workspace& ws) {
  Workspace::Frame frame(ws);
  const NgramPaths paths(chain, s, frame);
  const NgramAutomaton& automaton = paths.automaton();
  const std::size_t states = paths.num_states(), labels = chain.num_labels();
  const auto a = frame.take<double>(chain.length() * states), b = frame.take<double>(a.size());
  const double log_z = paths.messages(a, b, frame);
  std::fill(mu.begin(), mu.end(), 0.0);
  if (log_z == kExcluded) return log_z;
  for (std::size_t t = 0; t < chain.length(); ++t) {
    for (std::size_t q = 0; q < states; ++q)
      mu[t * labels + automaton.label[q]] += std::exp(a[t * states + q] + b[t * states + q] - log_z);
    for (std::size_t q = 0; t > 0 && q < states; ++q) {
      for (std::uint32_t j = 0; j < labels; ++j) {
        const double p = std::exp(a[(t - 1) * states + q] + paths.way_on(t, q, j, b) - log_z);
        if (p == 0) continue;
        if (chain.num_tables() > 0) mu[chain.step_statistic(t, automaton.label[q], j)] += p;
        automaton.for_each_ngram(q, j, [&](std::size_t k) { mu[chain.ngram_statistic(k)] += p; });
      }
    }
  }
  return log_z;
}

namespace {

// States are those of the automaton.
class StateLattice {
 public:
  StateLattice(const Chain& chain, const NgramPaths& paths)
      : chain_(chain), paths_(paths), before_(paths.num_states()), firsts_(paths.num_states(), kExcluded) {
    for (std::uint32_t q = 0; q < before_.size(); ++q) {
      for (std::size_t j = 0; j < chain.num_labels(); ++j) before_[paths.automaton().next(q, j)].push_back(q);
    }
    for (std::size_t j = 0; j < chain.num_labels(); ++j)
      firsts_[paths.automaton().single[j]] = paths.node(0, j);
  }

  std::size_t length() const { return chain_.length(); }
  std::size_t num_states() const { return before_.size(); }
  std::uint32_t label(std::uint32_t q) const { return paths_.automaton().label[q]; }
  double first(std::uint32_t q) const { return firsts_[q]; }
  template <class Call>
  void for_each_before(std::size_t t, std::uint32_t q, const Call& call) const {
    for (const std::uint32_t p : before_[q]) {
      if (step(t, p, q) != kExcluded) call(p);
    }
  }
  double extend(double score, std::size_t t, std::uint32_t p, std::uint32_t q) const {
    return score + step(t, p, q);
  }

 private:
  double step(std::size_t t, std::uint32_t p, std::uint32_t q) const {
    return paths_.arc(t, p, label(q)) + paths_.node(t, label(q));
  }

  const Chain& chain_;
  const NgramPaths& paths_;
  std::vector<std::vector<std::uint32_t>> before_;  // the states that lead to each, by the label of its own
  std::vector<double> firsts_;
};

}  // namespace

void for_each_best_of_ngrams(const Chain& chain, std::span<const double> s, std::size_t k,
                             const VisitSequence& visit) {
  Workspace ws;
  Workspace::Frame frame(ws);
  const NgramPaths ngram_paths(chain, s, frame);
  const StateLattice lattice(chain, ngram_paths);
  LazyPaths paths(lattice);
  Chain::Output y(chain.length());
  double score = 0;
  for (std::size_t n = 0; n < k && paths.next(y, score); ++n) {
    for (std::uint32_t& state : y) state = lattice.label(state);
    visit(y, score);
  }
}

// From the left: u(y_t = j | q) ~ exp( w_t(q, j) + log b_t(q j) ) for the state q before.
std::vector<Chain::Output> ngram_samples(const Chain& chain, std::span<const double> s, std::size_t n,
                                         Random& random, Workspace& ws) {
  Workspace::Frame frame(ws);
  const NgramPaths paths(chain, s, frame);
  const NgramAutomaton& automaton = paths.automaton();
  const std::size_t labels = chain.num_labels();
  const auto a = frame.take<double>(chain.length() * paths.num_states()), b = frame.take<double>(a.size());
  paths.messages(a, b, frame);
  const auto terms = frame.take<double>(labels);
  std::vector<Chain::Output> drawn(n, Chain::Output(chain.length()));
  for (Chain::Output& y : drawn) {
    std::size_t state = 0;
    for (std::size_t t = 0; t < y.size(); ++t) {
      for (std::size_t j = 0; j < labels; ++j)
        terms[j] = t > 0 ? paths.way_on(t, state, j, b) : paths.node(0, j) + b[automaton.single[j]];
      y[t] = draw_label(terms, random);
      state = t > 0 ? automaton.next(state, y[t]) : automaton.single[y[t]];
    }
  }
  return drawn;
}

// The entropy of the first label, and that of each further one given the state before:
//   H = sum_t E[ -log u(y_t | q_{t-1}) ],   u(y_t = j | q) = exp( w_t(q, j) + log b_t(q j) - log b_{t-1}(q) )
double ngram_entropy(const Chain& chain, std::span<const double> s, Workspace& ws) {
  Workspace::Frame frame(ws);
  const NgramPaths paths(chain, s, frame);
  const NgramAutomaton& automaton = paths.automaton();
  const std::size_t states = paths.num_states(), labels = chain.num_labels();
  const auto a = frame.take<double>(chain.length() * states), b = frame.take<double>(a.size());
  const double log_z = paths.messages(a, b, frame);
  double sum = 0;
  for (std::size_t j = 0; j < labels; ++j)
    sum += surprise(std::exp(paths.node(0, j) + b[automaton.single[j]] - log_z));
  for (std::size_t t = 1; t < chain.length(); ++t) {
    for (std::size_t q = 0; q < states; ++q) {
      const double from_here = b[(t - 1) * states + q];
      const double mass = std::exp(a[(t - 1) * states + q] + from_here - log_z);
      for (std::size_t j = 0; j < labels && mass > 0; ++j)
        sum += mass * surprise(std::exp(paths.way_on(t, q, j, b) - from_here));
    }
  }
  return sum;
}

}  // namespace espalier
