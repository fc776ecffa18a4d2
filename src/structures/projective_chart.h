#pragma once

#include <cstddef>
#include <span>

#include "espalier/base/workspace.h"

namespace espalier {

// Inside sums over projective trees in logarithms: A, B, R and L of kernels/eisner.cc for all spans i..j, at
// i n + j for n = m + 1.
struct ProjectiveChart {
  // Of scores as an arc matrix. In memory of the frame.
  ProjectiveChart(std::size_t words, bool single_root, std::span<const double> s, Workspace::Frame& frame);

  std::size_t at(std::size_t i, std::size_t j) const { return i * n + j; }
  // The trees whose only modifier of the root is word k: L(1, k) W(0, k) R(k, m).
  double with_root(std::size_t k) const { return left[at(1, k)] + w[at(k, 0)] + right[at(k, n - 1)]; }

  std::size_t n;
  // Scores at [d][h], shifted so that the best of each word is 0: small numbers keep more digits after the
  // point. `shift` is the sum of what was taken away.
  std::span<double> w;
  double shift = 0;
  std::span<double> arcs_right, arcs_left, right, left;
  double log_z;  // without the shift; -infinity where no tree is left
};

}  // namespace espalier
