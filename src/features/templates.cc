#include "features/templates.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kSpaces = " \t\r\v\f";

// Calls with each line that has more than white space, and its number.
template <class Call>
void for_each_line(std::string_view text, const Call& call) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == kNone ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != kNone) call(line, line_number);
  }
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Takes a whole number off the front of the text; false if there is none.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return true;
}

// The same as Wapiti reads numbers: spaces and a sign may precede it.
template <class Number>
bool take_loosely(std::string_view& text, Number& number) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  if (text.starts_with("+") && !text.starts_with("+-")) text.remove_prefix(1);
  return take_number(text, number);
}

// The text of a regular expression after its opening quote, which it ends with: \" does not end it.
std::optional<std::string_view> take_quoted(std::string_view& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      const std::string_view quoted = text.substr(0, i);
      text.remove_prefix(i + 1);
      return quoted;
    }
    if (text[i] == '\\') ++i;
  }
  return std::nullopt;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr std::string_view kCrfppMacro = "expected %x[row,column], as in %x[-1,0]";
constexpr std::string_view kWapitiMacro =
    "expected %x[row,column], %t[row,column,\"regex\"] or %m[row,column,\"regex\"]";

}  // namespace

TemplateLanguage template_language(std::string_view text) {
  bool wapiti = false;
  for_each_line(text, [&](std::string_view line, std::size_t) {
    line = line.substr(0, line.find('#'));
    if (line.empty()) return;
    wapiti |= line.front() == 'u' || line.front() == 'b' || line.front() == '*';
    for (const std::string_view macro : {"%X[", "%t[", "%T[", "%m[", "%M[", "%x[@", "%v[@"}) {
      wapiti |= line.find(macro) != kNone;
    }
  });
  return wapiti ? TemplateLanguage::wapiti : TemplateLanguage::crfpp;
}

Templates::Templates(std::string_view text, std::string name) : name_(std::move(name)) {
  const TemplateLanguage language = template_language(text);
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    if (line.front() != '#') add({line, number, language});
  });
  if (tokens_.empty() && transitions_.empty()) {
    throw Error::in(name_, "no templates", "expected at least one line that begins with U or B");
  }
}

void Templates::fail(const Line& line, const std::string& found, std::string_view expected) const {
  throw Error::at(name_, line.number, fmt::format("{} in {}", found, in_quotes(line.text)), expected);
}

void Templates::add(const Line& line) {
  std::string text(line.text);
  if (line.wapiti()) {
    text.resize(std::min(text.find('#'), text.size()));
    text.resize(text.find_last_not_of(kSpaces) + 1);
    if (text.empty()) return;
    text.front() = lower(text.front());
  }
  const bool of_tokens = text.starts_with(line.wapiti() ? 'u' : 'U');
  const bool of_transitions = text.starts_with(line.wapiti() ? 'b' : 'B');
  const bool of_both = line.wapiti() && text.starts_with('*');
  if (!of_tokens && !of_transitions && !of_both) {
    throw Error::at(name_, line.number, in_quotes(line.text),
                    line.wapiti() ? "expected a line of Wapiti's patterns, which begins with u, b, * or #"
                                  : "expected a line of CRF++'s templates, which begins with U, B or #");
  }

  Template result;
  result.language_ = line.language;
  result.line_ = line.number;
  std::string_view rest = text;
  for (std::size_t percent; (percent = rest.find('%')) != kNone;) {
    const std::string_view before = rest.substr(0, percent);
    rest.remove_prefix(percent);
    result.macros_.push_back(take_macro(rest, line));
    Template::Macro& macro = result.macros_.back();
    macro.before = before;
    if (macro.kind == Template::Kind::value) {
      if (result.has_value()) fail(line, in_quotes(macro.written), "expected at most one %v per line");
      result.value_ = result.macros_.size() - 1;
    }
  }
  result.after_ = rest;
  if (!of_transitions) tokens_.push_back(result);
  if (!of_tokens) transitions_.push_back(std::move(result));
}

