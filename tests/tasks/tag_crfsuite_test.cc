// How the format of CRFsuite is read.

#include <gtest/gtest.h>

#include <string>

#include "tasks/tag/reader.h"
#include "tasks/tag_reading.h"

namespace espalier::tag_crfsuite_test {
namespace {

using testing::Attributes;
using testing::Names;
using testing::names_of;
using testing::TagReader;
using testing::Tokens;
using testing::tokens_of;

class TagCrfsuite : public TagReader {
 protected:
  TagCrfsuite() { input_.format = TagFormat::crfsuite; }
  const Attributes tied_{{"(transition)", 1.0f}};
};

TEST_F(TagCrfsuite, ReadsSequences) {
  const TagExamples examples = grow("\n\nB\tw=a\tx:2\nI\tw=b\n \t\n\nB\tw=a\tw\\:c\r\nO");
  EXPECT_EQ(tokens_of(examples, dictionaries_, dictionaries_.labels),
            (Tokens{{{"B", {{"w=a", 1.0f}, {"x", 2.0f}}, tied_}, {"I", {{"w=b", 1.0f}}, tied_}},
                    {{"B", {{"w=a", 1.0f}, {"w:c", 1.0f}}, tied_}, {"O", {}, tied_}}}));
  EXPECT_EQ(names_of(dictionaries_.attributes), (Names{"w=a", "x", "w=b", "w:c"}));
  EXPECT_EQ(names_of(dictionaries_.transitions), Names{std::string(kTiedTransition)});
  EXPECT_EQ(examples.sequences.transitions.size(), 1u);
  EXPECT_TRUE(examples.sequences.transition_of.empty());
}

TEST_F(TagCrfsuite, RepeatedAttributesAddUpAndZerosGo) {
  EXPECT_EQ(train("a\tx\ty:2\tx:0.5\nb\tzero:0\tz:1\tz:-1\n"),
            (Tokens{{{"a", {{"x", 1.5f}, {"y", 2.0f}}, tied_}, {"b", {}, tied_}}}));
  EXPECT_EQ(names_of(dictionaries_.attributes), (Names{"x", "y", "zero", "z"}));
}

TEST_F(TagCrfsuite, PredictionSkipsWhatTrainingNeverSaw) {
  train("a\tx\nb\ty\n");
  EXPECT_EQ(stream("\tx\tz:3\nc\ty\n\nb\n"),
            (Tokens{{{"", {{"x", 1.0f}}, tied_}, {"c", {{"y", 1.0f}}, tied_}}, {{"b", {}, tied_}}}));
  EXPECT_EQ(lines_, (Names{"\tx\tz:3", "c\ty", "b"}));
  EXPECT_EQ(dictionaries_.attributes.size(), 2u);
  EXPECT_EQ(stream(""), Tokens{});
}

TEST_F(TagCrfsuite, LabelsOfASequenceStayUntilTheNext) {
  train("a\\:\tx\nb\\\\\ty\n");
  EXPECT_EQ(names_of(dictionaries_.labels), (Names{"a:", "b\\"}));
  EXPECT_EQ(stream("a\\:\tx\nb\\\\\tx\n"),
            (Tokens{{{"a:", {{"x", 1.0f}}, tied_}, {"b\\", {{"x", 1.0f}}, tied_}}}));
}

TEST_F(TagCrfsuite, Errors) {
  const std::string expected = "; expected 'label TAB attribute TAB attribute:value ...'";
  EXPECT_EQ(train_error("a\tx\n\n\nb\tx\n\ty\n"), "data:5: no label before the first TAB" + expected);
  EXPECT_EQ(
      train_error("a\tx\n\nb\tx\nb\tx:nan\n"),
      "data:4: value 'nan' of attribute 'x'; expected a finite number; a colon that is part of a name is "
      "written '\\:'");
  EXPECT_EQ(train_error("a\tx\n\nb\tx\nb\t:1\n"),
            "data:4: ':1' without a name; expected 'attribute' or 'attribute:value'");
  EXPECT_EQ(train_error("the DT B-NP\n"),
            "data:1: no TAB in 'the DT B-NP'" + expected + ", or format columns");
  train("a\tx\nb\ty\n");
  EXPECT_EQ(evaluate_error("a\tx\n\tx\n"), "data:2: no label before the first TAB" + expected);
  EXPECT_EQ(stream_error("a\tx\n\n\tx\n", true), "data:3: no label before the first TAB" + expected);
  EXPECT_EQ(stream_error("a\tx\nthe DT\n"), "data:2: no TAB in 'the DT'" + expected + ", or format columns");
}

TEST_F(TagCrfsuite, HasNoColumns) {
  label_column_ = 1;
  EXPECT_EQ(train_error("a\tx\nb\ty\n"), "label_column: given for format crfsuite; expected format columns");
  label_column_.reset();
  input_.templates = "U";
  EXPECT_EQ(train_error("a\tx\nb\ty\n"), "template: given for format crfsuite; expected format columns");
}

TEST_F(TagCrfsuite, RareAttributesAreDropped) {
  min_count_ = 2;
  EXPECT_EQ(train("a\tx\ty:0.5\tx\nb\ty:2\tz\n"),
            (Tokens{{{"a", {{"x", 2.0f}, {"y", 0.5f}}, tied_}, {"b", {{"y", 2.0f}}, tied_}}}));
}

TEST_F(TagCrfsuite, HasNoDocumentBoundaries) {
  EXPECT_EQ(train("-DOCSTART-\ta\nb\ta\n\n")[0][0].label, "-DOCSTART-");
}

}  // namespace
}  // namespace espalier::tag_crfsuite_test
