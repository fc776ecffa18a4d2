#include "tasks/treebank/tree_grammar.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "generate/sentence_generator.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"
#include "tasks/treebank/bracket_reader.h"
#include "tasks/treebank/head_rules.h"

namespace espalier::tree_grammar_test {
namespace {

using Side = BinariseOptions::Side;
using testing::error_message;
using testing::TemporaryFolder;

std::vector<BracketTree> trees_of(const std::string& text) {
  const TemporaryFolder folder;
  BracketReader reader(folder.file("trees", text));
  std::vector<BracketTree> trees;
  for (BracketTree tree; reader.next(tree);) trees.push_back(tree);
  return trees;
}

std::string text_of(const BracketTree& tree) {
  std::string text;
  append_brackets(tree, text);
  return text;
}

std::vector<std::string> rules_of(const TreeGrammar& grammar) {
  std::vector<std::string> rules;
  for (std::size_t r = 0; r < grammar.grammar().binaries.size() + grammar.grammar().unaries.size(); ++r)
    rules.push_back(grammar.rule_name(r));
  std::sort(rules.begin(), rules.end());
  return rules;
}

std::vector<std::string> rules_of(const std::string& trees, const BinariseOptions& options) {
  std::vector<Derivation> derivations;
  return rules_of(TreeGrammar(trees_of(trees), options, derivations));
}

using Rules = std::vector<std::string>;
constexpr const char* kPhrase = "(NP (DT a) (JJ b) (NN c) (PP (IN d) (NP (NN e))) (SBAR f))";

TEST(TreeGrammar, BinarisesFromLeftToRight) {
  EXPECT_EQ(rules_of(kPhrase, {.side = Side::right, .horizontal = 1}),
            (Rules{"NP -> DT [NP |DT]", "NP -> NN", "PP -> IN NP", "START -> NP", "[NP |DT] -> JJ [NP |JJ]",
                   "[NP |JJ] -> NN [NP |NN]", "[NP |NN] -> PP SBAR"}));
  EXPECT_EQ(rules_of(kPhrase, {.side = Side::right, .horizontal = 0}),
            (Rules{"NP -> DT [NP |]", "NP -> NN", "PP -> IN NP", "START -> NP", "[NP |] -> JJ [NP |]",
                   "[NP |] -> NN [NP |]", "[NP |] -> PP SBAR"}));
  EXPECT_EQ(rules_of(kPhrase, {.side = Side::right, .horizontal = 9}),
            (Rules{"NP -> DT [NP |DT]", "NP -> NN", "PP -> IN NP", "START -> NP", "[NP |DT JJ NN] -> PP SBAR",
                   "[NP |DT JJ] -> NN [NP |DT JJ NN]", "[NP |DT] -> JJ [NP |DT JJ]"}));
}

TEST(TreeGrammar, BinarisesOutwardsFromTheHead) {
  EXPECT_EQ(rules_of(kPhrase, {.side = Side::head, .horizontal = 1}),
            (Rules{"NP -> DT [NP >NN |< JJ]", "NP -> NN", "PP -> IN NP", "START -> NP",
                   "[NP >NN |< JJ] -> JJ [NP >NN |> SBAR]", "[NP >NN |> PP] -> NN PP",
                   "[NP >NN |> SBAR] -> [NP >NN |> PP] SBAR"}));
  EXPECT_EQ(rules_of(kPhrase, {.side = Side::head, .horizontal = 2}),
            (Rules{"NP -> DT [NP >NN |< JJ]", "NP -> NN", "PP -> IN NP", "START -> NP",
                   "[NP >NN |< JJ] -> JJ [NP >NN |> PP SBAR]", "[NP >NN |> PP SBAR] -> [NP >NN |> PP] SBAR",
                   "[NP >NN |> PP] -> NN PP"}));
}

TEST(TreeGrammar, RemembersWhatIsAbove) {
  EXPECT_EQ(
      rules_of("((S (NP (NN a)) (VP (VB b) (NP (DT c) (NN d)) (PP e))))",
               {.side = Side::right, .vertical = 2}),
      (Rules{"START -> TOP -> [S ^TOP]", "[NP ^S] -> NN", "[NP ^VP] -> DT NN", "[S ^TOP] -> [NP ^S] [VP ^S]",
             "[VP ^S |VB] -> [NP ^VP] PP", "[VP ^S] -> VB [VP ^S |VB]"}));
  EXPECT_EQ(rules_of("((S (NP (NN a)) (VP (VB b))))", {.side = Side::right, .vertical = 3}),
            (Rules{"START -> TOP -> [S ^TOP]", "[NP ^S ^TOP] -> NN", "[S ^TOP] -> [NP ^S ^TOP] [VP ^S ^TOP]",
                   "[VP ^S ^TOP] -> VB"}));
}

TEST(TreeGrammar, KeepsOrShortensChains) {
  const std::string tree = "((S (VP (NP (NX (NN a)))) (VP (VP (VP (VB b) (NN c))))))";
  EXPECT_EQ(rules_of(tree, {}), (Rules{"S -> VP VP", "START -> TOP -> S", "VP -> NP -> NX -> NN",
                                       "VP -> VB NN", "VP -> VP -> VP"}));
  EXPECT_EQ(rules_of(tree, {.shorten = true}),
            (Rules{"S -> VP VP", "START -> TOP -> S", "VP -> NN", "VP -> VB NN", "VP -> VP"}));
}

TEST(TreeGrammar, HasALabelForWhatIsNotAlwaysOutermost) {
  const auto labels = [](const std::string& text) {
    std::vector<Derivation> derivations;
    const TreeGrammar grammar(trees_of(text), {}, derivations);
    std::set<std::string> names;
    for (std::uint32_t k = 0; k < grammar.labels().size(); ++k)
      names.insert(std::string(grammar.labels().name(k)));
    return names;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(labels("(TOP (S (NN a) (VB b)))"), (Names{"S"}));
  EXPECT_EQ(labels("(S (NN a) (VB b))"), (Names{"S"}));
  EXPECT_EQ(labels("(TOP (S (NN a) (VB b)))\n(ROOT (S (NN a) (VB b)))"), (Names{"ROOT", "S", "TOP"}));
  EXPECT_EQ(labels("(TOP (S (NN a) (VB b)))\n(S (NN a) (VB b))"), (Names{"S", "TOP"}));
  EXPECT_EQ(labels("(TOP (S (NN a) (VB b)))\n(TOP (NN a) (VB b))"), (Names{"S", "TOP"}));
  EXPECT_EQ(labels("(TOP (S (NN a) (TOP (VB b))))"), (Names{"S", "TOP"}));
}

TEST(TreeGrammar, HasLabelsOfConstituentsAndOfTheirParts) {
  std::vector<Derivation> derivations;
  const auto trees = trees_of("((NP (DT a) (JJ b) (NN c)))");
  const TreeGrammar grammar(trees, {.side = Side::right, .vertical = 2}, derivations);
  const Grammar& g = grammar.grammar();
  EXPECT_EQ(g.num_tags, 3u);
  EXPECT_EQ(g.num_symbols, 7u);  // with START, TOP, NP ^TOP and a part of it
  // Every tree begins with TOP, which therefore has none.
  EXPECT_EQ(g.num_constituents, 1u);
  EXPECT_EQ(g.num_labels, 2u);
  EXPECT_EQ(grammar.labels().name(0), "NP");
  EXPECT_EQ(grammar.labels().name(1), "@NP");
  EXPECT_EQ(g.labels, (std::vector<std::uint32_t>{kNoLabel, kNoLabel, kNoLabel, kNoLabel, kNoLabel, 0, 1}));
  ASSERT_EQ(derivations.size(), 1u);
  EXPECT_EQ(derivations[0].nodes, (std::vector<Derivation::Node>{{0, 1, 3, 1, 0},
                                                                 {0, 0, 1, 0, kNoRule},
                                                                 {1, 2, 3, 0, kNoRule},
                                                                 {1, 1, 2, 1, kNoRule},
                                                                 {2, 2, 3, 2, kNoRule}}));
}

TEST(TreeGrammar, HasAFlatTreeForEverything) {
  std::vector<Derivation> derivations;
  const std::vector<TaggedWord> words{{"a", "NN"}, {"b", "?"}};
  EXPECT_EQ(text_of(TreeGrammar(trees_of("((S (VP (VB go)) (. .)))"), {}, derivations).flat_tree(words)),
            "(TOP (S (NN a) (? b)))");
  EXPECT_EQ(text_of(TreeGrammar(trees_of("(NN rain)"), {}, derivations).flat_tree(words)),
            "(TOP (NN a) (? b))");
}

// Trees of any shape: chains, flat phrases, words at every height.
BracketTree random_tree(int depth) {
  const auto label = [](const char* first) { return first + std::to_string(*rc::gen::inRange(0, 3)); };
  const int children =
      depth == 0 ? 0 : *rc::gen::weightedElement<int>({{3, 0}, {3, 1}, {3, 2}, {2, 3}, {1, 6}});
  BracketTree tree;
  if (children == 0) return {label("T"), "w", {}};
  tree.label = *rc::gen::element<std::string>("NP", "S", "VP", "X");
  for (int k = 0; k < children; ++k) tree.children.push_back(random_tree(depth - 1));
  return tree;
}

RC_GTEST_PROP(TreeGrammarProperty, DerivationsLeadBackToTheirTrees, ()) {
  BinariseOptions options;
  options.side = *rc::gen::element(Side::right, Side::head);
  options.horizontal = *rc::gen::inRange<std::size_t>(0, 4);
  options.vertical = *rc::gen::inRange<std::size_t>(1, 4);
  std::vector<BracketTree> trees;
  for (int k = *rc::gen::inRange(1, 4); k > 0; --k) trees.push_back(random_tree(5));
  std::vector<Derivation> derivations;
  const TreeGrammar grammar(trees, options, derivations);
  const TemporaryFolder folder;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    std::vector<TaggedWord> words;
    append_words(trees[i], words);
    RC_ASSERT(derivations[i].nodes.size() == 2 * words.size() - 1);
    RC_ASSERT(grammar.tree(derivations[i], words) == trees[i]);
    for (TaggedWord& word : words) word.tag.clear();  // then those of the derivation
    RC_ASSERT(grammar.tree(derivations[i], words) == trees[i]);
  }
}

TEST(TreeGrammar, DerivationsOfGeneratedTreesLeadBackToThem) {
  testing::TemporaryFolder folder;
  std::string text;
  SentenceGenerator generator(5);
  Sentence sentence;
  for (int k = 0; k < 200; ++k) {
    generator.next(sentence);
    text += sentence.tree + '\n';
  }
  const auto trees = trees_of(text);
  ASSERT_EQ(trees.size(), 200u);
  for (const Side side : {Side::right, Side::head}) {
    std::vector<Derivation> derivations;
    const TreeGrammar grammar(trees, {.side = side, .horizontal = 2, .vertical = 2}, derivations);
    for (std::size_t i = 0; i < trees.size(); ++i) {
      std::vector<TaggedWord> words;
      append_words(trees[i], words);
      EXPECT_EQ(text_of(grammar.tree(derivations[i], words)), text_of(trees[i]));
    }
  }
}

TEST(TreeGrammar, IsTheSameFromItsNumbers) {
  std::vector<Derivation> derivations;
  const auto trees = trees_of("((S (VP (NP (NX (NN a)))) (VP (VB b) (NN c) (NN d)))) ((NP (NN a)))");
  const TreeGrammar grammar(trees, {}, derivations);
  const auto load = [&](std::vector<std::uint32_t> binaries, std::vector<std::uint32_t> unaries) {
    const auto copy = [](const Dictionary& names) {
      return Dictionary(names.bytes(), names.offsets(), names.table(), "model");
    };
    return TreeGrammar(copy(grammar.tags()), copy(grammar.symbols()), binaries, unaries,
                       grammar.flat_between(), "model");
  };
  const TreeGrammar loaded = load(grammar.flat_binaries(), grammar.flat_unaries());
  EXPECT_EQ(rules_of(loaded), rules_of(grammar));
  EXPECT_EQ(loaded.grammar().labels, grammar.grammar().labels);
  EXPECT_EQ(loaded.grammar().start, grammar.grammar().start);
  EXPECT_EQ(error_message([&] { load({0, 1, 2}, {}); }), "model: a rule of symbol 0 of 9; retrain the model");
  EXPECT_EQ(error_message([&] { load({3, 1, 9}, {}); }), "model: a rule of symbol 9 of 9; retrain the model");
  EXPECT_EQ(error_message([&] { load({3, 1}, {}); }), "model: truncated rules; retrain the model");
  EXPECT_EQ(error_message([&] { load({}, {3, 1, 50}); }), "model: truncated rules; retrain the model");
}

TEST(HeadRules, AreThoseOfCollins) {
  const auto head = [](std::string_view category, std::vector<std::string_view> children) {
    return find_head(category, children);
  };
  EXPECT_EQ(head("VP", {"RB", "VP", "MD"}), 2u);  // MD before VP in the list
  EXPECT_EQ(head("PP", {"IN", "NP"}), 0u);
  EXPECT_EQ(head("PP", {"NP", "IN", "IN"}), 2u);        // from the right
  EXPECT_EQ(head("NP", {"DT", "NN", "NN", "PP"}), 2u);  // any noun, from the right
  EXPECT_EQ(head("NP", {"NP", "PP", "NP"}), 0u);        // else the first NP
  EXPECT_EQ(head("NP", {"DT", "JJ", "CD"}), 2u);
  EXPECT_EQ(head("NP", {"DT", "X"}), 1u);
  EXPECT_EQ(head("S", {"X", "Y"}), 0u);
  EXPECT_EQ(head("UCP", {"X", "Y"}), 1u);
  EXPECT_EQ(head("Satz", {"X", "Y"}), 0u);
}

}  // namespace
}  // namespace espalier::tree_grammar_test
