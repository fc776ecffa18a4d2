#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/arcs.h"

namespace espalier::kernels {

// One change in a list of them: what is added to some weights that lie side by side. With x the values from
// `source` on,
//   w[place + k] += scale x[k] for k < width,
// or, where the width is kTurnedLine, the 16 values of a row of arcs (kernels/arcs.h), whose scale is 1:
//   w[place_in_column(place, c)] += x[c] for all columns c of the line.
struct RowChange {
  std::uint64_t place : 44, width : 20;
  std::uint32_t source;
  float scale;
};
static_assert(sizeof(RowChange) == 16);
inline constexpr std::size_t kTurnedLine = 0, kWidestChange = (std::size_t{1} << 20) - 1;

// Makes all of them, in order. Where there are `columns`, change j is made where its bit of columns[j] is 1;
// none is wider than 64 then. Rows of arcs and weights start on cache lines.
template <class Real>
void add_changes(const RowChange* changes, const std::uint64_t* columns, std::size_t n, const Real* x,
                 Real* w);

// Rows of weights that the tokens of an example change.
struct OwnedTokens {
  const std::uint32_t* ids;
  const std::uint16_t* tokens;
  std::size_t size;
};

// With x_t the `stride` values of token t, one after the other, for tokens that move:
//   w[id_j stride + k] += x_t(j)[k] for k < stride
template <class Real>
void add_owned(const OwnedTokens& rows, const std::uint8_t* moves, std::size_t stride, const Real* x,
               Real* w);

// What the kernels must agree with, written the plain way.
namespace reference {
template <class Real>
void add_owned(const OwnedTokens& rows, const std::uint8_t* moves, std::size_t stride, const Real* x,
               Real* w) {
  for (std::size_t j = 0; j < rows.size; ++j) {
    if (!moves[rows.tokens[j]]) continue;
    for (std::size_t k = 0; k < stride; ++k) w[rows.ids[j] * stride + k] += x[rows.tokens[j] * stride + k];
  }
}
template <class Real>
void add_changes(const RowChange* changes, const std::uint64_t* columns, std::size_t n, const Real* x,
                 Real* w) {
  for (std::size_t j = 0; j < n; ++j) {
    const RowChange& change = changes[j];
    const Real* values = x + change.source;
    if (change.width == kTurnedLine) {
      for (std::uint32_t c = 0; c < kLineOfWeights; ++c)
        w[place_in_column(static_cast<std::uint32_t>(change.place), c)] += values[c];
      continue;
    }
    for (std::size_t k = 0; k < change.width; ++k) {
      if (columns && (columns[j] >> k & 1) == 0) continue;
      w[change.place + k] += static_cast<Real>(change.scale) * values[k];
    }
  }
}
}  // namespace reference

}  // namespace espalier::kernels
