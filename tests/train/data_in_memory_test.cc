// Data that a program adds piece by piece trains the model that a file of the same contents trains, to the
// byte.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/tasks/classify.h"
#include "espalier/tasks/tag.h"
#include "espalier/train/train.h"
#include "support/error_message.h"
#include "support/model_bytes.h"
#include "support/random_problem.h"
#include "support/temporary_folder.h"

namespace espalier::data_in_memory_test {
namespace {

using testing::error_message;
using testing::model_bytes;
using testing::TemporaryFolder;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Token {
  std::vector<std::string> columns;
  std::string label;
};
struct Sentence {
  std::vector<Token> tokens;
  double weight;
};

// Labels that spell chunks, as encodings need them; the first two sentences have two labels for certain.
std::vector<Sentence> random_sentences() {
  const auto word = rc::gen::element<std::string>("we", "walk", "The", "dogs", "fish", "B2", "x:y", "naïve");
  const auto label = rc::gen::element<std::string>("O", "B-X", "I-X", "B-Y");
  std::vector<Sentence> sentences{{{{{"we", "P"}, "O"}, {{"Fish", "N"}, "B-X"}}, 1}};
  const auto count = *rc::gen::inRange(0, 6);
  for (int i = 0; i < count; ++i) {
    Sentence sentence{{}, *rc::gen::element(1.0, 0.5, 2.0)};
    const auto length = *rc::gen::inRange(1, 6);
    for (int t = 0; t < length; ++t) sentence.tokens.push_back({{*word, *word}, *label});
    sentences.push_back(sentence);
  }
  return sentences;
}

void check_the_same(TrainingSet& in_memory, TrainingSet& of_file, bool to_the_byte = true) {
  RC_ASSERT(in_memory.describe() == of_file.describe());
  RC_ASSERT(in_memory.fingerprint() == of_file.fingerprint());
  const TrainOptions options{.loss = Loss::softmax_margin(), .l2 = 0.5, .gap = 0.05};
  const Model one = train(in_memory, options), other = train(of_file, options);
  RC_ASSERT(one.predictor().all_weights() == other.predictor().all_weights());
  RC_ASSERT(one.certificate().primal == other.certificate().primal);
  RC_ASSERT(one.certificate().dual == other.certificate().dual);
  const bool same_bytes = model_bytes(one) == model_bytes(other);  // which nobody wants to see
  RC_ASSERT(same_bytes == to_the_byte);
}

RC_GTEST_PROP(TagData, ColumnsAreThoseOfAFile, ()) {
  const std::vector<Sentence> sentences = random_sentences();
  const bool weighted = *rc::gen::arbitrary<bool>();
  TagData data;
  std::string text;
  for (const Sentence& sentence : sentences) {
    if (weighted) text += "# weight: " + std::to_string(sentence.weight) + "\n";
    for (const Token& token : sentence.tokens) {
      data.add_columns({token.columns[0], token.columns[1]}, token.label);
      text += token.columns[0] + ' ' + token.columns[1] + ' ' + token.label + '\n';
    }
    data.end_sentence(weighted ? sentence.weight : 1);
    text += '\n';
  }
  const TemporaryFolder folder;
  TagOptions options;
  if (*rc::gen::arbitrary<bool>())
    options.templates = folder.file("template", "U0:%x[0,0]\nU1:%x[-1,1]/%x[0,1]\nB:%x[0,1]\n");
  if (*rc::gen::arbitrary<bool>()) options.encoding = "bioes";
  if (*rc::gen::arbitrary<bool>()) options.features = "observed";
  options.order = *rc::gen::inRange<std::size_t>(1, 4);
  options.min_count = *rc::gen::inRange<std::size_t>(1, 3);
  if (*rc::gen::arbitrary<bool>()) options.first = 3;
  TagOptions of_file = options;
  if (weighted) of_file.example_weights = "comment";  // which its model keeps
  check_the_same(*make_tag_training(data, options),
                 *read_tag_training(folder.file("train.txt", text), of_file), !weighted);
}

RC_GTEST_PROP(TagData, AttributesAreThoseOfAFile, ()) {
  const std::vector<Sentence> sentences = random_sentences();
  TagData data;
  std::string text;
  for (const Sentence& sentence : sentences) {
    for (const Token& token : sentence.tokens) {
      const float value = *rc::gen::element(1.0f, 0.0f, -0.5f);
      data.add_attributes({{"w=" + token.columns[0], 1}, {token.columns[1], value}}, token.label);
      std::string name = token.columns[1];  // as files have it: a colon in a name is escaped
      if (const auto colon = name.find(':'); colon != std::string::npos) name.insert(colon, "\\");
      std::string word = token.columns[0];
      if (const auto colon = word.find(':'); colon != std::string::npos) word.insert(colon, "\\");
      text += token.label + "\tw=" + word + "\t" + name + ":" + std::to_string(value) + "\n";
    }
    data.end_sentence();
    text += '\n';
  }
  const TemporaryFolder folder;
  TagOptions options;
  options.min_count = *rc::gen::inRange<std::size_t>(1, 3);
  if (*rc::gen::arbitrary<bool>()) options.kernel = "poly,2";
  TagOptions of_file = options;
  of_file.format = "crfsuite";
  check_the_same(*make_tag_training(data, options),
                 *read_tag_training(folder.file("train.txt", text), of_file));
}

RC_GTEST_PROP(ClassifyData, ExamplesAreThoseOfAFile, ()) {
  const auto name = rc::gen::element<std::string>("a", "b", "c", "long name");
  ClassifyData data;
  std::string text;
  const auto count = *rc::gen::inRange(2, 9);
  for (int i = 0; i < count; ++i) {
    const std::string label = i < 2 ? std::to_string(i) : *rc::gen::element<std::string>("0", "1", "10", "9");
    const std::string first = *name, second = *name;  // may be the same: then values add up
    const float value = *rc::gen::element(1.0f, 0.0f, -1.0f, 0.25f);
    data.add({{first, 1}, {second, value}}, label);
    text += label + '\t' + first + '\t' + second + ':' + std::to_string(value) + '\n';
  }
  const TemporaryFolder folder;
  ClassifyOptions options;
  options.bias = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) options.first = 4;
  ClassifyOptions of_file = options;
  of_file.format = "crfsuite";
  check_the_same(*make_classify_training(data, options),
                 *read_classify_training(folder.file("train.txt", text), of_file));
}

// Held-out data in memory rates weights as a file of it does, labels that training never saw included.
TEST(DevDataInMemory, RatesAsAFileDoes) {
  const TemporaryFolder folder;
  TagData tags, tags_dev;
  tags.add_columns({"a"}, "B-X");
  tags.add_columns({"b"}, "O");
  tags.end_sentence();
  tags.add_columns({"b"}, "O");
  tags.end_sentence();
  tags_dev.add_columns({"b"}, "B-Z");
  tags_dev.add_columns({"never"}, "B-X");
  tags_dev.end_sentence();
  tags_dev.add_columns({"a"}, "B-X");
  tags_dev.end_sentence();
  ClassifyData rows, rows_dev;
  rows.add({{"a", 1}}, "x");
  rows.add({{"b", 1}}, "y");
  rows_dev.add({{"a", 2}, {"never", 1}}, "x");
  rows_dev.add({{"b", 1}}, "z");
  ClassifyOptions with_bias;
  with_bias.bias = true;
  const std::string tag_file = folder.file("dev.txt", "b B-Z\nnever B-X\n\na B-X\n"),
                    row_file = folder.file("dev.crfsuite", "x\ta:2\tnever\nz\tb\n");

  const auto tag = make_tag_training(tags, {}, &tags_dev), tag_of_file = make_tag_training(tags),
             classify = make_classify_training(rows, with_bias, &rows_dev),
             classify_of_file = make_classify_training(rows, with_bias);
  EXPECT_EQ(tag->dev(), "data in memory");
  EXPECT_EQ(classify->dev(), "data in memory");
  EXPECT_EQ(tag_of_file->dev(), "");
  tag_of_file->read_dev(tag_file);
  classify_of_file->read_dev(row_file);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Weights theta = test_support::random_weights(seed, tag->problem().weight_shape()),
                  of_rows = test_support::random_weights(seed, classify->problem().weight_shape());
    EXPECT_EQ(tag->evaluate_dev(theta).text, tag_of_file->evaluate_dev(theta).text);
    EXPECT_EQ(classify->evaluate_dev(of_rows).text, classify_of_file->evaluate_dev(of_rows).text);
  }

