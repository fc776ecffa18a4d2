#include "features/text_attributes.h"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>

#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Full case folding (C and F of Unicode's CaseFolding.txt). Requires valid UTF-8.
void append_folded(std::string_view word, std::string& to) {
  if (is_ascii(word)) {
    const std::size_t begin = to.size();
    to += word;
    for (char& c : std::span(to).subspan(begin))
      c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return;
  }
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(word.data());
  for (std::size_t i = 0; i < word.size();) {
    utf8proc_int32_t code;
    i += static_cast<std::size_t>(
        utf8proc_iterate(bytes + i, static_cast<utf8proc_ssize_t>(word.size() - i), &code));
    constexpr utf8proc_ssize_t kLongest = 4;  // no character folds to more than three
    utf8proc_int32_t folded[kLongest];
    int last_boundary = 0;
    const auto count = utf8proc_decompose_char(code, folded, kLongest, UTF8PROC_CASEFOLD, &last_boundary);
    for (utf8proc_ssize_t k = 0; k < count; ++k) {
      utf8proc_uint8_t encoded[4];
      const auto length = utf8proc_encode_char(folded[k], encoded);
      to.append(reinterpret_cast<const char*>(encoded), static_cast<std::size_t>(length));
    }
  }
}

}  // namespace

TextAttributes::TextAttributes(const TextSettings& settings) : settings_(settings) {
  ESPALIER_EXPECT(settings.ngrams > 0 || settings.char_ngrams > 1);
}

std::span<const std::string_view> TextAttributes::of(std::string_view text) {
  words_.clear();
  begins_.clear();
  ends_.clear();
  breaks_.split(text, tokens_);
  for (const TextToken& token : tokens_) {
    if (!words_.empty()) words_ += ' ';
    begins_.push_back(words_.size());
    if (token.valid) {
      append_word(text.substr(token.begin, token.end - token.begin));
    } else {
      words_ += kReplacement;
      ++num_bad_bytes_;
    }
    ends_.push_back(words_.size());
  }

  char_ngrams_.clear();
  const std::string_view words = words_;
  if (settings_.char_ngrams > 1) {
    for (std::size_t i = 0; i < begins_.size(); ++i)
      append_char_ngrams(words.substr(begins_[i], ends_[i] - begins_[i]));
  }

  // Views only now: what they point at does not move any more.
  names_.clear();
  for (std::size_t i = 0; i < begins_.size(); ++i) {
    const std::size_t last = std::min(begins_.size(), i + settings_.ngrams);
    for (std::size_t k = i; k < last; ++k) names_.push_back(words.substr(begins_[i], ends_[k] - begins_[i]));
  }
  for (std::size_t i = 0; i < char_ngrams_.size(); ++i) names_.push_back(char_ngrams_[i]);
  return names_;
}

void TextAttributes::append_word(std::string_view word) {
  if (settings_.keep_case) {
    words_ += word;
  } else {
    append_folded(word, words_);
  }
}

void TextAttributes::append_char_ngrams(std::string_view word) {
  marked_ = '<';
  marked_ += word;
  marked_ += '>';
  characters_.clear();
  for (std::size_t i = 0; i < marked_.size(); ++i) {
    if ((static_cast<unsigned char>(marked_[i]) & 0xc0) != 0x80) characters_.push_back(i);
  }
  const std::size_t size = characters_.size();
  characters_.push_back(marked_.size());
  if (size < 4) return;  // a token of one character
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t n = 2; n <= settings_.char_ngrams && i + n <= size; ++n) {
      char_ngrams_.text() += '~';
      char_ngrams_.add(std::string_view(marked_).substr(characters_[i], characters_[i + n] - characters_[i]));
    }
  }
}

float inverse_document_frequency(std::size_t n, std::size_t df) {
  return static_cast<float>(std::log(static_cast<double>(1 + n) / static_cast<double>(1 + df)) + 1);
}

void weigh_by_tf_idf(std::span<const std::uint32_t> ids, std::span<const float> idf,
                     std::span<float> values) {
  double squares = 0;
  for (std::size_t j = 0; j < ids.size(); ++j) {
    values[j] *= idf[ids[j]];
    squares += double{values[j]} * values[j];
  }
  if (squares == 0) return;  // no attributes
  const double scale = 1 / std::sqrt(squares);
  for (float& value : values) value = static_cast<float>(value * scale);
}

}  // namespace espalier
