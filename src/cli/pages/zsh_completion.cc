#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/pages/pages.h"

namespace espalier::cli {
namespace {

std::string in_single_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c == '\t' ? ' ' : c;
    }
  }
  return result + '\'';
}

// With a backslash before each of these characters.
std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// How _arguments is told what a value is: ":FILE:_files", with one more colon if it may be missing.
std::string value_of(const OptionDescription& option, bool may_be_missing) {
  std::string offered = " ";  // nothing
  if (option.names_file()) offered = "_files";
  if (!option.words.empty()) offered = fmt::format("({})", fmt::join(option.words, " "));
  if (option.list) offered = fmt::format("_sequence compadd - {}", fmt::join(option.words, " "));
  const std::string& called = option.by_place ? option.names.front() : option.value;
  return fmt::format("{}{}:{}", may_be_missing ? "::" : ":", escaped(called, ":"), offered);
}

// Rows for _arguments: one for each name of each option.
std::vector<std::string> argument_rows(const CommandDescription& command) {
  std::vector<std::string> rows;
  int place = 0;
  for (const OptionDescription& option : command.options) {
    if (option.by_place) {
      // Whatever is left, where there may be several: they come last.
      const std::string which = option.repeatable ? "*" : std::to_string(++place);
      rows.push_back(in_single_quotes(which + value_of(option, !option.required && !option.repeatable)));
      continue;
    }
    for (const std::string& name : option.names) {
      std::string row;
      if (option.repeatable) {
        row = "*";
      } else if (option.names.size() > 1) {
        row = fmt::format("({})", fmt::join(option.names, " "));
      }
      row += name;
      if (option.takes_value()) row += name.starts_with("--") ? "=" : "+";
      row += fmt::format("[{}]", escaped(option.text, "[]\\"));
      if (option.takes_value()) row += value_of(option, option.may_lack_value);
      rows.push_back(in_single_quotes(row));
    }
  }
  return rows;
}

std::string case_of(const std::vector<std::string>& commands, const std::string& array,
                    const std::vector<std::string>& elements) {
  return fmt::format("    ('{}')\n      {}+=(\n        {}\n      ) ;|\n", fmt::join(commands, "'|'"), array,
                     fmt::join(elements, "\n        "));
}

// Commands of several tasks have most of their options in common: each is written once, with those that have
// the same commands.
std::string option_cases(const std::vector<const CommandDescription*>& all) {
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;  // with the commands that have it
  for (const CommandDescription* command : all) {
    for (const std::string& row : argument_rows(*command)) {
      auto same = std::ranges::find(rows, row, [](const auto& one) { return one.first; });
      if (same == rows.end()) same = rows.insert(rows.end(), {row, {}});
      same->second.push_back(words_of(*command));
    }
  }
  std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> cases;
  for (const auto& [row, commands] : rows) {
    auto same = std::ranges::find(cases, commands, [](const auto& one) { return one.first; });
    if (same == cases.end()) same = cases.insert(cases.end(), {commands, {}});
    same->second.push_back(row);
  }
  std::string text;
  for (const auto& [commands, elements] : cases) text += case_of(commands, "arguments", elements);
  return text;
}

std::string command_cases(const std::vector<const CommandDescription*>& all) {
  std::string text;
  for (const CommandDescription* command : all) {
    if (command->commands.empty()) continue;
    std::vector<std::string> elements;
    for (const CommandDescription& one : command->commands)
      elements.push_back(
          in_single_quotes(fmt::format("{}:{}", one.path.back(), escaped(one.summary, ":\\"))));
    text += case_of({words_of(*command)}, "commands", elements);
  }
  return text;
}

constexpr const char* kZshScript = R"(#compdef espalier
# Completion of espalier for zsh, made from the tables of its options.

_espalier() {{
  local command='' help='' at=2
  local -a arguments commands

  # Commands come first; after help, too.
  if (( CURRENT > 2 )) && [[ $words[2] == help ]]; then
    help=yes
    at=3
  fi
  while (( at < CURRENT )); do
    case "${{command:+$command }}$words[at]" in
      ({names}) command="${{command:+$command }}$words[at]" ;;
      (*) break ;;
    esac
    (( at++ ))
  done

  case $command in
{commands}  esac
  if [[ ! $command && ! $help ]]; then
    commands+=('help:show the help of a command')
  fi
  if (( $#commands )) && [[ $words[CURRENT] != -* ]]; then
    (( at == CURRENT )) && _describe -t commands command commands
    return
  fi
  [[ $help ]] && return 1

  case $command in
{options}  esac
  words=("$words[1]" "${{(@)words[at,-1]}}")
  (( CURRENT -= at - 2 ))
  _arguments $arguments
}}

_espalier "$@"
)";

}  // namespace

std::string zsh_completion(const CommandDescription& program) {
  std::vector<const CommandDescription*> all = all_commands(program);
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const CommandDescription* command : all) names.push_back(words_of(*command));
  all.insert(all.begin(), &program);
  return fmt::format(kZshScript, fmt::arg("names", fmt::format("'{}'", fmt::join(names, "'|'"))),
                     fmt::arg("commands", command_cases(all)), fmt::arg("options", option_cases(all)));
}

}  // namespace espalier::cli
