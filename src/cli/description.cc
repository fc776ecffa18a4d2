#include "cli/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace espalier::cli {
namespace {

constexpr std::size_t kHelpWidth = 100,
                      kDescriptions = 26;  // columns of the help, and where descriptions begin

// The words of a text in lines, from `column` on, all but the first of them indented up to it. A TAB is a
// space that does not end a line.
std::string wrapped(std::string_view text, std::size_t column) {
  std::string result;
  std::size_t at = column;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (at > column && at + 1 + end > kHelpWidth) {
      result += '\n';
      result.append(column, ' ');
      at = column;
    } else if (at > column) {
      result += ' ';
      ++at;
    }
    result += text.substr(0, end);
    at += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::ranges::replace(result, '\t', ' ');
  return result;
}

// A row of a list: what it is about on the left, what there is to say of it on the right.
std::string help_row(const std::string& left, const std::string& description) {
  std::string row = "  " + left;
  if (row.size() + 2 > kDescriptions) {
    row += '\n';
    row.append(kDescriptions, ' ');
  } else {
    row.resize(kDescriptions, ' ');
  }
  return row + wrapped(description, kDescriptions) + '\n';
}

}  // namespace

std::string OptionDescription::usage() const {
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  return takes_value() ? fmt::format("{} {}", text, value) : text;
}

std::string CommandDescription::name(const std::string& between) const {
  return fmt::format("{}", fmt::join(path, between));
}

std::string CommandDescription::arguments() const {
  std::string text = "[OPTIONS]";
  for (const OptionDescription& option : options) {
    if (!option.by_place) continue;
    const std::string argument = option.names.front() + (option.repeatable ? "..." : "");
    text += option.required ? ' ' + argument : fmt::format(" [{}]", argument);
  }
  if (!commands.empty()) text += path.size() == 1 ? " COMMAND" : " TASK";
  return text;
}

// In groups of options. The short help leaves the advanced options out and says where they are.
std::string help_text(const CommandDescription& command, bool all) {
  std::string text =
      fmt::format("Usage: {} {}\n{}\n", command.name(" "), command.arguments(), wrapped(command.summary, 0));
  std::string by_place;
  for (const OptionDescription& option : command.options) {
    if (option.by_place) by_place += help_row(option.usage(), option.text);
  }
  if (!by_place.empty()) text += '\n' + by_place;
  bool hidden = !command.advanced_footer.empty();
  for (const std::string& group : command.groups) {
    std::string rows;
    for (const OptionDescription& option : command.options) {
      if (option.group != group || option.by_place || option.asks_for_help) continue;
      hidden = hidden || option.advanced;
      if (all || !option.advanced) rows += help_row(option.usage(), option.text);
    }
    if (!rows.empty()) text += fmt::format("\n{}:\n{}", group, rows);
  }
  if (!command.commands.empty()) {
    text += command.path.size() == 1 ? "\nCommands:\n" : "\nTasks:\n";
    for (const CommandDescription& one : command.commands) text += help_row(one.path.back(), one.summary);
  }
  if (!command.footer.empty()) text += fmt::format("\n{}\n", command.footer);
  if (!hidden) return text;
  if (!all) return text + fmt::format("\n'{} --help-all' lists all options.\n", command.name(" "));
  return text + command.advanced_footer;
}

}  // namespace espalier::cli
