#include "espalier/features/templates.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kMacroExpected = "expected %x[row,column], as in %x[-1,0]";

// Takes a whole number off the front of the text; false where there is none.
template <class Number>
bool take(std::string_view& text, Number& number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return true;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

Templates::Templates(std::string_view text, std::string name) : name_(std::move(name)) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());

  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == kNone ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == kNone || line.front() == '#') continue;

    if (line.front() == 'U') {
      tokens_.push_back(parse(line, line_number));
    } else if (line.front() == 'B') {
      transitions_.push_back(parse(line, line_number));
    } else {
      const bool wapiti = line.front() == '*';
      throw Error::at(name_, line_number,
                      fmt::format("{}{}", in_quotes(line), wapiti ? ", a line of Wapiti's templates" : ""),
                      "expected a line of CRF++'s templates, which begins with U, B or #");
    }
  }
  if (tokens_.empty() && transitions_.empty()) {
    throw Error::in(name_, "no templates", "expected at least one line that begins with U or B");
  }
}

Template Templates::parse(std::string_view line, std::size_t line_number) const {
  Template result;
  result.line_ = line_number;
  const std::string_view whole = line;
  for (std::size_t percent; (percent = line.find('%')) != kNone;) {
    Template::Macro macro;
    macro.before = line.substr(0, percent);
    line.remove_prefix(percent);
    std::string_view rest = line.substr(1);
    if (rest.starts_with('X') || rest.starts_with('t') || rest.starts_with('m')) {
      throw Error::at(
          name_, line_number,
          fmt::format("{} in {}, a macro of Wapiti", in_quotes(line.substr(0, 2)), in_quotes(whole)),
          kMacroExpected);
    }
    if (!take(rest, 'x') || !take(rest, '[') || !take(rest, macro.row) || !take(rest, ',') ||
        !take(rest, macro.column) || !take(rest, ']')) {
      throw Error::at(name_, line_number, fmt::format("{} in {}", in_quotes(line), in_quotes(whole)),
                      kMacroExpected);
    }
    macro.written = line.substr(0, line.size() - rest.size());
    result.macros_.push_back(std::move(macro));
    line = rest;
  }
  result.after_ = line;
  return result;
}

void Templates::check_columns(std::size_t num_columns, std::size_t label_column) const {
  const auto check = [&](const Template& line) {
    for (const Template::Macro& macro : line.macros_) {
      if (macro.column >= num_columns) {
        throw Error::at(name_, line.line_,
                        fmt::format("{} in data of {} columns", macro.written, num_columns),
                        "expected a column that the data has; the first one is column 0");
      }
      if (macro.column == label_column) {
        throw Error::at(name_, line.line_, fmt::format("{} looks at the label", macro.written),
                        "expected another column; the first one is column 0");
      }
    }
  };
  for (const Template& line : tokens_) check(line);
  for (const Template& line : transitions_) check(line);
}

void Template::expand(const TokenTable& table, std::size_t t, std::string& to) const {
  const auto size = static_cast<std::ptrdiff_t>(table.size());
  for (const Macro& macro : macros_) {
    to += macro.before;
    const std::ptrdiff_t token = static_cast<std::ptrdiff_t>(t) + macro.row;
    if (token < 0) {
      fmt::format_to(std::back_inserter(to), "_B{}", token);
    } else if (token >= size) {
      fmt::format_to(std::back_inserter(to), "_B+{}", token - size + 1);
    } else {
      to += table.at(static_cast<std::size_t>(token), macro.column);
    }
  }
  to += after_;
}

}  // namespace espalier
