#include "solvers/plane.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "base/random.h"
#include "learning/certify.h"

namespace espalier::plane_test {
namespace {

// With all elements, with hardly any, and with none.
RC_GTEST_PROP(Plane, IsTheVectorThatItWasGivenAsFloats, ()) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const auto size = *rc::gen::inRange<std::size_t>(1, 60);
  const double density = *rc::gen::element(0.0, 0.1, 0.5, 1.0);
  std::vector<double> slope(size), x(size);
  for (std::size_t j = 0; j < size; ++j) {
    slope[j] = random.uniform() < density ? 2 * random.uniform() - 1 : 0;
    x[j] = 2 * random.uniform() - 1;
  }
  const std::vector<double> given = slope;
  const Plane plane(slope);

  double dot = 0, squared_rounding = 0;
  for (std::size_t j = 0; j < size; ++j) {
    RC_ASSERT(slope[j] == static_cast<double>(static_cast<float>(given[j])));
    dot += slope[j] * x[j];
    squared_rounding += (slope[j] - given[j]) * (slope[j] - given[j]);
  }
  RC_ASSERT(std::abs(plane.dot(x) - dot) <= 1e-13);
  RC_ASSERT(std::abs(plane.rounding() - std::sqrt(squared_rounding)) <= 1e-20);

  const auto begin = *rc::gen::inRange<std::size_t>(0, size + 1),
             end = *rc::gen::inRange<std::size_t>(begin, size + 1);
  std::vector<double> out = x;
  plane.add_to(-2.5, begin, end, out);
  for (std::size_t j = 0; j < size; ++j) {
    RC_ASSERT(out[j] == (begin <= j && j < end ? x[j] - 2.5 * slope[j] : x[j]));
  }
}

}  // namespace
}  // namespace espalier::plane_test
