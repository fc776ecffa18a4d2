#pragma once

#include <string>
#include <vector>

#include "cli/description.h"

namespace espalier::cli {

// What a package has beside the program, each made from the description that --help prints.

// A page for man, in its macros; `date` as in 2026-11-18. The parent is that of the command; nullptr: it is
// the program itself.
std::string man_page(const CommandDescription& command, const CommandDescription* parent,
                     const std::string& version, const std::string& date);

// Scripts that complete commands, tasks, options, values and the names of files.
std::string bash_completion(const CommandDescription& program);
std::string zsh_completion(const CommandDescription& program);

// The program's commands, and those of these, in the order of the help; without the program itself.
std::vector<const CommandDescription*> all_commands(const CommandDescription& program);
// As a completion calls it: "train tag"; empty for the program itself.
std::string words_of(const CommandDescription& command);

}  // namespace espalier::cli
