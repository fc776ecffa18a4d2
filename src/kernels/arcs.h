#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/base/soft_threshold.h"

namespace espalier::kernels {

// A feature has a cache line of weights for itself and some neighbours: column 0 is the feature as it is, the
// others have it with a distance. Columns begin anywhere on the line and go on at its beginning, so that
// features that meet on a line seldom meet in all of them.
inline constexpr std::size_t kLineOfWeights = 16, kArcColumns = 8;
constexpr std::uint32_t place_in_column(std::uint32_t key, std::uint32_t column) {
  return (key & ~15u) | ((key + column) & 15u);
}

// Where the weights of the features of some arcs are that have one modifier, and their heads on one side: n
// templates with keys x[t] = heads[head * stride + t] ^ modifier[t], without the distance and then with it.
// Those of arc k begin at places[2 n k]:
//   places[2 n k + t] = x[t] & mask,   places[2 n k + n + t] = place_in_column(x[t], column) & mask.
// Reads up to 15 elements after the end of each row of keys, and writes up to 15 after the places.
struct ArcEnd {
  std::uint32_t head, column;
};
struct ArcKeyRows {
  const std::uint32_t *heads, *modifier;
  std::size_t stride, n;
  std::uint32_t mask;
};
void arc_places(const ArcKeyRows& keys, const ArcEnd* arcs, std::size_t num_arcs, std::uint32_t* places);

// Sums over whole lines of features, for all distances at once. A row is a line, too, of which the first
// kArcColumns values count; weights and rows start on a cache line.
//   row[c] = start[c] + sum_t soft(w[place_in_column(places[t], c)], threshold)
// for the next num_places of `places`, which follow each other, one feature after the other: n features give
// the same as some and then the others. Rows and starts are numbers of rows.
struct RowSum {
  std::uint32_t row, start, num_places;
};
// One such row for each arc, in their order, and its score: totals[k] += row[0] + row[column of arc k].
template <class Real, class Sum>
void sum_rows_of_arcs(const Real* w, Sum threshold, const std::uint32_t* places, const RowSum* sums,
                      const ArcEnd* arcs, std::size_t num_arcs, Sum* rows, Sum* totals);
// The adjoint: w[place_in_column(places[t], c)] += row[c] for all columns of the line. Those from kArcColumns
// on have to be zero.
template <class Real>
void add_row(const std::uint32_t* places, std::size_t n, const Real* row, Real* w);

// What the kernels must agree with, written the plain way.
namespace reference {
inline void arc_places(const ArcKeyRows& keys, const ArcEnd* arcs, std::size_t num_arcs,
                       std::uint32_t* places) {
  for (std::size_t k = 0; k < num_arcs; ++k, places += 2 * keys.n) {
    for (std::size_t t = 0; t < keys.n; ++t) {
      const std::uint32_t x = keys.heads[arcs[k].head * keys.stride + t] ^ keys.modifier[t];
      places[t] = x & keys.mask;
      places[keys.n + t] = place_in_column(x, arcs[k].column) & keys.mask;
    }
  }
}
template <class Real, class Sum>
void sum_rows_of_arcs(const Real* w, Sum threshold, const std::uint32_t* places, const RowSum* sums,
                      const ArcEnd* arcs, std::size_t num_arcs, Sum* rows, Sum* totals) {
  for (std::size_t k = 0; k < num_arcs; ++k) {
    Sum* row = rows + sums[k].row * kLineOfWeights;
    for (std::uint32_t c = 0; c < kArcColumns; ++c) {
      Sum sum = rows[sums[k].start * kLineOfWeights + c];
      for (std::size_t t = 0; t < sums[k].num_places; ++t)
        sum += soft(static_cast<Sum>(w[place_in_column(places[t], c)]), threshold);
      row[c] = sum;
    }
    places += sums[k].num_places;
    totals[k] += row[0] + row[arcs[k].column];
  }
}
template <class Real>
void add_row(const std::uint32_t* places, std::size_t n, const Real* row, Real* w) {
  for (std::size_t t = 0; t < n; ++t) {
    for (std::uint32_t c = 0; c < kArcColumns; ++c) w[place_in_column(places[t], c)] += row[c];
  }
}
}  // namespace reference

}  // namespace espalier::kernels
