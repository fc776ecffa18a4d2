// Forward-backward and Viterbi for chains with label n-grams, vectorised over labels.
//
// A sequence is in one of the states q of kernels/ngram_automaton.h. With W_t(q, j) = exp of all scores that
// label j brings after q, but for that of j itself, which is E_t(j), the messages of kernels/chain.cc become
//
//   forward    r_t(c, j) = sum_{q in c} a_{t-1}(q) W_t(q, j)           c: a class of states
//              a_t(q') = E_t(j) sum_{c: j leads to q'} r_t(c, j) / z_t j: the last label of q'
//   backward   h_t(c, j) = E_t(j) b_t(q') / z_t                        q': where j leads to from c
//              b_{t-1}(q) = sum_j W_t(q, j) h_t(c(q), j)
//
// so that E[y_t = j] sums a_t(q) b_t(q) over the states that end with j, and the expected number of steps
// from q with j is the sum of a_{t-1}(q) W_t(q, j) h_t(c(q), j). N-gram q j is what all steps with j are that
// begin at q or at a state that ends with q. One step takes time O(states * L); what is done per place
// (class, label) is little beside that.
//
// What is lost is what kernels/chain.cc says, for states instead of labels.

#include "kernels/ngram_chain.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ngram_chain.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "kernels/chain-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Where everything is in scratch memory.
struct NgramScratch {
  std::size_t stride;                  // a row of labels
  std::size_t states;                  // a row of states
  std::size_t places;                  // a row for each class
  std::size_t arcs_size, turned_size;  // W of a table, and by label
  std::size_t num_arcs;                // as many tables; one if there are none

  std::size_t potentials;          // `length` rows of labels: E_t
  std::size_t forward;             // `length` rows of states: a_t
  std::size_t scaled;              // `length` times a row for each class: h_t
  std::size_t reach;               // the same: r_t, then a_t z_t at the places of states
  std::size_t inverse;             // 1/z_t
  std::size_t arcs, turned, sums;  // of each table; sums where there are several
  std::size_t row;                 // of labels
  std::size_t block;               // of states
  std::size_t size = 0;

  NgramScratch(std::size_t length, std::size_t num_tables, const NgramAutomaton& automaton)
      : stride(automaton.stride),
        states((automaton.num_states + 7) / 8 * 8),
        places(automaton.num_classes * stride),
        arcs_size(automaton.num_states * stride),
        turned_size(automaton.block_begin.back() * automaton.num_labels),
        num_arcs(std::max<std::size_t>(num_tables, 1)) {
    potentials = take(length * stride);
    forward = take(length * states);
    scaled = take(length * places);
    inverse = take(length);
    arcs = take(num_arcs * arcs_size);
    turned = take(num_arcs * turned_size);
    sums = take(num_arcs > 1 ? num_arcs * arcs_size : 0);
    reach = take(length * places);
    row = take(stride);
    block = take((automaton.num_states + 7) / 8 * 8);
  }

 private:
  std::size_t take(std::size_t n) {
    const std::size_t start = size;
    size += (n + 7) / 8 * 8;
    return start;
  }
};

HWY_INLINE const float* passes_of(const NgramAutomaton& automaton, float) {
  return automaton.passes_float.data();
}
HWY_INLINE const double* passes_of(const NgramAutomaton& automaton, double) {
  return automaton.passes_double.data();
}

