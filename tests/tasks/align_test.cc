#include "espalier/tasks/align.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/text.h"
#include "espalier/train/train.h"
#include "support/error_message.h"
#include "support/generated_data.h"
#include "support/temporary_folder.h"
#include "tasks/align/model.h"
#include "tasks/trained.h"

namespace espalier::align_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;
using testing::Trained;

SentencePair pair_of(std::vector<std::string> source, std::vector<std::string> target,
                     std::vector<WordLink> links = {}) {
  SentencePair pair;
  pair.source = std::move(source);
  pair.target = std::move(target);
  pair.links = std::move(links);
  return pair;
}

TEST(WordPairs, DiceCountsSentencePairs) {
  WordPairs counts;
  const std::vector<std::string> a{"hus", "et", "et"}, b{"house", "a"}, c{"hus"}, d{"house"};
  counts.count(a, b);
  counts.count(c, d);
  counts.finish();
  const auto of = [&](const char* s, const char* t, bool held_out = false) {
    return dice(counts, counts.source(s), counts.target(t), held_out);
  };
  EXPECT_EQ(of("hus", "house"), 1);
  EXPECT_EQ(of("hus", "a"), 2.0 / 3);
  EXPECT_EQ(of("et", "a"), 1);
  EXPECT_EQ(of("et", "dog"), 0);
  // Without one that has both, only the other is left, or none.
  EXPECT_EQ(of("hus", "house", true), 1);
  EXPECT_EQ(of("hus", "a", true), 0);
  EXPECT_EQ(of("et", "a", true), 0);
}

TEST(WordPairs, DictionariesAreRead) {
  const TemporaryFolder folder;
  const WordPairs scores =
      WordPairs::read(folder.file("scores", "# Danish English\nHus house 0.5\r\n\n\tog\tand 1\n"));
  EXPECT_EQ(scores.value(scores.source("hus"), scores.target("house")), 0.5f);
  EXPECT_EQ(scores.value(scores.source("og"), scores.target("and")), 1);
  EXPECT_EQ(scores.value(scores.source("og"), scores.target("house")), 0);
  EXPECT_EQ(scores.value(scores.source("dog"), scores.target("house")), 0);
  const auto message = [&](const std::string& text) {
    return error_message([&] { WordPairs::read(folder.file("scores", text)); });
  };
  const std::string path = folder.path("scores");
  EXPECT_EQ(message("a b"), path + ":1: 'a b'; expected SOURCE TARGET SCORE");
  EXPECT_EQ(message("a b 1 1"), path + ":1: 'a b 1 1'; expected SOURCE TARGET SCORE");
  EXPECT_EQ(message("a b 1.5"), path + ":1: the score '1.5'; expected a number from 0 to 1");
  EXPECT_EQ(message("a b nan"), path + ":1: the score 'nan'; expected a number from 0 to 1");
  EXPECT_EQ(message("a b 1\nA b 0"), path + ":2: 'A' and 'b' a second time; expected each pair once");
  EXPECT_EQ(message("# a b 1\n"), path + ": no scores; expected SOURCE TARGET SCORE");
}

// The values of the attributes of a pair of words, by name.
std::string attributes_of(const SparseRows::Row& row, const Dictionary& names) {
  std::string text;
  for (std::size_t j = 0; j < row.ids.size(); ++j)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", names.name(row.ids[j]),
                        row.value(j) == 1 ? "" : fmt::format(" {:.3f}", row.value(j)));
  return text;
}

