#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tasks/parse/dependency_reader.h"

namespace espalier {

// Throws Error::at the line of `file` that a word is in, unless the heads of a sentence's words make a tree.
// `walks` is scratch memory.
void check_heads(const DependencySentence& sentence, std::string_view file,
                 std::vector<std::uint32_t>& walks);

}  // namespace espalier