// The logarithm of W for table k: a state has the scores of its next shorter one, and those of its own
// n-grams.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void copy_arcs(D d, const NgramChainScores<Real>& scores, std::size_t k, Real* zeros, Real* arcs) {
  const ChainScores<Real>& chain = scores.chain;
  const NgramAutomaton& automaton = *scores.automaton;
  const std::size_t labels = chain.labels, stride = automaton.stride;
  const Real* tables = chain.s + chain.length * labels;
  const Real* of_ngrams = tables + chain.num_tables * labels * labels;
  std::fill_n(zeros, stride, Real{0});
  for (const std::uint32_t q : automaton.by_length) {
    Real* to = arcs + q * stride;
    if (automaton.shorter[q] != q) {
      std::copy_n(arcs + automaton.shorter[q] * stride, stride, to);
    } else {
      const std::size_t i = automaton.label[q];
      copy_row(d, chain.num_tables > 0 ? tables + (k * labels + i) * labels : zeros, labels,
               chain.step ? chain.step + i * labels : nullptr, to);
    }
    for (std::uint32_t n = automaton.ngram_begin[q]; n < automaton.ngram_begin[q + 1]; ++n)
      to[automaton.ngram_label[n]] += of_ngrams[automaton.ngram_index[n]];
  }
}

// The rows of each class's states as columns, whole vectors of them.
template <class Real>
HWY_INLINE void turn_arcs(const NgramAutomaton& automaton, const Real* arcs, Real* turned) {
  const std::size_t labels = automaton.num_labels, stride = automaton.stride;
  for (std::size_t c = 0; c < automaton.num_classes; ++c) {
    const std::size_t begin = automaton.class_begin[c], n = automaton.class_begin[c + 1] - begin,
                      width = automaton.block_begin[c + 1] - automaton.block_begin[c];
    Real* block = turned + automaton.block_begin[c] * labels;
    for (std::size_t j = 0; j < labels; ++j) {
      for (std::size_t i = 0; i < n; ++i) block[j * width + i] = arcs[(begin + i) * stride + j];
      for (std::size_t i = n; i < width; ++i) block[j * width + i] = 0;
    }
  }
}

// a_t, not yet divided, from a_{t-1}; in `reach` at the places of states.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void go_forward(D d, const NgramAutomaton& automaton, const Real* before, const Real* arcs,
                           const Real* potentials, Real* reach, Real* a) {
  const std::size_t lanes = hn::Lanes(d), stride = automaton.stride;
  const Real* passes = passes_of(automaton, Real{});
  for (std::size_t c = 0; c < automaton.num_classes; ++c) {
    const std::size_t begin = automaton.class_begin[c];
    product(d, before + begin, arcs + begin * stride, automaton.class_begin[c + 1] - begin, stride,
            reach + c * stride);
  }
  // What is passed on arrives before its receiver passes it on.
  for (std::size_t c = 0; c < automaton.num_classes; ++c) {
    Real *from = reach + c * stride, *to = reach + automaton.parent[c] * stride;
    for (std::size_t k = 0; k < stride; k += lanes) {
      const auto here = hn::Load(d, from + k);
      hn::Store(hn::MulAdd(here, hn::Load(d, passes + c * stride + k), hn::Load(d, to + k)), d, to + k);
      hn::Store(hn::Mul(hn::Load(d, from + k), hn::Load(d, potentials + k)), d, from + k);
    }
  }
  for (std::size_t q = 0; q < automaton.num_states; ++q) a[q] = reach[automaton.place[q]];
}

// h_t in place of b_t, which is at the places of states, and E[y_t = j], from the forward messages at the
// same places. The largest b_t/z_t.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> scale_backward(D d, const NgramAutomaton& automaton, Real inverse_z, const Real* reach,
                                     const Real* potentials, Real* h, Real* nodes) {
  const std::size_t lanes = hn::Lanes(d), stride = automaton.stride;
  const Real* passes = passes_of(automaton, Real{});
  const auto inverse = hn::Set(d, inverse_z);
  auto largest = hn::Zero(d);
  for (std::size_t k = 0; k < stride; k += lanes) {
    const auto potential = hn::Load(d, potentials + k);
    auto node = hn::Zero(d);
    for (std::size_t c = automaton.num_classes; c-- > 0;) {
      const std::size_t place = c * stride + k;
      const auto own = hn::Eq(hn::Load(d, passes + place), hn::Zero(d));
      const auto over_z = hn::IfThenElseZero(own, hn::Mul(hn::Load(d, h + place), inverse));
      largest = largest_so_far(d, largest, over_z);
      node = hn::MulAdd(hn::Load(d, reach + place), over_z, node);
      const auto parent = hn::Load(d, h + automaton.parent[c] * stride + k);
      hn::Store(hn::IfThenElse(own, hn::Mul(over_z, potential), parent), d, h + place);
    }
    hn::Store(node, d, nodes + k);
  }
  return largest;
}

