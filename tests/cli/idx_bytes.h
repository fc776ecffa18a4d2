#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace espalier::testing {

inline std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

// As many images of rows x columns pixels as the pixels are for.
inline std::string idx_images(std::uint32_t rows, std::uint32_t columns, const std::vector<int>& pixels) {
  std::string bytes = big_endian(0x803) +
                      big_endian(static_cast<std::uint32_t>(pixels.size()) / (rows * columns)) +
                      big_endian(rows) + big_endian(columns);
  for (const int pixel : pixels) bytes += static_cast<char>(pixel);
  return bytes;
}

inline std::string idx_labels(const std::vector<int>& labels) {
  std::string bytes = big_endian(0x801) + big_endian(static_cast<std::uint32_t>(labels.size()));
  for (const int label : labels) bytes += static_cast<char>(label);
  return bytes;
}

}  // namespace espalier::testing
