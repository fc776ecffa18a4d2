#include "tasks/classify/reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/output.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::classify_reader_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

// An example as it is read: its label's name ("?" where unknown) and its attributes by name.
using Attributes = std::map<std::string, float>;
using Example = std::pair<std::string, Attributes>;
using Examples = std::vector<Example>;
using Names = std::vector<std::string>;

Names names_of(const Dictionary& dictionary) {
  Names names;
  for (std::uint32_t id = 0; id < dictionary.size(); ++id) names.emplace_back(dictionary.name(id));
  return names;
}

struct Data {
  Dictionary attributes, labels;

  Examples read(const std::string& path, const ClassifyReadOptions& options, bool growing) {
    const ClassifyExamples read = growing ? read_classify_growing(path, options, attributes, labels)
                                          : read_classify(path, options, attributes, labels);
    EXPECT_EQ(read.rows.size(), read.labels.size());
    Examples examples;
    for (std::size_t i = 0; i < read.labels.size(); ++i) {
      Example example;
      example.first = read.labels[i] == kUnknownLabel ? "?" : std::string(labels.name(read.labels[i]));
      const SparseRows::Row row = read.rows.row(i);
      for (std::size_t j = 0; j < row.ids.size(); ++j) {
        const bool is_new = example.second.emplace(attributes.name(row.ids[j]), row.value(j)).second;
        EXPECT_TRUE(is_new) << attributes.name(row.ids[j]);
      }
      examples.push_back(example);
    }
    return examples;
  }
};

class ClassifyReader : public ::testing::Test {
 protected:
  // For training; the file's name in an error is "data".
  Examples train(const std::string& text, ClassifyReadOptions options = {}) {
    data_ = Data();
    return data_.read(folder_.file("data", text), options, true);
  }
  Examples predict(const std::string& text, ClassifyReadOptions options = {}) {
    options.labels_required = false;
    return data_.read(folder_.file("data", text), options, false);
  }
  std::string shortened(const std::string& message) const {
    std::string result = message;
    for (std::size_t at; (at = result.find(folder_.path() + "/")) != std::string::npos;) {
      result.erase(at, folder_.path().size() + 1);
    }
    return result;
  }
  std::string train_error(const std::string& text, const ClassifyReadOptions& options = {}) {
    return shortened(error_message([&] { train(text, options); }));
  }
  std::string predict_error(const std::string& text, const ClassifyReadOptions& options = {}) {
    return shortened(error_message([&] { predict(text, options); }));
  }

  const TemporaryFolder folder_;
  Data data_;
};

TEST(ClassifyFormat, HasNames) {
  for (const auto format : {ClassifyFormat::libsvm, ClassifyFormat::crfsuite, ClassifyFormat::idx,
                            ClassifyFormat::named, ClassifyFormat::text}) {
    EXPECT_EQ(parse_classify_format(to_string(format)), format);
  }
  EXPECT_EQ(error_message([] { parse_classify_format("arff"); }),
            "format: unknown format 'arff'; expected libsvm, crfsuite, idx, named or text");
}

using Libsvm = ClassifyReader;

TEST_F(Libsvm, ReadsSparseRows) {
  EXPECT_EQ(train("2 1:0.5 3:-2\n1\t2:1e-1 \t 7:+4 \n"),
            (Examples{{"2", {{"1", 0.5f}, {"3", -2.0f}}}, {"1", {{"2", 0.1f}, {"7", 4.0f}}}}));
  EXPECT_EQ(names_of(data_.attributes), (Names{"1", "3", "2", "7"}));
  EXPECT_EQ(names_of(data_.labels), (Names{"1", "2"}));
}

TEST_F(Libsvm, ReadsDenseRows) {
  EXPECT_EQ(train("a 0.5 0 3\nb 0 0 1\n"),
            (Examples{{"a", {{"1", 0.5f}, {"3", 3.0f}}}, {"b", {{"3", 1.0f}}}}));
  EXPECT_EQ(train_error("a 1 2\n# between\nb 1 2 3\n"), "data:3: 3 values; expected 2 as in line 1");
}

TEST_F(Libsvm, SkipsBlankLinesAndComments) {
  EXPECT_EQ(train("# a comment\n\n  \t\na 1:1 # 2:1\n #\nb# 2:1\r\n"),
            (Examples{{"a", {{"1", 1.0f}}}, {"b#", {{"2", 1.0f}}}}));
}

