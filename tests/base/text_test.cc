#include "base/text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace espalier::text_test {
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

// What is not exactly all or nothing does not look like it.
TEST(Text, Percentages) {
  EXPECT_EQ(percentage(0), "0.00");
  EXPECT_EQ(percentage(1e-300), "0.01");
  EXPECT_EQ(percentage(0.004), "0.01");
  EXPECT_EQ(percentage(0.014), "0.01");
  EXPECT_EQ(percentage(0.016), "0.02");
  EXPECT_EQ(percentage(50), "50.00");
  EXPECT_EQ(percentage(93.068), "93.07");
  EXPECT_EQ(percentage(99.984), "99.98");
  EXPECT_EQ(percentage(99.986), "99.99");
  EXPECT_EQ(percentage(99.996), "99.99");
  EXPECT_EQ(percentage(std::nextafter(100.0, 0.0)), "99.99");
  EXPECT_EQ(percentage(100), "100.00");
  EXPECT_EQ(percentage(99.99996, 4), "99.9999");
  EXPECT_EQ(percentage(99.99, 4), "99.9900");
  EXPECT_EQ(percentage(1e-9, 4), "0.0001");
}

TEST(Text, CountsThings) {
  EXPECT_EQ(counted(0, "sequence"), "0 sequences");
  EXPECT_EQ(counted(1, "sequence"), "1 sequence");
  EXPECT_EQ(counted(59000, "sequence"), "59,000 sequences");
  EXPECT_EQ(counted(1, "pass", "passes"), "1 pass");
  EXPECT_EQ(counted(2, "pass", "passes"), "2 passes");
}

}  // namespace
}  // namespace espalier::text_test