// b_{t-1} at the places of states.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void go_backward(D d, const NgramAutomaton& automaton, const Real* h, const Real* turned,
                            Real* block, Real* b) {
  const std::size_t labels = automaton.num_labels, stride = automaton.stride;
  for (std::size_t c = 0; c < automaton.num_classes; ++c) {
    const std::size_t begin = automaton.class_begin[c], n = automaton.class_begin[c + 1] - begin;
    product(d, h + c * stride, turned + automaton.block_begin[c] * labels, labels,
            automaton.block_begin[c + 1] - automaton.block_begin[c], block);
    for (std::size_t i = 0; i < n; ++i) b[automaton.place[begin + i]] = block[i];
  }
  // After the last label there is no state, but the class of all labels has no parent to ask.
  const std::size_t last = (automaton.num_classes - 1) * stride;
  std::fill(b + last + labels, b + last + stride, Real{0});
}

// The expected counts of steps, for all states, in place of W.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void count_steps(D d, const NgramChainScores<Real>& scores, const NgramScratch& at, Real* memory) {
  const ChainScores<Real>& chain = scores.chain;
  const NgramAutomaton& automaton = *scores.automaton;
  const std::size_t lanes = hn::Lanes(d);
  Real *arcs = memory + at.arcs, *sums = memory + at.sums;
  if (at.num_arcs > 1) std::fill_n(sums, at.num_arcs * at.arcs_size, Real{0});
  for (std::size_t c = 0; c < automaton.num_classes; ++c) {
    const std::size_t begin = automaton.class_begin[c], n = automaton.class_begin[c + 1] - begin;
    const Real *a = memory + at.forward + begin, *h = memory + at.scaled + c * at.stride;
    if (at.num_arcs == 1) {
      tied_counts(d, a, at.states, h, at.places, chain.length - 1, n, arcs + begin * at.stride, at.stride);
      continue;
    }
    for (std::size_t t = 1; t < chain.length; ++t) {
      add_step(d, a + (t - 1) * at.states, h + t * at.places, n,
               sums + table_of(chain, t) * at.arcs_size + begin * at.stride, at.stride);
    }
  }
  if (at.num_arcs == 1) return;
  for (std::size_t k = 0; k < at.num_arcs * at.arcs_size; k += lanes)
    hn::Store(hn::Mul(hn::Load(d, sums + k), hn::Load(d, arcs + k)), d, arcs + k);
}

// The counts of n-grams and of a table's pairs from those of steps. Steps from a state are steps from its
// next shorter one.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void add_up_counts(D d, const NgramChainScores<Real>& scores, std::size_t k, Real* arcs,
                              Real* mu) {
  const ChainScores<Real>& chain = scores.chain;
  const NgramAutomaton& automaton = *scores.automaton;
  const std::size_t lanes = hn::Lanes(d), labels = chain.labels, stride = automaton.stride;
  Real* tables = mu + chain.length * labels;
  Real* of_ngrams = tables + chain.num_tables * labels * labels;
  for (std::size_t r = automaton.num_states; r-- > 0;) {
    const std::uint32_t q = automaton.by_length[r], shorter = automaton.shorter[q];
    Real *from = arcs + q * stride, *to = arcs + shorter * stride;
    for (std::uint32_t n = automaton.ngram_begin[q]; n < automaton.ngram_begin[q + 1]; ++n)
      of_ngrams[automaton.ngram_index[n]] += from[automaton.ngram_label[n]];
    if (shorter != q) {
      for (std::size_t j = 0; j < stride; j += lanes)
        hn::Store(hn::Add(hn::Load(d, to + j), hn::Load(d, from + j)), d, to + j);
    } else if (chain.num_tables > 0) {
      store_row(d, from, labels, tables + (k * labels + automaton.label[q]) * labels);
    }
  }
}

