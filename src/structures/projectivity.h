#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "structures/arc_set.h"

namespace espalier {

// An arc is projective if every word between its ends descends from its head, and a tree is if all of its
// arcs are: then none of them cross when they are drawn above the sentence, with the root at its left.

// In O(m). Requires a tree.
bool is_projective(std::span<const std::uint32_t> heads);

// Makes a tree projective by lifting arcs (Nivre and Nilsson 2005, Pseudo-projective dependency parsing,
// section 2): as long as there are arcs that are not projective, the shortest of them, the leftmost of these,
// has its modifier attached to the head of its head. Returns how many steps that took. Requires a tree.
std::size_t make_projective(Heads heads);

}  // namespace espalier
