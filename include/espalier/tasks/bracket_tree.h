#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// A phrase with what it is made of, or a word with its tag.
struct BracketTree {
  std::string label;  // of the phrase, or the tag
  std::string word;   // empty: a phrase
  std::vector<BracketTree> children;

  bool is_word() const { return children.empty(); }
  bool operator==(const BracketTree&) const = default;
};

struct TaggedWord {
  std::string word, tag;
  bool operator==(const TaggedWord&) const = default;
};

std::size_t num_words(const BracketTree& tree);
// The words from left to right, with their tags, appended.
void append_words(const BracketTree& tree, std::vector<TaggedWord>& words);
// "(S (NP (DT the) (NN coach)) ...)" on one line, without a newline.
void append_brackets(const BracketTree& tree, std::string& out);

// What a label says beyond the category: NP-SBJ-1 and NP=2 are NP. What begins with a hyphen (-LRB-) is a label as it is.
std::string_view without_function(std::string_view label);
void remove_functions(BracketTree& tree);
// Removes words of the tag -NONE- and the phrases that have nothing else in them. False: nothing is left.
bool remove_traces(BracketTree& tree);

}  // namespace espalier
