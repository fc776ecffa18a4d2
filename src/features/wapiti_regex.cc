#include "features/wapiti_regex.h"

#include <re2/re2.h>

#include "espalier/base/error.h"

namespace espalier {
namespace {

// The class of a letter after a backslash, in lower case; nullptr for letters that have none.
const char* class_of(char letter) {
  switch (letter) {
    case 'a':
      return "[:alpha:]";
    case 'd':
      return "[:digit:]";
    case 'l':
      return "[:lower:]";
    case 'p':
      return "[:punct:]";
    case 's':
      return "[:space:]";
    case 'u':
      return "[:upper:]";
    case 'w':
      return "[:alnum:]";
    default:
      return nullptr;
  }
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

void append_itself(char c, std::string& to) { to += re2::RE2::QuoteMeta(re2::StringPiece(&c, 1)); }

void append_escaped(char c, std::string& to) {
  const bool complement = is_upper(c);
  const char* const name = class_of(complement ? static_cast<char>(c - 'A' + 'a') : c);
  if (name == nullptr) {
    append_itself(c, to);
  } else {
    to += complement ? "[^" : "[";
    to += name;
    to += ']';
  }
}

}  // namespace

std::optional<std::string> wapiti_regex_as_re2(std::string_view regex) {
  std::string result;
  if (regex.starts_with('^')) {
    result = "\\A";
    regex.remove_prefix(1);
  }
  while (!regex.empty()) {
    if (regex == "$") return result + "\\z";
    const char c = regex.front();
    if (c == '*' || c == '?') return std::nullopt;
    regex.remove_prefix(1);
    if (c == '.') {
      result += '.';
    } else if (c == '\\' && !regex.empty()) {
      append_escaped(regex.front(), result);
      regex.remove_prefix(1);
    } else {
      append_itself(c, result);
    }
    if (regex.starts_with('*')) {
      result += "*?";
      regex.remove_prefix(1);
    } else if (regex.starts_with('?')) {
      result += '?';
      regex.remove_prefix(1);
    }
  }
  return result;
}

WapitiRegex::WapitiRegex(const std::string& re2) {
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // a byte is a character
  options.set_dot_nl(true);
  options.set_log_errors(false);
  regex_ = std::make_unique<const re2::RE2>(re2, options);
  ESPALIER_EXPECT(regex_->ok());
}
WapitiRegex::~WapitiRegex() = default;

bool WapitiRegex::matches(std::string_view text) const {
  return regex_->Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::string_view WapitiRegex::match(std::string_view text) const {
  re2::StringPiece found;
  if (!regex_->Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, &found, 1)) return {};
  return {found.data(), found.size()};
}

}  // namespace espalier
