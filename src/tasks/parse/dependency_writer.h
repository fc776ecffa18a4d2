#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tasks/parse/dependency_reader.h"

namespace espalier {

// Appends the lines of the sentence as they were read, with HEAD and DEPREL replaced, and a blank line.
// Without relations DEPREL becomes "_". Requires one head for each word, and as many relations or none.
void append_tree(const DependencySentence& sentence, std::span<const std::uint32_t> heads,
                 std::span<const std::string_view> relations, std::string& out);

}  // namespace espalier
