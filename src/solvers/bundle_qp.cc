// An active-set method in the primal. With g = G alpha - b and e the coordinate of the least g, the gap is
//   f(alpha) - min f  <=  max_x g.(alpha - x)  =  sum_j alpha_j (g_j - g_e)
//                     (f lies above its tangent).
// A step brings mass to e from the coordinate where that gains most (exact line search on the pair), and then
// minimises over all coordinates that have mass (Newton's direction, by Cholesky) until no bound stops it:
// coordinates that reach zero leave. Every step is an exact line search on f itself, so f never rises,
// whatever rounding does to the directions. "sum <= c" has one more coordinate, with g = 0, for what is left
// of c. Cost of a step: O(m^2 + m^3/3) with m coordinates that have mass, and O(size m) for g.

#include "solvers/bundle_qp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "espalier/base/error.h"

namespace espalier {
namespace {

class ActiveSet {
 public:
  ActiveSet(const BundleQp& qp, std::span<double> alpha)
      : qp_(qp),
        planes_(qp.linear.size()),
        size_(planes_ + (qp.fill ? 0 : 1)),
        alpha_(alpha),
        x_(size_),
        g_(size_) {}

  BundleQpResult minimise(double tolerance) {
    BundleQpResult result;
    start();
    const std::size_t most_steps = 1000 + 50 * size_;
    for (;;) {
      compute_gradient();
      const std::size_t best = static_cast<std::size_t>(std::min_element(g_.begin(), g_.end()) - g_.begin());
      result.gap = gap(best);
      if (!(result.gap > tolerance) || result.steps == most_steps) break;
      if (!step_to(best)) break;
      ++result.steps;
      // Each round takes a coordinate out, so there are no more of them than coordinates.
      while (newton_step()) {
      }
    }
    for (std::size_t j = 0; j < planes_; ++j) result.value += x_[j] * (g_[j] - qp_.linear[j]) / 2;
    std::copy_n(x_.begin(), planes_, alpha_.begin());
    return result;
  }

 private:
  double gram(std::size_t j, std::size_t k) const {
    return j < planes_ && k < planes_ ? qp_.gram[j * qp_.stride + k] : 0;
  }
  double curvature(std::size_t j, std::size_t k) const { return gram(j, j) + gram(k, k) - 2 * gram(j, k); }

  void start() {
    for (std::size_t j = 0; j < planes_; ++j) x_[j] = std::max(alpha_[j], 0.0);
    const double sum = sum_of_planes();
    if (qp_.fill && !(sum > 0)) {
      // The best corner.
      std::size_t best = 0;
      const auto value = [&](std::size_t j) { return qp_.total * gram(j, j) / 2 - qp_.linear[j]; };
      for (std::size_t j = 1; j < planes_; ++j) best = value(j) < value(best) ? j : best;
      x_[best] = qp_.total;
    }
    restore_sum();
  }

  double sum_of_planes() const {
    double sum = 0;
    for (std::size_t j = 0; j < planes_; ++j) sum += x_[j];
    return sum;
  }

  // Rounding must not let the sum drift off.
  void restore_sum() {
    const double sum = sum_of_planes();
    if (sum > qp_.total || (qp_.fill && sum > 0)) {
      for (std::size_t j = 0; j < planes_; ++j) x_[j] *= qp_.total / sum;
    }
    if (!qp_.fill) x_[planes_] = std::max(0.0, qp_.total - sum);
  }

  void compute_gradient() {
    for (std::size_t j = 0; j < planes_; ++j) g_[j] = -qp_.linear[j];
    for (std::size_t k = 0; k < planes_; ++k) {
      if (x_[k] == 0) continue;
      const double* row = qp_.gram + k * qp_.stride;
      for (std::size_t j = 0; j < planes_; ++j) g_[j] += x_[k] * row[j];
    }
    if (!qp_.fill) g_[planes_] = 0;
  }

  double gap(std::size_t best) const {
    double sum = 0;
    for (std::size_t j = 0; j < size_; ++j) sum += x_[j] * (g_[j] - g_[best]);
    return sum;
  }

  // Moves mass to `best` from where that gains most. False: nothing moves.
  bool step_to(std::size_t best) {
    double largest_gain = 0, step = 0;
    std::size_t from = best;
    for (std::size_t j = 0; j < size_; ++j) {
      const double slope = g_[j] - g_[best];
      if (x_[j] == 0 || !(slope > 0)) continue;
      const double c = std::max(curvature(j, best), 0.0);
      const double t = slope < c * x_[j] ? slope / c : x_[j];
      const double gain = t * (slope - t * c / 2);
      if (gain > largest_gain) {
        largest_gain = gain;
        step = t;
        from = j;
      }
    }
    if (from == best || x_[best] + step == x_[best]) return false;
    x_[best] += step;
    x_[from] = step < x_[from] ? x_[from] - step : 0;
    compute_gradient();
    return true;
  }