Template::Macro Templates::take_macro(std::string_view& rest, const Line& line) const {
  using Kind = Template::Kind;
  const std::string_view begin = rest;
  const auto require = [&](bool right) {
    if (!right) fail(line, in_quotes(begin), line.wapiti() ? kWapitiMacro : kCrfppMacro);
  };
  Template::Macro macro;
  require(rest.size() >= 2);
  const char written = rest[1], command = line.wapiti() ? lower(written) : written;
  rest.remove_prefix(2);
  macro.lower = command != written;
  if (written == 'v') {
    macro.kind = Kind::value;
  } else if (line.wapiti() && command == 't') {
    macro.kind = Kind::test;
  } else if (line.wapiti() && command == 'm') {
    macro.kind = Kind::match;
  } else {
    require(command == 'x');
  }

  require(take(rest, "["));
  macro.absolute = line.wapiti() && take(rest, "@");
  if (line.wapiti()) {
    require(take_loosely(rest, macro.row) && take(rest, ",") && take_loosely(rest, macro.column));
  } else {
    require(take_number(rest, macro.row) && take(rest, ",") && take_number(rest, macro.column));
  }
  if (macro.kind == Kind::test || macro.kind == Kind::match) {
    require(take(rest, ",\""));
    const auto regex = take_quoted(rest);
    if (!regex) {
      fail(line, in_quotes(begin),
           "expected a \" after the regular expression; '#' starts a comment even there");
    }
    if (regex->size() > WapitiRegex::kLongest) {
      fail(line, fmt::format("a regular expression of {} bytes", regex->size()),
           fmt::format("expected one of at most {}", WapitiRegex::kLongest));
    }
    const auto re2 = wapiti_regex_as_re2(*regex);
    if (!re2) {
      fail(line, fmt::format("the regular expression {}", in_quotes(*regex)),
           "expected a character before each * and ?, or \\* and \\? for the characters themselves");
    }
    macro.regex = std::make_shared<const WapitiRegex>(*re2);
  }
  require(take(rest, "]"));
  macro.written = begin.substr(0, begin.size() - rest.size());
  return macro;
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
        throw Error::at(name_, line.line_, fmt::format("{} uses the label", macro.written),
                        "expected another column; the first one is column 0");
      }
    }
  };
  for (const Template& line : tokens_) check(line);
  for (const Template& line : transitions_) check(line);
}

bool Templates::use_column(std::size_t column) const {
  const auto uses = [&](const Template& line) {
    return std::ranges::any_of(line.macros_,
                               [&](const Template::Macro& macro) { return macro.column == column; });
  };
  return std::ranges::any_of(tokens_, uses) || std::ranges::any_of(transitions_, uses);
}

void Template::expand(const TokenTable& table, std::size_t t, std::string& to) const {
  const auto size = static_cast<std::ptrdiff_t>(table.size());
  for (const Macro& macro : macros_) {
    to += macro.before;
    if (macro.kind == Kind::value) continue;
    const std::ptrdiff_t token = macro.token(t, table.size());
    std::string_view field;
    char beyond[] = "_x-#";
    if (token >= 0 && token < size) {
      field = table.at(static_cast<std::size_t>(token), macro.column);
    } else {
      const std::ptrdiff_t distance = token < 0 ? -token : token - size + 1;
      if (language_ == TemplateLanguage::crfpp) {
        append_format(to, "_B{}{}", token < 0 ? '-' : '+', distance);
        continue;
      }
      beyond[2] = token < 0 ? '-' : '+';
      if (distance <= 4) beyond[3] = static_cast<char>('0' + distance);
      field = beyond;
    }
    if (macro.kind == Kind::test) field = macro.regex->matches(field) ? "true" : "false";
    if (macro.kind == Kind::match) field = macro.regex->match(field);
    to += field;
    if (macro.lower)
      std::transform(to.end() - static_cast<std::ptrdiff_t>(field.size()), to.end(),
                     to.end() - static_cast<std::ptrdiff_t>(field.size()), lower);
  }
  to += after_;
}

std::optional<std::size_t> Template::value_token(std::size_t t, std::size_t length) const {
  const std::ptrdiff_t token = macros_[value_].token(t, length);
  if (token < 0 || token >= static_cast<std::ptrdiff_t>(length)) return std::nullopt;
  return static_cast<std::size_t>(token);
}

}  // namespace espalier