template <class D, class Real = hn::TFromD<D>>
HWY_INLINE bool ngram_marginals(D d, const NgramChainScores<Real>& scores, Real* mu, double* log_z,
                                Real* memory) {
  const ChainScores<Real>& chain = scores.chain;
  const NgramAutomaton& automaton = *scores.automaton;
  const std::size_t labels = chain.labels, length = chain.length;
  const NgramScratch at(length, chain.num_tables, automaton);
  const std::size_t stride = at.stride, num_arcs = length > 1 ? at.num_arcs : 0;
  constexpr Real kExcluded = -std::numeric_limits<Real>::infinity();
  constexpr Real kLargest = Range<Real>::kLargest;

  copy_nodes(d, chain, memory + at.potentials);
  double shift = 0;
  for (std::size_t t = 0; t < length; ++t) {
    const Real highest = exponentiate(d, memory + at.potentials + t * stride, stride);
    if (highest == kExcluded) return false;
    shift += highest;
  }
  for (std::size_t k = 0; k < num_arcs; ++k) {
    Real* arcs = memory + at.arcs + k * at.arcs_size;
    copy_arcs(d, scores, k, memory + at.row, arcs);
    const Real highest = exponentiate(d, arcs, at.arcs_size);
    if (highest == kExcluded) return false;
    shift += static_cast<double>(steps_with(chain, k)) * highest;
    turn_arcs(automaton, arcs, memory + at.turned + k * at.turned_size);
  }

  // a_t
  LogProduct product_of_z;
  for (std::size_t t = 0; t < length; ++t) {
    Real *a = memory + at.forward + t * at.states, *reach = memory + at.reach + t * at.places;
    const Real* potentials = memory + at.potentials + t * stride;
    if (t == 0) {
      std::fill_n(a, at.states, Real{0});
      std::fill_n(reach, at.places, Real{0});
      std::copy_n(potentials, stride, reach + at.places - stride);
      for (std::size_t j = 0; j < labels; ++j) a[automaton.single[j]] = potentials[j];
    } else {
      std::fill(a + automaton.num_states, a + at.states, Real{0});
      go_forward(d, automaton, a - at.states, memory + at.arcs + table_of(chain, t) * at.arcs_size,
                 potentials, reach, a);
    }
    const Real z = normalise(d, a, at.states);
    if (!(z * kLargest > 1)) return false;
    product_of_z.times(z);
    memory[at.inverse + t] = 1 / z;
  }
  *log_z = shift + product_of_z.value();

  // b_t and with it the marginals of nodes, then h_t.
  std::fill_n(memory + at.scaled + (length - 1) * at.places, at.places, Real{1});
  auto largest = hn::Zero(d);
  for (std::size_t t = length; t-- > 0;) {
    Real *h = memory + at.scaled + t * at.places, *row = memory + at.row;
    const auto over_z =
        scale_backward(d, automaton, memory[at.inverse + t], memory + at.reach + t * at.places,
                       memory + at.potentials + t * stride, h, row);
    largest = largest_so_far(d, largest, over_z);
    store_row(d, row, labels, mu + t * labels);
    if (t > 0) {
      go_backward(d, automaton, h, memory + at.turned + table_of(chain, t) * at.turned_size,
                  memory + at.block, h - at.places);
    }
  }
  if (!(hn::GetLane(hn::MaxOfLanes(d, largest)) <= kLargest)) return false;

  const std::size_t nodes = length * labels;
  std::fill_n(mu + nodes, chain.num_tables * labels * labels + automaton.ngram_index.size(), Real{0});
  if (num_arcs > 0) count_steps(d, scores, at, memory);
  for (std::size_t k = 0; k < num_arcs; ++k)
    add_up_counts(d, scores, k, memory + at.arcs + k * at.arcs_size, mu);
  return true;
}

