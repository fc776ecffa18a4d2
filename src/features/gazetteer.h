#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "espalier/features/dictionary.h"

namespace espalier {

// Lists of phrases that are known to be of some type: places, first names, ... A phrase may have several
// types.
class Gazetteer {
 public:
  // Where a phrase of one type is in a sequence.
  struct Match {
    std::size_t begin, length;
    std::uint32_t type;
  };

  // Adds the phrases of a file: lines "TYPE TAB words of the phrase", or just the words, whose type is the
  // name of the file up to its first dot. Throws Error::at for a line without a type before its TAB, or
  // without words after it.
  void read(const std::string& path);

  // All phrases as lines "TYPE TAB WORD WORD ...", which a model keeps.
  const std::string& text() const { return text_; }
  // The same back. Throws Error naming `file` for what text() never gives.
  static Gazetteer from_text(std::string_view text, const std::string& file);

  bool empty() const { return text_.empty(); }
  std::string_view type(std::uint32_t id) const { return types_.name(id); }

  // The phrases of a sequence: from left to right the longest one that begins there, then on after it. One
  // match for each of its types. Const and thread-safe; allocates nothing but what `matches` needs.
  void find(std::span<const std::string_view> words, std::vector<Match>& matches) const;

 private:
  struct Node {
    std::vector<std::uint32_t> types;  // of the phrase that ends here
  };
  void add(std::string_view type, std::span<const std::string_view> words);

  std::string text_;
  Dictionary words_, types_;
  std::vector<Node> nodes_{Node()};                         // a trie; node 0 is its root
  std::unordered_map<std::uint64_t, std::uint32_t> edges_;  // by node (above) and word
};

}  // namespace espalier
