#include "solvers/hildreth.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "support/slack_qp.h"

namespace espalier {
namespace {

using test_support::slack_qp_optimum;
using test_support::slack_qp_value;

struct Rows {
  std::vector<double> gram, b;
};

// Rows a_r of any dimension, so that some depend on others; the gram matrix is theirs.
Rows any_rows() {
  const auto k = *rc::gen::inRange<std::size_t>(1, 6), dimension = *rc::gen::inRange<std::size_t>(1, 8);
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<double> a(k * dimension);
  for (double& x : a) x = 2 * random.uniform() - 1;
  // One row twice, or a row of nothing: the gold output among the k best.
  if (*rc::gen::arbitrary<bool>())
    std::copy_n(a.begin(), dimension, a.end() - static_cast<std::ptrdiff_t>(dimension));
  const bool empty = *rc::gen::arbitrary<bool>();
  if (empty) std::fill_n(a.begin(), dimension, 0.0);
  Rows rows;
  for (std::size_t r = 0; r < k; ++r) {
    rows.b.push_back(empty && r == 0 ? 0 : 3 * random.uniform() - 1);
    for (std::size_t t = 0; t < k; ++t) {
      rows.gram.push_back(std::inner_product(a.begin() + static_cast<std::ptrdiff_t>(r * dimension),
                                             a.begin() + static_cast<std::ptrdiff_t>((r + 1) * dimension),
                                             a.begin() + static_cast<std::ptrdiff_t>(t * dimension), 0.0));
    }
  }
  return rows;
}

RC_GTEST_PROP(Hildreth, SolvesItsProblem, ()) {
  const Rows rows = any_rows();
  const double cap = *rc::gen::element(0.001, 0.1, 1.0, 30.0);
  Hildreth hildreth;
  const auto alpha = hildreth.solve(rows.gram, rows.b, cap);
  const std::size_t k = rows.b.size();
  RC_ASSERT(alpha.size() == k);

  double sum = 0, slack = 0;
  std::vector<double> unmet(k);  // b_r - a_r.x
  for (std::size_t r = 0; r < k; ++r) {
    RC_ASSERT(alpha[r] >= 0);
    sum += alpha[r];
    unmet[r] = rows.b[r];
    for (std::size_t t = 0; t < k; ++t) unmet[r] -= rows.gram[r * k + t] * alpha[t];
    slack = std::max(slack, unmet[r]);
  }
  RC_ASSERT(sum <= cap * (1 + 1e-12));
  // Rows in use are as bad as the worst; there is slack only where all of the cap is used.
  for (std::size_t r = 0; r < k; ++r) RC_ASSERT(alpha[r] == 0 || unmet[r] >= slack - 1e-8);
  RC_ASSERT(slack <= 1e-8 || sum >= cap * (1 - 1e-12));

  const double optimum = slack_qp_optimum(rows.gram, rows.b, cap);
  RC_ASSERT(std::abs(slack_qp_value(rows.gram, rows.b, alpha) - optimum) <= 1e-7 * (1 + optimum));
}

TEST(Hildreth, OneRowInClosedForm) {
  Hildreth hildreth;
  // min{ cap, b/|a|^2 }, and nothing for a constraint that is met.
  EXPECT_DOUBLE_EQ(hildreth.solve(std::vector{4.0}, std::vector{2.0}, 10)[0], 0.5);
  EXPECT_DOUBLE_EQ(hildreth.solve(std::vector{4.0}, std::vector{2.0}, 0.3)[0], 0.3);
  EXPECT_EQ(hildreth.solve(std::vector{4.0}, std::vector{-2.0}, 10)[0], 0);
  // A row of nothing takes all there is.
  EXPECT_EQ(hildreth.solve(std::vector{0.0}, std::vector{2.0}, 10)[0], 10);
}

TEST(Hildreth, RowsShareTheCap) {
  // Two orthogonal rows of length 1: alone each would take 2, together 1 each, and the one that wants more
  // gets more.
  Hildreth hildreth;
  const std::vector gram{1.0, 0.0, 0.0, 1.0};
  auto alpha = hildreth.solve(gram, std::vector{2.0, 2.0}, 2);
  EXPECT_NEAR(alpha[0], 1, 1e-9);
  EXPECT_NEAR(alpha[1], 1, 1e-9);
  alpha = hildreth.solve(gram, std::vector{2.0, 3.0}, 2);
  EXPECT_NEAR(alpha[0], 0.5, 1e-9);
  EXPECT_NEAR(alpha[1], 1.5, 1e-9);
  alpha = hildreth.solve(gram, std::vector{2.0, 3.0}, 100);
  EXPECT_NEAR(alpha[0], 2, 1e-8);
  EXPECT_NEAR(alpha[1], 3, 1e-8);
}

}  // namespace
}  // namespace espalier
