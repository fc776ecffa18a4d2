#pragma once

#include <algorithm>
#include <cstddef>

#include "espalier/base/soft_threshold.h"
#include "espalier/features/sparse_rows.h"
#include "features/observed_pairs.h"
#include "features/row_changes.h"
#include "kernels/relaxed.h"

namespace espalier {

// What kernels/rows.h does for weights of all labels, for those of observed pairs: w[e] is the weight of pair
// e, and s and delta have `width` values per row. Most attributes have one or two labels, too few for
// vectors.

// Calls use(r, x, first, last) for each entry of each row: its value and the pairs of its attribute. Where
// those lie is asked for well ahead, then the pairs themselves and their weights.
template <class W, class Use>
void for_each_entry(const ObservedPairs& pairs, const SparseRows::Range& rows, const W* w, const Use& use) {
  constexpr std::size_t kAhead = 8;
  const std::size_t end = rows.offsets[rows.size];
  const std::uint64_t* offsets = pairs.offsets().data();
  const std::uint32_t* labels = pairs.labels().data();
  for (std::size_t r = 0; r < rows.size; ++r) {
    for (std::size_t j = rows.offsets[r]; j < rows.offsets[r + 1]; ++j) {
      if (j + 2 * kAhead < end) __builtin_prefetch(offsets + rows.ids[j + 2 * kAhead]);
      if (j + kAhead < end) {
        const std::size_t first = offsets[rows.ids[j + kAhead]];
        __builtin_prefetch(labels + first);
        __builtin_prefetch(w + first);
      }
      const std::uint32_t a = rows.ids[j];
      use(r, rows.values ? rows.values[j] : 1.0f, offsets[a], offsets[a + 1]);
    }
  }
}

// s_rj = scale * sum_a x_ra soft(w_aj), where pair 0 is row `first_row` of the threshold.
template <class W, class Real>
void score_pairs(const ObservedPairs& pairs, const SparseRows::Range& rows, std::size_t width, const W* w,
                 const SoftThreshold& threshold, std::size_t first_row, Real scale, Real* s) {
  std::fill_n(s, rows.size * width, Real{0});
  const std::uint32_t* labels = pairs.labels().data();
  if (!threshold.any()) {
    return for_each_entry(pairs, rows, w, [=](std::size_t r, float x, std::size_t first, std::size_t last) {
      for (std::size_t e = first; e < last; ++e) {
        s[r * width + labels[e]] +=
            scale * static_cast<Real>(x) * static_cast<Real>(kernels::relaxed_load(w + e));
      }
    });
  }
  for_each_entry(pairs, rows, w, [=](std::size_t r, float x, std::size_t first, std::size_t last) {
    // The pairs of an attribute are all in the range of the threshold, or none is.
    const auto t = static_cast<Real>(threshold.of_row(first_row + first));
    for (std::size_t e = first; e < last; ++e) {
      s[r * width + labels[e]] +=
          scale * static_cast<Real>(x) * soft(static_cast<Real>(kernels::relaxed_load(w + e)), t);
    }
  });
}

// w_aj += sum_r x_ra delta_rj
template <class Real>
void accumulate_pairs(const ObservedPairs& pairs, const SparseRows::Range& rows, std::size_t width,
                      const Real* delta, Real* w) {
  const std::uint32_t* labels = pairs.labels().data();
  for_each_entry(pairs, rows, w, [=](std::size_t r, float x, std::size_t first, std::size_t last) {
    for (std::size_t e = first; e < last; ++e) {
      const Real change = static_cast<Real>(x) * delta[r * width + labels[e]];
      kernels::relaxed_store(w + e, kernels::relaxed_load(w + e) + change);
    }
  });
}

// The same, listed: the pairs of an attribute lie side by side. Pair 0 is the weight `first_weight`.
template <class Real>
void list_pairs(const ObservedPairs& pairs, const SparseRows::Range& rows, std::size_t width,
                const Real* delta, std::size_t first_weight, RowChanges<Real>& changes) {
  constexpr std::size_t kPiece = RowChanges<Real>::kPiece;
  const std::uint32_t* labels = pairs.labels().data();
  for_each_entry(pairs, rows, labels, [&](std::size_t r, float x, std::size_t first, std::size_t last) {
    Real run[kPiece];
    for (std::size_t begin = first; begin < last; begin += kPiece) {
      const std::size_t n = std::min(kPiece, last - begin);
      for (std::size_t e = 0; e < n; ++e)
        run[e] = static_cast<Real>(x) * delta[r * width + labels[begin + e]];
      changes.add_run(first_weight + begin, run, n);
    }
  });
}

}  // namespace espalier
