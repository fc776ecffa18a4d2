#include "features/kernel_matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "base/random.h"
#include "support/kernel_problems.h"

namespace espalier::kernel_matrix_test {
namespace {

using test_support::kernel_matrix;
using test_support::kPlenty;
using test_support::random_data;

const std::vector<Kernel> kKernels{Kernel::parse("linear"), Kernel::parse("poly,3,1,0.5"),
                                   Kernel::parse("rbf,0.3")};
constexpr std::size_t kInputs = 40, kWidth = 5;

SparseRows inputs() {
  return random_data(9, {.examples = kInputs, .attributes = 4, .density = 0.5, .unit_values = true}).rows;
}

// Some rows of zeros among them.
template <class Real>
BasicWeights<Real> random_coefficients(std::uint64_t seed, std::size_t rows) {
  Random random(seed);
  BasicWeights<Real> w({rows, kWidth});
  for (std::size_t v = 0; v < rows; ++v) {
    const bool zero = random.uniform() < 0.3;
    for (std::size_t k = 0; k < kWidth; ++k)
      w.row(v)[k] = zero ? Real{0} : static_cast<Real>(2 * random.uniform() - 1);
  }
  return w;
}

TEST(KernelMatrix, EqualInputsShareANode) {
  const auto matrix = kernel_matrix(kKernels[0], inputs(), 4);
  EXPECT_LE(matrix->num_nodes(), 16u);
  EXPECT_EQ(matrix->inputs().size(), kInputs);
}

// Everything against sums over pairs.
TEST(KernelMatrix, ScoresNormsAndProducts) {
  Workspace ws;
  for (const Kernel& kernel : kKernels) {
    SCOPED_TRACE(kernel.name());
    const auto matrix = kernel_matrix(kernel, inputs(), 4);
    const KernelNodes& nodes = matrix->nodes();
    const std::size_t n = nodes.size(), rows = n + 3;
    std::vector<AlignedVector<float>> gram(n, AlignedVector<float>(nodes.padded_size()));
    for (std::size_t u = 0; u < n; ++u) nodes.values(u, n, gram[u].data());
    const auto a = random_coefficients<double>(1, rows), b = random_coefficients<double>(2, rows);

    constexpr std::size_t kBegin = 3, kEnd = 14;
    const auto node = [&](std::size_t t) { return matrix->inputs().row(t).ids[0]; };
    std::vector<double> s((kEnd - kBegin) * kWidth);
    matrix->score(kBegin, kEnd, a, 2.0, std::span(s), ws);
    double norm = 0, largest = 0;
    const auto delta = random_coefficients<double>(3, kEnd - kBegin);
    std::vector<double> packed;
    for (std::size_t t = kBegin; t < kEnd; ++t) {
      for (std::size_t k = 0; k < kWidth; ++k) {
        packed.push_back(delta.row(t - kBegin)[k]);
        double expected = 0;
        for (std::size_t v = 0; v < n; ++v) expected += 2.0 * gram[node(t)][v] * a.row(v)[k];
        EXPECT_NEAR(s[(t - kBegin) * kWidth + k], expected, 1e-12 * (1 + std::abs(expected)));
      }
      for (std::size_t u = kBegin; u < kEnd; ++u) {
        largest += std::abs(gram[node(t)][node(u)]);
        for (std::size_t k = 0; k < kWidth; ++k)
          norm += gram[node(t)][node(u)] * delta.row(t - kBegin)[k] * delta.row(u - kBegin)[k];
      }
    }
    EXPECT_NEAR(matrix->squared_norm(kBegin, kEnd, std::span<const double>(packed), kWidth, ws), norm,
                1e-11 * norm);
    EXPECT_NEAR(matrix->largest_squared_norm(kBegin, kEnd, ws), largest, 1e-12 * largest);

    double product = 0, own = 0;
    for (std::size_t k = 0; k < kWidth; ++k) {
      for (std::size_t u = 0; u < n; ++u) {
        for (std::size_t v = 0; v < n; ++v) {
          product += gram[u][v] * a.row(u)[k] * b.row(v)[k];
          own += gram[u][v] * a.row(u)[k] * a.row(v)[k];
        }
      }
      // Other rows have no kernel.
      for (std::size_t r = n; r < rows; ++r) {
        product += a.row(r)[k] * b.row(r)[k];
        own += a.row(r)[k] * a.row(r)[k];
      }
    }
    EXPECT_NEAR(matrix->inner_product(a, b), product, 1e-11 * own);
    EXPECT_NEAR(matrix->squared_norm(a), own, 1e-11 * own);
    EXPECT_GT(own, 0);
  }
}

TEST(KernelMatrix, LittleMemoryChangesNoBit) {
  for (const Kernel& kernel : kKernels) {
    const auto whole = kernel_matrix(kernel, inputs(), 4, kPlenty);
    const std::size_t row = whole->nodes().padded_size() * sizeof(float);
    const auto w = random_coefficients<float>(4, whole->num_nodes());
    EXPECT_TRUE(whole->complete());
    for (const std::size_t memory : {std::size_t{1}, 2 * row, 5 * row + 1}) {
      const auto part = kernel_matrix(kernel, inputs(), 4, memory);
      EXPECT_FALSE(part->complete());
      Workspace ws;
      std::vector<float> s(12 * kWidth), expected(s.size());
      for (std::size_t begin = 0; begin + 12 <= kInputs; begin += 7) {
        whole->score(begin, begin + 12, w, 1.0f, std::span(expected), ws);
        part->score(begin, begin + 12, w, 1.0f, std::span(s), ws);
        EXPECT_EQ(s, expected);
        const std::span<const float> delta(expected);
        EXPECT_EQ(part->squared_norm(begin, begin + 12, delta, kWidth, ws),
                  whole->squared_norm(begin, begin + 12, delta, kWidth, ws));
      }
      EXPECT_EQ(part->squared_norm(w), whole->squared_norm(w));
    }
  }
}

TEST(KernelMatrix, ThreadsShareTheRowsThatThereIsMemoryFor) {
  const auto whole = kernel_matrix(kKernels[2], inputs(), 4);
  const auto part = kernel_matrix(kKernels[2], inputs(), 4, 3 * whole->nodes().padded_size() * sizeof(float));
  const auto w = random_coefficients<float>(5, whole->num_nodes());
  std::vector<int> wrong(4, 0);
  std::vector<std::jthread> threads;
  for (std::size_t k = 0; k < wrong.size(); ++k) {
    threads.emplace_back([&, k] {
      Workspace ws;
      std::vector<float> s(4 * kWidth), expected(s.size());
      for (std::size_t round = 0; round < 200; ++round) {
        const std::size_t begin = (round * (k + 1)) % (kInputs - 4);
        whole->score(begin, begin + 4, w, 1.0f, std::span(expected), ws);
        part->score(begin, begin + 4, w, 1.0f, std::span(s), ws);
        wrong[k] += s != expected ? 1 : 0;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace espalier::kernel_matrix_test
