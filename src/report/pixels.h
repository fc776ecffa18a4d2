#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "espalier/features/dictionary.h"
#include "espalier/tasks/classify.h"

namespace espalier {

// Attributes that are the pixels of pictures, as those of IDX files: "row,column", from 0.
struct PixelGrid {
  std::size_t rows, columns;
};
std::optional<std::pair<std::size_t, std::size_t>> pixel_place(std::string_view attribute);
// nullopt where attributes, but for a constant one, are called otherwise.
std::optional<PixelGrid> find_pixels(const Dictionary& attributes);
// The picture of an example, row by row: two hexadecimal digits for each pixel, of values from 0 to 1.
std::string pixel_bytes(const PixelGrid& grid, const Dictionary& attributes,
                        const Classifier::Labelled& example);

}  // namespace espalier
