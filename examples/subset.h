#pragma once

#include <espalier/structures/structure.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace example {

// Any subset of K items: chi(y) is a vector of K bits. Items do not interact, so everything is a sum over
// them:
//   log Z(s) = sum_k log(1 + exp s_k),   mu_k = 1/(1 + exp(-s_k)),   max_y s.chi(y) = sum_k max(s_k, 0).
// A score of -infinity excludes its item.
class Subset {
 public:
  using Output = std::vector<bool>;

  explicit Subset(std::size_t num_items) : num_items_(num_items) {}

  std::size_t num_statistics() const { return num_items_; }

  template <class Real>
  double log_partition(std::span<const Real> s, std::span<Real> mu, espalier::Workspace&) const {
    double sum = 0;
    for (std::size_t k = 0; k < num_items_; ++k) {
      const double score = s[k], small = std::exp(-std::abs(score));  // never overflows
      sum += std::max(score, 0.0) + std::log1p(small);
      mu[k] = static_cast<Real>((score > 0 ? 1 : small) / (1 + small));
    }
    return sum;
  }

  template <class Real>
  double argmax(std::span<const Real> s, std::span<Real> mu, espalier::Workspace&) const {
    double sum = 0;
    for (std::size_t k = 0; k < num_items_; ++k) {
      mu[k] = s[k] > 0 ? Real{1} : Real{0};
      sum += std::max<double>(s[k], 0);
    }
    return sum;
  }

  template <class Real>
  void indicator(const Output& y, std::span<Real> mu) const {
    for (std::size_t k = 0; k < num_items_; ++k) mu[k] = y[k] ? Real{1} : Real{0};
  }

  template <class Real>
  Output decode(std::span<const Real> s, espalier::Workspace&) const {
    Output y(num_items_);
    for (std::size_t k = 0; k < num_items_; ++k) y[k] = s[k] > 0;
    return y;
  }

 private:
  std::size_t num_items_;
};

static_assert(espalier::Structure<Subset>);

}  // namespace example
