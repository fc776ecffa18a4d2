#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace espalier {

// Which child of a phrase is its head, by the rules of Collins (1999, appendix A) for the Penn treebank.
// Categories without rules have their first child as the head. Requires a child.
std::size_t find_head(std::string_view category, std::span<const std::string_view> children);

}  // namespace espalier
