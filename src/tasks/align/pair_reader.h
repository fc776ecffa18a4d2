#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"

namespace espalier {

// A link between word `source` of one sentence and word `target` of the other, counted from 0. Those that
// are not sure are possible: neither right nor wrong.
struct WordLink {
  std::uint32_t source, target;
  bool sure = true;
};

// Two sentences, with links in the order of their words.
struct SentencePair {
  std::vector<std::string> source, target;
  std::vector<WordLink> links;
  std::size_t line = 0;

  std::size_t num_pairs() const { return source.size() * target.size(); }
  // Its place among the pairs of words, those of the first source word first.
  std::size_t place(const WordLink& link) const { return link.source * target.size() + link.target; }
};

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

// Words with spaces between them.
void append_words(const std::vector<std::string>& words, std::string& to);

}  // namespace espalier
