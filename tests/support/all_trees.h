#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier::test_support {

// heads[d - 1] is the head of word d; 0 is the root.
using TreeHeads = std::vector<std::uint32_t>;

// Whether every word leads up to the root.
inline bool is_tree(const TreeHeads& heads) {
  for (std::size_t d = 1; d <= heads.size(); ++d) {
    std::size_t at = d, steps = 0;
    while (at != 0 && steps++ <= heads.size()) at = heads[at - 1];
    if (at != 0) return false;
  }
  return true;
}

// Whether every word between a head and its modifier descends from that head.
inline bool is_projective(const TreeHeads& heads) {
  const auto descends = [&](std::size_t word, std::size_t from) {
    while (word != from && word != 0) word = heads[word - 1];
    return word == from;
  };
  for (std::size_t d = 1; d <= heads.size(); ++d) {
    const std::size_t h = heads[d - 1];
    for (std::size_t k = (h < d ? h : d) + 1; k < (h < d ? d : h); ++k) {
      if (!descends(k, h)) return false;
    }
  }
  return true;
}

// All trees over so many words, by looking at every assignment of heads.
inline std::vector<TreeHeads> all_trees(std::size_t words, bool projective, bool single_root) {
  std::vector<TreeHeads> trees;
  TreeHeads heads(words, 0);
  for (;;) {
    std::size_t roots = 0;
    for (const auto h : heads) roots += h == 0 ? 1 : 0;
    if ((!single_root || roots == 1) && is_tree(heads) && (!projective || is_projective(heads)))
      trees.push_back(heads);
    std::size_t d = 0;
    while (d < words && heads[d] == words) heads[d++] = 0;
    if (d == words) return trees;
    ++heads[d];
  }
}

}  // namespace espalier::test_support
