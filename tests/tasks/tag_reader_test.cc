#include "espalier/tasks/tag_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "espalier/base/input.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

using Names = std::vector<std::string>;
using Attributes = std::map<std::string, float>;

Names names_of(const Dictionary& dictionary) {
  Names names;
  for (std::uint32_t id = 0; id < dictionary.size(); ++id) names.emplace_back(dictionary.name(id));
  return names;
}

// A token as it is read, by names. The attributes of the step into it are those of row 0 where it is the first.
struct Token {
  std::string label;
  Attributes attributes, transition;
  bool operator==(const Token&) const = default;
};
using Tokens = std::vector<std::vector<Token>>;

// For messages of failing tests.
std::ostream& operator<<(std::ostream& out, const Token& token) {
  out << token.label << " {";
  for (const auto& [name, value] : token.attributes) out << " " << name << ":" << value;
  out << " } {";
  for (const auto& [name, value] : token.transition) out << " " << name << ":" << value;
  return out << " }";
}

Attributes row_of(const SparseRows& rows, std::size_t i, const Dictionary& names) {
  Attributes attributes;
  const SparseRows::Row row = rows.row(i);
  for (std::size_t j = 0; j < row.ids.size(); ++j) {
    EXPECT_TRUE(attributes.emplace(names.name(row.ids[j]), row.value(j)).second) << names.name(row.ids[j]);
  }
  return attributes;
}

Token token_of(const Sequences& sequences, std::size_t t, const std::string& label,
               const TagDictionaries& dictionaries) {
  const std::size_t transition = sequences.transition_of.empty() ? 0 : sequences.transition_of[t];
  return {label, row_of(sequences.tokens, t, dictionaries.attributes),
          row_of(sequences.transitions, transition, dictionaries.transitions)};
}

Tokens tokens_of(const TagExamples& examples, const TagDictionaries& dictionaries, const Dictionary& labels) {
  const Sequences& sequences = examples.sequences;
  EXPECT_EQ(examples.labels.size(), sequences.num_tokens());
  EXPECT_EQ(sequences.tokens.size(), sequences.num_tokens());
  Tokens tokens;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    tokens.emplace_back();
    for (std::size_t t = sequences.offsets[i]; t < sequences.offsets[i + 1]; ++t) {
      tokens.back().push_back(
          token_of(sequences, t, std::string(labels.name(examples.labels[t])), dictionaries));
    }
  }
  return tokens;
}

class TagReader : public ::testing::Test {
 protected:
  TagExamples grow(const std::string& text) {
    dictionaries_ = TagDictionaries();
    return read_tag_growing(folder_.file("data", text), input_, label_column_, first_, dictionaries_,
                            min_count_);
  }
  Tokens train(const std::string& text) {
    const TagExamples examples = grow(text);
    return tokens_of(examples, dictionaries_, dictionaries_.labels);
  }
  // With the dictionaries of the last train().
  Tokens evaluate(const std::string& text) {
    labels_ = Dictionary();
    for (const std::string& name : names_of(dictionaries_.labels)) labels_.add(name);
    const TagExamples examples = read_tag(folder_.file("data", text), input_, dictionaries_, labels_);
    return tokens_of(examples, dictionaries_, labels_);
  }
  Tokens stream(const std::string& text, bool labels_required = false) {
    TagStream stream(folder_.file("data", text), input_, dictionaries_, labels_required);
    Tokens tokens;
    lines_.clear();
    before_.clear();
    while (stream.next()) {
      before_.emplace_back(stream.before());
      const Sequences& sequence = stream.sequence();
      EXPECT_EQ(sequence.size(), 1u);
      EXPECT_EQ(sequence.num_tokens(), stream.size());
      EXPECT_EQ(sequence.tokens.size(), stream.size());
      tokens.emplace_back();
      for (std::size_t t = 0; t < stream.size(); ++t) {
        tokens.back().push_back(token_of(sequence, t, std::string(stream.label(t)), dictionaries_));
        lines_.emplace_back(stream.line(t));
      }
    }
    before_.emplace_back(stream.before());
    return tokens;
  }