TEST(PairAttributes, AreThoseOfTheDocumentation) {
  WordPairs counts, scores;
  const std::vector<std::string> source{"et", "hotel"}, target{"a", "hotel"};
  for (int k = 0; k < 3; ++k) counts.count(source, target);
  counts.finish();
  Dictionary names;
  PairAttributes::add_fixed(names);
  EXPECT_TRUE(PairAttributes::has_fixed(names));
  EXPECT_FALSE(PairAttributes::has_fixed(Dictionary()));
  PairAttributes attributes(names, counts, scores, 2);
  SparseRows rows;
  attributes.append(pair_of({"Et", "Hotel"}, {"A", "hotel"}), true, rows);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(attributes_of(rows.row(0), names),
            "bias, dice, before, after, best of source, best of target, best, first, dice=10, likeness=0, "
            "before=10, after=10, distance=0, strength=10 at distance=0, source=et, target=a, pair=et a, "
            "shapes=Xx X, suffixes=et a");
  EXPECT_EQ(
      attributes_of(rows.row(1), names),
      "bias, dice, distance 0.500, best of source, best of target, best, dice=10, likeness=0, before=0, "
      "after=0, distance=9, strength=10 at distance=9, source=et, target=hotel, pair=et hotel, "
      "shapes=Xx x, suffixes=et el");
  EXPECT_EQ(
      attributes_of(rows.row(3), names),
      "bias, dice, likeness, before, after, best of source, best of target, best, last, equal, dice=10, "
      "likeness=10, before=10, after=10, distance=0, equal at distance=0, strength=10 at distance=0, "
      "source=hotel, target=hotel, pair=hotel hotel, shapes=Xx x, suffixes=el el");
  const auto strengths = attributes.strengths();
  EXPECT_EQ(std::vector<double>(strengths.begin(), strengths.end()), (std::vector<double>{1, 1, 1, 1}));
  // Looked up, what is new is left out.
  PairAttributes known(names, counts, scores);
  rows.clear();
  known.append(pair_of({"Hoteller"}, {"hotels"}), false, rows);
  EXPECT_EQ(
      attributes_of(rows.row(0), names),
      "bias, likeness 0.714, before, after, best of source, best of target, best, first, last, prefix=5, "
      "dice=0, likeness=8, before=10, after=10, distance=0, strength=8 at distance=0, shapes=Xx x");
}

TEST(GoldMatching, KeepsAsManySureLinksAsCanBe) {
  Workspace ws;
  // Word 0 goes with both, word 1 with one of them: two links fit. Possible links are none.
  const SentencePair pair = pair_of({"a", "b"}, {"c", "d"}, {{0, 0}, {0, 1}, {1, 0}, {1, 1, false}});
  const std::vector<double> alike(4, 0.0);
  EXPECT_EQ(gold_matching(pair, {2, 2, 1}, alike, ws), (Matching::Output{1, 2}));
  EXPECT_EQ(gold_matching(pair, {2, 2, 2}, alike, ws), (Matching::Output{0, 1, 2}));
  // Of several words for one, the one that looks most like it, then the one that is nearer.
  const SentencePair one = pair_of({"a"}, {"b", "c", "d"}, {{0, 0}, {0, 1}, {0, 2}});
  EXPECT_EQ(gold_matching(one, {1, 3, 1}, std::vector<double>{0, 0, 1}, ws), (Matching::Output{2}));
  EXPECT_EQ(gold_matching(one, {1, 3, 1}, std::vector<double>{0.5, 0.5, 0.5}, ws), (Matching::Output{1}));
}

