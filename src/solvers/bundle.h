#pragma once

#include <cstddef>
#include <vector>

#include "base/team.h"
#include "espalier/features/weights.h"
#include "espalier/learning/problem.h"
#include "solvers/plane.h"

namespace espalier {

// Planes below a risk R(theta) >= 0 and the least of what they allow P = l2/2 |theta|^2 + R to be:
//   R(theta) >= a_k.theta + b_k,
//   min_theta l2/2 |theta|^2 + max_k (a_k.theta + b_k)^+  =  max_alpha b.alpha - |A|^2/(2 l2),
//                                                         A = sum_k alpha_k a_k,
// alpha >= 0 and sum alpha <= 1, at theta = -A/l2. Every alpha bounds the optimum of P from below.
class Bundle {
 public:
  // Refers to the problem and the team.
  Bundle(const Problem& problem, double l2, Team& team);

  // Rounds the slope to floats, as it is kept.
  void add(DoubleWeights& slope, double offset);
  // Maximises over alpha, to within the tolerance, and lets go of planes that have long been of no use.
  void solve(double tolerance);

  double bound() const { return bound_; }        // the best so far; never falls
  double accuracy() const { return accuracy_; }  // of the last quadratic program: the gap it was left with
  std::size_t size() const { return planes_.size(); }
  const DoubleWeights& minimiser() const { return minimiser_; }  // -A/l2

 private:
  void combine();
  void drop_idle();

  const Problem& problem_;
  double l2_;
  Team& team_;
  std::vector<Plane> planes_;
  std::vector<double> gram_;  // a_j.a_k/l2, `stride_` from row to row
  std::size_t stride_ = 0;
  std::vector<double> offsets_, alpha_;
  std::vector<int> idle_;  // solutions that have done without it
  DoubleWeights minimiser_;
  double bound_ = 0, accuracy_ = 0;
};

}  // namespace espalier
