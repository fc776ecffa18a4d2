// Labelled files, sentence by sentence: what a tagger is handed is what the file has.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/tasks/classify.h"
#include "espalier/tasks/tag.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"
#include "tasks/trained.h"

namespace espalier::labelled_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;
using testing::Trained;

// "word/gold word/gold | ..."
std::string seen(const Tagger& tagger, const std::string& path, std::size_t most = 100) {
  std::string text;
  std::size_t sentences = 0;
  tagger.for_each_labelled(path, [&](Tagger::Sentence& sentence, const Tagger::Labelled& labelled) {
    EXPECT_EQ(sentence.size(), labelled.words.size());
    EXPECT_EQ(sentence.labels().size(), labelled.gold.size());
    if (!text.empty()) text += " | ";
    for (std::size_t t = 0; t < labelled.words.size(); ++t)
      text += std::string(t > 0 ? " " : "") + std::string(labelled.words[t]) + '/' +
              std::string(labelled.gold[t]);
    return ++sentences < most;
  });
  return text;
}

// A model of this file, with weights of zero, sees this of another one.
std::string seen_of(const std::string& train, const std::string& test, TagOptions options,
                    std::size_t most = 100) {
  const TemporaryFolder folder;
  if (!options.templates.empty()) options.templates = folder.file("template", options.templates);
  const auto set = read_tag_training(folder.file("train", train), options);
  const Trained trained(load_tag_predictor, set->sections(), Weights(set->problem().weight_shape()),
                        Loss{1, 0});
  return seen(*trained.predictor->tagger(), folder.file("test", test), most);
}

TEST(Labelled, WordsAreTheFirstColumnThatIsNoLabel) {
  const std::string last = "a X B-P\nb Y I-P\n\nc X O\n";
  EXPECT_EQ(seen_of(last, last, {}), "a/B-P b/I-P | c/O");
  EXPECT_EQ(seen_of(last, last, {}, 1), "a/B-P b/I-P");
  TagOptions first;
  first.label_column = 1;
  EXPECT_EQ(seen_of("B-P a X\nI-P b Y\n\nO c X\n", "NEW c Z\n", first), "c/NEW");
  TagOptions tabs;
  tabs.separator = "tab";
  EXPECT_EQ(seen_of("New York\tX\tA\nb\tY\tB\n", "New York\tX\tB\n", tabs), "New York/B");
  EXPECT_EQ(seen_of("-DOCSTART- X O\n\na X A\nb Y B\n", "-DOCSTART- X O\n\nb X A\n", {}), "b/A");
}

TEST(Labelled, LabelsAreInTheModelsEncoding) {
  TagOptions options;
  options.encoding = "bioes";
  EXPECT_EQ(seen_of("a B-P\nb I-P\nc O\n", "a B-P\nb I-P\nc B-P\n", options), "a/B-P b/E-P c/S-P");
}

TEST(Labelled, WordsOfAttributesAreTheFirst) {
  TagOptions options;
  options.format = "crfsuite";
  EXPECT_EQ(seen_of("A\tw=a\tx\nB\tw=b:2\n", "B\tw=b\tx\n\nA\tw=a\n", options), "w=b/B | w=a/A");
  options.format = "wapiti";
  EXPECT_EQ(seen_of("u:a u:x A\nu:b B\n", "u:b u:x B\n", options), "u:b/B");
}

TEST(Labelled, RefusesWhatEvalRefuses) {
  EXPECT_NE(error_message([] { seen_of("a A\nb B\n", "\n", {}); }).find("no sequences"), std::string::npos);
  EXPECT_NE(error_message([] { seen_of("a X A\nb X B\n", "a X\n", {}); }), "");
}

TEST(Labelled, ClassifiersHandOverEachExample) {
  const TemporaryFolder folder;
  const auto set = read_classify_training(folder.file("train", "1 1:1 3:0.5\n2 2:1\n"), {});
  Weights theta(set->problem().weight_shape());
  theta.row(0)[1] = 2;  // of the attribute 1 for the label 2
  const Trained trained(load_classify_predictor, set->sections(), std::move(theta), Loss{1, 0});
  const Classifier& classifier = *trained.predictor->classifier();
  const std::string path = folder.file("test", "2 1:3 7:1\n5 3:0.25\n1 2:1\n");
  std::string text;
  classifier.for_each_labelled(path, [&](const Classifier::Labelled& example) {
    text += std::string(example.gold) + ':';
    for (std::size_t j = 0; j < example.attributes.size(); ++j) {
      text += ' ';
      text += trained.predictor->attributes().name(example.attributes[j]);
      text += '=' + std::to_string(example.values.empty() ? 1.0f : example.values[j]).substr(0, 4);
    }
    EXPECT_DOUBLE_EQ(example.probabilities[0] + example.probabilities[1], 1);
    if (example.gold == "2") {
      EXPECT_DOUBLE_EQ(example.scores[1], 6);
    }
    text += '\n';
    return example.gold != "";
  });
  EXPECT_EQ(text, "2: 1=3.00\n: 3=0.25\n");
}

}  // namespace
}  // namespace espalier::labelled_test
