#include "structures/anderson.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace espalier::anderson_test {
namespace {

// x <- A x + b with A = sum_k r_k h_k h_k', r from -0.5 to `largest`, for n orthonormal vectors h_k (columns
// of a reflection).
struct AffineMap {
  AffineMap(std::size_t n, double largest, std::uint64_t seed) : size(n), b(n), normal(n) {
    Random random(seed);
    double squared = 0;
    for (std::size_t k = 0; k < n; ++k) {
      b[k] = 2 * random.uniform() - 1;
      normal[k] = 2 * random.uniform() - 1;
      squared += normal[k] * normal[k];
    }
    for (double& x : normal) x /= std::sqrt(squared);
    for (std::size_t k = 0; k < n; ++k)
      rates.push_back(-0.5 + (largest + 0.5) * static_cast<double>(k) / static_cast<double>(n - 1));
  }
  std::vector<double> reflected(std::vector<double> x) const {
    double dot = 0;
    for (std::size_t k = 0; k < size; ++k) dot += normal[k] * x[k];
    for (std::size_t k = 0; k < size; ++k) x[k] -= 2 * dot * normal[k];
    return x;
  }
  std::vector<double> operator()(const std::vector<double>& x) const {
    std::vector<double> y = reflected(x);
    for (std::size_t k = 0; k < size; ++k) y[k] *= rates[k];
    y = reflected(y);
    for (std::size_t k = 0; k < size; ++k) y[k] += b[k];
    return y;
  }
  std::vector<double> fixed_point() const {
    std::vector<double> x = reflected(b);
    for (std::size_t k = 0; k < size; ++k) x[k] /= 1 - rates[k];
    return reflected(x);
  }

  std::size_t size;
  std::vector<double> b, normal, rates;
};

// Iterations until the residual is below `enough`, at most `most`.
std::size_t iterate(const AffineMap& map, double enough, std::size_t most, std::vector<double>& x) {
  Workspace ws;
  Workspace::Frame frame(ws);
  Anderson anderson(map.size, frame);
  x.assign(map.size, 0.0);
  anderson.start(x);
  for (std::size_t t = 1; t <= most; ++t) {
    x = map(x);
    if (anderson.residual(x) <= enough) return t;
    anderson.advance(x);
  }
  return most + 1;
}

// Differences that span the space say all of an affine map.
TEST(Anderson, FindsTheFixedPointOfAFewNumbersAtOnce) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const AffineMap map(Anderson::kDepth, 0.95, seed);
    std::vector<double> x;
    EXPECT_LE(iterate(map, 1e-10, 100, x), Anderson::kDepth + 3);
    const auto expected = map.fixed_point();
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(x[k], expected[k], 1e-7);
  }
}

TEST(Anderson, TakesASmallPartOfTheIterations) {
  const AffineMap map(200, 0.99, 3);
  std::vector<double> x(map.size), y = map(x);
  std::size_t plain = 1;
  for (; std::abs(y[0] - x[0]) > 1e-9 && plain < 5000; ++plain) {
    x = y;
    y = map(x);
  }
  EXPECT_LE(iterate(map, 1e-9, plain, x), plain / 3);
  const auto expected = map.fixed_point();
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(x[k], expected[k], 1e-6);
}

// A map that is there at once has differences of zero.
TEST(Anderson, StaysAtAFixedPoint) {
  Workspace ws;
  Workspace::Frame frame(ws);
  Anderson anderson(3, frame);
  const std::vector<double> point{1, 2, 3};
  anderson.start(std::vector<double>{0, 0, 0});
  for (int t = 0; t < 10; ++t) {
    std::vector<double> x = point;
    EXPECT_EQ(anderson.residual(x), t == 0 ? 3 : 0);
    anderson.advance(x);
    EXPECT_EQ(x, point);
  }
}

}  // namespace
}  // namespace espalier::anderson_test
