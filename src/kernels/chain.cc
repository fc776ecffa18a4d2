// Forward-backward and Viterbi for chains, vectorised over labels.
//
// With potentials E_t(j) = exp s_t(j) and M_t(i, j) = exp of the transition scores, each divided by its
// largest value,
//
//   forward    a_t(j) = E_t(j) sum_i a_{t-1}(i) M_t(i, j) / z_t        z_t makes a_t sum to one
//   backward   b_{t-1}(i) = sum_j M_t(i, j) h_t(j)                     h_t(j) = E_t(j) b_t(j) / z_t,
//              b_m = 1
//
// so that E[y_t = j] = a_t(j) b_t(j), E[y_{t-1} = i, y_t = j] = a_{t-1}(i) M_t(i, j) h_t(j), and log Z is the
// sum of the log z_t and of the divisors' logarithms. Transitions that share a table are exponentiated once,
// and their expected counts are M o sum_t a_{t-1} h_t': one product of matrices.
//
// What is lost: a potential below kSmallest counts as zero, and so may a forward message. Such an entry would
// have changed a marginal by at most kSmallest b_t(j)/z_t, so where b_t/z_t stays below kLargest nothing is
// lost that could be seen. Where it does not, the caller has to work with logarithms.

#include "kernels/chain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/chain.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "kernels/chain-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Scratch memory, row by row of `stride` elements.
template <class Real>
struct Scratch {
  std::size_t stride;
  Real *potentials, *forward, *scaled;  // `length` rows: E_t, a_t, h_t
  Real *matrices, *transposed;          // `labels` rows a table: M and its transpose
  Real* sums;                           // the same, for tables that are not the only one
  Real* row;                            // one row: b_t

  Scratch(const ChainScores<Real>& chain, Real* memory) : stride(chain_stride(chain.labels)) {
    const auto take = [&](std::size_t rows) {
      Real* start = memory;
      memory += rows * stride;
      return start;
    };
    const std::size_t rows = chain.num_tables * chain.labels;
    potentials = take(chain.length);
    forward = take(chain.length);
    scaled = take(chain.length);
    matrices = take(rows);
    transposed = take(rows);
    sums = take(chain.num_tables > 1 ? rows : 0);
    row = take(1);
  }
};

template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void copy_tables(D d, const ChainScores<Real>& chain, const Scratch<Real>& scratch) {
  const std::size_t labels = chain.labels;
  const Real* tables = chain.s + chain.length * labels;
  for (std::size_t r = 0; r < chain.num_tables * labels; ++r) {
    const std::uint8_t* allowed = chain.step ? chain.step + r % labels * labels : nullptr;
    copy_row(d, tables + r * labels, labels, allowed, scratch.matrices + r * scratch.stride);
  }
}

// E[y_{t-1} = i, y_t = j] = a_{t-1}(i) M_t(i, j) h_t(j) for each step.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void store_pairs(D d, const ChainScores<Real>& chain, const Scratch<Real>& scratch, Real* pairs) {
  const std::size_t lanes = hn::Lanes(d), labels = chain.labels, stride = scratch.stride;
  const std::size_t whole = labels / lanes * lanes;
  for (std::size_t t = 1; t < chain.length; ++t) {
    const Real *a = scratch.forward + (t - 1) * stride, *h = scratch.scaled + t * stride;
    const Real* row = scratch.matrices + table_of(chain, t) * labels * stride;
    for (std::size_t i = 0; i < labels; ++i, row += stride, pairs += labels) {
      const auto before = hn::Set(d, a[i]);
      const auto pair = [&](std::size_t k) HWY_ATTR {
        return hn::Mul(before, hn::Mul(hn::Load(d, row + k), hn::Load(d, h + k)));
      };
      std::size_t k = 0;
      for (; k < whole; k += lanes) hn::StoreU(pair(k), d, pairs + k);
      if (k < labels) hn::BlendedStore(pair(k), hn::FirstN(d, labels - k), d, pairs + k);
    }
  }
}

