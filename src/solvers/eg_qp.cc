#include "solvers/eg_qp.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {
namespace {

// u_i = softmax of its scores. Scores and not probabilities are what is moved: a probability that underflows
// is not lost.
void become_distributions(std::span<const std::size_t> sizes, std::span<double> scores, std::span<double> u) {
  std::size_t begin = 0;
  for (const std::size_t size : sizes) {
    const auto s = scores.subspan(begin, size), block = u.subspan(begin, size);
    const double highest = *std::max_element(s.begin(), s.end());
    double sum = 0;
    for (std::size_t j = 0; j < size; ++j) {
      s[j] -= highest;  // the same for all, so that they stay small
      sum += block[j] = std::exp(s[j]);
    }
    for (double& p : block) p /= sum;
    begin += size;
  }
}

// sum_i ( g_i.u_i - min_j g_ij )
double gap_of(std::span<const std::size_t> sizes, std::span<const double> u,
              std::span<const double> gradient) {
  double gap = 0;
  std::size_t begin = 0;
  for (const std::size_t size : sizes) {
    const auto g = gradient.subspan(begin, size), block = u.subspan(begin, size);
    const double lowest = *std::min_element(g.begin(), g.end());
    for (std::size_t j = 0; j < size; ++j) gap += block[j] * (g[j] - lowest);
    begin += size;
  }
  return gap;
}

struct Point {
  std::vector<double> scores, u, gradient;
  double value = 0;
};

}  // namespace

SimplexEgResult minimise_over_simplices(const ConvexFunction& q, std::span<const std::size_t> sizes,
                                        const SimplexEgOptions& options) {
  const std::size_t dimension = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  ESPALIER_EXPECT(options.eta > 0 && (options.start.empty() || options.start.size() == dimension));
  ESPALIER_EXPECT(std::find(sizes.begin(), sizes.end(), std::size_t{0}) == sizes.end());
  Point now{std::vector<double>(dimension), std::vector<double>(dimension), std::vector<double>(dimension)};
  for (std::size_t j = 0; j < options.start.size(); ++j) {
    ESPALIER_EXPECT(options.start[j] > 0);
    now.scores[j] = std::log(options.start[j]);
  }
  become_distributions(sizes, now.scores, now.u);
  now.value = q(now.u, now.gradient);

  Point next = now;
  double eta = options.eta;
  SimplexEgResult result;
  for (;; ++result.steps) {
    result.gap = gap_of(sizes, now.u, now.gradient);
    if (options.watch) options.watch(now.value, now.u);
    if (result.gap <= options.gap || result.steps >= options.steps) break;
    for (std::size_t j = 0; j < dimension; ++j) next.scores[j] = now.scores[j] - eta * now.gradient[j];
    become_distributions(sizes, next.scores, next.u);
    next.value = q(next.u, next.gradient);
    if (options.halve && !(next.value <= now.value)) {
      eta /= 2;
      continue;
    }
    std::swap(now, next);
    if (options.halve) eta *= 1.05;
  }
  result.u = std::move(now.u);
  result.value = now.value;
  return result;
}

double SimplexQp::operator()(std::span<const double> a, std::span<double> gradient) const {
  double value = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    const double product = std::inner_product(a.begin(), a.end(), matrix.data() + j * a.size(), 0.0);
    gradient[j] = linear[j] + product;
    value += a[j] * (linear[j] + product / 2);
  }
  return value;
}

// For two elements j and k, max_a (b + Aa)_j - (b + Aa)_k = b_j - b_k + sum_i max_l (A_jl - A_kl), l in block
// i.
double SimplexQp::gradient_range() const {
  const std::size_t dimension = linear.size();
  double range = 0;
  for (std::size_t j = 0; j < dimension; ++j) {
    for (std::size_t k = 0; k < dimension; ++k) {
      const double *row_j = matrix.data() + j * dimension, *row_k = matrix.data() + k * dimension;
      double difference = linear[j] - linear[k];
      std::size_t l = 0;
      for (const std::size_t size : sizes) {
        double largest = row_j[l] - row_k[l];
        for (const std::size_t end = l + size; l < end; ++l) largest = std::max(largest, row_j[l] - row_k[l]);
        difference += largest;
      }
      range = std::max(range, difference);
    }
  }
  return range;
}

double SimplexQp::eigenvalue_bound() const {
  const std::size_t dimension = linear.size();
  double row_sum = 0, squares = 0;
  for (std::size_t j = 0; j < dimension; ++j) {
    double sum = 0;
    for (std::size_t k = 0; k < dimension; ++k) {
      sum += std::abs(matrix[j * dimension + k]);
      squares += matrix[j * dimension + k] * matrix[j * dimension + k];
    }
    row_sum = std::max(row_sum, sum);
  }
  return std::min(row_sum, std::sqrt(squares));
}

double SimplexQp::upper_bound() const {
  double largest = 0;
  for (const double a : matrix) largest = std::max(largest, std::abs(a));
  return static_cast<double>(sizes.size()) * largest;
}

SimplexEgResult eg_qp(const SimplexQp& qp, SimplexEgOptions options) {
  ESPALIER_EXPECT(qp.matrix.size() == qp.linear.size() * qp.linear.size());
  const double scale = qp.gradient_range() + qp.eigenvalue_bound();
  options.eta = scale > 0 ? 0.4 / scale : 1;
  options.halve = false;
  return minimise_over_simplices([&](std::span<const double> a, std::span<double> g) { return qp(a, g); },
                                 qp.sizes, options);
}

}  // namespace espalier