// v_t(q') = s_t(j) + max over the states q that j leads from to q' of v_{t-1}(q) + log W_t(q, j)
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void go_to_best(D d, const NgramAutomaton& automaton, const Real* before, const Real* arcs,
                           const Real* nodes, Real* reach, Real* v) {
  const std::size_t lanes = hn::Lanes(d), stride = automaton.stride;
  const Real* passes = passes_of(automaton, Real{});
  const auto excluded = hn::Set(d, -std::numeric_limits<Real>::infinity());
  for (std::size_t c = 0; c < automaton.num_classes; ++c) {
    const std::size_t begin = automaton.class_begin[c];
    best_row(d, before + begin, arcs + begin * stride, automaton.class_begin[c + 1] - begin, stride,
             reach + c * stride);
  }
  for (std::size_t c = 0; c + 1 < automaton.num_classes; ++c) {
    const Real* from = reach + c * stride;
    Real* to = reach + automaton.parent[c] * stride;
    for (std::size_t k = 0; k < stride; k += lanes) {
      const auto own = hn::Eq(hn::Load(d, passes + c * stride + k), hn::Zero(d));
      const auto passed = hn::IfThenElse(own, excluded, hn::Load(d, from + k));
      hn::Store(hn::Max(hn::Load(d, to + k), passed), d, to + k);
    }
  }
  for (std::size_t q = 0; q < automaton.num_states; ++q)
    v[q] = nodes[automaton.label[q]] + reach[automaton.place[q]];
}

template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void ngram_best(D d, const NgramChainScores<Real>& scores, std::uint32_t* y, std::uint32_t* states,
                           Real* memory) {
  const ChainScores<Real>& chain = scores.chain;
  const NgramAutomaton& automaton = *scores.automaton;
  const std::size_t labels = chain.labels, length = chain.length, num_states = automaton.num_states;
  const NgramScratch at(length, chain.num_tables, automaton);
  constexpr Real kExcluded = -std::numeric_limits<Real>::infinity();
  const auto arcs_of = [&](std::size_t t) { return memory + at.arcs + table_of(chain, t) * at.arcs_size; };
  const auto values = [&](std::size_t t) { return memory + at.forward + t * at.states; };

  copy_nodes(d, chain, memory + at.potentials);
  for (std::size_t k = 0; length > 1 && k < at.num_arcs; ++k)
    copy_arcs(d, scores, k, memory + at.row, memory + at.arcs + k * at.arcs_size);
  std::fill_n(values(0), num_states, kExcluded);
  for (std::size_t j = 0; j < labels; ++j) values(0)[automaton.single[j]] = memory[at.potentials + j];
  for (std::size_t t = 1; t < length; ++t) {
    go_to_best(d, automaton, values(t - 1), arcs_of(t), memory + at.potentials + t * at.stride,
               memory + at.reach, values(t));
  }

  // The way back. Several states may be equally good with the labels chosen so far: all are kept, until a
  // label before them decides.
  std::uint32_t *kept = states, *before = states + num_states, *is_kept = states + 2 * num_states;
  std::fill_n(is_kept, num_states, 0u);
  Real* highest = memory + at.block;
  const Real* last = values(length - 1);
  const Real best = *std::max_element(last, last + num_states);
  std::size_t num_kept = 0;
  for (std::uint32_t q = 0; q < num_states; ++q) {
    if (last[q] == best) kept[num_kept++] = q;
  }
  for (std::size_t t = length - 1;; --t) {
    std::uint32_t j = automaton.label[kept[0]];
    for (std::size_t n = 1; n < num_kept; ++n) j = std::min(j, automaton.label[kept[n]]);
    y[t] = j;
    if (t == 0) return;
    for (std::size_t n = 0; n < num_kept; ++n) {
      is_kept[kept[n]] = automaton.label[kept[n]] == j ? 1 : 0;
      highest[kept[n]] = kExcluded;
    }
    // Calls use(q, where j leads to from q, the score of that) for all states q that lead to one that is
    // kept.
    const Real *v = values(t - 1), *arcs = arcs_of(t) + j;
    const auto for_each_way = [&](const auto& use) {
      for (std::size_t c = 0; c < automaton.num_classes; ++c) {
        const std::uint32_t to = automaton.target[c * labels + j];
        if (!is_kept[to]) continue;
        for (std::uint32_t q = automaton.class_begin[c]; q < automaton.class_begin[c + 1]; ++q)
          use(q, to, v[q] + arcs[q * at.stride]);
      }
    };
    for_each_way(
        [&](std::uint32_t, std::uint32_t to, Real value) { highest[to] = std::max(highest[to], value); });
    std::size_t num_before = 0;
    for_each_way([&](std::uint32_t q, std::uint32_t to, Real value) {
      if (value == highest[to]) before[num_before++] = q;
    });
    for (std::size_t n = 0; n < num_kept; ++n) is_kept[kept[n]] = 0;
    std::swap(kept, before);
    num_kept = num_before;
  }
}

