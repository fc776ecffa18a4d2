#include "espalier/features/sparse_rows.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace espalier::sparse_rows_test {
namespace {

using Entries = std::vector<std::pair<std::uint32_t, float>>;

SparseRows build(const std::vector<Entries>& rows) {
  SparseRows result;
  for (const Entries& row : rows) {
    for (const auto& entry : row) result.add(entry.first, entry.second);
    result.finish_row();
  }
  return result;
}

RC_GTEST_PROP(SparseRows, GiveBackWhatWasAdded, ()) {
  // Mostly ones, so that the first other value comes late, early or never.
  const auto value = rc::gen::weightedElement<float>({{20, 1.0f}, {1, 0.5f}, {1, -3.0f}});
  const auto rows = *rc::gen::container<std::vector<Entries>>(
      rc::gen::container<Entries>(rc::gen::pair(rc::gen::arbitrary<std::uint32_t>(), value)));
  const SparseRows table = build(rows);
  RC_ASSERT(table.size() == rows.size());
  std::size_t entries = 0;
  bool all_ones = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SparseRows::Row row = table.row(i);
    RC_ASSERT(row.ids.size() == rows[i].size());
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      RC_ASSERT(row.ids[j] == rows[i][j].first);
      RC_ASSERT(row.value(j) == rows[i][j].second);
      all_ones = all_ones && rows[i][j].second == 1.0f;
    }
    entries += rows[i].size();
  }
  RC_ASSERT(table.num_entries() == entries);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RC_ASSERT(table.row(i).values.size() == (all_ones ? 0 : rows[i].size()));
  }
}

TEST(SparseRows, RowsMayBeEmpty) {
  const SparseRows none;
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.num_entries(), 0u);
  const SparseRows rows = build({{}, {{4, 2.0f}}, {}});
  EXPECT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.row(0).ids.size(), 0u);
  EXPECT_EQ(rows.row(1).ids[0], 4u);
  EXPECT_EQ(rows.row(1).values[0], 2.0f);
  EXPECT_EQ(rows.row(2).ids.size(), 0u);
}

TEST(SparseRows, ValuesBeforeTheFirstThatIsNotOneAreOnes) {
  const SparseRows rows = build({{{7, 1.0f}, {8, 1.0f}}, {{9, 0.25f}, {7, 1.0f}}});
  const std::vector<float> first(rows.row(0).values.begin(), rows.row(0).values.end());
  const std::vector<float> second(rows.row(1).values.begin(), rows.row(1).values.end());
  EXPECT_EQ(first, (std::vector<float>{1.0f, 1.0f}));
  EXPECT_EQ(second, (std::vector<float>{0.25f, 1.0f}));
}

RC_GTEST_PROP(SparseRows, RepeatedEntriesAreSummedInTheirFirstPlace, ()) {
  // Small whole numbers: their sums are exact, and often 0.
  const auto rows = *rc::gen::container<std::vector<Entries>>(rc::gen::container<Entries>(
      rc::gen::pair(rc::gen::inRange<std::uint32_t>(0, 10),
                    rc::gen::map(rc::gen::element(1, 1, 1, -1), [](int v) { return float(v); }))));
  SparseRows table;
  std::vector<Entries> expected;
  for (const Entries& row : rows) {
    Entries sums;
    for (const auto& entry : row) {
      table.add(entry.first, entry.second);
      const auto same = [&](const auto& other) { return other.first == entry.first; };
      const auto found = std::find_if(sums.begin(), sums.end(), same);
      if (found == sums.end()) {
        sums.push_back(entry);
      } else {
        found->second += entry.second;
      }
    }
    const bool repeated = sums.size() < row.size();
    if (repeated)
      sums.erase(std::remove_if(sums.begin(), sums.end(), [](const auto& e) { return e.second == 0; }),
                 sums.end());
    table.sum_repeated();
    table.finish_row();
    expected.push_back(sums);
  }
  RC_ASSERT(table.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Entries found;
    const SparseRows::Row row = table.row(i);
    for (std::size_t j = 0; j < row.ids.size(); ++j) found.emplace_back(row.ids[j], row.value(j));
    RC_ASSERT(found == expected[i]);
  }
}

}  // namespace
}  // namespace espalier::sparse_rows_test
