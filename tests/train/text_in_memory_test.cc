// Texts that a program adds train the model that a file of them trains, to the byte, and are classified
// alike.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "espalier/tasks/classify.h"
#include "espalier/train/train.h"
#include "support/error_message.h"
#include "support/model_bytes.h"
#include "support/temporary_folder.h"

namespace espalier {
namespace {

using testing::error_message;
using testing::model_bytes;
using testing::TemporaryFolder;

RC_GTEST_PROP(TextInMemory, IsThatOfAFile, ()) {
  const auto piece = rc::gen::element<std::string>("good", " ", "Film", "!", "\xe9", "can't", "\u4e2d\u6587",
                                                   "\U0001f44d", "\t", "");
  ClassifyData data, dev;
  std::string text, dev_text;
  const auto count = *rc::gen::inRange(3, 9);
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) {
    std::string words = i == 0 ? "good" : "";
    for (const std::string& part : *rc::gen::container<std::vector<std::string>>(piece)) words += part;
    const std::string label = std::to_string(i % 3);
    data.add_text(words, label);
    dev.add_text(words + " new", label);
    text += label + '\t' + words + '\n';
    dev_text += label + '\t' + words + " new\n";
    texts.push_back(words);
  }
  const TemporaryFolder folder;
  ClassifyOptions options;
  options.bias = *rc::gen::arbitrary<bool>();
  options.keep_case = *rc::gen::arbitrary<bool>();
  options.ngrams = *rc::gen::inRange<std::size_t>(1, 4);
  options.char_ngrams = *rc::gen::element<std::size_t>(0, 2, 4);
  options.weighting = *rc::gen::element<std::string>("count", "binary", "tf-idf");
  ClassifyOptions of_file = options;
  of_file.format = "text";
  const auto in_memory = make_classify_training(data, options, &dev),
             from_file = read_classify_training(folder.file("train.tsv", text), of_file);
  from_file->read_dev(folder.file("dev.tsv", dev_text));
  RC_ASSERT(in_memory->describe() == from_file->describe());
  RC_ASSERT(in_memory->fingerprint() == from_file->fingerprint());
  const Model one = train(*in_memory, {.gap = 0.05}), other = train(*from_file, {.gap = 0.05});
  const bool same_bytes = model_bytes(one) == model_bytes(other);  // which nobody wants to see
  RC_ASSERT(same_bytes);

  std::string written, expected;
  ClassifyPredictOptions with_probabilities;
  with_probabilities.marginals = true;
  one.predictor().predict(folder.path("train.tsv"), with_probabilities,
                          [&](std::string_view piece) { written += piece; });
  const Classifier& classifier = other.classifier();
  for (const std::string& words : texts) {
    expected += classifier.label(classifier.classify_text(words));
    const std::vector<double> probabilities = classifier.text_probabilities(words);
    for (std::uint32_t y = 0; y < classifier.num_labels(); ++y)
      expected += fmt::format("\t{}:{:.6f}", classifier.label(y), probabilities[y]);
    expected += '\n';
  }
  RC_ASSERT(written == expected);
}

TEST(TextInMemory, RefusesWhatDoesNotFit) {
  ClassifyData texts, rows;
  texts.add_text("a b", "x");
  texts.add_text("", "y");
  rows.add({{"a", 1}}, "x");
  rows.add({{"b", 1}}, "y");
  EXPECT_EQ(error_message([&] { texts.add_text("a", ""); }),
            "data in memory:3: no label; expected one for each example");
  EXPECT_EQ(error_message([&] {
              texts.add({{"a", 1}}, "x");
            }),
            "data in memory:3: attributes among texts; expected examples of one kind");
  EXPECT_EQ(error_message([&] { rows.add_text("a", "x"); }),
            "data in memory:3: a text among attributes; expected examples of one kind");
  EXPECT_EQ(
      error_message([&] { make_classify_training(texts, {}, &rows); }),
      "data in memory: texts and attributes, one to train on and the other held out; expected both to be of "
      "one kind");
  ClassifyOptions options;
  options.weighting = "tf";
  EXPECT_EQ(error_message([&] { make_classify_training(texts, options); }),
            "weighting: unknown weighting 'tf'; expected count, binary or tf-idf");
  options = {};
  options.ngrams = 2;
  EXPECT_EQ(error_message([&] { make_classify_training(rows, options); }),
            "ngrams: only for text, but the format is crfsuite; expected format text");
  options.format = "crfsuite";
  EXPECT_EQ(error_message([&] { make_classify_training(texts, options); }),
            "format: crfsuite given with data in memory; expected none, or text");
  const ClassifyData nothing;
  EXPECT_EQ(error_message([&] { make_classify_training(texts, {}, &nothing); }),
            "data in memory: no examples; expected at least one");
  const Model model = train(*make_classify_training(rows));
  EXPECT_EQ(error_message([&] { model.classifier().classify_text("a"); }),
            "a text for a model that was trained on attributes; expected a model trained on texts");
}

}  // namespace
}  // namespace espalier