TEST(AlignmentScores, AreThoseOfOchAndNey) {
  AlignmentScores scores;
  const SentencePair pair = pair_of({"a", "b", "c"}, {"d", "e"}, {{0, 0}, {1, 1}, {2, 1, false}});
  // A = {0-0, 2-1, 2-0}: one of two sure ones, two of three that are not wrong.
  scores.add(pair, std::vector<std::uint32_t>{0, 4, 5});
  const Evaluation one = scores.evaluation();
  EXPECT_DOUBLE_EQ(one.rates.at("aer").get<double>(), 1 - 3.0 / 5);
  EXPECT_DOUBLE_EQ(one.rates.at("precision").get<double>(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(one.rates.at("recall").get<double>(), 1.0 / 2);
  EXPECT_EQ(one.report.at("possible"), Json(1));
  EXPECT_EQ(one.headline, "AER 40.00 %");
  EXPECT_EQ(one.dev_error, one.rates.at("aer").get<double>());
  // Sure links alone have no error, whether possible ones are found or not.
  for (const auto& predicted : {std::vector<std::uint32_t>{0, 3}, std::vector<std::uint32_t>{0, 3, 5}}) {
    AlignmentScores right;
    right.add(pair, predicted);
    EXPECT_EQ(right.evaluation().rates.at("aer"), Json(0.0));
    EXPECT_EQ(right.evaluation().rates.at("whole"), Json(1.0));
  }
  EXPECT_EQ(AlignmentScores().evaluation().rates.at("aer"), Json(0.0));
}

struct Files {
  TemporaryFolder folder;
  std::string train = folder.file("train", testing::generated_sentences(1, 60, append_align));
  std::string test = folder.file("test", testing::generated_sentences(2, 30, append_align));
};

TEST(Align, LearnsAndSaysTheSameAsATrainingSetAndAPredictor) {
  Files files;
  AlignOptions options;
  options.maxima = true;
  const auto set = read_align_training(files.train, options);
  set->read_dev(files.test);
  const Model model = train(*set, {.loss = Loss::svm(), .l2 = 10, .gap = 1e-2});
  EXPECT_EQ(model.certificate().inference, Inference::exact);
  const Weights& theta = [&]() -> const Weights& {
    static Weights copy(set->problem().weight_shape());
    for (const char* name : {"dice", "distance", "equal"}) {
      const WeightName weight{name, {}, "link"};
      *set->find_weight(weight, copy) = *model.predictor().find_weight(weight);
    }
    return copy;
  }();
  EXPECT_GT(*model.predictor().find_weight({"dice", {}, "link"}), 0);
  EXPECT_FALSE(model.predictor().find_weight({"dice", {}, ""}));
  EXPECT_LT(model.predictor().evaluate(files.test, {}).dev_error, 0.12);
  // Of the same weights, on held-out data and on training data that is held out.
  const Trained trained(load_align_predictor, set->sections(), theta, Loss::svm());
  EXPECT_EQ(set->evaluate_dev(theta).text, trained.predictor->evaluate(files.test, {}).text);
  std::vector<std::uint32_t> all(60);
  for (std::uint32_t i = 0; i < 60; ++i) all[i] = i;
  EXPECT_EQ(set->evaluate_examples(theta, all).report.at("pairs"), Json(60));
}

TEST(Align, RefusesSectionsThatDoNotFit) {
  Files files;
  const auto set = read_align_training(files.train, {});
  const auto message = [&](const std::string& name, const Json& value) {
    TaskSections sections = set->sections();
    sections.settings[name] = value;
    return error_message([&] {
      const Trained trained(load_align_predictor, sections, Weights(set->problem().weight_shape()));
    });
  };
  EXPECT_EQ(message("links", 0), "model.esp: at most 0 links per word; retrain the model");
  // Which array of the dictionary is asked for first is not said.
  EXPECT_TRUE(message("dictionary", true).starts_with("no array scores.sources."));
  const auto with_array = [&](const std::string& name, auto change) {
    TaskSections sections = set->sections();
    std::string bytes;
    for (auto& [array, contents] : sections.arrays) {
      if (array != name) continue;
      bytes = contents;
      change(bytes);
      contents = bytes;
    }
    return error_message([&] {
      const Trained trained(load_align_predictor, sections, Weights(set->problem().weight_shape()));
    });
  };
  const std::string apart =
      "model.esp: numbers of word pairs that do not fit together in 'counts'; retrain the model";
  EXPECT_EQ(with_array("counts.keys", [](std::string& keys) { keys[7] = '\x7f'; }), apart);
  EXPECT_EQ(with_array("counts.keys", [](std::string& keys) { keys.resize(keys.size() - 8); }), apart);
  EXPECT_EQ(with_array("counts.source_counts", [](std::string& counts) { counts[0] = 0; }), apart);
  EXPECT_EQ(with_array("counts.source_counts", [](std::string& counts) { counts.clear(); }), apart);
  EXPECT_EQ(with_array("counts.target_counts", [](std::string& counts) { counts.clear(); }), apart);
  EXPECT_EQ(with_array("counts.values", [](std::string& values) { values[3] = '\xbf'; }), apart);  // -1
  EXPECT_EQ(error_message([&] {
              const Trained trained(load_align_predictor, set->sections(), Weights({16, 1}));
            }),
            fmt::format("model.esp: 16 x 1 weights of {} attributes; retrain the model",
                        grouped(set->attributes().size())));
}

}  // namespace
}  // namespace espalier::align_test
