#include "features/word_breaks.h"

#include <unistr.h>
#include <uniwbrk.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdint>

namespace espalier {
namespace {

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

bool is_blank(ucs4_t code) {
  if (code < 0x80) return code <= ' ' || code == 0x7f;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
      return true;
    default:
      return false;
  }
}

// Of valid UTF-8.
bool all_blank(std::string_view text) {
  while (!text.empty()) {
    ucs4_t code;
    const int length = u8_mbtouc(&code, bytes_of(text), text.size());
    if (!is_blank(code)) return false;
    text.remove_prefix(static_cast<std::size_t>(length));
  }
  return true;
}

}  // namespace

void WordBreaks::split(std::string_view text, std::vector<TextToken>& tokens) {
  tokens.clear();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::string_view rest = text.substr(begin);
    const std::uint8_t* bad = u8_check(bytes_of(rest), rest.size());
    const std::size_t end = bad ? begin + static_cast<std::size_t>(bad - bytes_of(rest)) : text.size();
    split_valid(text, begin, end, tokens);
    if (bad) tokens.push_back({end, end + 1, false});
    begin = end + 1;
  }
}

void WordBreaks::split_valid(std::string_view text, std::size_t begin, std::size_t end,
                             std::vector<TextToken>& tokens) {
  const std::size_t size = end - begin;
  if (size == 0) return;
  breaks_.resize(std::max(breaks_.size(), size));
  u8_wordbreaks(bytes_of(text) + begin, size, breaks_.data());
  for (std::size_t i = 0; i < size;) {
    std::size_t next = i + 1;
    while (next < size && breaks_[next] == 0) ++next;
    if (!all_blank(text.substr(begin + i, next - i))) tokens.push_back({begin + i, begin + next, true});
    i = next;
  }
}

}  // namespace espalier
