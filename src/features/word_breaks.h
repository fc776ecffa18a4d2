#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace espalier {

// Bytes begin to end - 1 of a text.
struct TextToken {
  std::size_t begin, end;
  bool valid;  // UTF-8; a byte that is not is a token by itself
};

// Splits text at the word boundaries of Unicode Standard Annex #29 (rules WB1 to WB999, no tailoring, no
// dictionary). A token is what lies between two boundaries: a word ("can't", "3.14", "U.S.A"), a punctuation
// mark, a symbol, a whole emoji, an ideograph. Stretches that hold nothing but white space, controls and
// format characters (general categories Z*, Cc and Cf) are not tokens: they are the gaps between them. Every
// boundary is one of UAX 29's, and what is left out is blank, so tokens and gaps together are the text.
//
// A byte that is not part of valid UTF-8 is a token of its own, and a boundary lies on both of its sides.
//
// The rules come from libunistring rather than ICU: it works on UTF-8 in place and weighs 1.8 MB instead of
// 36. ICU would also look words of Chinese, Japanese and Thai up in dictionaries, whose contents change from
// version to version, and with them the attributes that a model sees.
//
// Time and memory are linear in the text. Keeps its memory from text to text; one object per thread.
class WordBreaks {
 public:
  // Replaces `tokens` by those of the text, in their order.
  void split(std::string_view text, std::vector<TextToken>& tokens);

 private:
  void split_valid(std::string_view text, std::size_t begin, std::size_t end, std::vector<TextToken>& tokens);

  std::vector<char> breaks_;  // for each byte, whether a boundary lies before it
};

}  // namespace espalier