  std::string shortened(std::string message) const {
    for (std::size_t at; (at = message.find(folder_.path() + "/")) != std::string::npos;) {
      message.erase(at, folder_.path().size() + 1);
    }
    return message;
  }
  std::string train_error(const std::string& text) {
    return shortened(error_message([&] { train(text); }));
  }
  std::string evaluate_error(const std::string& text) {
    return shortened(error_message([&] { evaluate(text); }));
  }
  std::string stream_error(const std::string& text, bool labels_required = false) {
    return shortened(error_message([&] { stream(text, labels_required); }));
  }

  const TemporaryFolder folder_;
  TagInput input_;
  std::optional<std::size_t> label_column_, first_;
  std::size_t min_count_ = 1;
  TagDictionaries dictionaries_;
  Dictionary labels_;
  Names lines_, before_;
};

TEST(TagFormat, HasNames) {
  for (const auto format : {TagFormat::columns, TagFormat::crfsuite, TagFormat::wapiti}) {
    EXPECT_EQ(parse_tag_format(to_string(format)), format);
  }
  EXPECT_EQ(error_message([] { parse_tag_format("conllu"); }),
            "--format: 'conllu' is no format of tagging; expected columns, crfsuite or wapiti");
}

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
            "data:1: no TAB in 'the DT B-NP'" + expected + ", or --format columns");
  train("a\tx\nb\ty\n");
  EXPECT_EQ(evaluate_error("a\tx\n\tx\n"), "data:2: no label before the first TAB" + expected);
  EXPECT_EQ(stream_error("a\tx\n\n\tx\n", true), "data:3: no label before the first TAB" + expected);
  EXPECT_EQ(stream_error("a\tx\nthe DT\n"),
            "data:2: no TAB in 'the DT'" + expected + ", or --format columns");
}

TEST_F(TagCrfsuite, HasNoColumns) {
  label_column_ = 1;
  EXPECT_EQ(train_error("a\tx\nb\ty\n"),
            "--label-column: given for --format crfsuite; expected --format columns");
  label_column_.reset();
  input_.templates = "U";
  EXPECT_EQ(train_error("a\tx\nb\ty\n"),
            "--template: given for --format crfsuite; expected --format columns");
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
  EXPECT_EQ(train_error("a X\nb Y\n"), "--first: 0 sequences; expected at least 1");
}

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
            "data:1: 3 columns; expected the label in column 4, as --label-column says");
}

TEST_F(TagColumns, EveryLineHasTheSameNumber) {
  EXPECT_EQ(train_error("\na X\nb Y\n\nc d X\n"), "data:5: 3 columns; expected 2 as in line 2");
  EXPECT_EQ(train_error("a b X\nY\n"), "data:2: 1 column; expected 3 as in line 1");
  EXPECT_EQ(train_error("X\tw=a\tw=b\nY\tw=b\n"),
            "data:2: 2 columns; expected 3 as in line 1, or --format crfsuite for attribute files");
  EXPECT_EQ(train_error("\na\nb\n"),
            "data:2: 1 column; expected at least 2, a word and its label, with spaces or tabs between");
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
            "my.tpl:2: %x[0,1] looks at the label; expected another column; the first one is column 0");
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
                           "lower[0]=a", "lower[1]=b", "shape[0]=x", "shape[1]=x", "shape[0]|shape[1]=x|x",
                           "prefix1=a", "suffix1=a", "(start)"}),
                      tied},
                     {"Y",
                      one({"w[-1]=a", "w[0]=b", "w[-1]|w[0]=a|b", "c2[-1]=NN", "c2[0]=VB",
                           "c2[-1]|c2[0]=NN|VB", "lower[-1]=a", "lower[0]=b", "shape[-1]=x", "shape[0]=x",
                           "shape[-1]|shape[0]=x|x", "prefix1=b", "suffix1=b", "(stop)"}),
                      tied}}}));
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

TEST_F(TagCrfsuite, RareAttributesAreDropped) {
  min_count_ = 2;
  EXPECT_EQ(train("a\tx\ty:0.5\tx\nb\ty:2\tz\n"),
            (Tokens{{{"a", {{"x", 2.0f}, {"y", 0.5f}}, tied_}, {"b", {{"y", 2.0f}}, tied_}}}));
}

