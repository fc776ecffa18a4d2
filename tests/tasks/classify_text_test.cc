// Classification of raw text: how files are read, weighted and kept in a model.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "espalier/tasks/classify.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"
#include "tasks/classify/reader.h"
#include "tasks/trained.h"

namespace espalier {
namespace {

using testing::error_message;
using testing::TemporaryFolder;
using testing::Trained;

using Row = std::map<std::string, float>;
using Example = std::pair<std::string, Row>;
using Examples = std::vector<Example>;

ClassifyReadOptions as_text() {
  ClassifyReadOptions options;
  options.format = ClassifyFormat::text;
  return options;
}

// Reads training data, then other data with its dictionaries.
class TextReader {
 public:
  explicit TextReader(const ClassifyReadOptions& options = as_text()) : options_(options) {}

  Examples train(const std::string& text) {
    read_ = read_classify_growing(folder_.file("data", text), options_, attributes_, labels_);
    return named();
  }
  Examples use(const std::string& text, bool labels_required = false) {
    ClassifyReadOptions options = options_;
    const std::vector<float> idf = read_.idf;
    options.idf = idf;
    options.labels_required = labels_required;
    ClassifyExamples read = read_classify(folder_.file("data", text), options, attributes_, labels_);
    read.idf = idf;
    read_ = std::move(read);
    return named();
  }
  std::string train_error(const std::string& text) {
    const std::string message = error_message([&] { train(text); });
    return message.substr(std::min(message.find("data"), message.size()));
  }
  const ClassifyExamples& read() const { return read_; }

 private:
  Examples named() const {
    Examples examples;
    for (std::size_t i = 0; i < read_.labels.size(); ++i) {
      const std::uint32_t label = read_.labels[i];
      Example example{label == kUnknownLabel ? "?" : std::string(labels_.name(label)), {}};
      const SparseRows::Row row = read_.rows.row(i);
      for (std::size_t j = 0; j < row.ids.size(); ++j) {
        EXPECT_TRUE(example.second.emplace(attributes_.name(row.ids[j]), row.value(j)).second);
      }
      examples.push_back(example);
    }
    return examples;
  }