TEST_F(Libsvm, ARowMayHaveALabelAlone) {
  EXPECT_EQ(train("a\nb 1:1\n"), (Examples{{"a", {}}, {"b", {{"1", 1.0f}}}}));
}

TEST_F(Libsvm, ZerosAreDroppedAndGetNoAttribute) {
  EXPECT_EQ(train("a 1:0 2:3 4:-0.0 5:1e-60\nb 2:0.0\n"), (Examples{{"a", {{"2", 3.0f}}}, {"b", {}}}));
  EXPECT_EQ(names_of(data_.attributes), Names{"2"});
}

TEST_F(Libsvm, IndicesMayComeInAnyOrderButOnce) {
  EXPECT_EQ(train("a 3:3 1:1 02:2\nb\n"),
            (Examples{{"a", {{"1", 1.0f}, {"2", 2.0f}, {"3", 3.0f}}}, {"b", {}}}));
  const std::string twice = "data:2: index 3 twice; expected each index once in a row";
  EXPECT_EQ(train_error("a 1:1\na 3:1 3:2\n"), twice);
  EXPECT_EQ(train_error("a 1:1\na 3:1 1:1 03:2\n"), twice);
  EXPECT_EQ(train_error("a 1:1\na 3:0 1:1 3:0\n"), twice);
  EXPECT_EQ(predict_error("a 1:1\na 3:1 3:2\n"), twice);  // also where the attribute is unknown
}

TEST_F(Libsvm, OneNumberIsOneLabel) {
  train("1\n+1\n1.0\n01\n1e0\n-1\n-1.0\n0\n-0\n0.0\n0.50\n.5\n1e3\n");
  EXPECT_EQ(names_of(data_.labels), (Names{"-1", "0", "0.5", "1", "1000"}));
  // Beyond what a double tells apart.
  train("9007199254740993\n9007199254740992\n+9007199254740993\n");
  EXPECT_EQ(names_of(data_.labels), (Names{"9007199254740992", "9007199254740993"}));
  train("nan\ninf\n0x1\n1\n");
  EXPECT_EQ(names_of(data_.labels), (Names{"0x1", "1", "inf", "nan"}));
}

TEST_F(Libsvm, LabelsAreNumberedInTheirOrder) {
  train("10\n9\n-3\n");
  EXPECT_EQ(names_of(data_.labels), (Names{"-3", "9", "10"}));
  train("10\n9\nspam\n");
  EXPECT_EQ(names_of(data_.labels), (Names{"10", "9", "spam"}));
  train("gr\xc3\xbcn\nblue\nNN,DT\n");
  EXPECT_EQ(names_of(data_.labels), (Names{"NN,DT", "blue", "gr\xc3\xbcn"}));
}

TEST_F(Libsvm, ASecondFileKeepsTheIdsOfTheFirst) {
  train("b 2:1\nc 1:1\n");
  EXPECT_EQ(data_.read(folder_.file("more", "a 3:1\nc 1:1\n"), {}, true),
            (Examples{{"a", {{"3", 1.0f}}}, {"c", {{"1", 1.0f}}}}));
  EXPECT_EQ(names_of(data_.labels), (Names{"b", "c", "a"}));
  EXPECT_EQ(names_of(data_.attributes), (Names{"2", "1", "3"}));
}

TEST_F(Libsvm, PredictionSkipsWhatTrainingNeverSaw) {
  train("a 1:1 2:1\nb 2:1\n");
  EXPECT_EQ(
      predict("b 1:2 3:4\nc 2:5\n1:6 2:7\nb\n"),
      (Examples{{"b", {{"1", 2.0f}}}, {"?", {{"2", 5.0f}}}, {"?", {{"1", 6.0f}, {"2", 7.0f}}}, {"b", {}}}));
  EXPECT_EQ(data_.attributes.size(), 2u);
  EXPECT_EQ(data_.labels.size(), 2u);
  EXPECT_EQ(predict(""), Examples{});
}

