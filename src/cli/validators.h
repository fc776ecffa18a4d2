#pragma once

#include "cli/command_line.h"

namespace espalier::cli {

// Checks of options' values, with our words for what is wrong. CLI11's own conversion takes "" for 0 and -1
// for a very large whole number.
Check positive_number();
Check number_from_zero();
Check probability();
Check whole_number_from(std::uint64_t least);
Check whole_number_between(std::uint64_t least, std::uint64_t most);
Check bits_of_weights();
// A number of bytes, as 500M or 2G; the option's value becomes the number.
Check bytes();

}  // namespace espalier::cli