TEST_F(TagColumns, LabelsAreReEncoded) {
  input_.encoding = Encoding::bioes;
  EXPECT_EQ(train("a I-A\nb I-A\nc B-A\n\nd O\ne I-B\n"),
            (Tokens{{{"B-A", {{"Ua", 1.0f}}, {}}, {"E-A", {{"Ub", 1.0f}}, {}}, {"S-A", {{"Uc", 1.0f}}, {}}},
                    {{"O", {{"Ud", 1.0f}}, {}}, {"S-B", {{"Ue", 1.0f}}, {}}}}));
  EXPECT_EQ(evaluate("a I-C\n")[0][0].label, "S-C");
  EXPECT_EQ(stream("a I-C\n", true)[0][0].label, "I-C");
  const std::string expected = "; expected O, or B-, I-, E- or S- and a type, as --encoding needs";
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

TEST_F(TagCrfsuite, HasNoDocumentBoundaries) {
  EXPECT_EQ(train("-DOCSTART-\ta\nb\ta\n\n")[0][0].label, "-DOCSTART-");
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
  EXPECT_EQ(train_error("a 2 X\n"),
            "--example-weights: column 3, which is the label; expected another column");
  input_.weight_column = 3;
  EXPECT_EQ(train_error("a 2 X\n"),
            "data:1: 3 columns; expected the weight in column 4, as --example-weights says");
  input_.weight_column = 0;
  EXPECT_EQ(train_error("2 X\n"), "data:1: 2 columns; expected at least 3: a word, its label and a weight");
  input_.format = TagFormat::crfsuite;
  EXPECT_EQ(train_error("X\ta\n"),
            "a column of --example-weights: given for --format crfsuite; expected --format columns");
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
  EXPECT_EQ(train_error("X\ta\n"), "--gazetteer: given for --format crfsuite; expected --format columns");
}

class TagWapiti : public TagReader {
 protected:
  TagWapiti() { input_.format = TagFormat::wapiti; }
};

TEST_F(TagWapiti, FieldsAreAttributes) {
  EXPECT_EQ(train("uw=a *p bq X\n u1 u1 u2\tY\r\n*p bq uw=a\vX\n\nX\n"),
            (Tokens{{{"X", {{"uw=a", 1.0f}, {"*p", 1.0f}}, {}},
                     {"Y", {{"u1", 2.0f}, {"u2", 1.0f}}, {}},
                     {"X", {{"uw=a", 1.0f}, {"*p", 1.0f}}, {{"*p", 1.0f}, {"bq", 1.0f}}}},
                    {{"X", {}, {}}}}));
  EXPECT_EQ(names_of(dictionaries_.transitions), (Names{"*p", "bq"}));
}

TEST_F(TagWapiti, PredictionMayLackTheLabel) {
  train("uw=a b X\nuw=b b b-Y\n");
  EXPECT_EQ(stream("uw=a X\nuw=b b\nuw=a b-Y\n"), (Tokens{{{"X", {{"uw=a", 1.0f}}, {{"b", 1.0f}}},
                                                           {"", {{"uw=b", 1.0f}}, {{"b", 1.0f}}},
                                                           {"", {{"uw=a", 1.0f}}, {}}}}));
  EXPECT_EQ(evaluate("uw=a b-Y\n"), (Tokens{{{"b-Y", {{"uw=a", 1.0f}}, {}}}}));
}

TEST_F(TagWapiti, OtherFieldsAreErrors) {
  const std::string expected =
      "; expected 'attribute attribute ... label', where attributes begin with u, b or *";
  EXPECT_EQ(train_error("uw=a X\n\nw=a X\n"), "data:3: the attribute 'w=a'" + expected);
  EXPECT_EQ(train_error("U1 X\n"), "data:1: the attribute 'U1'" + expected);
  input_.templates = "u1";
  EXPECT_EQ(train_error("u1 X\n"), "--template: given for --format wapiti; expected --format columns");
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
        *rc::gen::element<std::string>("", "U%x[0,0]\nU1:%x[-1,1]", "U%x[0,0]\nB", "B:%x[0,1]\nB%x[-1,0]");
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

std::set<std::string> set_of(const Dictionary& dictionary) {
  const Names names = names_of(dictionary);
  return {names.begin(), names.end()};
}

// The features and labels of a model of CRF++ as text: blocks parted by blank lines, header, labels, templates,
// "ID FEATURE", weights.
struct CrfppModel {
  explicit CrfppModel(const std::string& path) {
    std::ifstream model(path);
    std::size_t block = 0;
    for (std::string line; std::getline(model, line);) {
      if (line.empty()) {
        ++block;
      } else if (block == 1) {
        labels.push_back(line);
      } else if (block == 3) {
        const std::string feature = line.substr(line.find(' ') + 1);
        (feature[0] == 'U' ? tokens : transitions).insert(feature);
      }
    }
  }
  Names labels;
  std::set<std::string> tokens, transitions;
};

TEST(TagReaderOracle, CrfppFeatures) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/oracles/crfpp/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.templates = read_all(folder + "template.txt");
  TagDictionaries dictionaries;
  const TagExamples examples = read_tag_growing(folder + "train.txt", input, {}, {}, dictionaries);
  EXPECT_EQ(examples.sequences.size(), 60u);
  const CrfppModel model(folder + "a.model.txt");
  EXPECT_EQ(names_of(dictionaries.labels), model.labels);
  EXPECT_EQ(set_of(dictionaries.attributes), model.tokens);
  EXPECT_EQ(set_of(dictionaries.transitions), model.transitions);
  EXPECT_GT(model.transitions.size(), 1u);
}

TEST(TagReaderOracle, CrfppCutOff) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/oracles/crfpp/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.templates = read_all(folder + "template_b.txt");
  TagDictionaries dictionaries;
  const TagExamples examples = read_tag_growing(folder + "train.txt", input, {}, {}, dictionaries, 2);
  const CrfppModel model(folder + "b.model.txt");
  EXPECT_EQ(set_of(dictionaries.attributes), model.tokens);
  EXPECT_EQ(set_of(dictionaries.transitions), model.transitions);
  EXPECT_GT(examples.num_rare, model.tokens.size());
}