TEST_F(Libsvm, BadFieldsAreNamed) {
  const auto bad = [&](const std::string& field) {
    return train_error("a 1:1\n\nb 2:1 " + field + " 9:1\n");
  };
  EXPECT_EQ(bad("0:1"), "data:3: index 0; indices start at 1");
  EXPECT_EQ(bad("-3:1"), "data:3: index '-3'; expected a whole number >= 1; names need format named");
  EXPECT_EQ(bad("abc:1"), "data:3: index 'abc'; expected a whole number >= 1; names need format named");
  EXPECT_EQ(bad("1.5:1"), "data:3: index '1.5'; expected a whole number >= 1; names need format named");
  EXPECT_EQ(bad(":1"), "data:3: index ''; expected a whole number >= 1; names need format named");
  EXPECT_EQ(bad("99999999999999999999:1"),
            "data:3: index '99999999999999999999'; expected a whole number >= 1; names need format named");
  EXPECT_EQ(bad("3:"), "data:3: value '' of index 3; expected a finite number");
  EXPECT_EQ(bad("3:x"), "data:3: value 'x' of index 3; expected a finite number");
  EXPECT_EQ(bad("3:1:2"), "data:3: value '1:2' of index 3; expected a finite number");
  EXPECT_EQ(bad("3:nan"), "data:3: value 'nan' of index 3; expected a finite number");
  EXPECT_EQ(bad("3:-inf"), "data:3: value '-inf' of index 3; expected a finite number");
  EXPECT_EQ(bad("3:1e999"), "data:3: value '1e999' of index 3; expected a finite number");
  EXPECT_EQ(bad("qid:3"), "data:3: 'qid:3', a query of ranking data; expected classification data");
  EXPECT_EQ(bad("0.5"),
            "data:3: '0.5' among fields with an index; expected 'label index:value index:value ...'");
  EXPECT_EQ(train_error("a 0.5 3:1\n"),
            "data:1: '3:1' among values without an index; expected 'label value value ...'");
  EXPECT_EQ(
      train_error("a 0.5 x\n"),
      "data:1: value 'x' of index 2; expected a finite number; lines 'label TAB text' need format text, "
      "attributes that are words format crfsuite");
}

class Named : public ClassifyReader {
 protected:
  static ClassifyReadOptions named() {
    ClassifyReadOptions options;
    options.format = ClassifyFormat::named;
    return options;
  }
};

TEST_F(Named, ReadsNamesAndValues) {
  EXPECT_EQ(train("spam free:2 #win:0.5\r\n\nham\tnote:-1 \t http://x:3\n1 7:1 a:0\n", named()),
            (Examples{{"spam", {{"free", 2.0f}, {"#win", 0.5f}}},
                      {"ham", {{"note", -1.0f}, {"http://x", 3.0f}}},
                      {"1", {{"7", 1.0f}}}}));
  EXPECT_EQ(names_of(data_.attributes), (Names{"free", "#win", "note", "http://x", "7"}));
  // Labels are those of LIBSVM's format, and need not be there.
  EXPECT_EQ(predict("+1 7:2\nfree:1 new:3\nham\n", named()),
            (Examples{{"1", {{"7", 2.0f}}}, {"?", {{"free", 1.0f}}}, {"ham", {}}}));
}

TEST_F(Named, RepeatedNamesAddUp) {
  EXPECT_EQ(train("a x:1 y:1 x:2\nb x:1 x:-1\n", named()),
            (Examples{{"a", {{"x", 3.0f}, {"y", 1.0f}}}, {"b", {}}}));
}

TEST_F(Named, BadFieldsAreNamed) {
  const auto bad = [&](const std::string& row) { return train_error("a x:1\n" + row + "\n", named()); };
  EXPECT_EQ(bad("b x"), "data:2: 'x' without a value; expected 'label name:value name:value ...'");
  EXPECT_EQ(bad("b x:1 # y"), "data:2: '#' without a value; expected 'label name:value name:value ...'");
  EXPECT_EQ(bad("b :1"), "data:2: no name in ':1'; expected 'label name:value name:value ...'");
  EXPECT_EQ(bad("b x:"), "data:2: value '' of 'x'; expected a finite number");
  EXPECT_EQ(bad("b x:inf"), "data:2: value 'inf' of 'x'; expected a finite number");
  EXPECT_EQ(bad("x:1"), "data:2: 'x:1' in place of the label; expected 'label name:value name:value ...'");
}

