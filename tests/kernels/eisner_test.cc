#include "kernels/eisner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "espalier/base/memory.h"
#include "structures/projective.h"
#include "support/simd_targets.h"

namespace espalier::eisner_test {
namespace {

// Scores and marginals end with their memory, so that a sanitizer sees a step outside.
void check_eisner(Random& random, std::size_t words, bool single_root, double range) {
  const std::size_t size = arc_matrix_size(words);
  std::vector<double> s(size), mu(size), expected(size);
  for (double& x : s) x = range * (2 * random.uniform() - 1);
  AlignedVector<double> scratch(kernels::eisner_scratch(words), std::nan(""));

  Workspace ws;
  const double expected_log_z = projective_log_partition_reference(words, single_root, s, expected, ws);
  double log_z = 0;
  ASSERT_TRUE(kernels::eisner_marginals(words, single_root, s.data(), mu.data(), &log_z, scratch.data()));
  EXPECT_NEAR(log_z, expected_log_z, 1e-13 * (10 + std::abs(expected_log_z)));
  for (std::size_t k = 0; k < size; ++k) EXPECT_NEAR(mu[k], expected[k], 1e-12);

  // The best tree is what is left when scores grow.
  std::vector<std::uint32_t> heads(words);
  kernels::eisner_best(words, single_root, s.data(), heads.data(), scratch.data());
  for (double& x : s) x *= 1e6 / range;
  projective_log_partition_reference(words, single_root, s, expected, ws);
  for (std::size_t d = 1; d <= words; ++d)
    EXPECT_GT(expected[arc_matrix_index(words, heads[d - 1], d)], 0.99);
}

TEST(EisnerKernel, EveryTargetGivesWhatLogarithmsGive) {
  test_support::for_each_simd_target([] {
    Random random(7);
    for (const bool single_root : {false, true}) {
      for (std::size_t words = 1; words <= 26; ++words)
        check_eisner(random, words, single_root, words % 2 == 0 ? 2 : 20);
    }
  });
}

TEST(EisnerKernel, TellsWhenTheRangeIsTooWide) {
  test_support::for_each_simd_target([] {
    // Two words that would like to be each other's head.
    const std::vector<double> s = {0, 0, 0, -400, 0, 0, -400, 0, 0};
    std::vector<double> mu(9);
    AlignedVector<double> scratch(kernels::eisner_scratch(2));
    double log_z = 0;
    EXPECT_FALSE(kernels::eisner_marginals(2, false, s.data(), mu.data(), &log_z, scratch.data()));
  });
}

TEST(EisnerKernel, SumsOverContextsAreTheReferences) {
  using kernels::ContextRows;
  namespace reference = kernels::reference;
  test_support::for_each_simd_target([] {
    Random random(9);
    const auto draw = [&random](std::size_t n) {
      AlignedVector<double> values(n);
      for (double& v : values) v = random.uniform();
      return values;
    };
    const auto expect_near = [](const AlignedVector<double>& found, const AlignedVector<double>& expected) {
      for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], 1e-13);
    };
    for (std::size_t n = kernels::kContextUnit; n <= 40; n += kernels::kContextUnit) {
      for (std::size_t count = 0; count <= 5; ++count) {
        auto x = draw(5 * n), y = draw(10 * n);
        const auto a = draw(5), z = draw(n);
        const ContextRows x_rows{x.data(), n}, y_rows{y.data(), 2 * n};
        AlignedVector<double> found = z, expected = z;
        kernels::add_rows(count, a.data(), y_rows, found.data(), n);
        reference::add_rows(count, a.data(), y_rows, expected.data(), n);
        expect_near(found, expected);
        kernels::add_row_products(count, x_rows, y_rows, found.data(), n);
        reference::add_row_products(count, x_rows, y_rows, expected.data(), n);
        expect_near(found, expected);

        auto found_x = draw(5 * n), found_y = draw(10 * n), found_sums = draw(5);
        auto expected_x = found_x, expected_y = found_y, expected_sums = found_sums;
        kernels::spread_rows(count, a.data(), z.data(), {found_y.data(), 2 * n}, x_rows, found_sums.data(),
                             n);
        reference::spread_rows(count, a.data(), z.data(), {expected_y.data(), 2 * n}, x_rows,
                               expected_sums.data(), n);
        kernels::spread_row_products(count, z.data(), x_rows, y_rows, {found_x.data(), n},
                                     {found_y.data(), 2 * n}, n);
        reference::spread_row_products(count, z.data(), x_rows, y_rows, {expected_x.data(), n},
                                       {expected_y.data(), 2 * n}, n);
        expect_near(found_x, expected_x);
        expect_near(found_y, expected_y);
        expect_near(found_sums, expected_sums);
      }
    }
  });
}

}  // namespace
}  // namespace espalier::eisner_test
