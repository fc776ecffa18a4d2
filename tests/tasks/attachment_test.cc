#include "tasks/parse/attachment.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/temporary_folder.h"

namespace espalier::attachment_test {
namespace {

using HeadList = std::vector<std::uint32_t>;
using Relations = std::vector<std::string_view>;

DependencySentence sentence_of(const std::string& text) {
  const testing::TemporaryFolder folder;
  DependencyReader reader(folder.file("t", text), true);
  DependencySentence sentence;
  EXPECT_TRUE(reader.next(sentence));
  return sentence;
}

// The dollar is a symbol, not punctuation; the dots are U+2026.
constexpr const char* kFish =
    "1\tShe\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n"
    "2\tate\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
    "3\tthe\t_\tDET\t_\t_\t5\tdet\t_\t_\n"
    "4\tred\t_\tADJ\t_\t_\t5\tamod\t_\t_\n"
    "5\tfish\t_\tNOUN\t_\t_\t2\tobj:dir\t_\t_\n"
    "6\t$\t_\tPUNCT\t_\t_\t5\tdep\t_\t_\n"
    "7\t\xe2\x80\xa6\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_\n";
constexpr const char* kGo =
    "1\tGo\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
    "2\t!?\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n";

// Of the fish, words 6 and 7 have wrong heads, 4 and 5 wrong relations (obj for obj:dir); the other tree is
// right.
AttachmentScores scores(const std::string& comment) {
  AttachmentScores scores;
  scores.add(sentence_of(comment + kFish), HeadList{2, 0, 5, 5, 2, 2, 5},
             Relations{"nsubj", "root", "det", "det", "obj", "dep", "punct"});
  scores.add(sentence_of(kGo), HeadList{0, 1}, Relations{"root", "punct"});
  return scores;
}

TEST(Attachment, Labelled) {
  const Evaluation result = scores("").evaluation();
  const Json rates = {
      {"uas", 7 / 9.0},         {"las", 5 / 9.0}, {"uas_nopunct", 6 / 7.0},
      {"las_nopunct", 4 / 7.0}, {"exact", 0.5},   {"exact_labelled", 0.5},
  };
  EXPECT_EQ(result.rates.dump(), rates.dump());
  Json report = rates;
  report.update(Json::parse(R"({
    "sentences": 2, "exact_sentences": 1, "in_pieces": 0, "words": 9, "correct_heads": 7, "correct_labelled": 5,
    "nopunct": {"words": 7, "correct_heads": 6, "correct_labelled": 4},
    "distances": {
      "root": {"uas": 1.0, "words": 2, "correct_heads": 2, "correct_labelled": 2},
      "1": {"uas": 0.75, "words": 4, "correct_heads": 3, "correct_labelled": 2},
      "2": {"uas": 1.0, "words": 1, "correct_heads": 1, "correct_labelled": 1},
      "3-6": {"uas": 0.5, "words": 2, "correct_heads": 1, "correct_labelled": 0},
      "7-": {"words": 0, "correct_heads": 0, "correct_labelled": 0}
    }})"));
  EXPECT_EQ(result.report.dump(), report.dump());
  EXPECT_EQ(result.headline, "UAS 77.78 %, LAS 55.56 %");
  EXPECT_EQ(result.metric, "LAS %");
  EXPECT_DOUBLE_EQ(result.value, 500 / 9.0);
  EXPECT_DOUBLE_EQ(result.dev_error, 4 / 9.0);
  EXPECT_EQ(result.text,
            "UAS 77.78 %, LAS 55.56 %\n"
            "\n"
            "                           UAS       LAS     out of\n"
            "all words              77.78 %   55.56 %          9\n"
            "without punctuation    85.71 %   57.14 %          7\n"
            "whole trees            50.00 %   50.00 %          2\n"
            "\n"
            "distance to the head\n"
            "root                  100.00 %  100.00 %          2\n"
            "1                      75.00 %   50.00 %          4\n"
            "2                     100.00 %  100.00 %          1\n"
            "3-6                    50.00 %    0.00 %          2\n"
            "7-                           -         -          0\n");
}

// Content words: 1, 2, 4, 5, 6 and "Go" in the gold trees, all of these but 4 in the predicted ones; 1, 2, 5
// and "Go" are right, as obj is for obj:dir.
TEST(Attachment, Universal) {
  const Evaluation result = scores("# text = She ate the red fish\n").evaluation();
  EXPECT_DOUBLE_EQ(result.report["las_universal"].get<double>(), 6 / 9.0);
  EXPECT_DOUBLE_EQ(result.report["clas"].get<double>(), 8 / 11.0);
  EXPECT_DOUBLE_EQ(result.report["las"].get<double>(), 5 / 9.0);
  EXPECT_FALSE(result.rates.contains("clas"));
  EXPECT_NE(result.text.find("without subtypes                 66.67 %          9\n"
                             "content words (CLAS)             72.73 %          6\n"
                             "whole trees            50.00 %   50.00 %          2\n"),
            std::string::npos)
      << result.text;
}

TEST(Attachment, Unlabelled) {
  AttachmentScores scores;
  scores.add(sentence_of(std::string("# c\n") + kFish), HeadList{2, 0, 5, 5, 2, 2, 5}, {});
  scores.add(sentence_of(kGo), HeadList{0, 1}, {});
  const Evaluation result = scores.evaluation();
  const Json rates = {{"uas", 7 / 9.0}, {"uas_nopunct", 6 / 7.0}, {"exact", 0.5}};
  EXPECT_EQ(result.rates.dump(), rates.dump());
  EXPECT_EQ(result.report.dump().find("las"), std::string::npos);
  EXPECT_EQ(result.report.dump().find("labelled"), std::string::npos);
  EXPECT_EQ(result.headline, "UAS 77.78 %");
  EXPECT_EQ(result.metric, "UAS %");
  EXPECT_DOUBLE_EQ(result.value, 700 / 9.0);
  EXPECT_DOUBLE_EQ(result.dev_error, 2 / 9.0);
  EXPECT_EQ(result.text,
            "UAS 77.78 %\n"
            "\n"
            "                           UAS     out of\n"
            "all words              77.78 %          9\n"
            "without punctuation    85.71 %          7\n"
            "whole trees            50.00 %          2\n"
            "\n"
            "distance to the head\n"
            "root                  100.00 %          2\n"
            "1                      75.00 %          4\n"
            "2                     100.00 %          1\n"
            "3-6                    50.00 %          2\n"
            "7-                           -          0\n");
}

// The relation counts only with the right head: here one is exact without relations, none with them.
TEST(Attachment, ExactTrees) {
  AttachmentScores scores;
  scores.add(sentence_of(kGo), HeadList{0, 1}, Relations{"root", "dep"});
  scores.add(sentence_of(kGo), HeadList{2, 0}, Relations{"root", "punct"});
  const Evaluation result = scores.evaluation();
  EXPECT_EQ(result.rates["uas"], 0.5);
  EXPECT_EQ(result.rates["las"], 0.25);
  EXPECT_EQ(result.rates["exact"], 0.5);
  EXPECT_EQ(result.rates["exact_labelled"], 0.0);
}

// Every character has to be of the category P; what is no UTF-8 is none.
TEST(Attachment, Punctuation) {
  const std::vector<std::pair<std::string, bool>> forms = {
      {".", true},
      {"--", true},
      {"_", true},
      {"\xc2\xab", true},      // a guillemet
      {"\xe3\x80\x82", true},  // an ideographic full stop
      {"$", false},
      {"+", false},
      {"`", false},
      {"a.", false},
      {".a", false},
      {"\xff", false},
      {"", false},
      {"\xe2\x82\xac", false},  // a Euro sign
  };
  for (const auto& [form, punctuation] : forms) {
    AttachmentScores scores;
    scores.add(sentence_of("1\t" + form + "\t_\t_\t_\t_\t0\troot\n"), HeadList{0}, {});
    EXPECT_EQ(scores.evaluation().report["nopunct"]["words"], punctuation ? 0 : 1) << form;
  }
}

TEST(Attachment, Distances) {
  std::string text;
  HeadList heads;
  for (int d = 1; d <= 9; ++d) {
    text += std::to_string(d) + "\tw\t_\t_\t_\t_\t" + (d == 1 ? "0" : "1") + "\tx\n";
    heads.push_back(d == 1 ? 0 : 1);
  }
  AttachmentScores scores;
  scores.add(sentence_of(text), heads, {});
  const Evaluation result = scores.evaluation();
  const Json& distances = result.report["distances"];
  EXPECT_EQ(distances["root"]["words"], 1);
  EXPECT_EQ(distances["1"]["words"], 1);
  EXPECT_EQ(distances["2"]["words"], 1);
  EXPECT_EQ(distances["3-6"]["words"], 4);
  EXPECT_EQ(distances["7-"]["words"], 2);
}

TEST(Attachment, NothingAdded) {
  const Evaluation result = AttachmentScores().evaluation();
  EXPECT_EQ(result.rates["uas"], 0.0);
  EXPECT_EQ(result.dev_error, 1.0);
  EXPECT_EQ(result.headline, "UAS 0.00 %, LAS 0.00 %");
}

}  // namespace
}  // namespace espalier::attachment_test
