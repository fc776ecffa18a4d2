#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace espalier {

// The smallest move that meets k linear constraints, up to a slack that they share,
//   min_x,xi 1/2 |x|^2 + cap xi   such that   a_r.x >= b_r - xi for r = 1, ..., k,   xi >= 0,
// by its dual: x = sum_r alpha_r a_r with
//   max sum_r alpha_r b_r - 1/2 |sum_r alpha_r a_r|^2   over   alpha_r >= 0,   sum_r alpha_r <= cap.
// Hildreth's row-action method (Censor and Zenios 1997, chapter 6): one row at a time takes the alpha_r at
// which its constraint is met exactly, or the nearest that is allowed. Since the rows share their slack, what
// one of them takes must be there to take: xi >= 0 is a row like the others, with a_0 = 0, b_0 = 0 and the
// alpha_0 that is left of cap, so that sum_{r >= 0} alpha_r = cap, and an action moves alpha from the row
// that wants it least to the one that wants it most.
class Hildreth {
 public:
  // gram[r k + t] = a_r.a_t, k x k. Ends when no row wants more than 1e-9 of the largest b, or after many
  // actions: rows that are nearly the same take long, and then hardly matter. The result is valid until the
  // next call.
  std::span<const double> solve(std::span<const double> gram, std::span<const double> b, double cap);

 private:
  std::vector<double> alpha_, wants_;  // row 0 is xi >= 0
};

}  // namespace espalier
