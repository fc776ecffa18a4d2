#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/features/weights.h"
#include "model/model_file.h"

namespace espalier {

// How a model file keeps its weights. Those of 32 bits that are mostly not zero lie there as they are, rows
// side by side, and are used in place, memory-mapped. Others take less room and are expanded once, when
// somebody asks for a predictor: the values alone, without the padding of rows, and where most are zero only
// those that are not, each with the number of zeros before it.

// Numbers of 16 bits that share a largest exponent e: a sign, 4 bits of exponent, 11 of significand. With x
// and m what these bits say, a number is
//   (1 + m/2^11) 2^(e - 15 + x)  for x > 0,   m/2^11 2^(e - 14)  for x = 0,
// so that no value below 2^(e + 1) is further from the nearest one than 2^-12 of itself, or than 2^(e - 26).
// A weight is rounded by itself: in whichever layout, it becomes the same.
//
// CoNLL-2000 with CRFsuite's attributes, 47,377 test tokens, models of l2 0.2, 2 and 20: by 3 bits of
// exponent 0, 0 and 0 tokens get another label than by 32 bits, by these 4 bits 0, 2 and 0, by 5 bits (IEEE's
// half precision) 0, 2 and 0, by whole numbers scaled to the largest weight of each row 0, 2 and 0, of all
// rows 0, 2 and 0, by bfloat16 1, 7 and 12. 3 bits would have few digits for weights of features whose values
// are a thousand times as large as others.
class ShortNumbers {
 public:
  // Those in which the largest of these values has a nearest one, and the others as many digits as may be.
  // The same for the numbers that the values are rounded to.
  explicit ShortNumbers(std::span<const float> values);
  explicit ShortNumbers(int exponent);
  static bool is_exponent(int exponent);

  int exponent() const { return exponent_; }
  // Of the nearest number; of two that are equally near, the one with an even code. Zero has one code.
  std::uint16_t encode(float value) const;
  float decode(std::uint16_t code) const;

 private:
  int exponent_;
};

// The nearest weights that have so many bits, 16 or 32. Throws Error for other numbers.
Weights rounded_weights(const Weights& theta, int bits);

// What a file keeps of weights.
class CodedWeights {
 public:
  // Requires weights that have no more than this number of bits, and stay where they are.
  CodedWeights(const Weights& theta, int bits);

  // For the `model` section; null: they are as they were before there was a choice, in format 1.
  const Json& settings() const { return settings_; }
  void add_to(ModelFileWriter& writer) const;

 private:
  Json settings_;
  std::span<const float> plain_;
  std::string gaps_;
  std::vector<float> values_;
  std::vector<std::uint16_t> short_values_;
};

// The weights that a file keeps by these settings. Throws Error, or JsonError, for what cannot be right.
Weights expand_weights(const ModelFile& file, const Json& settings, WeightShape shape);

}  // namespace espalier
