#include "solvers/bundle.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "solvers/bundle_qp.h"

namespace espalier {
namespace {

// Solutions that may do without a plane before it goes. The bound does not depend on such planes, but the way
// to the next one may be shorter with them.
constexpr int kMostIdle = 20;

}  // namespace

Bundle::Bundle(const Problem& problem, double l2, Team& team)
    : problem_(problem), l2_(l2), team_(team), minimiser_(problem.weight_shape()) {}

void Bundle::add(DoubleWeights& slope, double offset) {
  const std::size_t last = planes_.size();
  planes_.emplace_back(slope.values());
  offsets_.push_back(offset);
  alpha_.push_back(0);
  idle_.push_back(0);

  if (planes_.size() > stride_) {
    const std::size_t stride = std::max<std::size_t>(16, 2 * stride_);
    std::vector<double> gram(stride * stride);
    for (std::size_t j = 0; j < last; ++j) std::copy_n(&gram_[j * stride_], last, &gram[j * stride]);
    gram_ = std::move(gram);
    stride_ = stride;
  }
  // Each product is one thread's own, so that its bits do not depend on how many there are.
  std::atomic<std::size_t> next{0};
  team_.run([&](std::size_t) {
    for (std::size_t k = next++; k < planes_.size(); k = next++) {
      gram_[last * stride_ + k] = gram_[k * stride_ + last] = planes_[k].dot(slope.values()) / l2_;
    }
  });
}

void Bundle::solve(double tolerance) {
  const BundleQp qp{gram_.data(), stride_, offsets_, 1, false};
  accuracy_ = minimise(qp, tolerance, alpha_).gap;
  combine();
  for (std::size_t k = 0; k < planes_.size(); ++k) idle_[k] = alpha_[k] > 0 ? 0 : idle_[k] + 1;
  drop_idle();
}

// theta = -A/l2, and the bound that alpha proves. The planes are those of slopes a_k that were rounded when
// they were kept; with |a_k - kept| = e_k, |A| is at most sum_k alpha_k e_k longer than what the kept ones
// add up to.
void Bundle::combine() {
  const auto minimiser = minimiser_.values();
  share_range(team_, minimiser.size(), [&](std::size_t begin, std::size_t end) {
    std::fill(minimiser.begin() + static_cast<std::ptrdiff_t>(begin),
              minimiser.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    for (std::size_t k = 0; k < planes_.size(); ++k) {
      if (alpha_[k] > 0) planes_[k].add_to(-alpha_[k] / l2_, begin, end, minimiser);
    }
  });
  double linear = 0, rounding = 0;
  for (std::size_t k = 0; k < planes_.size(); ++k) {
    linear += alpha_[k] * offsets_[k];
    rounding += alpha_[k] * planes_[k].rounding();
  }
  const double length = l2_ * std::sqrt(problem_.squared_norm(minimiser_)) + rounding;
  bound_ = std::max(bound_, linear - length * length / (2 * l2_));
}

void Bundle::drop_idle() {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < planes_.size(); ++k) {
    if (idle_[k] > kMostIdle) continue;
    if (kept != k) {
      planes_[kept] = std::move(planes_[k]);
      offsets_[kept] = offsets_[k];
      alpha_[kept] = alpha_[k];
      idle_[kept] = idle_[k];
      // Rows and columns before `kept` have moved already; those after k have not.
      std::copy_n(&gram_[k * stride_], planes_.size(), &gram_[kept * stride_]);
      for (std::size_t j = 0; j < planes_.size(); ++j) gram_[j * stride_ + kept] = gram_[j * stride_ + k];
    }
    ++kept;
  }
  planes_.erase(planes_.begin() + static_cast<std::ptrdiff_t>(kept), planes_.end());
  offsets_.resize(kept);
  alpha_.resize(kept);
  idle_.resize(kept);
}

}  // namespace espalier