// The observations of a model file of Wapiti, "LENGTH:NAME,", by the letter that they begin with.
std::map<char, std::set<std::string>> wapiti_observations(const std::string& path) {
  std::map<char, std::set<std::string>> observations;
  std::ifstream model(path);
  int lists = 0;
  for (std::string line; std::getline(model, line);) {
    if (line.starts_with("#qrk#")) {
      ++lists;
    } else if (lists == 2 && line.ends_with(',')) {
      const std::size_t colon = line.find(':');
      observations[line[colon + 1]].insert(line.substr(colon + 1, line.size() - colon - 2));
    }
  }
  return observations;
}

void expect_wapiti_observations(const std::string& model, const TagDictionaries& dictionaries) {
  auto observations = wapiti_observations(model);
  std::set<std::string> tokens = observations['u'], transitions = observations['b'];
  for (const std::string& name : observations['*']) tokens.insert(name);
  EXPECT_EQ(set_of(dictionaries.attributes), tokens);
  // Wapiti also lists those that only a first token has, where no step leads to.
  for (const std::string& name : set_of(dictionaries.transitions)) {
    EXPECT_TRUE(transitions.contains(name) || observations['*'].contains(name)) << name;
  }
}

// Those of a dump, "OBSERVATION TAB LABEL BEFORE, or # TAB LABEL TAB WEIGHT", of tokens or of transitions.
std::set<std::string> wapiti_dumped(const std::string& path, bool of_transitions) {
  std::set<std::string> names;
  std::ifstream dump(path);
  for (std::string line; std::getline(dump, line);) {
    if (line.empty()) continue;
    const std::size_t tab = line.find('\t');
    if ((line.compare(tab, 3, "\t#\t") != 0) == of_transitions) names.insert(line.substr(0, tab));
  }
  return names;
}

