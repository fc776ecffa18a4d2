#include "base/text.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(Text, GroupsThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(7), "7");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(59000), "59,000");
  EXPECT_EQ(grouped(123456), "123,456");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(18446744073709551615ULL), "18,446,744,073,709,551,615");
}

TEST(Text, CountsThings) {
  EXPECT_EQ(counted(0, "sequence"), "0 sequences");
  EXPECT_EQ(counted(1, "sequence"), "1 sequence");
  EXPECT_EQ(counted(59000, "sequence"), "59,000 sequences");
  EXPECT_EQ(counted(1, "pass", "passes"), "1 pass");
  EXPECT_EQ(counted(2, "pass", "passes"), "2 passes");
}

}  // namespace
}  // namespace espalier