// Potentials, and messages a_t with log Z; h_t holds 1/z_t in its first element until the way back. False
// where no sequence is possible, z_t is too small, or a bound on b_t/z_t is above `limit`: no potential is
// above 1, so with L labels it is at most the product of L/z_r from t on.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE bool forward(D d, const ChainScores<Real>& chain, const Scratch<Real>& scratch, Real limit,
                        double* log_z) {
  const std::size_t lanes = hn::Lanes(d), labels = chain.labels, length = chain.length;
  const std::size_t stride = scratch.stride, square = labels * stride;
  constexpr Real kExcluded = -std::numeric_limits<Real>::infinity();
  constexpr Real kLargest = Range<Real>::kLargest;

  copy_nodes(d, chain, scratch.potentials);
  double shift = 0;
  for (std::size_t t = 0; t < length; ++t) {
    const Real highest = exponentiate(d, scratch.potentials + t * stride, stride);
    if (highest == kExcluded) return false;
    shift += highest;
  }
  copy_tables(d, chain, scratch);
  for (std::size_t k = 0; k < chain.num_tables; ++k) {
    const Real highest = exponentiate(d, scratch.matrices + k * square, square);
    if (highest == kExcluded) return false;
    shift += static_cast<double>(steps_with(chain, k)) * highest;
  }

  LogProduct product_of_z;
  Real bound = 1;
  std::copy_n(scratch.potentials, stride, scratch.forward);
  for (std::size_t t = 0; t < length; ++t) {
    Real* a = scratch.forward + t * stride;
    if (t > 0) {
      product(d, a - stride, scratch.matrices + table_of(chain, t) * square, labels, stride, a);
      const Real* e = scratch.potentials + t * stride;
      for (std::size_t k = 0; k < stride; k += lanes)
        hn::Store(hn::Mul(hn::Load(d, a + k), hn::Load(d, e + k)), d, a + k);
    }
    const Real z = normalise(d, a, stride);
    bound *= std::max(Real{1}, static_cast<Real>(labels) / z);
    if (!(z * kLargest > 1 && bound <= limit)) return false;
    product_of_z.times(z);
    scratch.scaled[t * stride] = 1 / z;
  }
  *log_z = shift + product_of_z.value();
  return true;
}

// log Z alone: where even the bound stays below kLargest, nothing was lost, and there is no need of a way
// back to know it.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE bool log_partition(D d, const ChainScores<Real>& chain, double* log_z, Real* memory) {
  return forward(d, chain, Scratch<Real>(chain, memory), Range<Real>::kLargest, log_z);
}

// With pairs, unless they are nullptr.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE bool marginals(D d, const ChainScores<Real>& chain, Real* mu, Real* pairs, double* log_z,
                          Real* memory) {
  const std::size_t lanes = hn::Lanes(d), labels = chain.labels, length = chain.length;
  const Scratch<Real> scratch(chain, memory);
  const std::size_t stride = scratch.stride, square = labels * stride;
  constexpr Real kLargest = Range<Real>::kLargest;

  if (!forward(d, chain, scratch, std::numeric_limits<Real>::infinity(), log_z)) return false;
  for (std::size_t k = 0; k < chain.num_tables; ++k) {
    const Real* matrix = scratch.matrices + k * square;
    Real* transposed = scratch.transposed + k * square;
    for (std::size_t j = 0; j < labels; ++j) {
      for (std::size_t i = 0; i < labels; ++i) transposed[j * stride + i] = matrix[i * stride + j];
      for (std::size_t i = labels; i < stride; ++i) transposed[j * stride + i] = 0;
    }
  }

  // b_t and with it the marginals of nodes, then h_t.
  Real* b = scratch.row;
  for (std::size_t k = 0; k < stride; k += lanes) hn::Store(hn::Set(d, Real{1}), d, b + k);
  auto largest = hn::Zero(d);
  for (std::size_t t = length; t-- > 0;) {
    Real *a = scratch.forward + t * stride, *e = scratch.potentials + t * stride,
         *h = scratch.scaled + t * stride;
    const auto inverse = hn::Set(d, h[0]);
    for (std::size_t k = 0; k < stride; k += lanes) {
      const auto backward = hn::Load(d, b + k);
      const auto over_z = hn::Mul(backward, inverse);
      largest = largest_so_far(d, largest, over_z);
      hn::Store(hn::Mul(hn::Load(d, a + k), backward), d, b + k);
      hn::Store(hn::Mul(hn::Load(d, e + k), over_z), d, h + k);
    }
    store_row(d, b, labels, mu + t * labels);
    if (t > 0) product(d, h, scratch.transposed + table_of(chain, t) * square, labels, stride, b);
  }
  if (!(hn::GetLane(hn::MaxOfLanes(d, largest)) <= kLargest)) return false;

  if (pairs) store_pairs(d, chain, scratch, pairs);

  // Expected counts of transitions.
  if (chain.num_tables == 1) {
    tied_counts(d, scratch.forward, stride, scratch.scaled, stride, length - 1, labels, scratch.matrices,
                stride);
  } else if (chain.num_tables > 1) {
    std::fill_n(scratch.sums, chain.num_tables * square, Real{0});
    for (std::size_t t = 1; t < length; ++t) {
      add_step(d, scratch.forward + (t - 1) * stride, scratch.scaled + t * stride, labels,
               scratch.sums + table_of(chain, t) * square, stride);
    }
    for (std::size_t k = 0; k < chain.num_tables * square; k += lanes) {
      Real* at = scratch.matrices + k;
      hn::Store(hn::Mul(hn::Load(d, scratch.sums + k), hn::Load(d, at)), d, at);
    }
  }
  Real* out = mu + length * labels;
  for (std::size_t r = 0; r < chain.num_tables * labels; ++r)
    store_row(d, scratch.matrices + r * stride, labels, out + r * labels);
  return true;
}

