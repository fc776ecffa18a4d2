#include "features/kernel_nodes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "base/random.h"
#include "support/error_message.h"
#include "support/random_problem.h"

namespace espalier::kernel_nodes_test {
namespace {

using espalier::testing::error_message;
using test_support::random_data;

const std::vector<Kernel> kKernels{Kernel::parse("linear"), Kernel::parse("poly,2"),
                                   Kernel::parse("poly,3,0,0.5"), Kernel::parse("rbf,0.3")};

double exact(const Kernel& kernel, const SparseRows::Row& x, const SparseRows::Row& y) {
  std::map<std::uint32_t, std::pair<double, double>> entries;
  for (std::size_t j = 0; j < x.ids.size(); ++j) entries[x.ids[j]].first += x.value(j);
  for (std::size_t j = 0; j < y.ids.size(); ++j) entries[y.ids[j]].second += y.value(j);
  double product = 0, distance = 0;
  for (const auto& [id, values] : entries) {
    product += values.first * values.second;
    distance += (values.first - values.second) * (values.first - values.second);
  }
  switch (kernel.kind) {
    case Kernel::Kind::linear:
      return product;
    case Kernel::Kind::poly:
      return std::pow(kernel.scale * product + kernel.constant, kernel.degree);
    case Kernel::Kind::rbf:
      return std::exp(-kernel.gamma * distance);
  }
  return 0;
}

TEST(DistinctRows, EqualRowsAreOneHoweverTheyAreWritten) {
  SparseRows rows;
  rows.add(4, 2.0f), rows.add(1, 1.0f), rows.finish_row();
  rows.finish_row();
  rows.add(1, 1.0f), rows.add(4, 2.0f), rows.finish_row();
  rows.add(1, 1.0f), rows.add(4, 1.5f), rows.finish_row();
  rows.add(4, 0.5f), rows.add(1, 1.0f), rows.add(4, 1.5f), rows.finish_row();
  rows.add(3, 1.0f), rows.add(3, -1.0f), rows.finish_row();
  const DistinctRows distinct = distinct_rows(rows);
  EXPECT_EQ(distinct.of, (std::vector<std::uint32_t>{0, 1, 0, 2, 0, 1}));
  ASSERT_EQ(distinct.rows.size(), 3u);
  const SparseRows::Row first = distinct.rows.row(0);
  EXPECT_EQ(std::vector<std::uint32_t>(first.ids.begin(), first.ids.end()),
            (std::vector<std::uint32_t>{1, 4}));
  EXPECT_EQ(first.value(0), 1);
  EXPECT_EQ(first.value(1), 2);
  EXPECT_TRUE(distinct.rows.row(1).ids.empty());
}

RC_GTEST_PROP(KernelNodes, ValuesAreTheKernels, ()) {
  const auto density = *rc::gen::element(0.05, 0.4, 1.0);
  const auto data = random_data(
      *rc::gen::inRange<std::uint64_t>(1, 1000),
      {.examples = 19, .attributes = 12, .density = density, .unit_values = *rc::gen::arbitrary<bool>()});
  for (const Kernel& kernel : kKernels) {
    const KernelNodes nodes(kernel, distinct_rows(data.rows).rows, data.attributes);
    const std::size_t n = nodes.size();
    std::vector<AlignedVector<float>> gram(n, AlignedVector<float>(nodes.padded_size()));
    for (std::size_t u = 0; u < n; ++u) nodes.values(u, n, gram[u].data());
    AlignedVector<float> part(nodes.padded_size());
    std::size_t wrong = 0;
    for (std::size_t u = 0; u < n; ++u) {
      nodes.values(u, u + 1, part.data());
      for (std::size_t v = 0; v < n; ++v) {
        const double expected = exact(kernel, nodes.rows().row(u), nodes.rows().row(v));
        wrong += std::abs(gram[u][v] - expected) <= 1e-5 * (1 + std::abs(expected)) ? 0 : 1;
        wrong += gram[u][v] == gram[v][u] && (v > u || part[v] == gram[u][v]) ? 0 : 1;
      }
      wrong += nodes.self(u) == gram[u][u] ? 0 : 1;
    }
    RC_ASSERT(wrong == 0u);
  }
}

TEST(KernelNodes, ScoresOfOtherInputs) {
  const auto data = random_data(3, {.examples = 21, .attributes = 9, .labels = 5});
  const auto others = random_data(4, {.examples = 11, .attributes = 9, .labels = 5});
  Workspace ws;
  for (const Kernel& kernel : kKernels) {
    const KernelNodes nodes(kernel, distinct_rows(data.rows).rows, data.attributes);
    const Weights theta = test_support::random_weights(7, {nodes.size() + 2, 5});
    std::vector<float> s(11 * 5);
    std::vector<double> double_s(s.size());
    nodes.score(others.rows.range(0, 11), theta, std::span(s), ws);
    nodes.score(others.rows.range(0, 11), theta, std::span(double_s), ws);
    for (std::size_t t = 0; t < 11; ++t) {
      for (std::size_t j = 0; j < 5; ++j) {
        double expected = 0;
        for (std::size_t v = 0; v < nodes.size(); ++v)
          expected += exact(kernel, nodes.rows().row(v), others.rows.row(t)) * theta.row(v)[j];
        EXPECT_NEAR(s[t * 5 + j], expected, 1e-4) << kernel.name();
        EXPECT_NEAR(double_s[t * 5 + j], expected, 2e-5) << kernel.name();
      }
    }
  }
}

TEST(KernelNodes, ValuesThatAreNotFinite) {
  SparseRows rows;
  rows.add(0, 1e10f), rows.finish_row();
  EXPECT_EQ(error_message([&] { KernelNodes(Kernel::parse("poly,4"), rows, 1); }),
            "kernel: poly,4,1,1 is not finite for some input; expected smaller values, a lower degree or a "
            "smaller scale");
}

}  // namespace
}  // namespace espalier::kernel_nodes_test