  // Towards the minimum over the coordinates that have mass, with the sum kept. True: a bound was in the way,
  // and what reached it is out.
  bool newton_step() {
    support_.clear();
    std::size_t reference = 0;  // takes up what the others change
    for (std::size_t j = 0; j < size_; ++j) {
      if (x_[j] == 0) continue;
      if (support_.empty() || x_[j] > x_[reference]) reference = j;
      support_.push_back(j);
    }
    if (support_.size() < 3) return false;  // a pair is at its minimum already
    std::erase(support_, reference);
    const std::size_t m = support_.size();

    hessian_.resize(m * m);
    direction_.resize(m);
    for (std::size_t a = 0; a < m; ++a) {
      const std::size_t j = support_[a];
      for (std::size_t b = 0; b <= a; ++b) {
        const std::size_t k = support_[b];
        hessian_[a * m + b] =
            gram(j, k) - gram(j, reference) - gram(k, reference) + gram(reference, reference);
      }
      direction_[a] = g_[reference] - g_[j];
    }
    solve_in_place(m);

    double slope = 0, rest = 0;
    for (std::size_t a = 0; a < m; ++a) {
      slope += (g_[support_[a]] - g_[reference]) * direction_[a];
      rest -= direction_[a];
    }
    if (!(slope < 0)) return false;
    support_.push_back(reference);
    direction_.push_back(rest);

    double curvature = 0, bound = std::numeric_limits<double>::infinity();
    std::size_t blocking = 0;
    for (std::size_t a = 0; a <= m; ++a) {
      double along = 0;
      for (std::size_t b = 0; b <= m; ++b) along += gram(support_[a], support_[b]) * direction_[b];
      curvature += direction_[a] * along;
      if (direction_[a] < 0 && x_[support_[a]] < -direction_[a] * bound) {
        bound = x_[support_[a]] / -direction_[a];
        blocking = a;
      }
    }
    const bool blocked = !(-slope < curvature * bound);
    if (blocked && !std::isfinite(bound)) return false;
    const double step = blocked ? bound : -slope / curvature;
    for (std::size_t a = 0; a <= m; ++a) {
      x_[support_[a]] = std::max(0.0, x_[support_[a]] + step * direction_[a]);
    }
    if (blocked) x_[support_[blocking]] = 0;
    restore_sum();
    compute_gradient();
    return blocked;
  }

  // direction <- H^-1 direction, by Cholesky. A pivot that rounding may have made belongs to a combination of
  // planes that changes nothing but b.alpha: raised to what rounding may be, it makes a direction that runs
  // into a bound.
  void solve_in_place(std::size_t m) {
    double largest = 0;
    for (std::size_t a = 0; a < m; ++a) largest = std::max(largest, hessian_[a * m + a]);
    const double least = largest > 0 ? 1e-14 * largest : 1;
    for (std::size_t a = 0; a < m; ++a) {
      double* row = &hessian_[a * m];
      for (std::size_t b = 0; b <= a; ++b) {
        const double* other = &hessian_[b * m];
        double rest = row[b];
        for (std::size_t c = 0; c < b; ++c) rest -= row[c] * other[c];
        row[b] = a == b ? std::sqrt(std::max(rest, least)) : rest / other[b];
      }
      double rest = direction_[a];
      for (std::size_t c = 0; c < a; ++c) rest -= row[c] * direction_[c];
      direction_[a] = rest / row[a];
    }
    for (std::size_t a = m; a-- > 0;) {
      direction_[a] /= hessian_[a * m + a];
      for (std::size_t c = 0; c < a; ++c) direction_[c] -= hessian_[a * m + c] * direction_[a];
    }
  }

  const BundleQp& qp_;
  std::size_t planes_, size_;  // without and with the coordinate of what is left
  std::span<double> alpha_;
  std::vector<double> x_, g_, hessian_, direction_;
  std::vector<std::size_t> support_;
};

}  // namespace

BundleQpResult minimise(const BundleQp& qp, double tolerance, std::span<double> alpha) {
  ESPALIER_EXPECT(alpha.size() == qp.linear.size() && qp.total >= 0 && (!qp.fill || !alpha.empty()));
  return ActiveSet(qp, alpha).minimise(tolerance);
}

}  // namespace espalier
