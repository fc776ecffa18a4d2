#include "model/weight_coding.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/error_message.h"

namespace espalier::weight_coding_test {
namespace {

using testing::error_message;

float random_weight(int exponent) {
  const int size = *rc::gen::inRange(exponent - 30, exponent + 1);
  return static_cast<float>(std::ldexp(*rc::gen::inRange(-(1 << 24), 1 << 24), size - 23));
}

TEST(ShortNumbers, EveryCodeIsANumberOfItsOwn) {
  for (const int exponent : {-124, -3, 0, 127}) {
    const ShortNumbers numbers(exponent);
    for (int code = 0; code < 0x8000; ++code) {
      const float value = numbers.decode(static_cast<std::uint16_t>(code));
      ASSERT_TRUE(std::isfinite(value));
      ASSERT_EQ(numbers.encode(value), code);
      ASSERT_EQ(numbers.decode(static_cast<std::uint16_t>(code | 0x8000)), -value);
      if (code > 0) {
        ASSERT_EQ(numbers.encode(-value), code | 0x8000);
        ASSERT_GT(value, numbers.decode(static_cast<std::uint16_t>(code - 1)));
      }
    }
    EXPECT_EQ(numbers.encode(-0.0f), 0);
    // By the formula in the header.
    EXPECT_EQ(numbers.decode(0x7fff), std::ldexp(1 + 2047.0 / 2048, exponent));
    EXPECT_EQ(numbers.decode(0x0800), std::ldexp(1.0, exponent - 14));
    EXPECT_EQ(numbers.decode(0x0001), std::ldexp(1.0, exponent - 25));
  }
}

RC_GTEST_PROP(ShortNumbers, NoneIsNearer, ()) {
  const int exponent = *rc::gen::inRange(-20, 20);
  const float largest = std::ldexp(1.0f, exponent), value = random_weight(exponent);
  const ShortNumbers numbers(std::vector{largest, value});
  const std::uint16_t code = numbers.encode(value);
  const double error = std::abs(double{numbers.decode(code)} - value);
  RC_ASSERT(error <=
            std::max(std::ldexp(std::abs(double{value}), -12), std::ldexp(1.0, numbers.exponent() - 26)));
  for (const int step : {-1, 1}) {
    const int other = (code & 0x7fff) + step;
    if (other < 0 || other > 0x7fff) continue;
    const auto neighbour = static_cast<std::uint16_t>(other | (code & 0x8000));
    RC_ASSERT(std::abs(double{numbers.decode(neighbour)} - value) >= error);
  }
}

RC_GTEST_PROP(ShortNumbers, RoundingTwiceIsRoundingOnce, ()) {
  Weights theta(
      {static_cast<std::size_t>(*rc::gen::inRange(1, 6)), static_cast<std::size_t>(*rc::gen::inRange(1, 6))});
  const int exponent = *rc::gen::inRange(-140, 128);
  for (std::size_t r = 0; r < theta.shape().rows; ++r) {
    for (std::size_t j = 0; j < theta.shape().width; ++j) theta.row(r)[j] = random_weight(exponent - 1);
  }
  const Weights once = rounded_weights(theta, 16), twice = rounded_weights(once, 16);
  RC_ASSERT(std::ranges::equal(once.values(), twice.values()));
  RC_ASSERT(ShortNumbers(theta.values()).exponent() == ShortNumbers(once.values()).exponent());
  for (const float value : once.values()) RC_ASSERT(std::isfinite(value));
  // Those of 32 bits are as they were.
  const Weights same = rounded_weights(theta, 32);
  RC_ASSERT(std::ranges::equal(same.values(), theta.values()));
}

TEST(ShortNumbers, ExtremesStayFinite) {
  Weights theta({1, 4});
  const float values[] = {std::numeric_limits<float>::max(), -std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::denorm_min(), 1};
  std::copy_n(values, 4, theta.row(0));
  const Weights rounded = rounded_weights(theta, 16);
  EXPECT_EQ(rounded.row(0)[0], std::ldexp(1 + 2047.0f / 2048, 127));
  EXPECT_EQ(rounded.row(0)[1], -rounded.row(0)[0]);
  EXPECT_EQ(rounded.row(0)[2], 0);
  Weights tiny({1, 1});
  tiny.row(0)[0] = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(rounded_weights(tiny, 16).row(0)[0], tiny.row(0)[0]);
  EXPECT_EQ(rounded_weights(Weights({2, 3}), 16).row(1)[2], 0);
}

TEST(ShortNumbers, RefusesOtherNumbersOfBits) {
  for (const int bits : {0, 8, 15, 17, 64}) {
    EXPECT_EQ(error_message([&] {
                rounded_weights(Weights({1, 1}), bits);
              }),
              "bits: " + std::to_string(bits) + "; expected 16 or 32");
  }
}

ModelFile file_of(const CodedWeights& coded) {
  ModelFileWriter writer;
  coded.add_to(writer);
  return ModelFile("w.esp", writer.image());
}

RC_GTEST_PROP(CodedWeights, RoundTrip, ()) {
  const std::size_t rows = *rc::gen::inRange(0, 40), width = *rc::gen::inRange(1, 20);
  const int bits = *rc::gen::element(16, 32), share = *rc::gen::element(0, 5, 50, 95, 100);
  Weights theta({rows, width});
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < width; ++j) {
      if (*rc::gen::inRange(0, 100) < share) theta.row(r)[j] = random_weight(3);
    }
  }
  theta = rounded_weights(theta, bits);
  const CodedWeights coded(theta, bits);
  const ModelFile file = file_of(coded);
  if (coded.settings().is_null()) {
    RC_ASSERT(bits == 32);
    RC_ASSERT(std::ranges::equal(file.section<float>("weights"), theta.values()));
    return;
  }
  RC_ASSERT(!file.has("weights"));
  const Weights again = expand_weights(file, coded.settings(), theta.shape());
  RC_ASSERT(again.shape() == theta.shape());
  RC_ASSERT(std::ranges::equal(again.values(), theta.values()));
}