TEST_F(Libsvm, RareAttributesAreDropped) {
  ClassifyReadOptions options;
  options.min_count = 2;
  options.bias = true;
  EXPECT_EQ(train("a 1:1 2:5 3:1\nb 3:2\na 1:3\n", options),
            (Examples{{"a", {{"1", 1.0f}, {"3", 1.0f}, {"(bias)", 1.0f}}},
                      {"b", {{"3", 2.0f}, {"(bias)", 1.0f}}},
                      {"a", {{"1", 3.0f}, {"(bias)", 1.0f}}}}));
  EXPECT_EQ(names_of(data_.attributes), (Names{"(bias)", "1", "3"}));
  // The bias is not rare, however few examples there are.
  options.min_count = 10;
  EXPECT_EQ(train("a 1:1\nb 1:1\n", options),
            (Examples{{"a", {{"(bias)", 1.0f}}}, {"b", {{"(bias)", 1.0f}}}}));
}

TEST_F(Libsvm, BadLabelsAreNamed) {
  EXPECT_EQ(train_error("a 1:1\n 1:0.5 2:1\n"),
            "data:2: '1:0.5' in place of the label; expected 'label index:value index:value ...'");
  EXPECT_EQ(train_error("qid:1 1:0.5\n"),
            "data:1: 'qid:1' in place of the label; expected 'label index:value index:value ...'");
  EXPECT_EQ(train_error("1,2 1:0.5\n"), "data:1: several labels '1,2'; expected one label per row");
  EXPECT_EQ(predict_error("1,2.5,3 1:0.5\n"), "data:1: several labels '1,2.5,3'; expected one label per row");
}

TEST_F(Libsvm, TrainingNeedsExamplesOfTwoLabels) {
  EXPECT_EQ(train_error(""), "data: no examples; expected at least one");
  EXPECT_EQ(train_error("# nothing\n\n"), "data: no examples; expected at least one");
  EXPECT_EQ(train_error("1 1:1\n1.0 2:1\n"), "data: only the label '1'; expected at least two labels");
}

TEST_F(Libsvm, ReadsTheFirstExamplesOnly) {
  ClassifyReadOptions options;
  options.first = 2;
  EXPECT_EQ(train("a 1:1\n# not an example\nb 2:1\nthis:is malformed\n", options),
            (Examples{{"a", {{"1", 1.0f}}}, {"b", {{"2", 1.0f}}}}));
  EXPECT_EQ(train("a 1:1\nb 2:1", options).size(), 2u);
  options.first = 1000;
  EXPECT_EQ(train("a 1:1\nb 2:1\na 3:1\n", options).size(), 3u);
  options.first = 0;
  EXPECT_EQ(train_error("a 1:1\nb 2:1\n", options), "first: 0 examples; expected at least 1");
}

TEST_F(Libsvm, ABiasIsAnAttributeOfEveryExample) {
  ClassifyReadOptions options;
  options.bias = true;
  EXPECT_EQ(train("a 1:3\nb\n", options),
            (Examples{{"a", {{"1", 3.0f}, {"(bias)", 1.0f}}}, {"b", {{"(bias)", 1.0f}}}}));
  EXPECT_EQ(predict("a 7:1\n", options), (Examples{{"a", {{"(bias)", 1.0f}}}}));
  train("a 1:3\nb\n");
  EXPECT_EQ(predict("a 1:1\n", options), (Examples{{"a", {{"1", 1.0f}}}}));  // a model without one
}

RC_GTEST_PROP(LibsvmProperty, ReadsBackWhatWasWritten, ()) {
  const auto indices = rc::gen::unique<std::vector<std::uint32_t>>(rc::gen::positive<std::uint32_t>());
  const auto rows = *rc::gen::container<std::vector<std::vector<std::uint32_t>>>(indices);
  Examples expected{{"first", {}}, {"second", {}}};
  std::string text = "first\nsecond\n";
  for (const auto& row : rows) {
    Example example{"first", {}};
    text += "first";
    for (const std::uint32_t index : row) {
      const float value = static_cast<float>(*rc::gen::nonZero<int>()) / 1000.0f;
      text += fmt::format("{}{}:{}", index % 2 == 0 ? " " : "\t", index, value);
      example.second[std::to_string(index)] = value;
    }
    text += "\n";
    expected.push_back(example);
  }
  const TemporaryFolder folder;
  Data data;
  RC_ASSERT(data.read(folder.file("data", text), {}, true) == expected);
}

class Crfsuite : public ClassifyReader {
 protected:
  Crfsuite() { options_.format = ClassifyFormat::crfsuite; }
  ClassifyReadOptions options_;
};

