#include "features/step_tables.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace espalier::step_tables_test {
namespace {

using Ids = std::vector<std::uint32_t>;

TEST(StepTables, NumbersRowsInOrderOfAppearance) {
  StepTables step_tables;
  Ids rows, tables;
  step_tables.append(Ids{7, 2, 7, 9, 2}, rows, tables);
  EXPECT_EQ(rows, (Ids{7, 2, 9}));
  EXPECT_EQ(tables, (Ids{0, 1, 0, 2, 1}));
}

// The next sequence begins anew, behind what is there already.
TEST(StepTables, EverySequenceHasItsOwnTables) {
  StepTables step_tables;
  Ids rows, tables;
  step_tables.append(Ids{3, 5}, rows, tables);
  step_tables.append(Ids{}, rows, tables);
  step_tables.append(Ids{5, 5, 3, 8}, rows, tables);
  EXPECT_EQ(rows, (Ids{3, 5, 5, 3, 8}));
  EXPECT_EQ(tables, (Ids{0, 1, 0, 0, 1, 2}));
}

}  // namespace
}  // namespace espalier::step_tables_test