// What has no zeros lies in the file as it always did; padding is no zero that counts.
TEST(CodedWeights, DenseOnesStayAsTheyAre) {
  for (std::size_t width = 1; width < 20; ++width) {
    Weights theta({7, width});
    theta.fill(1.5f);
    EXPECT_TRUE(CodedWeights(theta, 32).settings().is_null()) << width;
  }
}

TEST(CodedWeights, TakeLessRoom) {
  Weights theta({1000, 9});
  for (std::size_t r = 0; r < 1000; r += 3) theta.row(r)[r % 9] = 1;
  // A byte and a float for each.
  EXPECT_EQ(file_of(CodedWeights(theta, 32)).section_bytes("weights.gaps").size(), 334u);
  EXPECT_EQ(file_of(CodedWeights(theta, 32)).section_bytes("weights.values").size(), 4 * 334u);
  EXPECT_EQ(file_of(CodedWeights(theta, 16)).section_bytes("weights.values").size(), 2 * 334u);
  theta.fill(1);
  EXPECT_EQ(file_of(CodedWeights(theta, 16)).section_bytes("weights.values").size(), 2 * 9000u);
  EXPECT_FALSE(file_of(CodedWeights(theta, 16)).has("weights.gaps"));
}

// Files whose checksums hold and whose contents are wrong.
class HostileWeights : public ::testing::Test {
 protected:
  static std::string message(const Json& settings, WeightShape shape, const std::string& values,
                             const std::string& gaps) {
    ModelFileWriter writer;
    writer.add_bytes("weights.values", values);
    writer.add_bytes("weights.gaps", gaps);
    const ModelFile file("w.esp", writer.image());
    return error_message([&] { expand_weights(file, settings, shape); });
  }
  static std::string message(const std::string& values, const std::string& gaps, std::size_t rows = 2) {
    return message(kSparse, {rows, 3}, values, gaps);
  }

  inline static const Json kSparse{{"bits", 16}, {"sparse", true}, {"exponent", 0}};
  inline static const Json kDense{{"bits", 16}, {"sparse", false}, {"exponent", 0}};
  const std::string one = std::string("\x00\x08", 2);
};

TEST_F(HostileWeights, AreRefused) {
  const std::string far =
      "w.esp: weights after the last one of 2 rows of 3; expected as many as the rows hold; retrain the "
      "model";
  EXPECT_EQ(message(one + one, std::string("\x00\x04", 2)), "(no error)");
  EXPECT_EQ(message(one, "\x05"), "(no error)");
  EXPECT_EQ(message(one, "\x06"), far);
  EXPECT_EQ(message(one + one, std::string("\x05\x00", 2)), far);
  EXPECT_EQ(message(one, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), far);
  EXPECT_EQ(message("", ""), "(no error)");
  EXPECT_EQ(message(one, ""), "w.esp: an unreadable number of zeros between weights; retrain the model");
  EXPECT_EQ(message(one, "\x80"), "w.esp: an unreadable number of zeros between weights; retrain the model");
  EXPECT_EQ(message(one, std::string("\x81\x00", 2)),
            "w.esp: an unreadable number of zeros between weights; retrain the model");
  EXPECT_EQ(message(one, std::string(12, '\xff')),
            "w.esp: an unreadable number of zeros between weights; retrain the model");
  EXPECT_EQ(message(one, "\x01\x01"), "w.esp: zeros between weights that are not there; retrain the model");
  EXPECT_EQ(message(one + "x", "\x01"),
            "w.esp: section 'weights.values' has the wrong size; copy the model again or retrain it");
  EXPECT_EQ(
      message(one, std::string(1, '\0'), 0),
      "w.esp: weights after the last one of 0 rows of 3; expected as many as the rows hold; retrain the "
      "model");
  EXPECT_EQ(message(kDense, {2, 3}, one, ""),
            "w.esp: 1 weights for 2 rows of 3; expected as many as the rows hold; retrain the model");
  EXPECT_EQ(message(kDense, {1, 0}, one, ""),
            "w.esp: 1 weights for 1 rows of 0; expected as many as the rows hold; retrain the model");
  for (const WeightShape shape : {WeightShape{std::size_t{1} << 60, 3}, WeightShape{1, std::size_t{1} << 60},
                                  WeightShape{~std::size_t{0}, ~std::size_t{0}}, WeightShape{3, 0},
                                  WeightShape{std::size_t{1} << 32, 1}}) {
    EXPECT_EQ(message(kSparse, shape, one, "\x01"),
              "w.esp: " + std::to_string(shape.rows) + " rows of " + std::to_string(shape.width) +
                  " weights; expected as many as memory holds; retrain the model");
  }
  EXPECT_EQ(message({{"bits", 8}, {"sparse", false}}, {1, 1}, one, ""),
            "w.esp: weights of 8 bits; this program reads those of 16 and 32; expected a newer espalier");
  for (const int exponent : {-125, 128}) {
    EXPECT_EQ(message({{"bits", 16}, {"sparse", false}, {"exponent", exponent}}, {1, 1}, one, ""),
              "w.esp: weights of the exponent " + std::to_string(exponent) + "; retrain the model");
  }
}

}  // namespace
}  // namespace espalier::weight_coding_test
