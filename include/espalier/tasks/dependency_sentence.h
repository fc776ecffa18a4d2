#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace espalier