  const TemporaryFolder folder_;
  ClassifyReadOptions options_;
  Dictionary attributes_, labels_;
  ClassifyExamples read_;
};

TEST(ClassifyText, LabelsAndCounts) {
  TextReader reader;
  // A byte order mark, CRLF, a label with a space, TABs in a text, a text without words, a blank line, no
  // last line end.
  EXPECT_EQ(reader.train("\xef\xbb\xbfpos\tGood, good\tfilm\r\nvery bad\tBAD\n \npos\t\nneg\tbad"),
            (Examples{{"pos", {{"good", 2.0f}, {",", 1.0f}, {"film", 1.0f}}},
                      {"very bad", {{"bad", 1.0f}}},
                      {"pos", {}},
                      {"neg", {{"bad", 1.0f}}}}));
}

TEST(ClassifyText, WhatIsNoExample) {
  EXPECT_EQ(TextReader().train_error("a\tb\nno tab\n"),
            "data:2: no TAB in the line; expected 'label TAB text'");
  EXPECT_EQ(TextReader().train_error("a\tb\n\tword\n"),
            "data:2: no label before the TAB; expected 'label TAB text'");
  EXPECT_EQ(TextReader().train_error("\n"), "data: no examples; expected at least one");
  EXPECT_EQ(TextReader().train_error("a\tb\n"), "data: only the label 'a'; expected at least two labels");
  EXPECT_EQ(TextReader().train_error(std::string("a\tb\0c\n", 6)).substr(0, 18), "data:1: a NUL byte");
}

TEST(ClassifyText, PredictionNeedsNoLabel) {
  TextReader reader;
  reader.train("x\ta b\ny\tc\n");
  // Every line is an example; what stands before the first TAB is a label, known or not.
  EXPECT_EQ(reader.use("a new word\n\nx\tc\nother\ta a\n\tb\nb"), (Examples{{"?", {{"a", 1.0f}}},
                                                                            {"?", {}},
                                                                            {"x", {{"c", 1.0f}}},
                                                                            {"?", {{"a", 2.0f}}},
                                                                            {"?", {{"b", 1.0f}}},
                                                                            {"?", {{"b", 1.0f}}}}));
  EXPECT_EQ(reader.use(""), Examples{});
  EXPECT_EQ(
      error_message([&] { reader.use("x\ta\nb\n", true); }).find("no TAB in the line") != std::string::npos,
      true);
}

TEST(ClassifyText, BinaryIsOnce) {
  ClassifyReadOptions options = as_text();
  options.text.weighting = TextWeighting::binary;
  options.text.ngrams = 2;
  EXPECT_EQ(TextReader(options).train("x\ta a a\ny\tb\n"),
            (Examples{{"x", {{"a", 1.0f}, {"a a", 1.0f}}}, {"y", {{"b", 1.0f}}}}));
}

TEST(ClassifyText, BytesThatAreNotUtf8AreRead) {
  TextReader reader;
  EXPECT_EQ(reader.train("x\tcaf\xe9\ny\t\xff\xfe b\n"),
            (Examples{{"x", {{"caf", 1.0f}, {"\ufffd", 1.0f}}}, {"y", {{"\ufffd", 2.0f}, {"b", 1.0f}}}}));
  EXPECT_EQ(reader.read().num_bad_bytes, 3u);
}

TEST(ClassifyText, ALineOfTenMegabytes) {
  std::string line = "x\t";
  while (line.size() < 10'000'000) line += "word \xff\u4e2d";
  const auto count = static_cast<float>((line.size() - 2) / 9);
  EXPECT_EQ(TextReader().train(line + "\ny\tb\n").front(),
            (Example{"x", {{"word", count}, {"\ufffd", count}, {"\u4e2d", count}}}));
}

// tf-idf by its definition, over words that stand for themselves: in training, and of other texts, with what
// is rare left out first.
RC_GTEST_PROP(ClassifyText, TfIdfIsThatOfTheDefinition, ()) {
  const auto some_text = rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("a", "b", "c", "d", "e", "f"));
  ClassifyReadOptions options = as_text();
  options.text.weighting = TextWeighting::tf_idf;
  options.bias = *rc::gen::arbitrary<bool>();
  options.min_count = *rc::gen::inRange<std::size_t>(1, 4);
  const auto texts = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::vector<std::string>>>(some_text));
  std::vector<std::vector<std::string>> all = texts;
  all.insert(all.begin(), std::vector<std::string>{"a"});  // at least two examples
  const auto file_of = [](const auto& list) {
    std::string file;
    for (std::size_t i = 0; i < list.size(); ++i) {
      file += i % 2 == 0 ? "x\t" : "y\t";
      for (const std::string& word : list[i]) file += word + ' ';
      file += '\n';
    }
    return file;
  };

  std::map<std::string, double> df;
  for (const auto& text : all) {
    for (const std::string& word : std::set<std::string>(text.begin(), text.end())) ++df[word];
  }
  const auto check = [&](const std::vector<std::string>& text, const Row& row) {
    std::map<std::string, double> expected;
    for (const std::string& word : text) {
      if (df.contains(word) && df[word] >= static_cast<double>(options.min_count)) ++expected[word];
    }
    double squares = 0;
    for (auto& [word, value] : expected) {
      value *= std::log((1 + static_cast<double>(all.size())) / (1 + df[word])) + 1;
      squares += value * value;
    }
    if (options.bias) expected["(bias)"] = std::sqrt(squares);  // 1 once it is divided
    RC_ASSERT(row.size() == expected.size());
    for (const auto& [word, value] : expected) {
      const double weight = word == "(bias)" ? 1 : value / std::sqrt(squares);
      RC_ASSERT(std::fabs(row.at(word) - weight) < 1e-6);
    }
  };
  TextReader reader(options);
  const Examples train = reader.train(file_of(all));
  for (std::size_t i = 0; i < all.size(); ++i) check(all[i], train[i].second);
  const auto others = *rc::gen::container<std::vector<std::vector<std::string>>>(some_text);
  const Examples used = reader.use(file_of(others));
  for (std::size_t i = 0; i < others.size(); ++i) check(others[i], used[i].second);
}

constexpr const char* kTrain = "pos\tA good, good film\nneg\tA bad film\npos\tGood!\nneg\tnot good\n";

ClassifyOptions text_options(const std::string& weighting = "count") {
  ClassifyOptions options;
  options.format = "text";
  options.weighting = weighting;
  return options;
}

