#include "espalier/base/error.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace espalier {
namespace {

// Before the name of a setting. in_quotes() escapes it, so that what users wrote has none.
constexpr char kMark = '\x1f';

bool is_in_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

// Control characters, those of Latin-1 included; ends of lines and paragraphs; marks and embeddings of
// directions.
bool is_harmful(utf8proc_int32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

// Appends as one_line() does, but for the marks of settings where they are to be kept.
void append_line(std::string_view text, bool keep_marks, std::string& to) {
  while (!text.empty()) {
    utf8proc_int32_t c = -1;
    const auto size =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                         static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size(), 4)), &c);
    const std::size_t taken = size > 0 ? static_cast<std::size_t>(size) : 1;
    if (size > 0 && (!is_harmful(c) || (keep_marks && c == kMark))) {
      to += text.substr(0, taken);
    } else if (size > 0 && c > 0x7f) {
      to += fmt::format("\\u{:04x}", c);
    } else {
      to += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    }
    text.remove_prefix(taken);
  }
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Where a text may be cut at or before `at` without cutting a UTF-8 sequence, or at or behind it.
std::size_t cut_before(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && continues(text[at])) --at;
  return at;
}
std::size_t cut_behind(std::string_view text, std::size_t at) {
  while (at < text.size() && continues(text[at])) ++at;
  return at;
}

// A message that is fit to be shown, marks and all.
std::string shown(std::string_view message) {
  constexpr std::string_view kLeftOut = " ... ";
  std::string line;
  append_line(message.substr(0, 2 * Error::kLongest), true, line);
  if (line.size() <= Error::kLongest && message.size() <= 2 * Error::kLongest) return line;
  const std::size_t half = (Error::kLongest - kLeftOut.size()) / 2;
  std::string end;
  append_line(message.substr(message.size() - std::min(message.size(), half)), true, end);
  line.resize(cut_before(line, half));
  return line.append(kLeftOut).append(end, cut_behind(end, end.size() - std::min(end.size(), half)));
}

}  // namespace

std::string setting(std::string_view name) { return kMark + std::string(name); }

std::string spelled(std::string_view text, const std::function<std::string(std::string_view name)>& spell) {
  std::string result;
  for (std::size_t mark = text.find(kMark); mark != std::string_view::npos; mark = text.find(kMark)) {
    result += text.substr(0, mark);
    text.remove_prefix(mark + 1);
    std::size_t length = 0;
    while (length < text.size() && is_in_name(text[length])) ++length;
    result += spell(text.substr(0, length));
    text.remove_prefix(length);
  }
  return result.append(text);
}

Error::Error(const std::string& message)
    : std::runtime_error(spelled(shown(message), [](std::string_view name) { return std::string(name); })),
      marked_(message.find(kMark) == std::string::npos
                  ? nullptr
                  : std::make_shared<const std::string>(shown(message))) {}

Error Error::at(std::string_view file, std::size_t line, std::string_view found, std::string_view expected) {
  return Error(fmt::format("{}:{}: {}; {}", file, line, found, expected));
}

Error Error::in(std::string_view file, std::string_view found, std::string_view expected) {
  return Error(fmt::format("{}: {}; {}", file, found, expected));
}

Error Error::system(std::string_view file, std::string_view action, int code, std::string_view expected) {
  // Unlike strerror, the category is safe to ask from several threads.
  return in(file, fmt::format("cannot {}: {}", action, std::generic_category().message(code)), expected);
}

void expectation_failed(const char* condition, const char* file, int line) {
  fmt::print(stderr, "{}:{}: expectation failed: {}\n", file, line, condition);
  std::abort();
}

std::string one_line(std::string_view text) {
  std::string result;
  append_line(text, false, result);
  return result;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  const std::size_t end = text.size() <= kLongest ? text.size() : cut_before(text, kLongest);
  std::string result = "'";
  append_line(text.substr(0, end), false, result);
  return result + (end < text.size() ? "...'" : "'");
}

}  // namespace espalier