// HWY_EXPORT takes plain names. Vector lengths are those of kernels/chain.cc.
bool ngram_marginals_f32(const NgramChainScores<float>& scores, float* mu, double* log_z, float* scratch) {
  // NOLINTNEXTLINE(bugprone-branch-clone): the two are the same only where vectors are short
  return scores.chain.labels > 4 ? ngram_marginals(hn::CappedTag<float, 8>(), scores, mu, log_z, scratch)
                                 : ngram_marginals(hn::CappedTag<float, 4>(), scores, mu, log_z, scratch);
}
bool ngram_marginals_f64(const NgramChainScores<double>& scores, double* mu, double* log_z, double* scratch) {
  return ngram_marginals(hn::CappedTag<double, 4>(), scores, mu, log_z, scratch);
}
void ngram_best_f32(const NgramChainScores<float>& scores, std::uint32_t* y, std::uint32_t* states,
                    float* scratch) {
  // NOLINTNEXTLINE(bugprone-branch-clone): as above
  return scores.chain.labels > 4 ? ngram_best(hn::CappedTag<float, 8>(), scores, y, states, scratch)
                                 : ngram_best(hn::CappedTag<float, 4>(), scores, y, states, scratch);
}
void ngram_best_f64(const NgramChainScores<double>& scores, std::uint32_t* y, std::uint32_t* states,
                    double* scratch) {
  ngram_best(hn::CappedTag<double, 4>(), scores, y, states, scratch);
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(ngram_marginals_f32);
HWY_EXPORT(ngram_marginals_f64);
HWY_EXPORT(ngram_best_f32);
HWY_EXPORT(ngram_best_f64);

std::size_t ngram_chain_scratch(std::size_t length, std::size_t num_tables, const NgramAutomaton& automaton) {
  return HWY_NAMESPACE::NgramScratch(length, num_tables, automaton).size;
}

bool ngram_chain_marginals(const NgramChainScores<float>& scores, float* mu, double* log_z, float* scratch) {
  return HWY_DYNAMIC_DISPATCH(ngram_marginals_f32)(scores, mu, log_z, scratch);
}
bool ngram_chain_marginals(const NgramChainScores<double>& scores, double* mu, double* log_z,
                           double* scratch) {
  return HWY_DYNAMIC_DISPATCH(ngram_marginals_f64)(scores, mu, log_z, scratch);
}
void ngram_chain_best(const NgramChainScores<float>& scores, std::uint32_t* y, std::uint32_t* states,
                      float* scratch) {
  HWY_DYNAMIC_DISPATCH(ngram_best_f32)(scores, y, states, scratch);
}
void ngram_chain_best(const NgramChainScores<double>& scores, std::uint32_t* y, std::uint32_t* states,
                      double* scratch) {
  HWY_DYNAMIC_DISPATCH(ngram_best_f64)(scores, y, states, scratch);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
