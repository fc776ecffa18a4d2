#include "tasks/tag/chunks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "espalier/tasks/tag.h"
#include "support/error_message.h"

namespace espalier::chunks_test {
namespace {

using Tags = std::vector<std::string>;

Tags words(const std::string& text) {
  std::istringstream stream(text);
  Tags result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

void add(ChunkScores& scores, const Tags& gold, const Tags& predicted) {
  const std::vector<std::string_view> a(gold.begin(), gold.end()), b(predicted.begin(), predicted.end());
  scores.add(a, b);
}

void add(ChunkScores& scores, const std::string& gold, const std::string& predicted) {
  add(scores, words(gold), words(predicted));
}

// "gold predicted correct", then the same for each type.
std::string counts(const std::string& gold, const std::string& predicted) {
  ChunkScores scores;
  add(scores, gold, predicted);
  const Json report = scores.evaluate().report;
  const auto three = [](const Json& json) {
    return fmt::format("{} {} {}", json["gold"].get<int>(), json["predicted"].get<int>(),
                       json["correct"].get<int>());
  };
  std::string result = three(report["chunks"]);
  for (const auto& [type, json] : report["types"].items())
    result += fmt::format("; {} {}", type, three(json));
  return result;
}

// Both sides the same: how many chunks there are, all of them correct.
int chunks_in(const std::string& tags) {
  ChunkScores scores;
  add(scores, tags, tags);
  const Json report = scores.evaluate().report;
  EXPECT_EQ(report["chunks"]["correct"], report["chunks"]["gold"]) << tags;
  EXPECT_EQ(report["chunks"]["predicted"], report["chunks"]["gold"]) << tags;
  return report["chunks"]["gold"].get<int>();
}

TEST(ChunkScores, TableAndJson) {
  ChunkScores scores;
  add(scores, "B-NP I-NP O B-VP B-NP", "B-NP I-NP O B-VP I-NP");
  add(scores, "B-NP O B-PP", "B-NP B-VP O");
  add(scores, "O B-NP", "O B-NP");
  const Evaluation result = scores.evaluate();
  EXPECT_EQ(result.headline, "F1 83.33 %");
  EXPECT_EQ(result.dev_error, 1 - 10.0 / 12);
  EXPECT_EQ(result.text,
            "accuracy 70.00 % (7 of 10 tokens)\n"
            "whole sequences 33.33 % (1 of 3)\n"
            "\n"
            "           precision    recall        F1       gold  predicted    correct\n"
            "all types    83.33 %   83.33 %   83.33 %          6          6          5\n"
            "NP          100.00 %  100.00 %  100.00 %          4          4          4\n"
            "PP            0.00 %    0.00 %    0.00 %          1          0          0\n"
            "VP           50.00 %  100.00 %   66.67 %          1          2          1\n");
  Json expected = {{"accuracy", 0.7}, {"precision", 5.0 / 6}, {"recall", 5.0 / 6}, {"f1", 10.0 / 12}};
  EXPECT_EQ(result.rates.dump(), expected.dump());
  expected["tokens"] = 10;
  expected["sequences"] = 3;
  expected["sequence_accuracy"] = 1.0 / 3;
  expected["chunks"] = {{"gold", 6}, {"predicted", 6}, {"correct", 5}};
  const auto type = [](double precision, double recall, double f1, int gold, int predicted, int correct) {
    return Json{{"precision", precision}, {"recall", recall},       {"f1", f1},
                {"gold", gold},           {"predicted", predicted}, {"correct", correct}};
  };
  expected["types"] = {
      {"NP", type(1, 1, 1, 4, 4, 4)}, {"PP", type(0, 0, 0, 1, 0, 0)}, {"VP", type(0.5, 1, 2.0 / 3, 1, 2, 1)}};
  EXPECT_EQ(result.report.dump(), expected.dump());
}

TEST(ChunkScores, WhereChunksBeginAndEnd) {
  EXPECT_EQ(chunks_in("B-NP I-NP I-NP O B-NP"), 2);
  EXPECT_EQ(chunks_in("B-NP B-NP I-NP"), 2);
  EXPECT_EQ(chunks_in("I-NP I-NP B-NP O I-NP"), 3);  // IOB1
  EXPECT_EQ(chunks_in("B-NP I-VP I-VP"), 2);         // another type inside
  EXPECT_EQ(chunks_in("O I-NP I-NP"), 1);
  EXPECT_EQ(chunks_in("B I O I B"), 3);  // no types
  EXPECT_EQ(chunks_in("E-NP E-NP I-NP E-NP O"), 3);
  EXPECT_EQ(chunks_in("[-NP ]-NP [-NP"), 3);  // of one token each
  EXPECT_EQ(chunks_in(". . O"), 0);
  EXPECT_EQ(chunks_in(". B ."), 0);  // a dot is no O
  EXPECT_EQ(chunks_in(". B-NP ."), 1);
  EXPECT_EQ(chunks_in("B-NP I-NP E-NP O S-NP O S-VP S-NP"), 4);
  // As conlleval has it: S, and B after E, are seen by their types alone.
  EXPECT_EQ(chunks_in("S-NP S-NP"), 1);
  EXPECT_EQ(chunks_in("B-NP E-NP B-NP E-NP"), 1);
}

TEST(ChunkScores, WhatIsCorrect) {
  EXPECT_EQ(counts("B-NP I-NP O", "B-NP I-NP O"), "1 1 1; NP 1 1 1");
  EXPECT_EQ(counts("B-NP I-NP O", "B-NP O O"), "1 1 0; NP 1 1 0");
  EXPECT_EQ(counts("B-NP I-NP O", "O B-NP O"), "1 1 0; NP 1 1 0");
  EXPECT_EQ(counts("B-NP I-NP", "B-NP B-NP"), "1 2 0; NP 1 2 0");
  EXPECT_EQ(counts("B-NP I-NP", "I-NP I-NP"), "1 1 1; NP 1 1 1");
  EXPECT_EQ(counts("B-NP I-NP", "B-VP I-VP"), "1 1 0; NP 1 0 0; VP 0 1 0");
  EXPECT_EQ(counts("B-NP I-NP B-VP", "B-NP I-VP I-VP"), "2 2 0; NP 1 1 0; VP 1 1 0");
  EXPECT_EQ(counts("B-NP O", "O O"), "1 0 0; NP 1 0 0");
  EXPECT_EQ(counts("O O", "O B-NP"), "0 1 0; NP 0 1 0");
  EXPECT_EQ(counts("S-VP O B-NP E-NP", "B-VP O S-NP E-NP"), "2 2 2; NP 1 1 1; VP 1 1 1");
}

// Columns stay columns when numbers and names grow.
TEST(ChunkScores, WideTable) {
  ChunkScores scores;
  const Tags many(12345, "B-a-rather-long-name");
  add(scores, many, many);
  add(scores, "B-NP", "O");
  EXPECT_EQ(scores.evaluate().text,
            "accuracy 99.99 % (12,345 of 12,346 tokens)\n"
            "whole sequences 50.00 % (1 of 2)\n"
            "\n"
            "                    precision    recall        F1       gold  predicted    correct\n"
            "all types            100.00 %   99.99 %   99.99 %     12,346     12,345     12,345\n"
            "NP                     0.00 %    0.00 %    0.00 %          1          0          0\n"
            "a-rather-long-name   100.00 %  100.00 %  100.00 %     12,345     12,345     12,345\n");
}

TEST(ChunkScores, TypesMayHaveHyphens) {
  EXPECT_EQ(counts("B-WORK-OF-ART I-WORK-OF-ART I-WORK", "B-WORK-OF-ART I-WORK-OF-ART B-WORK"),
            "2 2 2; WORK 1 1 1; WORK-OF-ART 1 1 1");
  EXPECT_EQ(counts("B-A-B", "B-A"), "1 1 0; A 0 1 0; A-B 1 0 0");
}

// conlleval takes the type "0" for none, because perl takes "0" for false.
TEST(ChunkScores, ZeroIsAType) {
  EXPECT_EQ(counts("B-0 I-0 I B-0", "B-0 I-0 I I"), "3 2 1;  1 1 0; 0 2 1 1");
}

TEST(ChunkScores, HyphenWithoutType) {
  ChunkScores scores;
  add(scores, "B- I- O", "B I O");
  const Evaluation result = scores.evaluate();
  EXPECT_EQ(result.rates.dump(), R"({"accuracy":1.0,"precision":1.0,"recall":1.0,"f1":1.0})");
  EXPECT_EQ(result.text,
            "accuracy 100.00 % (3 of 3 tokens)\n"
            "whole sequences 100.00 % (1 of 1)\n"
            "\n"
            "           precision    recall        F1       gold  predicted    correct\n"
            "all types   100.00 %  100.00 %  100.00 %          1          1          1\n"
            "(no type)   100.00 %  100.00 %  100.00 %          1          1          1\n");
}

TEST(ChunkScores, SequencesCloseChunks) {
  ChunkScores together, apart;
  add(together, "B-NP I-NP", "B-NP I-NP");
  add(apart, "B-NP", "B-NP");
  add(apart, "I-NP", "I-NP");
  EXPECT_EQ(together.evaluate().report["chunks"].dump(), R"({"gold":1,"predicted":1,"correct":1})");
  EXPECT_EQ(apart.evaluate().report["chunks"].dump(), R"({"gold":2,"predicted":2,"correct":2})");
  // Even one that no O would end.
  EXPECT_EQ(chunks_in("B-NP NN"), 2);
}

TEST(ChunkScores, NoChunks) {
  ChunkScores scores;
  add(scores, "O O", "O O");
  const Evaluation result = scores.evaluate();
  EXPECT_EQ(result.report.dump(),
            R"({"accuracy":1.0,"precision":0.0,"recall":0.0,"f1":0.0,"tokens":2,"sequences":1,)"
            R"("sequence_accuracy":1.0,"chunks":{"gold":0,"predicted":0,"correct":0},"types":{}})");
  EXPECT_EQ(result.headline, "F1 0.00 %");
  EXPECT_EQ(result.dev_error, 1);
}

TEST(ChunkScores, NoSequences) {
  const Evaluation result = ChunkScores().evaluate();
  EXPECT_EQ(result.report.dump(),
            R"({"accuracy":0.0,"precision":0.0,"recall":0.0,"f1":0.0,"tokens":0,"sequences":0,)"
            R"("sequence_accuracy":0.0,"chunks":{"gold":0,"predicted":0,"correct":0},"types":{}})");
}

TEST(ChunkScores, PartsOfSpeech) {
  ChunkScores scores;
  add(scores, "DT NN VB .", "DT NN NN .");
  add(scores, "DT JJ NN", "DT NN NN");
  add(scores, "VB NN I", "NN NN I");
  const Evaluation result = scores.evaluate();
  EXPECT_EQ(result.headline, "accuracy 70.00 %");
  EXPECT_EQ(result.dev_error, 1 - 0.7);
  EXPECT_EQ(result.rates.dump(), R"({"accuracy":0.7})");
  EXPECT_EQ(result.text,
            "accuracy 70.00 % (7 of 10 tokens)\n"
            "whole sequences 0.00 % (0 of 3)\n"
            "\n"
            "most frequent confusions (gold -> predicted)\n"
            "        2  VB -> NN\n"
            "        1  JJ -> NN\n");
  EXPECT_EQ(result.report.dump(),
            R"({"accuracy":0.7,"tokens":10,"sequences":3,"sequence_accuracy":0.0,"confusions":[)"
            R"({"gold":"VB","predicted":"NN","count":2},{"gold":"JJ","predicted":"NN","count":1}]})");
}

TEST(ChunkScores, PartsOfSpeechWithoutErrors) {
  ChunkScores scores;
  add(scores, "DT NN", "DT NN");
  const Evaluation result = scores.evaluate();
  EXPECT_EQ(result.text, "accuracy 100.00 % (2 of 2 tokens)\nwhole sequences 100.00 % (1 of 1)\n");
  EXPECT_EQ(result.report["confusions"].dump(), "[]");
}

// The most frequent ten, ties in the order of their names, whatever the order of appearance.
TEST(ChunkScores, AtMostTenConfusions) {
  ChunkScores scores;
  for (char tag = 'z'; tag >= 'n'; --tag) add(scores, {std::string(1, tag)}, {"NN"});
  add(scores, "q", "NN");
  const Json confusions = scores.evaluate().report["confusions"];
  std::string gold;
  for (const auto& confusion : confusions) gold += confusion["gold"].get<std::string>();
  EXPECT_EQ(gold, "qnoprstuvw");
}

TEST(ChunkScores, WhichTagsAreChunkTags) {
  const auto are_chunks = [](const std::string& tags) {
    ChunkScores scores;
    add(scores, tags, tags);
    return scores.evaluate().rates.contains("f1");
  };
  for (const char* tags : {"B-NP", "NN I-NP", "S-NP O", "E-NP", "[-NP", "NN ]-NP", "B I O", "O", "S O ."}) {
    EXPECT_TRUE(are_chunks(tags)) << tags;
  }
  for (const char* tags : {"NN", "NN O", "B NN", "S V", "NN-1", "[ NN ]", "BE-1 IN-2", "-LRB-"}) {
    EXPECT_FALSE(are_chunks(tags)) << tags;
  }
}

// An independent count for well-formed IOB2: chunks are (start, end, type), correct are those in both sets.
using Chunks = std::set<std::tuple<std::size_t, std::size_t, std::string>>;

Chunks spans(const Tags& tags) {
  Chunks result;
  for (std::size_t start = 0; start < tags.size(); ++start) {
    if (tags[start][0] != 'B') continue;
    std::size_t end = start + 1;
    while (end < tags.size() && tags[end][0] == 'I') ++end;
    result.emplace(start, end, tags[start].substr(2));
  }
  return result;
}

Tags any_iob2(std::size_t length) {
  Tags tags;
  std::string type;
  while (tags.size() < length) {
    const int choice = *rc::gen::inRange(0, 4);
    if (choice == 0) {
      tags.push_back("O");
      type.clear();
    } else if (choice < 3 && !type.empty()) {
      tags.push_back("I-" + type);
    } else {
      type = *rc::gen::element<std::string>("NP", "VP", "X-Y");
      tags.push_back("B-" + type);
    }
  }
  return tags;
}

RC_GTEST_PROP(ChunkScores, AgreesWithSetsOfSpans, ()) {
  ChunkScores scores;
  std::map<std::string, std::size_t> gold_of, predicted_of, correct_of;
  std::size_t gold_chunks = 0, predicted_chunks = 0, correct_chunks = 0, tokens = 0, correct_tokens = 0;
  for (int sequences = *rc::gen::inRange(1, 6); sequences > 0; --sequences) {
    const auto length = *rc::gen::inRange<std::size_t>(1, 12);
    const Tags gold = any_iob2(length);
    // Independent predictions are almost never right where chunks are long.
    const Tags predicted = *rc::gen::arbitrary<bool>() ? gold : any_iob2(length);
    add(scores, gold, predicted);
    const Chunks a = spans(gold), b = spans(predicted);
    for (const auto& chunk : a) {
      ++gold_of[std::get<2>(chunk)];
      if (b.contains(chunk)) ++correct_chunks, ++correct_of[std::get<2>(chunk)];
    }
    for (const auto& chunk : b) ++predicted_of[std::get<2>(chunk)];
    gold_chunks += a.size();
    predicted_chunks += b.size();
    tokens += length;
    for (std::size_t t = 0; t < length; ++t) correct_tokens += gold[t] == predicted[t] ? 1 : 0;
  }
  const Evaluation result = scores.evaluate();
  const Json& chunks = result.report["chunks"];
  RC_ASSERT(chunks["gold"] == gold_chunks);
  RC_ASSERT(chunks["predicted"] == predicted_chunks);
  RC_ASSERT(chunks["correct"] == correct_chunks);
  RC_ASSERT(result.report["tokens"] == tokens);
  RC_ASSERT(result.rates["accuracy"] == static_cast<double>(correct_tokens) / static_cast<double>(tokens));
  for (const auto& [type, json] : result.report["types"].items()) {
    RC_ASSERT(json["gold"] == gold_of[type]);
    RC_ASSERT(json["predicted"] == predicted_of[type]);
    RC_ASSERT(json["correct"] == correct_of[type]);
  }
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Scores a file of conlleval's: gold and predicted tags are the last two fields of a line; blank lines and
// those that begin with -X- are between sequences.
Evaluation score_file(const std::filesystem::path& path, bool zero_is_no_type) {
  ChunkScores scores;
  Tags gold, predicted;
  const auto finish = [&] {
    if (!gold.empty()) add(scores, gold, predicted);
    gold.clear();
    predicted.clear();
  };
  const auto tag = [&](const std::string& text) {
    return zero_is_no_type && text.ends_with("-0") ? text.substr(0, text.size() - 2) : text;
  };
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const Tags fields = words(line);
    if (fields.empty() || fields[0] == "-X-") {
      finish();
    } else {
      gold.push_back(tag(fields[fields.size() - 2]));
      predicted.push_back(tag(fields.back()));
    }
  }
  finish();
  return scores.evaluate();
}

// What conlleval would print.
std::string as_conlleval(const Json& report) {
  const auto count = [](const Json& json) { return json.get<std::size_t>(); };
  const auto percent = [](const Json& json) { return 100 * json.get<double>(); };
  std::string text = fmt::format("processed {} tokens with {} phrases; found: {} phrases; correct: {}.\n",
                                 count(report["tokens"]), count(report["chunks"]["gold"]),
                                 count(report["chunks"]["predicted"]), count(report["chunks"]["correct"]));
  if (count(report["tokens"]) == 0) return text;
  const auto rates = [&](const Json& json) {
    return fmt::format("precision: {:6.2f}%; recall: {:6.2f}%; FB1: {:6.2f}", percent(json["precision"]),
                       percent(json["recall"]), percent(json["f1"]));
  };
  text += fmt::format("accuracy: {:6.2f}%; {}\n", percent(report["accuracy"]), rates(report));
  for (const auto& [type, json] : report["types"].items()) {
    const std::string line = fmt::format("{:>17}: {}  {}\n", type, rates(json), count(json["predicted"]));
    // conlleval lists the empty type once for the gold and once for the predicted chunks.
    const bool twice = type.empty() && count(json["gold"]) > 0 && count(json["predicted"]) > 0;
    text += twice ? line + line : line;
  }
  return text;
}

class Conlleval : public ::testing::TestWithParam<const char*> {
 protected:
  static std::filesystem::path file(const std::string& name) {
    return std::filesystem::path(ESPALIER_SHARED_DIR) / "oracles/conlleval" / name;
  }
};

TEST_P(Conlleval, PrintsTheSame) {
  const std::string name = GetParam();
  if (!std::filesystem::exists(file(name + ".txt"))) GTEST_SKIP() << "needs " << file(name + ".txt");
  EXPECT_EQ(as_conlleval(score_file(file(name + ".txt"), true).report), contents(file(name + ".out.txt")));
}

INSTANTIATE_TEST_SUITE_P(Oracle, Conlleval,
                         ::testing::Values("bio2", "iob1", "iob1_vs_bio2", "empty_pred", "empty_gold",
                                           "all_o", "perfect", "malformed", "malformed_one_sentence",
                                           "single", "hyphen_types", "iobes", "boundary", "no_blank_end",
                                           "two_columns", "no_input", "tab"),
                         [](const auto& tested) { return std::string(tested.param); });

// The file with types called 0, as it is: the totals are conlleval's, but 0 and the empty type are apart.
TEST_F(Conlleval, KeepsTheTypeZero) {
  if (!std::filesystem::exists(file("hyphen_types.txt")))
    GTEST_SKIP() << "needs " << file("hyphen_types.txt");
  const Json report = score_file(file("hyphen_types.txt"), false).report;
  EXPECT_EQ(report["chunks"].dump(), R"({"gold":9,"predicted":9,"correct":7})");
  EXPECT_EQ(report["types"]["0"]["gold"], 3);
  EXPECT_EQ(report["types"]["0"]["predicted"], 1);
  EXPECT_EQ(report["types"]["0"]["correct"], 1);
  EXPECT_EQ(report["types"][""]["gold"], 2);
  EXPECT_EQ(report["types"][""]["predicted"], 2);
  EXPECT_EQ(report["types"][""]["correct"], 2);
}

// Tags without prefixes are chunks to conlleval only where it is told so (-r); the accuracy is the same.
TEST_F(Conlleval, RawTagsHaveAnAccuracy) {
  if (!std::filesystem::exists(file("raw.txt"))) GTEST_SKIP() << "needs " << file("raw.txt");
  const Evaluation result = score_file(file("raw.txt"), false);
  EXPECT_EQ(result.headline, "accuracy 88.36 %");
  EXPECT_EQ(result.rates.size(), 1u);
  EXPECT_NE(contents(file("raw.out.txt")).find("accuracy:  88.36%"), std::string::npos);
}

// In memory, as `eval` counts.
TEST(TagEvaluator, CountsAsTheFilesDo) {
  const std::vector<std::string_view> gold{"S-A", "S-A", "O"}, predicted{"S-A", "S-A", "S-A"};
  TagEvaluator plain, converted("bioes");
  plain.add(gold, predicted);
  converted.add(gold, predicted);
  EXPECT_EQ(plain.evaluate().report["chunks"], (Json{{"gold", 1}, {"predicted", 1}, {"correct", 0}}));
  EXPECT_EQ(converted.evaluate().report["chunks"], (Json{{"gold", 2}, {"predicted", 3}, {"correct", 2}}));
  EXPECT_EQ(testing::error_message([&] { plain.add(gold, {}); }),
            "0 predicted labels for 3 gold ones; expected as many");
}

}  // namespace
}  // namespace espalier::chunks_test
