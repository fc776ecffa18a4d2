#include "report/pixels.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace espalier {

std::optional<std::pair<std::size_t, std::size_t>> pixel_place(std::string_view attribute) {
  const char* const end = attribute.data() + attribute.size();
  std::size_t row = 0, column = 0;
  const auto first = std::from_chars(attribute.data(), end, row);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, column);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return std::pair{row, column};
}

std::optional<PixelGrid> find_pixels(const Dictionary& attributes) {
  constexpr std::size_t kFewest = 4, kLargest = 64;
  PixelGrid grid{0, 0};
  for (std::uint32_t id = 0; id < attributes.size(); ++id) {
    const std::string_view name = attributes.name(id);
    if (name.starts_with('(')) continue;
    const auto place = pixel_place(name);
    if (!place) return std::nullopt;
    grid = {std::max(grid.rows, place->first + 1), std::max(grid.columns, place->second + 1)};
  }
  // Pixels at the border may be black in all pictures; most pictures are squares.
  grid.rows = grid.columns = std::max(grid.rows, grid.columns);
  if (grid.rows < kFewest || grid.rows > kLargest) return std::nullopt;
  return grid;
}

std::string pixel_bytes(const PixelGrid& grid, const Dictionary& attributes,
                        const Classifier::Labelled& example) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits(2 * grid.rows * grid.columns, '0');
  for (std::size_t j = 0; j < example.attributes.size(); ++j) {
    const auto place = pixel_place(attributes.name(example.attributes[j]));
    if (!place) continue;
    const float value = example.values.empty() ? 1.0f : example.values[j];
    const auto byte = static_cast<std::size_t>(std::lround(255 * std::clamp(value, 0.0f, 1.0f)));
    const std::size_t at = 2 * (place->first * grid.columns + place->second);
    digits[at] = kDigits[byte / 16];
    digits[at + 1] = kDigits[byte % 16];
  }
  return digits;
}

}  // namespace espalier