TEST_F(Crfsuite, ReadsNamesAndValues) {
  EXPECT_EQ(
      train("NN\tw=the\tlength:3.5\n\nDT\tw[0]|w[1]=a|b c\n  \nDT\r\n", options_),
      (Examples{
          {"NN", {{"w=the", 1.0f}, {"length", 3.5f}}}, {"DT", {{"w[0]|w[1]=a|b c", 1.0f}}}, {"DT", {}}}));
  EXPECT_EQ(names_of(data_.labels), (Names{"DT", "NN"}));
  EXPECT_EQ(names_of(data_.attributes), (Names{"w=the", "length", "w[0]|w[1]=a|b c"}));
}

TEST_F(Crfsuite, AnEmptyValueIsOne) {
  EXPECT_EQ(train("a\tx:\ty:2\nb\tx\\::\n", options_),
            (Examples{{"a", {{"x", 1.0f}, {"y", 2.0f}}}, {"b", {{"x:", 1.0f}}}}));
}

TEST_F(Crfsuite, UndoesEscapes) {
  EXPECT_EQ(train("a\tw=\\:\tt=10\\:30:2\tback\\\\slash\tb\\\\:3\tother\\n\tend\\\n\\:\tw=b\n:\n", options_),
            (Examples{{"a",
                       {{"w=:", 1.0f},
                        {"t=10:30", 2.0f},
                        {"back\\slash", 1.0f},
                        {"b\\", 3.0f},
                        {"other\\n", 1.0f},
                        {"end\\", 1.0f}}},
                      {":", {{"w=b", 1.0f}}},
                      {":", {}}}));
}

TEST_F(Crfsuite, RepeatedAttributesAddUp) {
  EXPECT_EQ(train("a\tx\ty:2\tx\ty:-2\tz\nb\tx\n", options_),
            (Examples{{"a", {{"x", 2.0f}, {"z", 1.0f}}}, {"b", {{"x", 1.0f}}}}));
  options_.bias = true;
  EXPECT_EQ(train("a\t(bias):2\nb\n", options_),
            (Examples{{"a", {{"(bias)", 3.0f}}}, {"b", {{"(bias)", 1.0f}}}}));
}

TEST_F(Crfsuite, EmptyFieldsAreSkipped) {
  EXPECT_EQ(train("a\tx\t\ty\t\nb\t\n", options_), (Examples{{"a", {{"x", 1.0f}, {"y", 1.0f}}}, {"b", {}}}));
}

TEST_F(Crfsuite, BadFieldsAreNamed) {
  EXPECT_EQ(train_error("a\tx\na\tx\t:2\n", options_),
            "data:2: ':2' without a name; expected 'attribute' or 'attribute:value'");
  const std::string expected = "; expected a finite number; a colon that is part of a name is written '\\:'";
  EXPECT_EQ(train_error("a\tw=10:30pm\n", options_), "data:1: value '30pm' of attribute 'w=10'" + expected);
  EXPECT_EQ(train_error("a\tx:1:\n", options_), "data:1: value '1:' of attribute 'x'" + expected);
  EXPECT_EQ(train_error("a\tx:inf\n", options_), "data:1: value 'inf' of attribute 'x'" + expected);
  EXPECT_EQ(train_error("a\tx\n\ty\n", options_),
            "data:2: no label before the first TAB; expected 'label TAB attribute TAB attribute:value ...'");
}

TEST_F(Crfsuite, PredictionNeedsNoLabel) {
  train("a\tx\nb\ty\n", options_);
  EXPECT_EQ(predict("\tx\tz\nb\ty\nc\n", options_),
            (Examples{{"?", {{"x", 1.0f}}}, {"b", {{"y", 1.0f}}}, {"?", {}}}));
}

std::string big_endian(const std::vector<std::uint32_t>& numbers) {
  std::string bytes;
  for (const std::uint32_t number : numbers) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  }
  return bytes;
}

class Idx : public ClassifyReader {
 protected:
  Idx() { options_.format = ClassifyFormat::idx; }

  // Three images of 2 x 3 pixels.
  const std::string images_ = big_endian({0x803, 3, 2, 3}) + std::string(
                                                                 "\0\xff\0\0\0\x33"
                                                                 "\0\0\0\0\0\0"
                                                                 "\x01\0\0\0\0\xff",
                                                                 18);
  const std::string labels_ = big_endian({0x801, 3}) + std::string("\x07\x00\xff", 3);

