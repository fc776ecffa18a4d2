#pragma once

#include <string>
#include <vector>

namespace espalier::cli {

// A command and its options in words: help, manual pages and completions are made from this.

struct OptionDescription {
  std::vector<std::string> names;  // "-o", "--output"; one in capitals if it is given by its place: "TRAIN"
  std::string value;               // what help calls a value; empty: it takes none
  std::string text;                // what it is for, with its default; a TAB is a space that ends no line
  std::string group;               // its title in the help
  std::vector<std::string> words;  // values to offer
  bool by_place = false;           // it has no name to be typed
  bool required = false;
  bool advanced = false;        // the short help leaves it out
  bool asks_for_help = false;   // whoever reads the help of a command knows it
  bool may_lack_value = false;  // and then means its default
  bool repeatable = false;
  bool list = false;  // the value is one word or several, with commas between

  bool takes_value() const { return !by_place && !value.empty(); }
  bool names_file() const { return by_place ? words.empty() : value == "FILE"; }
  // "-o, --output FILE"
  std::string usage() const;
};

struct CommandDescription {
  std::vector<std::string> path;  // "espalier", "train", "tag"
  std::string summary;
  std::vector<std::string> groups;  // titles, in the order of the help
  std::vector<OptionDescription> options;
  std::vector<CommandDescription> commands;
  std::string footer, advanced_footer;

  // The path with something between its words.
  std::string name(const std::string& between) const;
  // "[OPTIONS] MODEL [INPUT]": all that follows the name.
  std::string arguments() const;
  // Of its commands.
  std::string kind() const { return path.size() == 1 ? "command" : "task"; }
};

// What --help prints, or --help-all.
std::string help_text(const CommandDescription& command, bool all);

}  // namespace espalier::cli
