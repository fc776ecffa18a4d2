// How columns with templates are read.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tasks/tag/encoding.h"
#include "tasks/tag/reader.h"
#include "tasks/tag_reading.h"

namespace espalier::tag_columns_test {
namespace {

using testing::Attributes;
using testing::Names;
using testing::names_of;
using testing::row_of;
using testing::TagReader;
using testing::TagStream;
using testing::Token;
using testing::Tokens;
using testing::tokens_of;

class TagColumns : public TagReader {
 protected:
  // A template of column 0 and nothing else.
  TagColumns() { input_.templates = "U%x[0,0]"; }
};

TEST_F(TagColumns, FieldsAreSeparatedByAnyWhiteSpace) {
  EXPECT_EQ(train("\n\r\n a \t DT  B \r\nb\vNN\fI\n\t \n\n\nc\tNN\tO"),
            (Tokens{{{"B", {{"Ua", 1.0f}}, {}}, {"I", {{"Ub", 1.0f}}, {}}}, {{"O", {{"Uc", 1.0f}}, {}}}}));
  EXPECT_EQ(input_.num_columns, 3u);
  EXPECT_EQ(input_.label_column, 2u);
}

TEST_F(TagColumns, TheLabelMayBeInAnyColumn) {
  input_.templates = "U%x[0,1]/%x[0,2]";
  label_column_ = 0;
  EXPECT_EQ(train("X a b\nY c d\n"), (Tokens{{{"X", {{"Ua/b", 1.0f}}, {}}, {"Y", {{"Uc/d", 1.0f}}, {}}}}));
  EXPECT_EQ(input_.label_column, 0u);
  EXPECT_EQ(stream("a b\n"), (Tokens{{{"", {{"Ua/b", 1.0f}}, {}}}}));
  EXPECT_EQ(stream("Z a b\n"), (Tokens{{{"Z", {{"Ua/b", 1.0f}}, {}}}}));
  input_.templates = "U%x[0,0]/%x[0,2]";
  label_column_ = 1;
  EXPECT_EQ(train("a X b\nc Y d\n"), (Tokens{{{"X", {{"Ua/b", 1.0f}}, {}}, {"Y", {{"Uc/d", 1.0f}}, {}}}}));
  EXPECT_EQ(stream("c d\n"), (Tokens{{{"", {{"Uc/d", 1.0f}}, {}}}}));
  label_column_ = 3;
  EXPECT_EQ(train_error("a X b\n"),
            "data:1: 3 columns; expected the label in column 4, as label_column says");
}

TEST_F(TagColumns, EveryLineHasTheSameNumber) {
  EXPECT_EQ(train_error("\na X\nb Y\n\nc d X\n"), "data:5: 3 columns; expected 2 as in line 2");
  EXPECT_EQ(train_error("a b X\nY\n"), "data:2: 1 column; expected 3 as in line 1");
  EXPECT_EQ(train_error("X\tw=a\tw=b\nY\tw=b\n"),
            "data:2: 2 columns; expected 3 as in line 1; attribute files need format crfsuite");
  EXPECT_EQ(train_error("\na\nb\n"),
            "data:2: 1 column; expected at least 2, a word and its label, separated by spaces or tabs");
}

TEST_F(TagColumns, PredictionMayLackTheLabel) {
  train("a DT X\nb NN Y\n");
  EXPECT_EQ(stream("a DT\nd NN\n\nb NN\n"),
            (Tokens{{{"", {{"Ua", 1.0f}}, {}}, {"", {}, {}}}, {{"", {{"Ub", 1.0f}}, {}}}}));
  EXPECT_EQ(stream(" a\tDT  Z \r\n"), (Tokens{{{"Z", {{"Ua", 1.0f}}, {}}}}));
  EXPECT_EQ(lines_, Names{" a\tDT  Z "});
  EXPECT_EQ(stream_error("a DT\n\nb NN Y\n"), "data:3: 3 columns; expected 2 as in line 1");
  EXPECT_EQ(stream_error("a DT X\nb NN\n"), "data:2: 2 columns; expected 3 as in line 1");
  EXPECT_EQ(stream_error("a\n"), "data:1: 1 column; expected 3 as in training, or 2 without the label");
  EXPECT_EQ(stream_error("\na b c d\n"),
            "data:2: 4 columns; expected 3 as in training, or 2 without the label");
  EXPECT_EQ(stream_error("a DT\n", true), "data:1: 2 columns; expected 3 as in training");
  EXPECT_EQ(evaluate_error("a DT\n"), "data:1: 2 columns; expected 3 as in training");
}

TEST_F(TagColumns, TemplatesAreNamedInMessages) {
  input_.template_name = "my.tpl";
  input_.templates = "U1:%x[0,0]\nU2:%x[0,1]";
  EXPECT_EQ(train_error("a X\nb Y\n"),
            "my.tpl:2: %x[0,1] uses the label; expected another column; the first one is column 0");
  input_.templates = "# nothing";
  EXPECT_EQ(train_error("a X\nb Y\n"),
            "my.tpl: no templates; expected at least one line that begins with U or B");
}

TEST_F(TagColumns, EqualAttributesOfATokenAddUp) {
  input_.templates = "U%x[-1,0]\nU%x[1,0]\nU%x[0,0]";
  EXPECT_EQ(train("a X\nb Y\na X\n")[0][1], (Token{"Y", {{"Ua", 2.0f}, {"Ub", 1.0f}}, {}}));
}

TEST_F(TagColumns, WithoutBLinesTransitionsHaveNoAttributes) {
  const TagExamples examples = grow("a X\nb Y\n\nb X\n");
  EXPECT_EQ(dictionaries_.transitions.size(), 0u);
  EXPECT_EQ(examples.sequences.transitions.size(), 1u);
  EXPECT_EQ(examples.sequences.transitions.row(0).ids.size(), 0u);
  EXPECT_TRUE(examples.sequences.transition_of.empty());
}

TEST_F(TagColumns, APlainBTiesTransitions) {
  input_.templates = "U%x[0,0]\nB\nBmore";
  const TagExamples examples = grow("a X\nb Y\nc X\n\nb X\na Y\n");
  EXPECT_EQ(names_of(dictionaries_.transitions), (Names{"B", "Bmore"}));
  EXPECT_EQ(examples.sequences.transitions.size(), 1u);
  EXPECT_TRUE(examples.sequences.transition_of.empty());
  EXPECT_EQ(tokens_of(examples, dictionaries_, dictionaries_.labels)[1][1],
            (Token{"Y", {{"Ua", 1.0f}}, {{"B", 1.0f}, {"Bmore", 1.0f}}}));
  TagStream stream(folder_.file("data", "a X\nb Y\n\nb X\n"), input_, dictionaries_, true);
  ASSERT_TRUE(stream.next());
  EXPECT_EQ(stream.sequence().transitions.size(), 1u);
  EXPECT_TRUE(stream.sequence().transition_of.empty());
  ASSERT_TRUE(stream.next());  // no step, and yet a row, which nothing uses
  EXPECT_EQ(stream.sequence().transitions.size(), 1u);
  EXPECT_FALSE(stream.next());
}

TEST_F(TagColumns, BLinesWithMacrosShareEqualSets) {
  input_.templates = "B\nB1:%x[-1,0]/%x[0,0]";
  const TagExamples examples = grow("a X\nb Y\na X\nb Y\n\nb X\na Y\nc Y\n\nc X\n");
  EXPECT_EQ(names_of(dictionaries_.transitions), (Names{"B", "B1:a/b", "B1:b/a", "B1:a/c"}));
  EXPECT_EQ(examples.sequences.transition_of, (std::vector<std::uint32_t>{0, 0, 1, 0, 0, 1, 2, 0}));
  ASSERT_EQ(examples.sequences.transitions.size(), 3u);
  EXPECT_EQ(row_of(examples.sequences.transitions, 2, dictionaries_.transitions),
            (Attributes{{"B", 1.0f}, {"B1:a/c", 1.0f}}));

  // Steps that differ in unknown attributes only are the same; and each sequence has rows of its own.
  TagStream stream(folder_.file("data", "x X\ny Y\nz X\na X\nb Y\n\nb X\na Y\n"), input_, dictionaries_,
                   true);
  ASSERT_TRUE(stream.next());
  EXPECT_EQ(stream.sequence().transition_of, (std::vector<std::uint32_t>{0, 0, 0, 0, 1}));
  ASSERT_TRUE(stream.next());
  EXPECT_EQ(stream.sequence().transitions.size(), 1u);
  EXPECT_EQ(row_of(stream.sequence().transitions, 0, dictionaries_.transitions),
            (Attributes{{"B", 1.0f}, {"B1:b/a", 1.0f}}));
}

TEST_F(TagColumns, TheOrderOfBLinesMakesNoDifferenceToASet) {
  input_.templates = "B%x[-1,0]\nB%x[0,0]";
  const TagExamples examples = grow("a X\nb Y\na X\na Y\n");
  EXPECT_EQ(examples.sequences.transition_of, (std::vector<std::uint32_t>{0, 0, 0, 1}));
  EXPECT_EQ(row_of(examples.sequences.transitions, 1, dictionaries_.transitions), (Attributes{{"Ba", 2.0f}}));
}

TEST_F(TagColumns, ValuesComeFromTheData) {
  input_.templates = "U:w=%x[0,0]\nU:n%v[0,1]\nU:next%v[1,1]\nB:%v[0,1]";
  EXPECT_EQ(train("a 0.5 X\nb -2e1 Y\nc 0 X\nd 1 Y\n\ne 3 X\n"),
            (Tokens{{{"X", {{"U:w=a", 1.0f}, {"U:n", 0.5f}, {"U:next", -20.0f}}, {{"B:", -20.0f}}},
                     {"Y", {{"U:w=b", 1.0f}, {"U:n", -20.0f}}, {{"B:", -20.0f}}},
                     {"X", {{"U:w=c", 1.0f}, {"U:next", 1.0f}}, {}},
                     {"Y", {{"U:w=d", 1.0f}, {"U:n", 1.0f}}, {{"B:", 1.0f}}}},
                    {{"X", {{"U:w=e", 1.0f}, {"U:n", 3.0f}}, {{"B:", -20.0f}}}}}));
  EXPECT_EQ(stream("a 2\nb 2\n")[0][1], (Token{"", {{"U:w=b", 1.0f}, {"U:n", 2.0f}}, {{"B:", 2.0f}}}));
  const std::string expected = "in column 2; expected a finite number for ";
  EXPECT_EQ(train_error("a 1 X\nb x1 Y\n"), "data:2: 'x1' " + expected + "%v[1,1]");
  EXPECT_EQ(train_error("a inf X\nb 1 Y\n"), "data:1: 'inf' " + expected + "%v[0,1]");
}

TEST_F(TagColumns, RareAttributesAreDropped) {
  input_.templates = "U%x[0,0]\nB\nB:%x[-1,0]/%x[0,0]";
  min_count_ = 2;
  const TagExamples examples = grow("a X\nb Y\nc X\na Y\n\nd X\nb Y\na X\nb Y\n");
  EXPECT_EQ(names_of(dictionaries_.attributes), (Names{"Ua", "Ub"}));
  EXPECT_EQ(names_of(dictionaries_.transitions), (Names{"B", "B:a/b"}));
  EXPECT_EQ(examples.num_rare, 6u);
  const Attributes ab{{"B", 1.0f}, {"B:a/b", 1.0f}}, other{{"B", 1.0f}};
  EXPECT_EQ(tokens_of(examples, dictionaries_, dictionaries_.labels), (Tokens{{{"X", {{"Ua", 1.0f}}, ab},
                                                                               {"Y", {{"Ub", 1.0f}}, ab},
                                                                               {"X", {}, other},
                                                                               {"Y", {{"Ua", 1.0f}}, other}},
                                                                              {{"X", {}, ab},
                                                                               {"Y", {{"Ub", 1.0f}}, other},
                                                                               {"X", {{"Ua", 1.0f}}, other},
                                                                               {"Y", {{"Ub", 1.0f}}, ab}}}));
  // Sets that become equal are one.
  EXPECT_EQ(examples.sequences.transitions.size(), 2u);
  min_count_ = 4;
  const TagExamples tied = grow("a X\nb Y\nc X\na Y\n\nd X\nb Y\na X\nb Y\n");
  EXPECT_EQ(tied.sequences.transitions.size(), 1u);
  EXPECT_TRUE(tied.sequences.transition_of.empty());
  EXPECT_EQ(names_of(dictionaries_.transitions), Names{"B"});
}

TEST_F(TagColumns, LabelsAreReEncoded) {
  input_.encoding = Encoding::bioes;
  EXPECT_EQ(train("a I-A\nb I-A\nc B-A\n\nd O\ne I-B\n"),
            (Tokens{{{"B-A", {{"Ua", 1.0f}}, {}}, {"E-A", {{"Ub", 1.0f}}, {}}, {"S-A", {{"Uc", 1.0f}}, {}}},
                    {{"O", {{"Ud", 1.0f}}, {}}, {"S-B", {{"Ue", 1.0f}}, {}}}}));
  EXPECT_EQ(evaluate("a I-C\n")[0][0].label, "S-C");
  EXPECT_EQ(stream("a I-C\n", true)[0][0].label, "I-C");
  const std::string expected =
      "; expected O, or a prefix (B-, I-, E-, S-, L- or U-) and a type, as encoding needs";
  EXPECT_EQ(train_error("a B-A\n\nb NN\n"), "data:3: the label 'NN'" + expected);
  EXPECT_EQ(evaluate_error("a B\n"), "data:1: the label 'B'" + expected);
  EXPECT_EQ(stream_error("a B\n", true), "data:1: the label 'B'" + expected);
  EXPECT_EQ(stream("a NN\n")[0][0].label, "NN");
}

TEST_F(TagColumns, DocumentBoundariesAreNoTokens) {
  const Tokens expected{{{"X", {{"Ua", 1.0f}}, {}}, {"Y", {{"Ub", 1.0f}}, {}}},
                        {{"X", {{"Uc", 1.0f}}, {}}},
                        {{"Y", {{"Ud", 1.0f}}, {}}}};
  const std::string text =
      "-DOCSTART- -X- O O\n\na X\nb Y\n\n\n -DOCSTART-\n\nc X\n-DOCSTART-\tO\n \nd Y\n\n\n-DOCSTART-\n";
  EXPECT_EQ(train(text), expected);
  EXPECT_EQ(evaluate(text), expected);
  EXPECT_EQ(stream(text), expected);
  EXPECT_EQ(before_,
            (Names{"-DOCSTART- -X- O O\n\n", "\n -DOCSTART-\n\n", "-DOCSTART-\tO\n \n", "\n-DOCSTART-\n"}));
  EXPECT_EQ(train("-DOCSTART-1 X\nb Y\n")[0].size(), 2u);
  EXPECT_EQ(stream_error("c Y\n-DOCSTART-\n\n\nd e f\n"), "data:5: 3 columns; expected 2 as in line 1");
}

TEST_F(TagColumns, WeightsInComments) {
  input_.weight_comments = true;
  const TagExamples examples = grow("# weight: 2.5\na X\nb Y\n\nc X\n\n\n#weight:1e-2 \n\nd Y\n");
  EXPECT_EQ(examples.weights, (std::vector<double>{2.5, 1, 0.01}));
  EXPECT_EQ(examples.sequences.offsets, (std::vector<std::size_t>{0, 2, 3, 4}));
  stream("# weight: 3\na X\n");
  EXPECT_EQ(before_, (Names{"# weight: 3\n", ""}));
  EXPECT_EQ(train_error("a X\n# weight: 1\nb Y\n"),
            "data:2: the weight '1' inside a sequence; expected it before the first token");
  EXPECT_EQ(train_error("# weight: 1\n\n# weight: 2\nb Y\n"),
            "data:3: the weight '2', the second one of a sequence; expected one");
  for (const std::string bad : {"0", "-1", "nan", "x", ""}) {
    EXPECT_EQ(train_error("# weight: " + bad + "\na X\n"),
              "data:1: the weight '" + bad + "'; expected a positive, finite number");
  }
  // Other lines are tokens, as ever; and all of them are, where no weights are asked for.
  EXPECT_EQ(train("# weights\nb Y\n")[0].size(), 2u);
  input_.weight_comments = false;
  EXPECT_TRUE(grow("a X\n\nb Y\n").weights.empty());
  EXPECT_EQ(train_error("# weight: 1\nb Y\n"), "data:2: 2 columns; expected 3 as in line 1");
}

TEST_F(TagColumns, GazetteersMakeAttributes) {
  input_.gazetteer = std::make_shared<const Gazetteer>(
      Gazetteer::from_text("LOC\tNew York City\nORG\tNew York\nLOC\tYork\nORG\tYork\nLOC\tRome and\n", "g"));
  const auto with = [](const std::string& word, const Names& phrases) {
    Attributes attributes{{"U" + word, 1.0f}};
    for (const std::string& phrase : phrases) attributes["gazetteer=" + phrase] = 1.0f;
    return attributes;
  };
  EXPECT_EQ(train("New X\nYork X\nCity X\nYork Y\nRome X\n\nin X\nNew Y\nYork X\n"),
            (Tokens{{{"X", with("New", {"B-LOC"}), {}},
                     {"X", with("York", {"I-LOC"}), {}},
                     {"X", with("City", {"E-LOC"}), {}},
                     {"Y", with("York", {"S-LOC", "S-ORG"}), {}},
                     {"X", with("Rome", {}), {}}},
                    {{"X", with("in", {}), {}},
                     {"Y", with("New", {"B-ORG"}), {}},
                     {"X", with("York", {"E-ORG"}), {}}}}));
  // The word is the first column that is not the label.
  input_.templates = "U%x[0,1]";
  label_column_ = 0;
  EXPECT_EQ(train("X York\nY a\n")[0][0].attributes, with("York", {"S-LOC", "S-ORG"}));
  input_.templates.clear();
  EXPECT_TRUE(train("X York\nY a\n")[0][0].attributes.contains("gazetteer=S-LOC"));
  input_.format = TagFormat::crfsuite;
  label_column_.reset();
  EXPECT_EQ(train_error("X\ta\n"), "gazetteer: given for format crfsuite; expected format columns");
}

}  // namespace
}  // namespace espalier::tag_columns_test
