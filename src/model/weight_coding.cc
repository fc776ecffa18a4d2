#include "model/weight_coding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr const char* kValues = "weights.values";
constexpr const char* kGaps = "weights.gaps";

constexpr int kSignificandBits = 11;
constexpr int kBinades = 15;  // of which numbers have all digits
constexpr std::uint16_t kSign = 0x8000, kLargestCode = 0x7fff;
// A float has all of their digits.
constexpr int kLeastExponent = -149 + kSignificandBits + kBinades - 1, kMostExponent = 127;

// |value| in steps of 2^step.
double in_steps(float value, int step) { return std::nearbyint(std::ldexp(std::abs(double{value}), -step)); }

int largest_exponent(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  if (largest == 0) return kLeastExponent;
  // What it is rounded to may have the next exponent, which has to be the one that the rounded value gets.
  const int step = std::ilogb(largest) - kSignificandBits;
  return std::clamp(std::ilogb(std::ldexp(in_steps(largest, step), step)), kLeastExponent, kMostExponent);
}

void append_varint(std::size_t number, std::string& to) {
  for (; number >= 128; number >>= 7) to += static_cast<char>((number & 127) | 128);
  to += static_cast<char>(number);
}

std::size_t varint_bytes(std::size_t number) {
  std::size_t bytes = 1;
  for (; number >= 128; number >>= 7) ++bytes;
  return bytes;
}

// Calls use(zeros before it, weight) for all weights that are not zero.
template <class Use>
void for_each_value(const Weights& theta, const Use& use) {
  const auto [rows, width] = theta.shape();
  std::size_t zeros = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    for (const float weight : std::span(theta.row(r), width)) {
      if (weight == 0) {
        ++zeros;
      } else {
        use(std::exchange(zeros, std::size_t{0}), weight);
      }
    }
  }
}

[[noreturn]] void refuse(const ModelFile& file, const std::string& found) {
  throw Error::in(file.path(), found, "retrain the model");
}

// Reads numbers that append_varint wrote, each in as few bytes as it needs.
class Gaps {
 public:
  explicit Gaps(const ModelFile& file) : file_(file), rest_(file.section_bytes(kGaps)) {}

  bool empty() const { return rest_.empty(); }
  std::size_t next() {
    std::size_t number = 0;
    for (int shift = 0; !rest_.empty() && shift < 63; shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      number |= std::size_t{byte & 127u} << shift;
      if (byte < 128) {
        if (byte == 0 && shift > 0) break;
        return number;
      }
    }
    refuse(file_, "an unreadable number of zeros between weights");
  }

 private:
  const ModelFile& file_;
  std::string_view rest_;
};

// Weights that are zero are not in the file: so there are no more of them than hashing alone makes, and as
// many for each that is not.
Weights make_weights(const ModelFile& file, WeightShape shape, std::size_t stored) {
  constexpr std::size_t kFew = std::size_t{1} << 31, kForEach = 4096;
  const std::size_t most = kFew + kForEach * std::min(stored, kFew);
  try {
    if (shape.width > 0 && shape.width < most && shape.rows <= most / row_stride(shape.width))
      return Weights(shape);
  } catch (const std::bad_alloc&) {
  }
  throw Error::in(file.path(), fmt::format("{} rows of {} weights", shape.rows, shape.width),
                  "expected as many as memory holds; retrain the model");
}

}  // namespace

ShortNumbers::ShortNumbers(std::span<const float> values) : ShortNumbers(largest_exponent(values)) {}
ShortNumbers::ShortNumbers(int exponent) : exponent_(exponent) { ESPALIER_EXPECT(is_exponent(exponent)); }
bool ShortNumbers::is_exponent(int exponent) {
  return exponent >= kLeastExponent && exponent <= kMostExponent;
}

std::uint16_t ShortNumbers::encode(float value) const {
  if (value == 0) return 0;
  // Binades count from the smallest with all digits; below it steps stay as they are there. A value that is
  // rounded up to 2^12 steps has the code of the first number of the next binade.
  const int least = exponent_ - kBinades + 1, binade = std::max(std::ilogb(value) - least, 0);
  const double code =
      std::ldexp(binade, kSignificandBits) + in_steps(value, least + binade - kSignificandBits);
  const auto magnitude = static_cast<std::uint16_t>(std::min<double>(code, kLargestCode));
  return std::signbit(value) && magnitude > 0 ? magnitude | kSign : magnitude;
}

float ShortNumbers::decode(std::uint16_t code) const {
  const int magnitude = code & kLargestCode, field = magnitude >> kSignificandBits;
  const int digits = magnitude & ((1 << kSignificandBits) - 1);
  const int binade = std::max(field - 1, 0);
  const double steps = digits + (field > 0 ? 1 << kSignificandBits : 0);
  const auto value =
      static_cast<float>(std::ldexp(steps, exponent_ - kBinades + 1 + binade - kSignificandBits));
  return code & kSign ? -value : value;
}