  TagData attributes;
  const TagData no_tags;
  const ClassifyData no_rows;
  attributes.add_attributes({{"a", 1}}, "O");
  attributes.end_sentence();
  EXPECT_EQ(error_message([&] { make_tag_training(tags, {}, &attributes); }),
            "data in memory: attributes; expected 1 column as in training");
  EXPECT_EQ(error_message([&] { make_tag_training(tags, {}, &no_tags); }),
            "data in memory: no sequences; expected at least one");
  EXPECT_EQ(error_message([&] { make_classify_training(rows, {}, &no_rows); }),
            "data in memory: no examples; expected at least one");
}

// What a model says of examples in memory is what it writes for a file of them.
TEST(Classifier, ClassifiesAsPredictDoes) {
  ClassifyData data;
  data.add({{"a", 1}, {"b", 0.5f}}, "x");
  data.add({{"b", 1}}, "y");
  data.add({{"c", 2}}, "z");
  const TemporaryFolder folder;
  const std::string file = folder.file("test.txt", "\ta\tnever seen\n\tb:0.3\tb:0.4\n\tc:-1\n");
  const std::vector<std::vector<Classifier::Attribute>> rows{
      {{"a", 1}, {"never seen", 1}}, {{"b", 0.3f}, {"b", 0.4f}}, {{"c", -1}}};
  for (const char* kernel : {"", "poly,2"}) {
    ClassifyOptions options;
    options.bias = true;
    options.kernel = kernel;
    const Model model = train(*make_classify_training(data, options), {.l2 = 0.1});
    std::string written;
    ClassifyPredictOptions with_probabilities;
    with_probabilities.marginals = true;
    model.predictor().predict(file, with_probabilities, [&](std::string_view piece) { written += piece; });
    const Classifier& classifier = model.classifier();
    std::string expected;
    for (const auto& row : rows) {
      expected += classifier.label(classifier.classify(row));
      const std::vector<double> probabilities = classifier.probabilities(row);
      for (std::uint32_t y = 0; y < classifier.num_labels(); ++y)
        expected += fmt::format("\t{}:{:.6f}", classifier.label(y), probabilities[y]);
      expected += '\n';
    }
    EXPECT_EQ(written, expected);
  }
}

