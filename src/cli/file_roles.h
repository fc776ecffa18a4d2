#pragma once

#include <vector>

#include "cli/command_line.h"

namespace espalier::cli {

// Refuses a command line that writes a file which it also reads, or writes one file twice: which of them is
// lost is up to the order of things, and none of them was meant to be. Files are told apart by device and
// inode, those that do not exist yet by their place. Standard input and output and what is no regular file
// (/dev/null, a pipe) may be used as often as one likes. Throws Error.
void check_files(const std::vector<GivenOption>& options);

}  // namespace espalier::cli
