#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "espalier/base/memory.h"
#include "espalier/base/soft_threshold.h"

namespace espalier {

// Elements from one row of weights to the next. It depends on the width alone, never on the machine, so that
// a model file fits every machine; rows of more than four values fill whole vectors of eight.
constexpr std::size_t row_stride(std::size_t width) {
  if (width <= 2) return width;
  if (width <= 4) return 4;
  return (width + 7) / 8 * 8;
}

// How many rows of how many values a problem's weights have.
struct WeightShape {
  std::size_t rows = 0, width = 0;
  friend bool operator==(const WeightShape&, const WeightShape&) = default;
};

// Where one of them is.
struct WeightPlace {
  std::size_t row, column;
  friend bool operator==(const WeightPlace&, const WeightPlace&) = default;
};

// Weights as rows: one attribute owns `width` contiguous values (one per label), so that scoring a token is a
// sum of rows. The padding after each row is zero and stays zero: sums over all elements may include it.
//
// A threshold belongs to weights that stand for others: features score them as if each were soft(w,
// threshold), so that whoever changes w need not keep the others, too (learning/regularizer.h).
template <class Real>
class BasicWeights {
 public:
  BasicWeights() = default;
  explicit BasicWeights(WeightShape shape)
      : shape_(shape), stride_(row_stride(shape.width)), values_(shape.rows * stride_) {}

  WeightShape shape() const { return shape_; }
  std::size_t stride() const { return stride_; }
  const SoftThreshold& threshold() const { return threshold_; }
  void set_threshold(const SoftThreshold& threshold) { threshold_ = threshold; }
  Real* row(std::size_t r) { return values_.data() + r * stride_; }
  const Real* row(std::size_t r) const { return values_.data() + r * stride_; }
  // All elements, padding included.
  std::span<Real> values() { return {values_.data(), values_.size()}; }
  std::span<const Real> values() const { return {values_.data(), values_.size()}; }

  void fill(Real value_of_all) {
    for (std::size_t r = 0; r < shape_.rows; ++r) std::fill_n(row(r), shape_.width, value_of_all);
  }
  // Zeros of another shape; what it is where it has that shape already.
  void resize(WeightShape shape) {
    if (shape_ == shape) return;
    const SoftThreshold threshold = threshold_;
    *this = BasicWeights(shape);
    threshold_ = threshold;
  }
  // this <- scale * other, rounded to Real. Thresholds stay as they are.
  template <class Other>
  void assign(const BasicWeights<Other>& other, double scale = 1) {
    resize(other.shape());
    const auto from = other.values();
    for (std::size_t j = 0; j < from.size(); ++j) values_[j] = static_cast<Real>(scale * from[j]);
  }

 private:
  WeightShape shape_;
  std::size_t stride_ = 0;
  SoftThreshold threshold_;
  ZeroedArray<Real> values_;
};

using Weights = BasicWeights<float>;         // what solvers update and models keep
using DoubleWeights = BasicWeights<double>;  // for certificates, L-BFGS and tests

// Weights that live elsewhere, in a mapped model file.
struct WeightsView {
  const float* values;
  WeightShape shape;

  WeightsView(const float* first, WeightShape shape_of_all) : values(first), shape(shape_of_all) {}
  WeightsView(const Weights& w)
      : values(w.row(0)), shape(w.shape()) {}  // NOLINT: a view of weights is what it says
  std::size_t stride() const { return row_stride(shape.width); }
  const float* row(std::size_t r) const { return values + r * stride(); }
  float at(const WeightPlace& place) const { return row(place.row)[place.column]; }
};

// The Euclidean |w|^2, summed in double precision.
template <class Real>
double euclidean_squared_norm(const BasicWeights<Real>& w) {
  // Several sums at once, because an addition takes as long as several of them; always the same, whatever the
  // machine.
  constexpr std::size_t kSums = 16;
  double sums[kSums] = {};
  const auto values = w.values();
  const std::size_t whole = values.size() / kSums * kSums;
  for (std::size_t j = 0; j < whole; j += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) sums[k] += static_cast<double>(values[j + k]) * values[j + k];
  }
  for (std::size_t j = whole; j < values.size(); ++j) sums[0] += static_cast<double>(values[j]) * values[j];
  return std::accumulate(sums, sums + kSums, 0.0);
}

// The Euclidean a.b.
inline double euclidean_inner_product(const DoubleWeights& a, const DoubleWeights& b) {
  const auto of_a = a.values(), of_b = b.values();
  return std::inner_product(of_a.begin(), of_a.end(), of_b.begin(), 0.0);
}

}  // namespace espalier
