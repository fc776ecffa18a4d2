#include "solvers/bundle_qp.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "base/random.h"

namespace espalier {
namespace {

struct Program {
  std::size_t size = 0;
  std::vector<double> gram, linear;
  double total = 1;
  bool fill = false;

  BundleQp view() const { return {gram.data(), size, linear, total, fill}; }
  double value(const std::vector<double>& alpha) const {
    double sum = 0;
    for (std::size_t j = 0; j < size; ++j) {
      sum -= linear[j] * alpha[j];
      for (std::size_t k = 0; k < size; ++k) sum += gram[j * size + k] * alpha[j] * alpha[k] / 2;
    }
    return sum;
  }
  double scale() const {
    double largest = 1e-300;
    for (std::size_t j = 0; j < size; ++j) {
      largest = std::max({largest, gram[j * size + j] * total * total, std::abs(linear[j]) * total});
    }
    return largest;
  }
};

// G = A'A for random vectors, some of them there twice, some zero.
Program random_program(std::uint64_t seed, std::size_t size, std::size_t dimension, bool repeated) {
  Random random(seed);
  Program program;
  program.size = size;
  std::vector<std::vector<double>> a(size, std::vector<double>(dimension));
  for (std::size_t j = 0; j < size; ++j) {
    program.linear.push_back(2 * random.uniform() - 0.5);
    for (double& value : a[j]) value = 2 * random.uniform() - 1;
    if (repeated && j > 0 && random.uniform() < 0.4) {
      const std::size_t like = random.below(j);
      a[j] = a[like];
      if (random.uniform() < 0.5) program.linear[j] = program.linear[like];
    } else if (repeated && random.uniform() < 0.2) {
      std::fill(a[j].begin(), a[j].end(), 0.0);
    }
  }
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t k = 0; k < size; ++k)
      program.gram.push_back(std::inner_product(a[j].begin(), a[j].end(), a[k].begin(), 0.0));
  }
  return program;
}

// Solves a square system by elimination with pivots; nothing where it is singular.
std::optional<std::vector<double>> solve_system(std::vector<std::vector<double>> m, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r) pivot = std::abs(m[r][c]) > std::abs(m[pivot][c]) ? r : pivot;
    if (std::abs(m[pivot][c]) < 1e-10) return std::nullopt;
    std::swap(m[c], m[pivot]);
    std::swap(b[c], b[pivot]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const double factor = m[r][c] / m[c][c];
      for (std::size_t k = c; k < n; ++k) m[r][k] -= factor * m[c][k];
      b[r] -= factor * b[c];
    }
  }
  for (std::size_t c = 0; c < n; ++c) b[c] /= m[c][c];
  return b;
}

// The least value over all sets of coordinates that may be positive, with the sum free or at its bound. A
// minimum with the fewest positive coordinates has a regular system, so nothing is missed where others are
// singular.
double by_enumeration(const Program& program) {
  double least = program.fill ? std::numeric_limits<double>::infinity() : 0;
  for (std::size_t set = 1; set < std::size_t{1} << program.size; ++set) {
    std::vector<std::size_t> in;
    for (std::size_t j = 0; j < program.size; ++j) {
      if (set >> j & 1) in.push_back(j);
    }
    for (const bool bound : {false, true}) {
      if (!bound && program.fill) continue;
      const std::size_t n = in.size() + (bound ? 1 : 0);
      std::vector<std::vector<double>> m(n, std::vector<double>(n));
      std::vector<double> b(n, program.total);
      for (std::size_t j = 0; j < in.size(); ++j) {
        for (std::size_t k = 0; k < in.size(); ++k) m[j][k] = program.gram[in[j] * program.size + in[k]];
        if (bound) m[j][in.size()] = m[in.size()][j] = 1;
        b[j] = program.linear[in[j]];
      }
      const auto solution = solve_system(m, b);
      if (!solution) continue;
      std::vector<double> alpha(program.size);
      double sum = 0;
      bool feasible = true;
      for (std::size_t j = 0; j < in.size(); ++j) {
        alpha[in[j]] = (*solution)[j];
        feasible = feasible && alpha[in[j]] >= -1e-12;
        sum += alpha[in[j]];
      }
      if (feasible && sum <= program.total * (1 + 1e-12)) least = std::min(least, program.value(alpha));
    }
  }
  return least;
}

void check_feasible(const Program& program, const std::vector<double>& alpha) {
  double sum = 0;
  for (const double a : alpha) {
    RC_ASSERT(a >= 0);
    sum += a;
  }
  RC_ASSERT(sum <= program.total * (1 + 1e-14));
  if (program.fill) RC_ASSERT(sum >= program.total * (1 - 1e-14));
}

Program any_program(std::size_t largest) {
  const auto size = *rc::gen::inRange<std::size_t>(1, largest + 1);
  Program program =
      random_program(*rc::gen::arbitrary<std::uint64_t>(), size,
                     *rc::gen::inRange<std::size_t>(1, 2 * largest), *rc::gen::arbitrary<bool>());
  program.total = *rc::gen::element(0.01, 1.0, 30.0);
  program.fill = *rc::gen::arbitrary<bool>();
  return program;
}

