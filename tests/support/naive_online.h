#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "base/random.h"
#include "espalier/learning/problem.h"

namespace espalier::test_support {

// The order in which online solvers visit n examples, for so many visits.
inline std::vector<std::size_t> online_order(std::size_t n, std::uint64_t seed, std::size_t visits) {
  std::vector<std::size_t> pass(n), order;
  std::iota(pass.begin(), pass.end(), std::size_t{0});
  Random random(seed);
  while (order.size() < visits) {
    random.shuffle(std::span(pass));
    for (std::size_t k = 0; k < n && order.size() < visits; ++k) order.push_back(pass[k]);
  }
  return order;
}

// What online visits come to, as the formulas say it and in double precision.
struct NaiveOnline {
  DoubleWeights last, mean;  // theta_{T+1}, and 1/T sum_{t <= T} theta_t
};

// A change of the statistics of example i, whose features are added to theta.
using NaiveUpdate = std::function<std::vector<double>(std::size_t i, const DoubleWeights& theta)>;

inline NaiveOnline naive_online(const Problem& problem, std::span<const std::size_t> order,
                                const Weights& start, const NaiveUpdate& update) {
  NaiveOnline result;
  result.last.assign(start);
  result.mean = DoubleWeights(start.shape());
  Workspace ws;
  for (const std::size_t i : order) {
    for (std::size_t j = 0; j < result.mean.values().size(); ++j) {
      result.mean.values()[j] += result.last.values()[j] / static_cast<double>(order.size());
    }
    const std::vector<double> delta = update(i, result.last);
    problem.accumulate(i, std::span<const double>(delta), result.last, ws);
  }
  return result;
}

// The largest difference between two weights, relative to the largest weight where that is above 1.
inline double distance(const Weights& a, const DoubleWeights& b) {
  double difference = 0, largest = 1;
  for (std::size_t j = 0; j < a.values().size(); ++j) {
    const double x = a.values()[j], y = b.values()[j];
    // Not a number is as far as can be.
    difference = std::abs(x - y) <= difference ? difference : std::abs(x - y);
    largest = std::max(largest, std::abs(y));
  }
  return difference / largest;
}
inline double distance(const Weights& a, const Weights& b) {
  DoubleWeights exact;
  exact.assign(b);
  return distance(a, exact);
}

}  // namespace espalier::test_support