  Examples train_pair(const std::string& images, const std::string& labels) {
    data_ = Data();
    return data_.read(folder_.file("images", images) + "," + folder_.file("labels", labels), options_, true);
  }
  std::string pair_error(const std::string& images, const std::string& labels) {
    return shortened(error_message([&] { train_pair(images, labels); }));
  }

  ClassifyReadOptions options_;
};

TEST_F(Idx, ReadsImagesAndLabels) {
  EXPECT_EQ(train_pair(images_, labels_), (Examples{{"7", {{"0,1", 1.0f}, {"1,2", 0x33 / 255.0f}}},
                                                    {"0", {}},
                                                    {"255", {{"0,0", 1 / 255.0f}, {"1,2", 1.0f}}}}));
  EXPECT_EQ(names_of(data_.labels), (Names{"0", "7", "255"}));
  EXPECT_EQ(names_of(data_.attributes), (Names{"0,1", "1,2", "0,0"}));
}

TEST_F(Idx, PredictionNeedsNoLabels) {
  train_pair(images_, labels_);
  const std::string other = big_endian({0x803, 1, 2, 3}) + "\xff\xff\xff\xff\xff\xff";
  EXPECT_EQ(predict(other, options_), (Examples{{"?", {{"0,0", 1.0f}, {"0,1", 1.0f}, {"1,2", 1.0f}}}}));
  EXPECT_EQ(train_error(images_, options_),
            "data: images without labels; expected IMAGES,LABELS: two files with a comma between them");
}

TEST_F(Idx, ReadsTheFirstExamplesOnly) {
  options_.first = 2;
  EXPECT_EQ(train_pair(images_.substr(0, 16 + 12), labels_.substr(0, 8 + 2)).size(), 2u);
  options_.first = 100;
  EXPECT_EQ(train_pair(images_, labels_).size(), 3u);
}

TEST_F(Idx, DamagedFilesAreNamed) {
  const std::string again = "; copy or download the file again";
  EXPECT_EQ(pair_error("", labels_), "images: truncated: the header is incomplete" + again);
  EXPECT_EQ(pair_error(images_.substr(0, 15), labels_),
            "images: truncated: the header is incomplete" + again);
  EXPECT_EQ(pair_error(images_, labels_.substr(0, 7)), "labels: truncated: the header is incomplete" + again);
  EXPECT_EQ(pair_error(images_.substr(0, images_.size() - 1), labels_),
            "images: truncated: 2 of 3 images" + again);
  EXPECT_EQ(pair_error(images_.substr(0, 16), labels_), "images: truncated: 0 of 3 images" + again);
  EXPECT_EQ(pair_error(images_, labels_.substr(0, 10)), "labels: truncated: 2 of 3 labels" + again);
  EXPECT_EQ(pair_error(images_ + "x", labels_), "images: unexpected bytes after 3 images" + again);
  EXPECT_EQ(pair_error(images_, labels_ + "x"), "labels: unexpected bytes after 3 labels" + again);
}

TEST_F(Idx, FilesThatDoNotFitAreNamed) {
  EXPECT_EQ(pair_error(labels_, images_),
            "images: an IDX file of labels; expected one of images; the order is IMAGES,LABELS");
  EXPECT_EQ(pair_error(images_, images_),
            "labels: an IDX file of images; expected one of labels; the order is IMAGES,LABELS");
  EXPECT_EQ(pair_error("text instead", labels_),
            "images: begins with 74657874; expected 00000803, an IDX file of images");
  EXPECT_EQ(pair_error(images_, big_endian({0xd01, 3})),
            "labels: begins with 00000d01; expected 00000801, an IDX file of labels");
  EXPECT_EQ(pair_error(images_, big_endian({0x801, 2}) + "ab"),
            "labels: 2 labels; expected 3, as many as there are images");
  EXPECT_EQ(pair_error(big_endian({0x803, 3, 0, 3}), labels_),
            "images: images of 0 x 3 pixels; expected between 1 and 67108864 pixels");
  EXPECT_EQ(pair_error(big_endian({0x803, 3, ~0u, ~0u}), labels_),
            "images: images of 4294967295 x 4294967295 pixels; expected between 1 and 67108864 pixels");
  const std::string missing = folder_.path("none") + "," + folder_.file("labels", labels_);
  EXPECT_EQ(shortened(error_message([&] { data_.read(missing, options_, true); })),
            "none: cannot open: No such file or directory; expected a file that can be read");
  EXPECT_EQ(shortened(pair_error(big_endian({0x803, 0, 2, 3}), big_endian({0x801, 0}))),
            "images,labels: no examples; expected at least one");
}