RC_GTEST_PROP(BundleQp, FindsTheMinimumOfAllActiveSets, ()) {
  const Program program = any_program(7);
  std::vector<double> alpha(program.size);
  const BundleQpResult result = minimise(program.view(), 1e-13 * program.scale(), alpha);
  check_feasible(program, alpha);
  const double tolerance = 1e-12 * program.scale();
  RC_ASSERT(result.gap <= tolerance);
  RC_ASSERT(std::abs(result.value - program.value(alpha)) <= tolerance);
  RC_ASSERT(std::abs(result.value - by_enumeration(program)) <= tolerance);
}

RC_GTEST_PROP(BundleQp, SatisfiesTheOptimalityConditions, ()) {
  const Program program = any_program(60);
  std::vector<double> alpha(program.size);
  for (double& a : alpha) a = *rc::gen::inRange(-5, 20) * 0.01;  // wherever it starts
  const BundleQpResult result = minimise(program.view(), 1e-12 * program.scale(), alpha);
  check_feasible(program, alpha);
  RC_ASSERT(result.gap <= 1e-12 * program.scale());

  // G alpha - b is the same, and least, wherever alpha is positive; zero where the sum is below its bound.
  std::vector<double> gradient(program.size);
  double sum = 0;
  for (std::size_t j = 0; j < program.size; ++j) {
    gradient[j] = -program.linear[j];
    for (std::size_t k = 0; k < program.size; ++k)
      gradient[j] += program.gram[j * program.size + k] * alpha[k];
    sum += alpha[j];
  }
  double least = *std::min_element(gradient.begin(), gradient.end());
  if (!program.fill) least = std::min(least, 0.0);
  double gap = 0;
  for (std::size_t j = 0; j < program.size; ++j) gap += alpha[j] * (gradient[j] - least);
  if (!program.fill) gap -= (program.total - sum) * least;
  RC_ASSERT(std::abs(gap - result.gap) <= 1e-12 * program.scale());
}

RC_GTEST_PROP(BundleQp, GapBoundsTheDistanceWhereItStopsEarly, ()) {
  const Program program = any_program(30);
  std::vector<double> rough(program.size), exact(program.size);
  const double tolerance = *rc::gen::element(1e-1, 1e-2, 1e-4) * program.scale();
  const BundleQpResult early = minimise(program.view(), tolerance, rough),
                       late = minimise(program.view(), 0, exact);
  RC_ASSERT(early.gap <= tolerance);
  RC_ASSERT(early.value - early.gap <= late.value + 1e-12 * program.scale());
  RC_ASSERT(late.value <= early.value + 1e-12 * program.scale());
}

TEST(BundleQp, WarmStartAtTheMinimumTakesNoStep) {
  Program program = random_program(3, 40, 10, true);
  for (const bool fill : {false, true}) {
    program.fill = fill;
    std::vector<double> alpha(program.size);
    EXPECT_GT(minimise(program.view(), 1e-10, alpha).steps, 0u);
    const std::vector<double> before = alpha;
    EXPECT_EQ(minimise(program.view(), 1e-9, alpha).steps, 0u);
    for (std::size_t j = 0; j < alpha.size(); ++j) EXPECT_NEAR(alpha[j], before[j], 1e-15);
  }
}

TEST(BundleQp, NearlyParallelPlanes) {
  // What a bundle looks like near its end: a common part, and differences that are ten thousand times
  // smaller.
  Random random(5);
  constexpr std::size_t kSize = 80, kDimension = 50;
  std::vector<std::vector<double>> a(kSize, std::vector<double>(kDimension, 1.0));
  Program program;
  program.size = kSize;
  for (auto& plane : a) {
    double sum = 0;
    for (double& value : plane) sum += value += 1e-4 * (random.uniform() - 0.5);
    program.linear.push_back(sum + 1e-8 * random.uniform());
  }
  for (const auto& x : a) {
    for (const auto& y : a) program.gram.push_back(std::inner_product(x.begin(), x.end(), y.begin(), 0.0));
  }
  std::vector<double> alpha(kSize);
  const BundleQpResult result = minimise(program.view(), 1e-13, alpha);
  EXPECT_LE(result.gap, 1e-13);
  EXPECT_LE(result.steps, 200u);
}

TEST(BundleQp, NothingToChoose) {
  std::vector<double> none;
  const BundleQpResult empty = minimise({nullptr, 0, {}, 1, false}, 0, none);
  EXPECT_EQ(empty.value, 0);
  EXPECT_EQ(empty.gap, 0);

  // Planes that only cost: nothing is taken where nothing has to be.
  const std::vector<double> gram{1, 0, 0, 1}, linear{-1, -2};
  std::vector<double> alpha{0.5, 0.5};
  EXPECT_EQ(minimise({gram.data(), 2, linear, 1, false}, 0, alpha).value, 0);
  EXPECT_EQ(alpha, (std::vector<double>{0, 0}));
  EXPECT_DOUBLE_EQ(minimise({gram.data(), 2, linear, 1, true}, 0, alpha).value, 1.5);
  EXPECT_EQ(alpha, (std::vector<double>{1, 0}));
}

}  // namespace
}  // namespace espalier
