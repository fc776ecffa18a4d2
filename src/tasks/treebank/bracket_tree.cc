#include "espalier/tasks/treebank.h"

#include <algorithm>

namespace espalier {

std::size_t num_words(const BracketTree& tree) {
  if (tree.is_word()) return 1;
  std::size_t sum = 0;
  for (const BracketTree& child : tree.children) sum += num_words(child);
  return sum;
}

void append_words(const BracketTree& tree, std::vector<TaggedWord>& words) {
  if (tree.is_word()) {
    words.push_back({tree.word, tree.label});
    return;
  }
  for (const BracketTree& child : tree.children) append_words(child, words);
}

void append_brackets(const BracketTree& tree, std::string& out) {
  out += '(';
  out += tree.label;
  if (tree.is_word()) {
    out += ' ';
    out += tree.word;
  }
  for (const BracketTree& child : tree.children) {
    out += ' ';
    append_brackets(child, out);
  }
  out += ')';
}

std::string_view without_function(std::string_view label) {
  if (label.starts_with('-')) return label;
  return label.substr(0, std::max<std::size_t>(label.find_first_of("-="), 1));
}

void remove_functions(BracketTree& tree) {
  tree.label.resize(without_function(tree.label).size());
  for (BracketTree& child : tree.children) remove_functions(child);
}

bool remove_traces(BracketTree& tree) {
  if (tree.is_word()) return tree.label != "-NONE-";
  std::erase_if(tree.children, [](BracketTree& child) { return !remove_traces(child); });
  return !tree.children.empty();
}

}  // namespace espalier