Weights rounded_weights(const Weights& theta, int bits) {
  if (bits != 16 && bits != 32)
    throw Error::in(setting("bits"), fmt::format("{}", bits), "expected 16 or 32");
  Weights rounded = theta;
  if (bits == 32) return rounded;
  const ShortNumbers numbers(theta.values());
  for (float& value : rounded.values()) value = numbers.decode(numbers.encode(value));
  return rounded;
}

CodedWeights::CodedWeights(const Weights& theta, int bits) : plain_(theta.values()) {
  const auto [rows, width] = theta.shape();
  const bool is_short = bits == 16;
  // Counted before anything is kept: most models are not sparse.
  std::size_t num_values = 0, bytes_of_gaps = 0;
  for_each_value(theta, [&](std::size_t zeros, float) {
    ++num_values;
    bytes_of_gaps += varint_bytes(zeros);
  });
  // Weights that are used in place cost neither time nor memory of their own: those are worth a quarter more.
  const std::size_t size = is_short ? sizeof(std::uint16_t) : sizeof(float);
  const bool sparse = 4 * (bytes_of_gaps + num_values * size) <= 3 * rows * width * size;
  if (!sparse && !is_short) return;
  settings_ = {{"bits", bits}, {"sparse", sparse}};
  if (sparse) {
    values_.reserve(num_values);
    gaps_.reserve(bytes_of_gaps);
    for_each_value(theta, [&](std::size_t zeros, float weight) {
      append_varint(zeros, gaps_);
      values_.push_back(weight);
    });
  } else {
    values_.reserve(rows * width);
    for (std::size_t r = 0; r < rows; ++r) values_.insert(values_.end(), theta.row(r), theta.row(r) + width);
  }
  if (!is_short) return;
  const ShortNumbers numbers(theta.values());
  settings_["exponent"] = numbers.exponent();
  for (const float value : values_) {
    short_values_.push_back(numbers.encode(value));
    ESPALIER_EXPECT(numbers.decode(short_values_.back()) == value);
  }
  values_.clear();
}

void CodedWeights::add_to(ModelFileWriter& writer) const {
  if (settings_.is_null()) return writer.add("weights", plain_);
  if (settings_.at("bits") == 16) {
    writer.add(kValues, std::span(short_values_));
  } else {
    writer.add(kValues, std::span(values_));
  }
  if (settings_.at("sparse").get<bool>()) writer.add_bytes(kGaps, gaps_);
}

Weights expand_weights(const ModelFile& file, const Json& settings, WeightShape shape) {
  const int bits = settings.at("bits").get<int>();
  const bool sparse = settings.at("sparse").get<bool>();
  if (bits != 16 && bits != 32) {
    throw Error::in(file.path(), fmt::format("weights of {} bits", bits),
                    "this program reads those of 16 and 32; expected a newer espalier");
  }
  const int exponent = bits == 16 ? settings.at("exponent").get<int>() : 0;
  if (!ShortNumbers::is_exponent(exponent)) refuse(file, fmt::format("weights of the exponent {}", exponent));
  std::vector<float> numbers;  // by their codes
  for (std::uint32_t code = 0; bits == 16 && code <= 0xffff; ++code)
    numbers.push_back(ShortNumbers(exponent).decode(static_cast<std::uint16_t>(code)));
  const auto short_values =
      bits == 16 ? file.section<std::uint16_t>(kValues) : std::span<const std::uint16_t>();
  const auto values = bits == 32 ? file.numbers<float>(kValues) : std::span<const float>();
  const std::size_t count = short_values.size() + values.size();
  const auto value = [&](std::size_t k) { return bits == 16 ? numbers[short_values[k]] : values[k]; };

  // Nothing as large as the rows say is made before the file has that much, or gaps that reach that far.
  if (!sparse && (shape.width == 0 || count % shape.width != 0 || count / shape.width != shape.rows)) {
    throw Error::in(file.path(), fmt::format("{} weights for {} rows of {}", count, shape.rows, shape.width),
                    "expected as many as the rows hold; retrain the model");
  }
  Weights theta = make_weights(file, shape, count);
  if (!sparse) {
    std::size_t k = 0;
    for (std::size_t r = 0; r < shape.rows; ++r) {
      for (float& weight : std::span(theta.row(r), shape.width)) weight = value(k++);
    }
    return theta;
  }
  Gaps gaps(file);
  std::size_t row = 0, column = 0;  // of the first weight that is not known; column <= width
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t zeros = gaps.next();
    // Divisions are slow, and most gaps are short.
    if (zeros < shape.width - column) {
      column += zeros;
    } else {
      const std::size_t beyond = zeros - (shape.width - column);
      row += 1 + beyond / shape.width;
      column = beyond % shape.width;
    }
    if (row >= shape.rows) {
      throw Error::in(file.path(),
                      fmt::format("weights after the last one of {} rows of {}", shape.rows, shape.width),
                      "expected as many as the rows hold; retrain the model");
    }
    theta.row(row)[column++] = value(k);
  }
  if (!gaps.empty()) refuse(file, "zeros between weights that are not there");
  return theta;
}

}  // namespace espalier