TEST(ClassifyText, AModelKeepsWhatPredictionNeeds) {
  const TemporaryFolder folder;
  ClassifyOptions options = text_options("tf-idf");
  options.ngrams = 2;
  options.keep_case = true;
  const auto set = read_classify_training(folder.file("train.tsv", kTrain), options);
  EXPECT_EQ(set->version(), kTextClassifyVersion);
  EXPECT_EQ(set->sections().settings.dump(),
            R"({"format":"text","bias":false,"costs":false,)"
            R"("text":{"ngrams":2,"char_ngrams":0,"keep_case":true,"weighting":"tf-idf"}})");
  Weights theta(set->problem().weight_shape());
  theta.row(*set->attributes().find("not good"))[0] = 3;  // neg
  theta.row(*set->attributes().find("good"))[1] = 2;      // pos
  const Trained trained(load_classify_predictor, set->sections(), std::move(theta));
  EXPECT_EQ(trained.predict(folder.file("new.txt", "not good\ngood\nGood\n")), "neg\npos\nneg\n");
  const Classifier& classifier = *trained.predictor->classifier();
  EXPECT_EQ(classifier.label(classifier.classify_text("not good")), "neg");
  EXPECT_EQ(classifier.label(classifier.classify_text("it is good")), "pos");
  // "good" and "not good" are known, "is good" is not: 2 idf(good)/r against 3 idf(not good)/r.
  const double good = std::log(5.0 / 3) + 1, rare = std::log(5.0 / 2) + 1;  // "not", too, is rare
  const double r = std::sqrt(good * good + 2 * rare * rare);
  const std::vector<double> scores = classifier.text_scores("not good");
  EXPECT_NEAR(scores[0], 3 * rare / r, 1e-6);
  EXPECT_NEAR(scores[1], 2 * good / r, 1e-6);
}

TEST(ClassifyText, HeldOutTextIsReadLikeTrainingData) {
  const TemporaryFolder folder;
  for (const char* weighting : {"count", "binary", "tf-idf"}) {
    const auto set = read_classify_training(folder.file("train.tsv", kTrain), text_options(weighting));
    set->read_dev(folder.file("dev.tsv", "pos\tGOOD film\nneg\tnot bad\nnew\tword\n"));
    Weights theta(set->problem().weight_shape());
    theta.row(*set->attributes().find("good"))[1] = 1;
    theta.row(*set->attributes().find("film"))[0] = 0.5f;
    EXPECT_EQ(set->evaluate_dev(theta).text.substr(0, 29), "error 33.33 % (1 of 3)\n\n     ") << weighting;
  }
}

TEST(ClassifyText, SaysWhatIsOdd) {
  const TemporaryFolder folder;
  ClassifyOptions options = text_options();
  options.min_count = 2;
  EXPECT_EQ(read_classify_training(folder.file("train.tsv", "x\ta \xe9\ny\ta b c\n"), options)->describe(),
            "2 examples, 2 labels, 1 attribute (3 dropped as rare), 1 byte that is not UTF-8");
}

TEST(ClassifyText, DamagedModels) {
  const TemporaryFolder folder;
  const auto set = read_classify_training(folder.file("train.tsv", kTrain), text_options("tf-idf"));
  const auto load = [&](TaskSections sections) {
    return error_message([&] {
      const Trained trained(load_classify_predictor, std::move(sections),
                            Weights(set->problem().weight_shape()));
    });
  };
  TaskSections sections = set->sections();
  EXPECT_EQ(load(sections), "(no error)");
  sections.settings["text"]["weighting"] = "other";
  EXPECT_EQ(load(sections), "model.esp: unknown settings for reading text; retrain the model");
  sections = set->sections();
  sections.settings["text"]["ngrams"] = 0;
  EXPECT_EQ(load(sections), "model.esp: unknown settings for reading text; retrain the model");
  sections = set->sections();
  for (auto& [name, bytes] : sections.arrays) {
    if (name == "idf") bytes.remove_suffix(sizeof(float));
  }
  EXPECT_EQ(
      load(sections),
      "model.esp: 6 idf for 2 labels, 7 attributes; expected one for each attribute; retrain the model");
}

}  // namespace
}  // namespace espalier
