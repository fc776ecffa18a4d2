#include "solvers/plane.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/base/error.h"
#include "learning/certify.h"

namespace espalier {

Plane::Plane(std::span<double> slope) {
  ESPALIER_EXPECT(slope.size() <= std::numeric_limits<std::uint32_t>::max());
  std::size_t nonzero = 0;
  double squared_rounding = 0;
  for (double& value : slope) {
    const double kept = static_cast<float>(value);
    squared_rounding += (value - kept) * (value - kept);
    value = kept;
    nonzero += kept != 0 ? 1 : 0;
  }
  rounding_ = std::sqrt(squared_rounding);
  if (2 * nonzero >= slope.size()) {
    values_.assign(slope.begin(), slope.end());
    return;
  }
  places_.reserve(nonzero);
  values_.reserve(nonzero);
  for (std::size_t j = 0; j < slope.size(); ++j) {
    if (slope[j] == 0) continue;
    places_.push_back(static_cast<std::uint32_t>(j));
    values_.push_back(static_cast<float>(slope[j]));
  }
}

double Plane::dot(std::span<const double> x) const {
  // Several sums at once: an addition takes as long as several of them.
  constexpr std::size_t kSums = 4;
  double sums[kSums] = {};
  const std::size_t size = values_.size(), whole = size / kSums * kSums;
  const auto sum_up = [&](const auto& at) {
    for (std::size_t j = 0; j < whole; j += kSums) {
      for (std::size_t k = 0; k < kSums; ++k) sums[k] += static_cast<double>(values_[j + k]) * at(j + k);
    }
    for (std::size_t j = whole; j < size; ++j) sums[0] += static_cast<double>(values_[j]) * at(j);
  };
  if (places_.empty()) {
    sum_up([&](std::size_t j) { return x[j]; });
  } else {
    sum_up([&](std::size_t j) { return x[places_[j]]; });
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void Plane::add_to(double scale, std::size_t begin, std::size_t end, std::span<double> out) const {
  if (places_.empty()) {
    for (std::size_t j = begin; j < std::min(end, values_.size()); ++j) out[j] += scale * values_[j];
    return;
  }
  const auto first = std::lower_bound(places_.begin(), places_.end(), begin);
  for (auto j = static_cast<std::size_t>(first - places_.begin()); j < places_.size() && places_[j] < end;
       ++j) {
    out[places_[j]] += scale * values_[j];
  }
}

}  // namespace espalier
