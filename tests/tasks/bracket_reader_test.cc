#include "tasks/treebank/bracket_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/output.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::bracket_reader_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

// The trees of a file, each as the writer writes it.
std::vector<std::string> trees_of(const std::string& text, BracketNorm norm = {}) {
  const TemporaryFolder folder;
  BracketReader reader(folder.file("trees", text), norm);
  std::vector<std::string> trees;
  for (BracketTree tree; reader.next(tree);) append_brackets(tree, trees.emplace_back());
  return trees;
}

std::string message(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = folder.file("trees", text);
  const std::string all = error_message([&] {
    BracketReader reader(path);
    for (BracketTree tree; reader.next(tree);) continue;
  });
  return all.starts_with(path) ? all.substr(path.size()) : all;
}

using Trees = std::vector<std::string>;

TEST(BracketReader, ReadsTreesOnOneLineOrOnMany) {
  EXPECT_EQ(
      trees_of(
          "(S (NP (NN rain)) (VP (VBD fell)))\n\n( (S\n\t(NP (NN snow) )\r\n  (VP\n(VBD\nfell)) ))(X (Y z))"),
      (Trees{"(S (NP (NN rain)) (VP (VBD fell)))", "(TOP (S (NP (NN snow)) (VP (VBD fell))))", "(X (Y z))"}));
  EXPECT_EQ(trees_of(" \n\n"), Trees());
}

TEST(BracketReader, KnowsWhereATreeBegins) {
  const TemporaryFolder folder;
  BracketReader reader(folder.file("trees", "\n(S\n(NN rain))\n\n (NN snow)"));
  BracketTree tree;
  ASSERT_TRUE(reader.next(tree));
  EXPECT_EQ(reader.first_line(), 2u);
  ASSERT_TRUE(reader.next(tree));
  EXPECT_EQ(reader.first_line(), 5u);
  EXPECT_FALSE(reader.next(tree));
}

TEST(BracketReader, ReadsPackedFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.path("trees.gz");
  OutputFile file(path);
  file.write("(NP (NN rain))\n");
  file.commit();
  BracketReader reader(path);
  BracketTree tree;
  ASSERT_TRUE(reader.next(tree));
  EXPECT_EQ(tree, (BracketTree{"NP", "", {{"NN", "rain", {}}}}));
}

TEST(BracketReader, RemovesTracesWithThePhrasesAboveThem) {
  const std::string tree =
      "((S (NP-SBJ-1 (NNP Kim)) (VP (VBD tried) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB go)))))))";
  EXPECT_EQ(trees_of(tree), Trees{"(TOP (S (NP (NNP Kim)) (VP (VBD tried) (S (VP (TO to) (VP (VB go)))))))"});
  EXPECT_EQ(
      trees_of(tree, {.traces = true, .functions = false}),
      Trees{"(TOP (S (NP (NNP Kim)) (VP (VBD tried) (S (NP (-NONE- *-1)) (VP (TO to) (VP (VB go)))))))"});
  EXPECT_EQ(trees_of("(S (NP (NP (-NONE- *)) (SBAR (-NONE- 0))) (VP (VB go)))"), Trees{"(S (VP (VB go)))"});
}

TEST(BracketReader, RemovesFunctions) {
  const std::string tree =
      "(S (NP-SBJ-1 (PRP They)) (ADJP=2 (JJ old)) (-LRB- -LRB-) (PRP$ my) (WHNP-=3 (-- -)))";
  EXPECT_EQ(trees_of(tree),
            Trees{"(S (NP (PRP They)) (ADJP (JJ old)) (-LRB- -LRB-) (PRP$ my) (WHNP (-- -)))"});
  EXPECT_EQ(trees_of(tree, {.traces = false, .functions = true}), Trees{tree});
}

TEST(BracketReader, SaysWhatIsWrong) {
  EXPECT_EQ(message("(NN rain)\nrain\n"),
            ":2: 'rain' outside of brackets; expected '(', the beginning of a tree");
  EXPECT_EQ(message("(NN rain))\n"), ":1: ')' without '('; expected '(', the beginning of a tree");
  EXPECT_EQ(message("(NN a)\n(S (NP (NN rain)\n(VP (VB fall)\n\n"),
            ":4: the end of the file in the tree that begins in line 2; expected 3 more ')'");
  EXPECT_EQ(message("(S\n(NP the (NN rain)))"), ":2: a bracket after the word 'the'; expected ')'");
  EXPECT_EQ(message("(S\n(NP the\nrain))"),
            ":3: the word 'rain' without a tag; expected (TAG WORD), each word in a bracket of its own");
  EXPECT_EQ(message("(S (NP (DT the) rain))"),
            ":1: the word 'rain' without a tag; expected (TAG WORD), each word in a bracket of its own");
  EXPECT_EQ(message("(S\n(NP\n) (NN rain))"),
            ":2: the bracket (NP) without contents; expected (TAG WORD) or (LABEL (...) ...)");
  EXPECT_EQ(message("\n()"), ":2: an empty bracket; expected (TAG WORD) or (LABEL (...) ...)");
  EXPECT_EQ(message("(())"), ":1: an empty bracket; expected (TAG WORD) or (LABEL (...) ...)");
  EXPECT_EQ(message("(S ( (NN rain)))"),
            ":1: a bracket without a label; expected one: only the outermost bracket may lack it");
  EXPECT_EQ(message("(NN rain)\n(S (NP (-NONE- *)))"), ":2: a tree that has only traces; expected words");
}

TEST(BracketReader, RefusesTreesThatAreTooDeep) {
  const auto nested = [](std::size_t depth) {
    std::string text;
    for (std::size_t k = 1; k < depth; ++k) text += "(X ";
    return text + "(Y z" + std::string(depth, ')');
  };
  EXPECT_EQ(message(nested(1000)), "(no error)");
  EXPECT_EQ(
      message("\n" + nested(1001)),
      ":2: brackets within 1,000 brackets; expected an earlier ')', or trees that are less deeply nested");
  EXPECT_EQ(message("\n" + std::string(1000000, '(')),
            ":2: a bracket without a label; expected one: only the outermost bracket may lack it");
}

TEST(BracketTree, HasItsWords) {
  const BracketTree tree{"S", "", {{"NP", "", {{"DT", "the", {}}, {"NN", "rain", {}}}}, {"VBD", "fell", {}}}};
  EXPECT_EQ(num_words(tree), 3u);
  std::vector<TaggedWord> words;
  append_words(tree, words);
  EXPECT_EQ(words, (std::vector<TaggedWord>{{"the", "DT"}, {"rain", "NN"}, {"fell", "VBD"}}));
}

}  // namespace
}  // namespace espalier::bracket_reader_test