TEST(TagReaderOracle, WapitiPatterns) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/oracles/wapiti/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.templates = read_all(folder + "pattern.txt");
  TagDictionaries dictionaries;
  const TagExamples examples = read_tag_growing(folder + "train.txt", input, {}, {}, dictionaries);
  EXPECT_EQ(examples.sequences.size(), 40u);
  expect_wapiti_observations(folder + "a.model.txt", dictionaries);
  EXPECT_EQ(set_of(dictionaries.attributes), wapiti_dumped(folder + "a.dump.txt", false));
  EXPECT_EQ(set_of(dictionaries.transitions), wapiti_dumped(folder + "a.dump.txt", true));
  EXPECT_EQ(set_of(dictionaries.attributes).size(), 769u);
  // An l1 penalty leaves a part of them.
  for (const bool of_transitions : {false, true}) {
    const auto& names = of_transitions ? dictionaries.transitions : dictionaries.attributes;
    for (const std::string& name : wapiti_dumped(folder + "b.dump.txt", of_transitions)) {
      EXPECT_TRUE(names.find(name)) << name;
    }
  }
}

TEST(TagReaderOracle, WapitiAttributes) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/oracles/wapiti/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.format = TagFormat::wapiti;
  TagDictionaries dictionaries;
  const TagExamples examples = read_tag_growing(folder + "raw_train.txt", input, {}, {}, dictionaries);
  EXPECT_EQ(examples.sequences.size(), 25u);
  expect_wapiti_observations(folder + "raw.model.txt", dictionaries);
  EXPECT_EQ(set_of(dictionaries.transitions), wapiti_dumped(folder + "raw.dump.txt", true));
}

TEST(TagReaderOracle, CrfsuiteAttributes) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/oracles/crfsuite/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.format = TagFormat::crfsuite;
  TagDictionaries dictionaries;
  const TagExamples examples = read_tag_growing(folder + "train.txt", input, {}, {}, dictionaries);
  EXPECT_EQ(examples.sequences.size(), 60u);
  EXPECT_EQ(examples.sequences.num_tokens(), 719u);

  // "  12: NAME" between "ATTRIBUTES = {" and "}". Its value is always 0, so the dump lacks "zero".
  std::set<std::string> expected{"zero"};
  std::ifstream dump(folder + "a.dump.txt");
  bool inside = false;
  for (std::string line; std::getline(dump, line);) {
    if (line == "}") inside = false;
    if (inside) expected.insert(line.substr(line.find(": ") + 2));
    if (line == "ATTRIBUTES = {") inside = true;
  }
  EXPECT_EQ(expected.size(), 851u);
  EXPECT_EQ(set_of(dictionaries.attributes), expected);
  EXPECT_EQ(row_of(examples.sequences.tokens, 0, dictionaries.attributes).at("cap"), 0.25f);
}

// The counts were made by a separate program from the same files.
TEST(TagReaderData, Conll2000) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/data/conll2000/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.format = TagFormat::crfsuite;
  TagDictionaries dictionaries;
  const TagExamples train = read_tag_growing(folder + "train.crfsuite.gz", input, {}, {}, dictionaries);
  EXPECT_EQ(train.sequences.size(), 8'936u);
  EXPECT_EQ(train.sequences.num_tokens(), 211'727u);
  EXPECT_EQ(train.sequences.tokens.num_entries(), 3'808'439u);
  EXPECT_TRUE(train.sequences.tokens.row(0).values.empty());
  EXPECT_EQ(dictionaries.attributes.size(), 335'674u);
  EXPECT_EQ(dictionaries.labels.size(), 22u);

  // The columns have the same sentences and labels.
  TagInput columns;
  columns.templates = "U00:%x[0,0]\nB\n";
  TagDictionaries others;
  const TagExamples same = read_tag_growing(folder + "train.txt.gz", columns, {}, {}, others);
  EXPECT_EQ(same.sequences.offsets, train.sequences.offsets);
  EXPECT_EQ(same.labels, train.labels);
  EXPECT_EQ(names_of(others.labels), names_of(dictionaries.labels));
}

TEST(TagReaderData, Conll2003) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/data/conll2003/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  TagInput input;
  input.templates = "U00:%x[0,0]\n";
  input.encoding = Encoding::bioes;
  TagDictionaries dictionaries;
  const TagExamples train = read_tag_growing(folder + "eng.train.gz", input, {}, {}, dictionaries);
  EXPECT_EQ(train.sequences.size(), 14'041u);
  EXPECT_EQ(train.sequences.num_tokens(), 203'621u);
  EXPECT_EQ(dictionaries.labels.size(), 17u);
  EXPECT_FALSE(dictionaries.attributes.find("U00:-DOCSTART-"));
}

}  // namespace
}  // namespace espalier
