#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"
#include "espalier/tasks/align.h"

namespace espalier {

// Lines "SOURCE ||| TARGET ||| LINKS", words with white space between them, links I-J (sure) or I?J
// (possible).
class PairReader {
 public:
  static constexpr std::size_t kMostWords = 1000;  // of a sentence

  // "-" is standard input. Without `needs_links` they may be missing, and are not looked at.
  PairReader(const std::string& path, bool needs_links) : lines_(path), needs_links_(needs_links) {}

  // False at the end of the file. Throws Error::at the line that is wrong.
  bool next(SentencePair& pair);
  const std::string& name() const { return lines_.name(); }

 private:
  void take_words(std::string_view text, const char* side, std::vector<std::string>& words) const;
  void take_links(std::string_view text, SentencePair& pair) const;

  LineReader lines_;
  bool needs_links_;
};

// Sorts the links of a pair by their words; calls fail(found, expected) where two are the same.
void sort_links(SentencePair& pair, const std::function<void(const std::string&, const std::string&)>& fail);

// Words with spaces between them.
void append_words(const std::vector<std::string>& words, std::string& to);

}  // namespace espalier
