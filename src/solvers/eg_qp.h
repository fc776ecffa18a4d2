#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace espalier {

// Convex functions over a product of simplices: a vector is the blocks u_1, ..., u_n one after the other,
// each of them a distribution over as many values as `sizes` says.

// The value at u, and in `gradient` the gradient there.
using ConvexFunction = std::function<double(std::span<const double> u, std::span<double> gradient)>;

struct SimplexEgOptions {
  // The step, or the first one. One far beyond 1/tau (see below) may leave distributions so near a wrong
  // corner that it takes long to come back.
  double eta = 1;
  // Halve eta where a step would raise the value (that step is undone), and let it grow by 1.05 otherwise.
  bool halve = false;
  double gap = 1e-9;  // stop once the value is certainly within this of the minimum
  std::size_t steps = 10000;
  std::vector<double> start;  // inside all simplices; empty for uniform distributions
  // Called with the value before every step and at the end.
  std::function<void(double value, std::span<const double> u)> watch;
};

struct SimplexEgResult {
  std::vector<double> u;
  double value = 0;
  // sum_i ( g_i.u_i - min_j g_ij ) with g the gradient at u: no point has a value below `value` - `gap`.
  double gap = 0;
  std::size_t steps = 0;  // taken; every eta tried is one
};

// Exponentiated gradient, u_ij <- u_ij exp(-eta g_ij)/Z_i, on any convex Q (Collins et al. 2008, section 5).
// Where Q is tau-upper-bounded (Definition 5.1: its Bregman divergence is at most tau D[p|q], D the sum of KL
// divergences) and eta <= 1/tau, no step raises the value by Lemma 2, and Q(u) - Q(z) <= D[z|start]/(eta T)
// for any z after T steps by Lemma 5; where that divergence is also at least mu D[p|q], Q(u) - Q(z) <=
// exp(-eta mu T)/eta D[z|start] by Lemma 6. Memory and time per step: O(dimension), and one call of Q.
SimplexEgResult minimise_over_simplices(const ConvexFunction& q, std::span<const std::size_t> sizes,
                                        const SimplexEgOptions& options = {});

// Q(a) = b.a + a'Aa/2 with A symmetric and positive semidefinite, given row by row.
struct SimplexQp {
  std::vector<double> matrix, linear;
  std::vector<std::size_t> sizes;

  double operator()(std::span<const double> a, std::span<double> gradient) const;
  // The largest difference of two elements of the gradient at one point, over all points (B of Bartlett et
  // al. 2004). Takes time O(dimension^3).
  double gradient_range() const;
  // A bound on the largest eigenvalue of A (their lambda): the smaller one of its largest absolute row sum
  // and its Frobenius norm.
  double eigenvalue_bound() const;
  // Q is tau-upper-bounded with tau = n max |A_jk| (Collins et al. 2008, Lemma 4).
  double upper_bound() const;
};

// EG-QP (Bartlett et al. 2004, section 4, Figure 3) with eta = 0.4/(B + lambda), whatever options.eta says.
// Then after T steps (Theorem 2), for any u, with D the sum of KL divergences,
//   Q(a^{T+1}) <= 1/T sum_t Q(a^t) <= Q(u) + 2.5(B + lambda) D(u, a^1)/T + 1.5(Q(a^1) - Q(a^{T+1}))/T.
SimplexEgResult eg_qp(const SimplexQp& qp, SimplexEgOptions options = {});

}  // namespace espalier
