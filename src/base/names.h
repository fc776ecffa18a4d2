#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace espalier {

// Messages about a name that is not one of those known.

// How many letters have to be inserted, deleted, replaced or swapped with their neighbour to turn one text
// into the other. Letters of ASCII count as the same in either case.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known name that was probably meant: the nearest, if at most about a third of its letters are wrong.
std::optional<std::string> nearest_name(std::string_view found, std::span<const std::string> known);

// "did you mean lbfgs?" where a known name is near; "expected eg, smo or lbfgs" where none is.
std::string name_hint(std::string_view found, std::span<const std::string> known);

// "unknown solver 'lbgfs'; did you mean lbfgs?"
std::string unknown_name(std::string_view kind, std::string_view found, std::span<const std::string> known);

}  // namespace espalier
