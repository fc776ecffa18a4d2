#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::testing {

// Shell sessions in Markdown: fenced blocks that begin with ```console. In them "$ " starts a command, "> "
// continues it, and the lines up to the next command are what it prints. Blocks of any other kind (```sh,
// ```text) are not run.
struct Command {
  std::size_t line = 0;  // of the file, for messages
  std::string text;
  std::vector<std::string> output;
  bool approximate = false;  // the block begins with ```console approximate
};

namespace transcript {

inline constexpr std::string_view kAnything = "...";

inline std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// One space for many, none at the end.
inline std::string squeezed(std::string_view line) {
  std::string result;
  for (const char c : line) {
    if (c != ' ' || !result.ends_with(' ')) result += c;
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

// Takes a number off the front. Digits that are part of a word ("l2", "dev2.txt") are not numbers.
inline std::optional<double> take_number(std::string_view& text, char before) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const std::size_t digits = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  if (is_word(before) || digits >= text.size() ||
      std::isdigit(static_cast<unsigned char>(text[digits])) == 0) {
    return std::nullopt;
  }
  std::string plain;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    const bool exponent_sign = (c == '-' || c == '+') && end > 0 && text[end - 1] == 'e';
    const bool grouping =
        c == ',' && end + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[end + 1])) != 0;
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.' && c != 'e' && !exponent_sign &&
        !grouping && end >= digits)
      break;
    if (!grouping) plain += c;
  }
  char* rest = nullptr;
  const double number = std::strtod(plain.c_str(), &rest);
  if (*rest != '\0') return std::nullopt;
  text.remove_prefix(end);
  return number;
}

inline bool is_time(std::string_view rest) { return rest == " s" || rest.starts_with(" s "); }

inline bool close(double documented, double printed, bool approximate) {
  const double difference = std::abs(documented - printed);
  const bool count = documented == std::trunc(documented);
  if (approximate && count && difference <= 3) return true;
  return difference <= (approximate ? 0.75 : 1e-3) * std::max(std::abs(documented), std::abs(printed));
}

inline bool same(std::string_view documented, std::string_view printed, char before, bool approximate) {
  while (!documented.empty()) {
    if (documented.starts_with(kAnything)) {
      documented.remove_prefix(kAnything.size());
      for (std::size_t skipped = 0; skipped <= printed.size(); ++skipped) {
        const char last = skipped == 0 ? before : printed[skipped - 1];
        if (same(documented, printed.substr(skipped), last, approximate)) return true;
      }
      return false;
    }
    std::string_view rest = documented, printed_rest = printed;
    const auto wanted = take_number(rest, before), found = take_number(printed_rest, before);
    if (wanted && found) {
      if (!(is_time(rest) && is_time(printed_rest)) && !close(*wanted, *found, approximate)) return false;
      documented = rest;
      printed = printed_rest;
      before = '0';
      continue;
    }
    if (printed.empty() || documented.front() != printed.front()) return false;
    before = documented.front();
    documented.remove_prefix(1);
    printed.remove_prefix(1);
  }
  return printed.empty();
}

}  // namespace transcript

inline std::vector<Command> read_commands(std::string_view markdown) {
  std::vector<Command> commands;
  bool inside = false, approximate = false;
  for (std::size_t number = 1; !markdown.empty(); ++number) {
    const std::string_view line = transcript::next_line(markdown);
    if (line.starts_with("```")) {
      inside = !inside && (line == "```console" || line == "```console approximate");
      approximate = line.ends_with(" approximate");
    } else if (inside && line.starts_with("$ ")) {
      commands.push_back({number, std::string(line.substr(2)), {}, approximate});
    } else if (inside && !commands.empty()) {
      Command& last = commands.back();
      if (line.starts_with("> ") && last.output.empty()) {
        last.text += '\n' + std::string(line.substr(2));
      } else {
        last.output.emplace_back(line);
      }
    }
  }
  return commands;
}

// Whether a line printed is the line documented:
//   - runs of spaces count as one, those at the end not at all;
//   - "..." stands for anything;
//   - a number before " s" is a time and stands for any number;
//   - other numbers agree to a thousandth, for the last digits differ between machines; in an approximate
//     block (passes, gaps, errors) to a factor of four, whole numbers also up to 3.
inline bool same_line(std::string_view documented, std::string_view printed, bool approximate) {
  return transcript::same(transcript::squeezed(documented), transcript::squeezed(printed), ' ', approximate);
}

namespace transcript {

// The first line documented that no way of reading "..." finds in what was printed, or size() if all are
// there.
inline std::size_t first_difference(const Command& command, std::size_t d,
                                    const std::vector<std::string>& printed, std::size_t p) {
  for (; d < command.output.size(); ++d, ++p) {
    if (command.output[d] == kAnything) {
      std::size_t furthest = d + 1;
      for (std::size_t from = p; from <= printed.size(); ++from) {
        furthest = std::max(furthest, first_difference(command, d + 1, printed, from));
        if (furthest > command.output.size()) break;
      }
      return furthest;
    }
    if (p == printed.size() || !same_line(command.output[d], printed[p], command.approximate)) return d;
  }
  return p == printed.size() ? d + 1 : d;
}

}  // namespace transcript

// Empty, or what is wrong. A line of nothing but "..." stands for any number of lines.
inline std::string compare_output(const Command& command, const std::vector<std::string>& printed) {
  const std::size_t at = transcript::first_difference(command, 0, printed, 0);
  if (at > command.output.size()) return "";
  std::string text = at == command.output.size()
                         ? "more was printed than documented"
                         : fmt::format("documented, but not printed: {}", command.output[at]);
  text += "\nprinted:\n";
  for (const std::string& line : printed) text += line + '\n';
  return text;
}

}  // namespace espalier::testing