template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void best(D d, const ChainScores<Real>& chain, std::uint32_t* y, Real* memory) {
  const std::size_t lanes = hn::Lanes(d), labels = chain.labels, length = chain.length;
  const Scratch<Real> scratch(chain, memory);
  const std::size_t stride = scratch.stride, square = labels * stride;
  copy_nodes(d, chain, scratch.potentials);
  copy_tables(d, chain, scratch);

  // v_t(j) = s_t(j) + max_i v_{t-1}(i) + T_t(i, j), in place of s_t(j).
  for (std::size_t t = 1; t < length; ++t) {
    const Real *before = scratch.potentials + (t - 1) * stride,
               *table = scratch.matrices + table_of(chain, t) * square;
    Real *v = scratch.potentials + t * stride, *reach = scratch.row;
    best_row(d, before, table, labels, stride, reach);
    for (std::size_t k = 0; k < stride; k += lanes)
      hn::Store(hn::Add(hn::Load(d, v + k), hn::Load(d, reach + k)), d, v + k);
  }

  // The way back asks again which label was the best before: cheaper than having kept the answer for all of
  // them.
  const Real* last = scratch.potentials + (length - 1) * stride;
  y[length - 1] = static_cast<std::uint32_t>(std::max_element(last, last + labels) - last);
  for (std::size_t t = length - 1; t > 0; --t) {
    const Real *before = scratch.potentials + (t - 1) * stride,
               *table = scratch.matrices + table_of(chain, t) * square + y[t];
    std::uint32_t from = 0;
    Real highest = before[0] + table[0];
    for (std::uint32_t i = 1; i < labels; ++i) {
      const Real value = before[i] + table[i * stride];
      if (value > highest) {
        highest = value;
        from = i;
      }
    }
    y[t - 1] = from;
  }
}

// HWY_EXPORT takes plain names. Strides are 4 or a multiple of 8, so that one of these vector lengths divides
// them.
bool marginals_f32(const ChainScores<float>& chain, float* mu, float* pairs, double* log_z, float* scratch) {
  // NOLINTNEXTLINE(bugprone-branch-clone): the two are the same only where vectors are short
  return chain.labels > 4 ? marginals(hn::CappedTag<float, 8>(), chain, mu, pairs, log_z, scratch)
                          : marginals(hn::CappedTag<float, 4>(), chain, mu, pairs, log_z, scratch);
}
bool marginals_f64(const ChainScores<double>& chain, double* mu, double* log_z, double* scratch) {
  return marginals(hn::CappedTag<double, 4>(), chain, mu, static_cast<double*>(nullptr), log_z, scratch);
}
bool log_partition_f64(const ChainScores<double>& chain, double* log_z, double* scratch) {
  return log_partition(hn::CappedTag<double, 4>(), chain, log_z, scratch);
}
void best_f32(const ChainScores<float>& chain, std::uint32_t* y, float* scratch) {
  // NOLINTNEXTLINE(bugprone-branch-clone): as above
  return chain.labels > 4 ? best(hn::CappedTag<float, 8>(), chain, y, scratch)
                          : best(hn::CappedTag<float, 4>(), chain, y, scratch);
}
void best_f64(const ChainScores<double>& chain, std::uint32_t* y, double* scratch) {
  best(hn::CappedTag<double, 4>(), chain, y, scratch);
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(marginals_f32);
HWY_EXPORT(marginals_f64);
HWY_EXPORT(log_partition_f64);
HWY_EXPORT(best_f32);
HWY_EXPORT(best_f64);

std::size_t chain_scratch(std::size_t length, std::size_t labels, std::size_t num_tables) {
  return (3 * length + (num_tables > 1 ? 3 : 2) * num_tables * labels + 1) * chain_stride(labels);
}

bool chain_marginals(const ChainScores<float>& chain, float* mu, double* log_z, float* scratch) {
  return HWY_DYNAMIC_DISPATCH(marginals_f32)(chain, mu, nullptr, log_z, scratch);
}
bool chain_pair_marginals(const ChainScores<float>& chain, float* mu, float* pairs, double* log_z,
                          float* scratch) {
  return HWY_DYNAMIC_DISPATCH(marginals_f32)(chain, mu, pairs, log_z, scratch);
}
bool chain_marginals(const ChainScores<double>& chain, double* mu, double* log_z, double* scratch) {
  return HWY_DYNAMIC_DISPATCH(marginals_f64)(chain, mu, log_z, scratch);
}
bool chain_log_partition(const ChainScores<double>& chain, double* log_z, double* scratch) {
  return HWY_DYNAMIC_DISPATCH(log_partition_f64)(chain, log_z, scratch);
}
void chain_best(const ChainScores<float>& chain, std::uint32_t* y, float* scratch) {
  HWY_DYNAMIC_DISPATCH(best_f32)(chain, y, scratch);
}
void chain_best(const ChainScores<double>& chain, std::uint32_t* y, double* scratch) {
  HWY_DYNAMIC_DISPATCH(best_f64)(chain, y, scratch);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
