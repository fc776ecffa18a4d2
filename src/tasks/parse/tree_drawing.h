#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tasks/parse/dependency_reader.h"

namespace espalier {

// A drawing of a tree for people, one word per line: arcs, word, coarse tag and relation.
//
//      ┌─► The     DET   det
//    ┌─┴─► dog     NOUN  nsubj
//   ─┴───► barked  VERB  root
//
// A line that is joined from the left comes from the word's head; what it has above or below, at its right,
// are modifiers. Where lines cross, in trees that are not projective, the horizontal one is interrupted.
//
// Requires heads that make a tree, one for each word, and as many relations or none.
std::string draw_tree(const DependencySentence& sentence, std::span<const std::uint32_t> heads,
                      std::span<const std::string_view> relations);

}  // namespace espalier
