#include "base/parse_number.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace espalier::parse_number_test {
namespace {

TEST(ParseNumber, ReadsDecimalNotation) {
  EXPECT_EQ(parse_float("1"), 1.0f);
  EXPECT_EQ(parse_float("+0.5"), 0.5f);
  EXPECT_EQ(parse_float("-0.733333"), -0.733333f);
  EXPECT_EQ(parse_float(".25"), 0.25f);
  EXPECT_EQ(parse_float("3."), 3.0f);
  EXPECT_EQ(parse_float("1e-3"), 0.001f);
  EXPECT_EQ(parse_float("1E+2"), 100.0f);
  EXPECT_EQ(parse_float("3.4028234e38"), std::numeric_limits<float>::max());
  EXPECT_EQ(parse_double("1e300"), 1e300);
}

TEST(ParseNumber, RefusesEverythingElse) {
  for (const char* text :
       {"", " 1", "1 ", "+", "-", ".", "+-1", "++1", "1e", "0x10", "1,5", "one", "1_000", "--1", "e5"}) {
    EXPECT_EQ(parse_float(text), std::nullopt) << text;
    EXPECT_EQ(parse_double(text), std::nullopt) << text;
  }
}

TEST(ParseNumber, RefusesWhatIsNotFinite) {
  for (const char* text : {"nan", "NaN", "inf", "-inf", "+infinity", "1e999", "-1e999", "1e39", "1e99999"}) {
    EXPECT_EQ(parse_float(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_double("1e39"), 1e39);
  EXPECT_EQ(parse_double("1e999"), std::nullopt);
}

TEST(ParseNumber, WhatIsTooSmallIsZero) {
  EXPECT_EQ(parse_float("1e-40"), 1e-40f);  // below the normal range, but there
  EXPECT_EQ(parse_float("1e-60"), 0.0f);
  EXPECT_EQ(parse_float("-1e-999"), 0.0f);
  EXPECT_EQ(parse_double("1e-60"), 1e-60);
  EXPECT_EQ(parse_double("1e-999"), 0.0);
  for (const char* text : {"1e-99999", "-1e-99999", "1e-99999999999999999999", "1000e-9999"}) {
    EXPECT_EQ(parse_double(text), 0.0) << text;
    EXPECT_EQ(parse_float(text), 0.0f) << text;
  }
  const std::string zeros(6000, '0');
  EXPECT_EQ(parse_double("0." + zeros + "1"), 0.0);
  EXPECT_EQ(parse_double("0." + zeros + "1e6000"), 0.1);
  EXPECT_EQ(parse_double("1" + zeros + "e-6000"), 1.0);
  EXPECT_EQ(parse_double("1" + zeros + "e-7000"), 0.0);
  EXPECT_EQ(parse_double("1" + zeros + "e-5000"), std::nullopt);
  for (const char* text : {"1e99999", "-1e99999", "1e+99999999999999999999", "0.001e9999"}) {
    EXPECT_EQ(parse_double(text), std::nullopt) << text;
  }
}

TEST(ParseNumber, AmountsOfMemory) {
  EXPECT_EQ(parse_bytes("1"), 1u);
  EXPECT_EQ(parse_bytes("2000"), 2000u);
  EXPECT_EQ(parse_bytes("3K"), 3072u);
  EXPECT_EQ(parse_bytes("512M"), std::size_t{512} << 20);
  EXPECT_EQ(parse_bytes("1.5G"), std::size_t{3} << 29);
  EXPECT_EQ(parse_bytes("2T"), std::size_t{1} << 41);
  for (const char* text :
       {"", "G", "0", "0.5", "-1", "-1G", "1P", "1 G", "1g", "1GB", "1e30", "1e30G", "nan"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(ParseNumber, ReadsBackWhatWasPrinted, (float single, double twice)) {
  RC_ASSERT(parse_float(fmt::format("{}", single)) == single);
  RC_ASSERT(parse_double(fmt::format("{}", twice)) == twice);
}

}  // namespace
}  // namespace espalier::parse_number_test