TEST(Classifier, RefusesWhatIsNotThere) {
  ClassifyData data;
  data.add({{"a", 1}}, "x");
  data.add({{"b", 1}}, "y");
  const Model model = train(*make_classify_training(data), {.loss = Loss::svm()});
  EXPECT_FALSE(model.classifier().has_probabilities());
  EXPECT_EQ(error_message([&] {
              model.classifier().probabilities({{"a", 1}});
            }),
            "a model of loss svm has no probabilities; expected one with a finite beta");
  EXPECT_EQ(error_message([&] {
              model.classifier().classify({{"a", kNan}});
            }),
            "the value nan of 'a'; expected a finite number");
  EXPECT_EQ(error_message([&] { model.tagger(); }),
            "the model in memory: a model of classify; expected a model of tag");
}

TEST(TagData, RefusesTokensThatDoNotFit) {
  TagData data;
  EXPECT_EQ(error_message([&] { data.end_sentence(); }),
            "data in memory:1: the end of a sentence without tokens; expected some");
  EXPECT_EQ(error_message([&] { data.add_columns(std::initializer_list<std::string_view>{}, "X"); }),
            "data in memory:1: 0 columns; expected at least 1, a word");
  EXPECT_EQ(error_message([&] { data.add_columns({"a"}, ""); }),
            "data in memory:1: no label; expected one for each token");
  data.add_columns({"a"}, "X");
  EXPECT_EQ(error_message([&] {
              data.add_columns({"a", "b"}, "X");
            }),
            "data in memory:2: 2 columns; expected 1, as before");
  EXPECT_EQ(error_message([&] {
              data.add_attributes({{"a", 1}}, "X");
            }),
            "data in memory:2: attributes; expected columns, as before");
  EXPECT_EQ(error_message([&] { data.end_sentence(0); }),
            "data in memory:1: the weight 0; expected a positive, finite number");
  data.end_sentence();
  EXPECT_EQ(error_message([&] { make_tag_training(data); }),
            "data in memory: only the label 'X'; expected at least two labels");
  EXPECT_EQ(error_message([] { make_tag_training(TagData()); }),
            "data in memory: no sequences; expected at least one");

  TagData attributes;
  attributes.add_attributes({{"a", 1}}, "B-X");
  EXPECT_EQ(error_message([&] { attributes.add_columns({"a"}, "X"); }),
            "data in memory:2: 1 column; expected attributes, as before");
  EXPECT_EQ(error_message([&] {
              attributes.add_attributes({{"", 1}}, "X");
            }),
            "data in memory:2: an attribute without a name; expected one");
  EXPECT_EQ(error_message([&] {
              attributes.add_attributes({{"b", kNan}}, "X");
            }),
            "data in memory:2: the value nan of 'b'; expected a finite number");
  attributes.add_attributes({{"b", 1}}, "Y");
  attributes.end_sentence();
  EXPECT_EQ(make_tag_training(attributes)->describe(), "1 sequence, 2 tokens, 2 labels, 2 attributes");

  // Messages of what comes later say which token it is.
  TagOptions options;
  options.encoding = "bio";
  EXPECT_EQ(error_message([&] { make_tag_training(attributes, options); }),
            "data in memory:2: the label 'Y'; expected O, or a prefix (B-, I-, E-, S-, L- or U-) and a type, "
            "as encoding needs");
}

