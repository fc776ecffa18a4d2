#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::kernels {

inline constexpr std::uint32_t kEndOfGroup = 0x80000000;

// See features/row_overlap.h.
struct Overlap {
  const double* own;  // c_r, exact for the sum in double
  std::size_t rows;
  const std::uint32_t* members;  // rows by groups; the last of each group has kEndOfGroup set
  const float* values;           // of members; nullptr: ones
  std::size_t num_members;
};

// sum_r c_r |delta_r|^2 + sum over groups of | sum_r x_r delta_r |^2, where delta_r is `width` values from r
// * width on.
double overlap_norm(const Overlap& overlap, const float* delta, std::size_t width);

// What the kernel must agree with, written the plain way.
namespace reference {
template <class Real>
double overlap_norm(const Overlap& overlap, const Real* delta, std::size_t width) {
  double sum = 0;
  for (std::size_t r = 0; r < overlap.rows; ++r) {
    for (std::size_t k = 0; k < width; ++k) {
      const double x = delta[r * width + k];
      sum += overlap.own[r] * x * x;
    }
  }
  for (std::size_t begin = 0, end; begin < overlap.num_members; begin = end) {
    end = begin;
    while (!(overlap.members[end] & kEndOfGroup)) ++end;
    ++end;
    for (std::size_t k = 0; k < width; ++k) {
      double total = 0;
      for (std::size_t j = begin; j < end; ++j) {
        const double value = overlap.values ? overlap.values[j] : 1.0f;
        total += value * delta[(overlap.members[j] & ~kEndOfGroup) * width + k];
      }
      sum += total * total;
    }
  }
  return sum;
}
}  // namespace reference
}  // namespace espalier::kernels
