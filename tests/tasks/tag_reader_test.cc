#include "tasks/tag/reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "support/error_message.h"
#include "support/temporary_folder.h"
#include "tasks/tag_reading.h"

namespace espalier::tag_reader_test {
namespace {

using testing::Attributes;
using testing::error_message;
using testing::Names;
using testing::names_of;
using testing::TagReader;
using testing::TagStream;
using testing::TemporaryFolder;
using testing::Token;
using testing::token_of;
using testing::Tokens;
using testing::tokens_of;

TEST(TagFormat, HasNames) {
  for (const auto format : {TagFormat::columns, TagFormat::crfsuite, TagFormat::wapiti}) {
    EXPECT_EQ(parse_tag_format(to_string(format)), format);
  }
  EXPECT_EQ(error_message([] { parse_tag_format("conllu"); }),
            "format: unknown format 'conllu'; expected columns, crfsuite or wapiti");
}

TEST_F(TagReader, TrainingAndEvaluationNeedSequences) {
  const std::string none = "data: no sequences; expected at least one";
  for (const auto format : {TagFormat::columns, TagFormat::crfsuite}) {
    input_.format = format;
    EXPECT_EQ(train_error(""), none);
    EXPECT_EQ(train_error("\n \n\r\n"), none);
    train("a\tx\nb\ty\n");
    EXPECT_EQ(evaluate_error("\n"), none);
    EXPECT_EQ(stream_error("\n", true), none);
    EXPECT_EQ(stream("\n"), Tokens{});
  }
}

TEST_F(TagReader, TrainingNeedsTwoLabels) {
  EXPECT_EQ(train_error("the DT\na DT\n"), "data: only the label 'DT'; expected at least two labels");
  input_.format = TagFormat::crfsuite;
  EXPECT_EQ(train_error("DT\tthe\n\nDT\ta\n"), "data: only the label 'DT'; expected at least two labels");
}

TEST_F(TagReader, LabelsAreInTheOrderOfTheirText) {
  train("a 9\nb 10\n\nc B-NP\nd 9\n");
  EXPECT_EQ(names_of(dictionaries_.labels), (Names{"10", "9", "B-NP"}));
}

TEST_F(TagReader, EvaluationTakesInNewLabels) {
  train("a X\nb Y\n");
  const Tokens tokens = evaluate("a Z\n\na X\nb A\na Z\n");
  EXPECT_EQ(names_of(labels_), (Names{"X", "Y", "Z", "A"}));
  EXPECT_EQ(tokens[0][0].label, "Z");
  EXPECT_EQ(tokens[1][1].label, "A");
  EXPECT_EQ(names_of(dictionaries_.labels), (Names{"X", "Y"}));
}

TEST_F(TagReader, ReadsTheFirstSequencesOnly) {
  first_ = 2;
  EXPECT_EQ(train("a X\nb Y\n\nc X\n\nnot read\nlike this line\n").size(), 2u);
  EXPECT_EQ(train("a X\nb Y").size(), 1u);
  first_ = 0;
  EXPECT_EQ(train_error("a X\nb Y\n"), "first: 0 sequences; expected at least 1");
}

TEST_F(TagReader, BuiltInAttributesTieTransitionsAndMarkBothEnds) {
  const Attributes tied{{std::string(kTiedTransition), 1.0f}};
  const auto one = [](const Names& names) {
    Attributes attributes;
    for (const std::string& name : names) attributes[name] = 1.0f;
    return attributes;
  };
  EXPECT_EQ(train("a NN X\nb VB Y\n"),
            (Tokens{{{"X",
                      one({"w[0]=a", "w[1]=b", "w[0]|w[1]=a|b", "c2[0]=NN", "c2[1]=VB", "c2[0]|c2[1]=NN|VB",
                           "lower=a", "shape[0]=x", "shape[1]=x", "shape[0]|shape[1]=x|x", "prefix1=a",
                           "suffix1=a", "(start)"}),
                      tied},
                     {"Y",
                      one({"w[-1]=a", "w[0]=b", "w[-1]|w[0]=a|b", "c2[-1]=NN", "c2[0]=VB",
                           "c2[-1]|c2[0]=NN|VB", "lower=b", "shape[-1]=x", "shape[0]=x",
                           "shape[-1]|shape[0]=x|x", "prefix1=b", "suffix1=b", "(stop)"}),
                      tied}}}));
}

TEST_F(TagReader, WeightsInAColumn) {
  input_.weight_column = 1;
  const TagExamples examples = grow("a 2 X\nb 2 Y\n\nc 0.5 X\n");
  EXPECT_EQ(examples.weights, (std::vector<double>{2, 0.5}));
  for (const std::string& name : names_of(dictionaries_.attributes)) {
    EXPECT_FALSE(name.starts_with("c2")) << name;
  }
  EXPECT_EQ(train_error("a 2 X\nb 1 Y\n"),
            "data:2: the weight '1' in column 2; expected '2' as on the first line of the sequence");
  EXPECT_EQ(train_error("a 2 X\n\nb 0 Y\n"),
            "data:3: the weight '0' in column 2; expected a positive, finite number");
  input_.weight_column = 2;
  EXPECT_EQ(train_error("a 2 X\n"), "example_weights: column 3, which is the label; expected another column");
  input_.weight_column = 3;
  EXPECT_EQ(train_error("a 2 X\n"),
            "data:1: 3 columns; expected the weight in column 4, as example_weights says");
  input_.weight_column = 0;
  EXPECT_EQ(train_error("2 X\n"), "data:1: 2 columns; expected at least 3: a word, its label and a weight");
  input_.format = TagFormat::crfsuite;
  EXPECT_EQ(train_error("X\ta\n"),
            "a column of example_weights: given for format crfsuite; expected format columns");
}

// Small files of every kind, read in every way.
RC_GTEST_PROP(TagReaderProperty, AllWaysOfReadingAgree, ()) {
  const auto word = rc::gen::element<std::string>("a", "b", "cd", "E\xc3\xa9", "4-5");
  const auto label = rc::gen::element<std::string>("X", "Y", "Z");
  const auto sequences = *rc::gen::container<std::vector<std::vector<std::array<std::string, 3>>>>(
      rc::gen::nonEmpty(rc::gen::container<std::vector<std::array<std::string, 3>>>(
          rc::gen::map(rc::gen::tuple(word, word, label), [](const auto& t) {
            return std::array<std::string, 3>{std::get<0>(t), std::get<1>(t), std::get<2>(t)};
          }))));
  TagInput input;
  input.format = *rc::gen::element(TagFormat::columns, TagFormat::crfsuite);
  const bool crfsuite = input.format == TagFormat::crfsuite;
  if (!crfsuite) {
    input.templates =
        *rc::gen::element<std::string>("", "U%x[0,0]\nU1:%x[-1,1]", "U%x[0,0]\nB", "B:%x[0,1]\nB%x[-1,0]",
                                       "u:%m[1,0,\"\\l?$\"]\n*:%X[0,0]\nb:%t[@-1,1,\"\\d\"]");
  }
  std::string text = crfsuite ? "X\ta\nY\tb\n" : "a b X\nb a Y\n";
  for (const auto& sequence : sequences) {
    text += "\n";
    for (const auto& [first, second, third] : sequence) {
      text += crfsuite ? third + "\t" + first + "\t" + second + ":2\n"
                       : first + " " + second + "\t" + third + "\n";
    }
  }

  const TemporaryFolder folder;
  const std::string path = folder.file("data", text);
  TagDictionaries dictionaries;
  const auto grown =
      tokens_of(read_tag_growing(path, input, {}, {}, dictionaries), dictionaries, dictionaries.labels);
  RC_ASSERT(grown.size() == sequences.size() + 1);
  const std::size_t num_attributes = dictionaries.attributes.size();
  Dictionary labels;
  for (const std::string& name : names_of(dictionaries.labels)) labels.add(name);
  RC_ASSERT(tokens_of(read_tag(path, input, dictionaries, labels), dictionaries, labels) == grown);
  RC_ASSERT(labels.size() == dictionaries.labels.size());
  RC_ASSERT(dictionaries.attributes.size() == num_attributes);

  TagStream stream(path, input, dictionaries, true);
  for (const auto& expected : grown) {
    RC_ASSERT(stream.next());
    RC_ASSERT(stream.size() == expected.size());
    for (std::size_t t = 0; t < expected.size(); ++t) {
      Token token = token_of(stream.sequence(), t, std::string(stream.label(t)), dictionaries);
      if (t == 0) token.transition = expected[t].transition;  // whatever row 0 is
      RC_ASSERT(token == expected[t]);
    }
  }
  RC_ASSERT(!stream.next());
}

}  // namespace
}  // namespace espalier::tag_reader_test
