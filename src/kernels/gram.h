#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/rows.h"

namespace espalier::kernels {

// Arrays over nodes are padded with zeros to a multiple of this, so that no vector ends beyond one.
inline constexpr std::size_t kNodesTogether = 16;
inline std::size_t padded_nodes(std::size_t n) {
  return (n + kNodesTogether - 1) / kNodesTogether * kNodesTogether;
}

// out[v] += x column[v]. Requires n to be a multiple of kNodesTogether.
void add_scaled(float x, const float* column, float* out, std::size_t n);

// k[v] = (scale k[v] + constant)^degree; n as above.
void to_polynomial(float scale, float constant, int degree, float* k, std::size_t n);
// k[v] = exp(-gamma max(0, norm + norms[v] - 2 k[v])); n as above.
void to_gaussian(float gamma, float norm, const float* norms, float* k, std::size_t n);

// Some rows of a Gram matrix, each one value per node, and the nodes that count: node nodes[j] for j < size,
// or all from 0 to size - 1 where nodes is nullptr.
struct GramRows {
  const float* const* rows;
  std::size_t num_rows;
  const std::uint32_t* nodes;
  std::size_t size;
};

// s[r][k] = scale sum_v K[r][v] W[v][k] for k < width: a row of the product after the other, `width` values
// each.
void score_gram(RowTable<const float> w, const GramRows& gram, float scale, float* s);
void score_gram(RowTable<const float> w, const GramRows& gram, double scale, double* s);
void score_gram(RowTable<const double> w, const GramRows& gram, double scale, double* s);

// What the kernels must agree with, written the plain way.
namespace reference {
inline void to_polynomial(float scale, float constant, int degree, float* k, std::size_t n) {
  for (std::size_t v = 0; v < n; ++v)
    k[v] = static_cast<float>(std::pow(static_cast<double>(scale) * k[v] + constant, degree));
}
inline void to_gaussian(float gamma, float norm, const float* norms, float* k, std::size_t n) {
  for (std::size_t v = 0; v < n; ++v) {
    const double squared = static_cast<double>(norm) + norms[v] - 2.0 * k[v];
    k[v] = static_cast<float>(std::exp(-gamma * std::max(0.0, squared)));
  }
}
template <class W, class Real>
void score_gram(RowTable<const W> w, const GramRows& gram, Real scale, Real* s) {
  for (std::size_t r = 0; r < gram.num_rows; ++r) {
    for (std::size_t k = 0; k < w.width; ++k) {
      Real sum = 0;
      for (std::size_t j = 0; j < gram.size; ++j) {
        const std::size_t v = gram.nodes ? gram.nodes[j] : j;
        sum += static_cast<Real>(gram.rows[r][v]) * static_cast<Real>(w.data[v * w.stride + k]);
      }
      s[r * w.width + k] = scale * sum;
    }
  }
}
}  // namespace reference
}  // namespace espalier::kernels
