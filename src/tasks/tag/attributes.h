#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace espalier {

struct TagAttributesOptions {
  bool labelled = true;                     // false: the file has no labels
  std::optional<std::size_t> label_column;  // from 0; default: the last
};

// Reads a column file and hands the built-in attributes of its tokens to `write`, as lines of CRFsuite's
// format: training on them is training on the columns. Throws Error for what it cannot read.
void write_tag_attributes(const std::string& path, const TagAttributesOptions& options,
                          const std::function<void(std::string_view)>& write);

}  // namespace espalier