TEST(TagData, RefusesOptionsOfFiles) {
  TagData data;
  data.add_columns({"a"}, "X");
  data.add_columns({"b"}, "Y");
  data.end_sentence();
  const auto message_with = [&](const auto& change) {
    TagOptions options;
    change(options);
    return error_message([&] { make_tag_training(data, options); });
  };
  EXPECT_EQ(message_with([](TagOptions& options) { options.format = "wapiti"; }),
            "format: wapiti given with data in memory; expected none, or columns");
  EXPECT_EQ(message_with([](TagOptions& options) { options.format = "columns"; }), "(no error)");
  EXPECT_EQ(message_with([](TagOptions& options) { options.label_column = 1; }),
            "label_column: given with data in memory; expected none: a token comes with its label");
  EXPECT_EQ(message_with([](TagOptions& options) { options.example_weights = "comment"; }),
            "example_weights: given with data in memory; expected none: a sentence comes with its weight");
  EXPECT_EQ(message_with([](TagOptions& options) { options.group_by = "boundary"; }),
            "group_by: given with data in memory; expected none");
}

TEST(ClassifyData, RefusesWhatDoesNotFit) {
  ClassifyData data;
  EXPECT_EQ(error_message([] { make_classify_training(ClassifyData()); }),
            "data in memory: no examples; expected at least one");
  EXPECT_EQ(error_message([&] {
              data.add({{"a", 1}}, "");
            }),
            "data in memory:1: no label; expected one for each example");
  EXPECT_EQ(error_message([&] {
              data.add({{"a", kNan}}, "x");
            }),
            "data in memory:1: the value nan of 'a'; expected a finite number");
  EXPECT_EQ(data.size(), 0u);
  EXPECT_EQ(data.attributes().size(), 0u);
  data.add({{"a", 1}}, "x");
  data.add({{"a", 2}}, "y");
  ClassifyOptions options;
  options.format = "libsvm";
  EXPECT_EQ(error_message([&] { make_classify_training(data, options); }),
            "format: libsvm given with data in memory; expected none, or crfsuite");
}

}  // namespace
}  // namespace espalier::data_in_memory_test
