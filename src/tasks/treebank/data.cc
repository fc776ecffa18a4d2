#include "espalier/tasks/treebank.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/tasks/named_rows.h"
#include "tasks/sequence_reader.h"
#include "tasks/treebank/bracket_reader.h"

namespace espalier {
namespace {

void check(const BracketTree& tree, std::size_t depth, std::size_t number) {
  const auto fail = [&](const std::string& found, const std::string& expected) {
    throw Error::at(kDataInMemory, number, found, expected);
  };
  if (depth > BracketReader::kDeepest)
    fail(fmt::format("phrases within {} phrases", grouped(BracketReader::kDeepest)),
         "expected trees that are less deeply nested");
  for (const std::string* text : {&tree.label, &tree.word}) {
    if (std::any_of(text->begin(), text->end(),
                    [](char c) { return c == '(' || c == ')' || is_white_space(c); }))
      fail(in_quotes(*text), "expected labels and words without white space and brackets");
  }
  const std::string what = tree.word.empty() ? "a phrase" : "the word " + in_quotes(tree.word);
  if (tree.label.empty())
    fail(what + " without a label", tree.word.empty() ? "expected one" : "expected one, its tag");
  if (tree.word.empty() && tree.children.empty())
    fail(fmt::format("the phrase {} without contents", in_quotes(tree.label)), "expected words or phrases");
  if (!tree.word.empty() && !tree.children.empty())
    fail(what + " with something below it", "expected a phrase or a word");
  for (const BracketTree& child : tree.children) check(child, depth + 1, number);
}

}  // namespace

void TreebankData::add(BracketTree tree) {
  check(tree, 1, size() + 1);
  trees_.push_back(std::move(tree));
}

void TreebankData::add(std::string_view brackets) {
  BracketReader reader = BracketReader::of_text(brackets, kDataInMemory, size() + 1, {true, true});
  BracketTree tree, another;
  if (!reader.next(tree)) throw Error::at(kDataInMemory, size() + 1, "no tree", "expected one");
  if (reader.next(another)) throw Error::at(kDataInMemory, size() + 1, "two trees", "expected one per call");
  trees_.push_back(std::move(tree));
}

void TreebankData::add_all(std::string_view brackets) {
  BracketReader reader = BracketReader::of_text(brackets, kDataInMemory, size() + 1, {true, true});
  for (BracketTree tree; reader.next(tree);) trees_.push_back(tree);
}

void TreebankData::read(const std::string& path) {
  BracketReader reader(path, {true, true});
  for (BracketTree tree; reader.next(tree);) trees_.push_back(tree);
}

}  // namespace espalier
