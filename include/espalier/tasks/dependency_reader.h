#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/input.h"

namespace espalier {

// A word of a dependency treebank. Words count from 1 and 0 is the root.
struct DependencyWord {
  std::string_view form{}, lemma{};
  std::string_view coarse{};    // CPOSTAG, or UPOS
  std::string_view fine{};      // POSTAG, or XPOS
  std::string_view feats{};     // as it is written: "gen=m|num=s"
  std::string_view relation{};  // "_" or "" where there is none
  std::uint32_t head = 0;
  bool has_head = false;
  std::size_t line = 0;  // in the file, from 1
};

// A sentence of a dependency treebank. Copies have views into their own text.
struct DependencySentence {
  // Where HEAD and DEPREL of a word are in the text, with the TAB before each.
  struct Blank {
    std::size_t begin, end;
  };

  DependencySentence() = default;
  DependencySentence(const DependencySentence& other);
  DependencySentence(DependencySentence&& other) noexcept;
  DependencySentence& operator=(const DependencySentence& other);
  DependencySentence& operator=(DependencySentence&& other) noexcept;
  ~DependencySentence() = default;

  // Whether every word has a head.
  bool has_heads() const;
  void clear();
  // Adds a line to the text, and keeps the views of the words right. What is returned is its place there.
  std::string_view append_line(std::string_view line);

  std::string text;  // its lines, comments and all; each ends with a newline
  std::vector<DependencyWord> words;
  std::vector<Blank> blanks;   // one for each word
  std::size_t first_line = 0;  // in the file; it may be a comment
  bool universal = false;      // of a CoNLL-U file

 private:
  void move_views(const char* from);
};

// Reads CoNLL-X and CoNLL-U, sentence by sentence. Fields are separated by single TABs, sentences by blank lines. A file
// is CoNLL-U from its first comment, multi-word token (3-4) or empty node (5.1) on: those are no words, and stay in the
// text alone. docs/formats.md has the details.
class DependencyReader {
 public:
  static constexpr std::size_t kMostWords = 65535;

  // "-" is standard input. With `needs_heads` the heads of each sentence have to make a tree. Without, HEAD and DEPREL
  // may be missing, a HEAD that is neither 0 nor the number of another word is none, and heads need not make a tree.
  DependencyReader(const std::string& path, bool needs_heads);

  // False at the end of the file. Throws Error::at the line that is wrong.
  bool next(DependencySentence& sentence);
  const std::string& name() const { return reader_.name(); }

 private:
  enum class Line { comment, token, word };

  Line take_line(std::string_view line, DependencySentence& sentence);
  void take_word(std::string_view line, DependencySentence& sentence);
  Line take_id(std::string_view line, std::size_t words);
  void check_last_range(std::size_t words) const;

  LineReader reader_;
  bool needs_heads_;
  bool universal_ = false;
  std::size_t range_end_ = 0, range_line_ = 0;  // the last multi-word token of the sentence
  std::vector<std::uint32_t> walks_;            // by word: the walk up the tree that came there first
};

}  // namespace espalier
