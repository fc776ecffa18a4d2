#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// Sentences that are too long to be parsed as one are parsed in pieces, one after the other: time and memory
// are those of the pieces, and there is always an answer.

// Where pieces of at most `longest` words end, ascending; the last one is the number of words. A piece ends
// after the last word of punctuation in its second half, or else with as many words as it may have.
// Requires longest > 0.
template <class IsPunctuation>
std::vector<std::size_t> ends_of_pieces(std::size_t words, std::size_t longest,
                                        const IsPunctuation& is_punctuation) {
  std::vector<std::size_t> ends;
  for (std::size_t begin = 0; begin < words; begin = ends.back()) {
    std::size_t end = words;
    if (words - begin > longest) {
      end = begin + longest;
      for (std::size_t k = end; k > begin + longest / 2; --k) {
        if (!is_punctuation(k - 1)) continue;
        end = k;
        break;
      }
    }
    ends.push_back(end);
  }
  return ends;
}

// Words without one are punctuation. Characters that are not ASCII count as letters.
bool has_letter_or_digit(std::string_view word);

// "; 3 sentences of more than 300 words left out", for what a training set says of itself; nothing if there
// are none.
std::string describe_left_out(std::size_t sentences, std::size_t longest);

}  // namespace espalier
