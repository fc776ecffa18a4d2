// What parsers say of parts of trees, against all trees that they list: probabilities of constituents, what
// features add to scores, and trees with some heads given.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "espalier/tasks/parse.h"
#include "espalier/tasks/treebank.h"
#include "espalier/train/read.h"
#include "espalier/train/train.h"
#include "support/error_message.h"
#include "support/generated_data.h"
#include "support/temporary_folder.h"
#include "tasks/treebank/bracket_reader.h"

namespace espalier::tree_details_test {
namespace {

using testing::error_message;
using testing::generated_sentences;
using testing::TemporaryFolder;

// A word for each head.
ParseData small_trees() {
  ParseData data;
  for (const std::vector<std::uint32_t>& heads :
       {std::vector<std::uint32_t>{2, 0, 2}, {0, 1}, {3, 3, 0, 3}, {0}}) {
    for (std::size_t d = 1; d <= heads.size(); ++d) {
      const std::string form = fmt::format("w{}", (d + heads.size()) % 4);
      data.add({.form = form,
                .coarse = heads[d - 1] == 0 ? "V" : "N",
                .relation = heads[d - 1] == 0 ? "root"
                            : d % 2 == 0      ? "dep"
                                              : "obj",
                .head = heads[d - 1]});
    }
    data.end_sentence();
  }
  return data;
}

// Of a model small enough to list all trees: constituents are as probable as the trees that have them, and
// the score of the best tree is the sum of what it is made of.
TEST(TreebankParser, ConstituentsAndContributionsAreThoseOfTrees) {
  const TemporaryFolder folder;
  const std::string file = folder.file("train.mrg", generated_sentences(1, 30, append_treebank));
  for (const std::string tags : {"gold", "predicted"}) {
    TreebankOptions options;
    options.hash_bits = 9;
    options.tags = tags;
    const Model model = train(*read_treebank_training(file, options), {.l2 = 3, .gap = 0.05});
    TreebankParser::Sentence parsed(model.treebank_parser());
    BracketReader reader(file);
    std::size_t complete = 0, several = 0;
    for (BracketTree gold; reader.next(gold);) {
      std::vector<TaggedWord> words;
      append_words(gold, words);
      parsed.set(words);
      const auto trees = parsed.kbest(300);
      double sum = 0, best = 0;
      parsed.for_each_contribution(
          [&](const TreebankParser::Sentence::Contribution& one) { best += one.weight * one.count; });
      EXPECT_NEAR(best, trees.front().score, 1e-6 * (1 + std::abs(best)));
      std::map<std::tuple<std::size_t, std::size_t, std::string>, double> wanted;
      for (const auto& [tree, score] : trees) {
        const double p = parsed.probability(score);
        sum += p;
        const auto add = [&](const auto& self, const BracketTree& node, std::size_t begin) -> std::size_t {
          std::size_t end = begin + (node.is_word() ? 1 : 0);
          for (const BracketTree& child : node.children) end = self(self, child, end);
          if (!node.is_word()) wanted[{begin, end, node.label}] += p;
          return end;
        };
        add(add, tree, 0);
      }
      several += trees.size() > 1 ? 1 : 0;
      if (sum < 1 - 1e-9) continue;
      ++complete;
      for (const TreebankParser::Sentence::Constituent& one : parsed.constituents())
        EXPECT_NEAR(one.probability, (wanted[{one.begin, one.end, std::string(one.label)}]), 1e-6)
            << one.label;
      for (const TreebankParser::Sentence::Constituent& one : parsed.constituents(0.5))
        EXPECT_GE(one.probability, 0.5);
    }
    EXPECT_GT(complete, 3u);
    EXPECT_GT(several, 3u);
  }
}

// Against all trees that a parser lists: the best one with some heads is the best of those that have them,
// and contributions add up to scores.
TEST(Parser, HeadsThatAreGiven) {
  const ParseData data = small_trees();
  for (const bool projective : {true, false}) {
    for (const bool single_root : {true, false}) {
      ParseOptions options;
      options.hash_bits = 8;
      options.structure = projective ? "projective" : "nonprojective";
      options.single_root = single_root;
      options.prune_below = 0;
      const Model model = train(*make_parse_training(data, options), {.l2 = 1, .gap = 0.1});
      Parser::Sentence sentence(model.parser());
      for (const std::size_t words : {3u, 4u}) {
        sentence.clear();
        for (std::size_t d = 0; d < words; ++d)
          sentence.add({.form = fmt::format("w{}", d), .coarse = d % 2 == 0 ? "N" : "V"});
        const auto all = sentence.kbest(1000);
        ASSERT_LT(all.size(), 1000u);
        const auto relations = all.front().relations;
        double score = 0;
        sentence.for_each_contribution(1, words, [&](const Parser::Sentence::Contribution& one) {
          if (one.head != all.front().heads[one.word - 1]) return;
          if (one.relation.value_or(relations[one.word - 1]) == relations[one.word - 1]) score += one.weight;
        });
        EXPECT_NEAR(score, all.front().score, 1e-6 * (1 + std::abs(score)));
        // Each word has no head that is given, or any.
        std::vector<std::optional<std::uint32_t>> given(words);
        const auto check = [&] {
          const auto has = [&](const Parser::Sentence::Scored& one) {
            for (std::size_t d = 0; d < words; ++d) {
              if (given[d].value_or(one.heads[d]) != one.heads[d]) return false;
            }
            return true;
          };
          const auto best = std::find_if(all.begin(), all.end(), has);
          if (best == all.end()) {
            EXPECT_NE(error_message([&] { sentence.force_heads(given); }).find("expected those of some tree"),
                      std::string::npos);
            return;
          }
          sentence.force_heads(given);
          EXPECT_TRUE(std::ranges::equal(sentence.heads(), best->heads));
          EXPECT_NEAR(sentence.kbest(1).front().score, best->score, 1e-9);
          for (std::size_t d = 0; d < words; ++d) {
            if (given[d]) {
              EXPECT_NEAR(sentence.head_probabilities(d + 1)[*given[d]], 1, 1e-9);
            }
          }
        };
        const auto vary = [&](const auto& self, std::size_t d) -> void {
          if (d == words) return check();
          given[d].reset();
          self(self, d + 1);
          for (std::uint32_t h = 0; h <= words; ++h) {
            if (h == d + 1) continue;
            given[d] = h;
            self(self, d + 1);
          }
          given[d].reset();
        };
        vary(vary, 0);
      }
      EXPECT_EQ(error_message([&] {
                  sentence.force_heads(std::vector<std::optional<std::uint32_t>>{1, 0, 0, 0});
                }),
                "word 1 of 4 with the head 1; expected 0 (the root) or another word");
    }
  }
}

}  // namespace
}  // namespace espalier::tree_details_test
