#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_buffer.h"
#include "features/word_breaks.h"

namespace espalier {

enum class TextWeighting { count, binary, tf_idf };

// How text becomes attributes.
struct TextSettings {
  std::size_t ngrams = 1;       // of 1 to so many tokens; 0: none
  std::size_t char_ngrams = 0;  // of 2 to so many characters inside a word; 0: none
  bool keep_case = false;       // else Unicode's full case folding: "STRASSE" and "Straße" are "strasse"
  TextWeighting weighting = TextWeighting::count;
};

// The attributes of a text, by name:
//   "york", "new york"
//                       n-grams of tokens (WordBreaks), joined by one space. A byte that is not UTF-8 is
//                       U+FFFD.
//   "~<yo", "~ork"      n-grams of the characters of one token of at least two, with '<' before and '>'
//                       behind them. No token of letters begins with '~', so they are not mixed up with
//                       words.
class TextAttributes {
 public:
  // Requires some kind of attribute.
  explicit TextAttributes(const TextSettings& settings);

  // The names, as often as the text has them, valid until the next call. Allocates only where a text is
  // larger than all before.
  std::span<const std::string_view> of(std::string_view text);
  // Bytes that were not UTF-8, in all texts so far.
  std::size_t num_bad_bytes() const { return num_bad_bytes_; }

 private:
  void append_word(std::string_view word);
  void append_char_ngrams(std::string_view word);

  TextSettings settings_;
  WordBreaks breaks_;
  std::vector<TextToken> tokens_;
  std::string words_;                       // those of the text, folded, with a space between two
  std::vector<std::size_t> begins_, ends_;  // of each of them
  std::string marked_;                      // "<word>"
  std::vector<std::size_t> characters_;     // where each of its characters begins, and its size
  StringBuffer char_ngrams_;
  std::vector<std::string_view> names_;
  std::size_t num_bad_bytes_ = 0;
};

// tf-idf as scikit-learn's TfidfVectorizer has it. With n texts, df(a) of which have attribute a,
//   idf(a) = ln((1 + n)/(1 + df(a))) + 1.
float inverse_document_frequency(std::size_t n, std::size_t df);
// values[j] = values[j] idf(ids[j]) / r, with r such that their squares sum to 1. Requires values that are
// counts.
void weigh_by_tf_idf(std::span<const std::uint32_t> ids, std::span<const float> idf, std::span<float> values);

}  // namespace espalier