TEST_F(Idx, IsRecognised) {
  EXPECT_EQ(guess_classify_format("images,labels"), ClassifyFormat::idx);
  EXPECT_EQ(guess_classify_format(folder_.file("images", images_)), ClassifyFormat::idx);
  EXPECT_EQ(guess_classify_format(folder_.file("labels", labels_)), ClassifyFormat::idx);
  EXPECT_EQ(guess_classify_format(folder_.file("a,b", "1 1:1\n")), ClassifyFormat::libsvm);
  EXPECT_EQ(guess_classify_format(folder_.file("short", "1")), ClassifyFormat::libsvm);
  EXPECT_EQ(guess_classify_format("-"), ClassifyFormat::libsvm);
  EXPECT_EQ(guess_classify_format(folder_.path("missing")), ClassifyFormat::libsvm);
  EXPECT_EQ(guess_classify_format(folder_.path()), ClassifyFormat::libsvm);
  OutputFile packed(folder_.path("images.gz"));
  packed.write(images_);
  packed.commit();
  EXPECT_EQ(guess_classify_format(folder_.path("images.gz")), ClassifyFormat::idx);
}

// The counts below were made by a separate program from the same files.

TEST(ClassifyReaderData, Mnist) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/data/mnist/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  ClassifyReadOptions options;
  options.format = ClassifyFormat::idx;
  options.first = 59'000;
  Dictionary attributes, labels;
  const ClassifyExamples examples =
      read_classify_growing(folder + "train-images-idx3-ubyte.gz," + folder + "train-labels-idx1-ubyte.gz",
                            options, attributes, labels);
  EXPECT_EQ(examples.rows.size(), 59'000u);
  EXPECT_EQ(examples.rows.num_entries(), 8'835'667u);
  EXPECT_EQ(attributes.size(), 717u);
  std::vector<int> counts(labels.size());
  for (const std::uint32_t label : examples.labels) ++counts[label];
  EXPECT_EQ(counts, (std::vector<int>{5825, 6640, 5853, 6028, 5746, 5331, 5811, 6158, 5757, 5851}));
  const SparseRows::Row row = examples.rows.row(0);
  EXPECT_EQ(row.ids.size(), 166u);
  EXPECT_EQ(attributes.name(row.ids[0]), "5,12");
  EXPECT_EQ(row.value(0), 3 / 255.0f);
  EXPECT_EQ(labels.name(examples.labels[0]), "5");
}

TEST(ClassifyReaderData, LetterScale) {
  const std::string folder = std::string(ESPALIER_SHARED_DIR) + "/data/letter-scale/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  Dictionary attributes, labels;
  const auto train = read_classify_growing(folder + "letter.scale.train.svm.gz", {}, attributes, labels);
  EXPECT_EQ(train.rows.size(), 15'000u);
  EXPECT_EQ(train.rows.num_entries(), 240'000u);
  EXPECT_EQ(attributes.size(), 16u);
  EXPECT_EQ(labels.size(), 26u);
  for (std::uint32_t id = 0; id < 26; ++id) EXPECT_EQ(labels.name(id), std::to_string(id + 1));
  EXPECT_EQ(train.labels[0], 25u);
  EXPECT_EQ(train.rows.row(0).value(1), -0.466667f);
  const auto test = read_classify(folder + "letter.scale.test.svm.gz", {}, attributes, labels);
  EXPECT_EQ(test.rows.size(), 5'000u);
  EXPECT_EQ(std::count(test.labels.begin(), test.labels.end(), 0u), 195);
}

TEST(ClassifyReaderData, Conll2000AsClassification) {
  const std::string file = std::string(ESPALIER_SHARED_DIR) + "/data/conll2000/train.crfsuite.gz";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  ClassifyReadOptions options;
  options.format = ClassifyFormat::crfsuite;
  Dictionary attributes, labels;
  const auto examples = read_classify_growing(file, options, attributes, labels);
  EXPECT_EQ(examples.rows.size(), 211'727u);
  EXPECT_EQ(examples.rows.num_entries(), 3'808'439u);
  EXPECT_EQ(attributes.size(), 335'674u);
  EXPECT_EQ(labels.size(), 22u);
  EXPECT_TRUE(examples.rows.row(0).values.empty());
}

}  // namespace
}  // namespace espalier::classify_reader_test
