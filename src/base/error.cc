#include "espalier/base/error.h"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

namespace espalier {
namespace {

// Before the name of a setting. in_quotes() escapes it, so that what users wrote has none.
constexpr char kMark = '\x1f';

bool is_in_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

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
    : std::runtime_error(spelled(message, [](std::string_view name) { return std::string(name); })),
      marked_(message.find(kMark) == std::string::npos ? nullptr
                                                       : std::make_shared<const std::string>(message)) {}

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

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string result = "'";
  std::size_t end = text.size() < kLongest ? text.size() : kLongest;
  // Never cut a UTF-8 sequence in two: step back over continuation bytes.
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  for (const char c : text.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result + (end < text.size() ? "...'" : "'");
}

}  // namespace espalier
