#pragma once

#include <CLI/CLI.hpp>

namespace espalier::cli {

// Checks of options' values, with our words for what is wrong. CLI11's own conversion takes "" for 0 and -1 for a
// very large whole number.
CLI::Validator positive_number();
CLI::Validator number_from_zero();
CLI::Validator probability();
CLI::Validator whole_number_from(std::uint64_t least);
CLI::Validator whole_number_between(std::uint64_t least, std::uint64_t most);
// A number of bytes, as 500M or 2G; the option's value becomes the number.
CLI::Validator bytes();

}  // namespace espalier::cli
