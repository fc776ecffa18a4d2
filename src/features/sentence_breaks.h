#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "features/word_breaks.h"

namespace espalier {

// Splits text into sentences of tokens: those of WordBreaks, but for full stops. One that belongs to an
// abbreviation ("Mr.", "J.", "e.g.") goes with the word before it, and several in a row are one token.
//
// A sentence ends
//   - after '.', '!', '?' or an ellipsis, with the quotes and brackets that close behind it, where white
//     space follows, and then neither a word in lower case nor a comma, a semicolon or such a mark again;
//   - after an ideographic full stop and its like, whatever follows;
//   - at a blank line, and at U+2029 (paragraph separator);
//   - at the end of the text.
// A full stop right after a word belongs to it if it is an initial ("J"), a common abbreviation of English
// that something has to follow ("Mr", "Prof", "vs", "No" before a number), or has full stops inside ("U.S")
// and what comes next is no word in upper case. Where a sentence ends, it is a token by itself.
//
// Where a sentence ends depends on what is up to the next token alone, so text may be cut there.
// Time and memory are linear in the text. Keeps its memory from text to text; one object per thread.
class SentenceBreaks {
 public:
  // Replaces `tokens` by those of the text and `ends` by the number of tokens up to the end of each sentence:
  // sentence i has the tokens ends[i - 1] to ends[i] - 1. No sentence is empty. A token begins with a
  // character that is not blank.
  void split(std::string_view text, std::vector<TextToken>& tokens, std::vector<std::size_t>& ends);

 private:
  WordBreaks words_;
  std::vector<TextToken> found_;
};

// How many characters (code points) a text has; a byte that is not part of valid UTF-8 is one.
std::size_t count_characters(std::string_view text);

}  // namespace espalier
