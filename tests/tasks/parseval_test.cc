#include "tasks/treebank/parseval.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/temporary_folder.h"
#include "tasks/treebank/bracket_reader.h"

namespace espalier::parseval_test {
namespace {

using testing::TemporaryFolder;

BracketTree tree_of(const std::string& text) {
  const TemporaryFolder folder;
  BracketReader reader(folder.file("tree", text), {.traces = true, .functions = true});
  BracketTree tree;
  EXPECT_TRUE(reader.next(tree)) << text;
  return tree;
}

TEST(Parseval, CountsBracketsOfTheSameWordsAndLabel) {
  const ParsevalCounts counts = count_brackets(
      tree_of("(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (NN mat)))) (. .)))"),
      tree_of("(TOP (S (NP (DT The) (NN cat) (VBD sat)) (VP (IN on) (NP (NNS mat))) (. .)))"));
  EXPECT_EQ(counts.length, 6u);
  EXPECT_EQ(counts.gold, 5u);       // S, NP, VP, PP, NP
  EXPECT_EQ(counts.predicted, 4u);  // S, NP, VP, NP
  EXPECT_EQ(counts.matched, 2u);    // S, NP (mat)
  EXPECT_EQ(counts.crossing, 1u);   // NP (The cat sat) and VP (sat on mat)
  EXPECT_EQ(counts.words, 5u);
  EXPECT_EQ(counts.correct_tags, 4u);
}

TEST(Parseval, SumsUp) {
  ParsevalScores scores;
  const BracketTree right = tree_of("(S (NP (NN rain)) (VP (VBD fell)))"),
                    wrong = tree_of("(S (NP (NN rain)) (VBD fell))");
  scores.add(count_brackets(right, right));
  scores.add(count_brackets(right, wrong));
  scores.add(count_brackets(right, tree_of("(S (NP (NN rain)))")));
  scores.add_unparsed();
  const Evaluation evaluation = scores.evaluation();
  EXPECT_EQ(evaluation.rates.dump(),
            R"({"precision":1.0,"recall":0.8333333333333334,"f1":0.9090909090909091,)"
            R"("exact":0.5,"tagging":1.0})");
  EXPECT_EQ(evaluation.report.at("sentences"), 3);
  EXPECT_EQ(evaluation.report.at("other_words"), 1);
  EXPECT_EQ(evaluation.report.at("unparsed"), 1);
  EXPECT_EQ(evaluation.headline, "F1 90.91 %");
  EXPECT_DOUBLE_EQ(evaluation.dev_error, 1 - 10.0 / 11);
  EXPECT_EQ(evaluation.text.substr(0, evaluation.text.find("sentences")),
            "F1 90.91 % (precision 100.00 %, recall 83.33 %)\n"
            "\n"
            "                                   all  to 40 words\n"
            "F1                             90.91 %     90.91 %\n"
            "precision                     100.00 %    100.00 %\n"
            "recall                         83.33 %     83.33 %\n"
            "whole trees                    50.00 %     50.00 %\n"
            "without crossing brackets     100.00 %    100.00 %\n"
            "tags                          100.00 %    100.00 %\n");
}

TEST(Parseval, OfNothingIsZero) {
  EXPECT_EQ(ParsevalScores().evaluation().rates.dump(),
            R"({"precision":0.0,"recall":0.0,"f1":0.0,"exact":0.0,"tagging":0.0})");
}

// evalb's own output: one line a sentence, and summaries.
struct Setting {
  std::string name;
  ParsevalRules rules;
};

class EvalbTest : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string folder() { return std::string(ESPALIER_SHARED_DIR) + "/oracles/evalb/"; }
  static std::vector<std::string> lines(const std::string& name) {
    std::ifstream file(folder() + name);
    std::vector<std::string> result;
    for (std::string line; std::getline(file, line);) result.push_back(line);
    return result;
  }
  static std::vector<Setting> settings() {
    ParsevalRules newer, unlabelled, none;
    newer.deleted.insert(newer.deleted.end(), {"S1", "?", "!"});
    unlabelled.labelled = false;
    none.deleted.clear();
    none.equal.clear();
    return {{"collins", {}}, {"new", newer}, {"unlabeled", unlabelled}, {"noprm", none}};
  }
};

TEST_P(EvalbTest, CountsAreItsCounts) {
  if (!std::filesystem::exists(folder())) GTEST_SKIP() << "no " << folder();
  const auto gold = lines(GetParam() + ".gold.txt"), test = lines(GetParam() + ".test.txt");
  std::size_t compared = 0;
  for (const Setting& setting : settings()) {
    // The one thing that is not done here: to mend quotes that have other tags.
    if (setting.name == "new" && GetParam() == "punct") continue;
    ParsevalScores scores;
    bool all_read = true;
    const auto output = lines(fmt::format("{}.out_{}.txt", GetParam(), setting.name));
    for (const std::string& line : output) {
      std::istringstream fields(line);
      std::size_t id = 0, length, status, matched, of_gold, of_test, crossing, words, tags;
      std::string recall, precision;
      if (!(fields >> id >> length >> status >> recall >> precision >> matched >> of_gold >> of_test >>
            crossing >> words >> tags))
        continue;
      // A tree that the reader refuses: evalb calls it a sentence without words.
      if (test.at(id - 1).empty() || test.at(id - 1) == "(())") {
        EXPECT_EQ(status, 2u);
        all_read = false;
        continue;
      }
      // Without a label, the outermost bracket is TOP to the reader and nameless to evalb.
      std::string predicted = test[id - 1];
      if (predicted.starts_with("( ")) predicted.insert(1, "NAMELESS");
      const ParsevalCounts counts =
          count_brackets(tree_of(gold.at(id - 1)), tree_of(predicted), setting.rules);
      const std::string where = fmt::format("{} {} {}", GetParam(), setting.name, id);
      ASSERT_EQ(static_cast<std::size_t>(counts.status), status) << where;
      EXPECT_EQ(counts.length, length) << where;
      EXPECT_EQ(counts.matched, matched) << where;
      EXPECT_EQ(counts.gold, of_gold) << where;
      EXPECT_EQ(counts.predicted, of_test) << where;
      EXPECT_EQ(counts.crossing, crossing) << where;
      EXPECT_EQ(counts.words, words) << where;
      EXPECT_EQ(counts.correct_tags, tags) << where;
      scores.add(counts);
      ++compared;
    }
    if (!all_read) continue;
    // The summaries of all sentences and of those up to 40 words.
    const Evaluation evaluation = scores.evaluation();
    const Json* report = nullptr;
    for (const std::string& line : output) {
      if (line == "-- All --") report = &evaluation.report;
      if (line == "-- len<=40 --") report = &evaluation.report.at("up_to_40");
      const std::size_t equals = line.find(" = ");
      if (report == nullptr || equals == std::string::npos) continue;
      const std::string name = line.substr(0, line.find_last_not_of(' ', equals) + 1);
      const double value = std::stod(line.substr(equals + 3));
      const auto expect = [&](const char* key, double scale) {
        EXPECT_NEAR(report->at(key).get<double>() * scale, value, 0.00501)
            << GetParam() << ' ' << setting.name << ' ' << line;
      };
      if (name == "Number of sentence") expect("sentences", 1);
      if (name == "Number of Error sentence") expect("other_words", 1);
      if (name == "Number of Skip  sentence") expect("no_words", 1);
      if (name == "Bracketing Recall") expect("recall", 100);
      if (name == "Bracketing Precision") expect("precision", 100);
      if (name == "Bracketing FMeasure") expect("f1", 100);
      if (name == "Complete match") expect("exact", 100);
      if (name == "Average crossing") expect("average_crossing", 1);
      if (name == "No crossing") expect("no_crossing", 100);
      if (name == "2 or less crossing") expect("two_or_less_crossing", 100);
      if (name == "Tagging accuracy") expect("tagging", 100);
    }
  }
  EXPECT_GT(compared, 0u);
}

INSTANTIATE_TEST_SUITE_P(Cases, EvalbTest,
                         ::testing::Values("exact", "labels", "crossing", "unary", "punct", "length", "top",
                                           "long", "random", "toomany", "fewer"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace espalier::parseval_test
