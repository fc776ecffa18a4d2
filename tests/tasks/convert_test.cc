#include "tasks/tag/convert.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/input.h"
#include "base/output.h"
#include "espalier/base/error.h"
#include "espalier/model/model.h"
#include "espalier/tasks/tag.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"
#include "tasks/other_programs.h"
#include "tasks/trained.h"

namespace espalier::convert_test {
namespace {

using namespace testing;

// Two labels; one of the attributes looks like the lines that it is in.
constexpr std::string_view kCrfsuite =
    "FILEHEADER = {\n"
    "  magic: lCRF\n"
    "  type: FOMC\n"
    "  num_labels: 2\n"
    "  num_attrs: 2\n"
    "}\n"
    "\n"
    "LABELS = {\n"
    "      0: V\n"
    "      1: N\n"
    "}\n"
    "\n"
    "ATTRIBUTES = {\n"
    "      0: run\n"
    "      1: a --> N: b\n"
    "}\n"
    "\n"
    "TRANSITIONS = {\n"
    "  (1) N --> V: 1.500000\n"
    "}\n"
    "\n"
    "STATE_FEATURES = {\n"
    "  (0) run --> V: 0.250000\n"
    "  (0) a --> N: b --> N: 2.000000\n"
    "}\n"
    "\n";

// The attributes u:w=a (weights 0 and 1), *:t=p (2 and 3, and 4 to 7 of steps) and b (8 to 11).
constexpr std::string_view kWapiti =
    "#mdl#2#4\n"
    "#rdr#3/1/0\n"
    "11:u:w=%x[0,0],\n"
    "11:*:t=%X[0,1],\n"
    "1:b,\n"
    "#qrk#2\n"
    "1:X,\n"
    "1:Y,\n"
    "#qrk#3\n"
    "5:u:w=a,\n"
    "5:*:t=p,\n"
    "1:b,\n"
    "1=0x1p+0\n"
    "2=0x1.8p-1\n"
    "5=-0x1p-1\n"
    "10=0x1p-2\n";

constexpr std::string_view kCrfpp =
    "version: 100\n"
    "cost-factor: 2\n"
    "maxid: 8\n"
    "xsize: 1\n"
    "\n"
    "P\n"
    "Q\n"
    "\n"
    "U00:%x[0,0]\n"
    "B\n"
    "\n"
    "2 B\n"
    "0 U00:a\n"
    "6 U00:b\n"
    "\n"
    "0.5\n"
    "-0.25\n"
    "1\n"
    "0\n"
    "-1\n"
    "0.125\n"
    "-0.5\n"
    "0.5\n";

class ConvertTest : public ::testing::Test {
 protected:
  Trained convert(std::string_view text) {
    converted = std::make_unique<ConvertedTagger>(folder.file("dump.txt", text));
    return trained();
  }
  Trained trained() const { return {load_tag_predictor, converted->sections(), converted->theta()}; }
  // The message about a text, in which `from` became `to`.
  std::string message(std::string_view text, std::string_view from, std::string_view to) {
    std::string changed(text);
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    return message(changed);
  }
  std::string message(std::string_view text) {
    const std::string path = folder.file("m.txt", text);
    const std::string found = error_message([&] { ConvertedTagger tagger(path); });
    return found.starts_with(path) ? "m.txt" + found.substr(path.size()) : found;
  }

  TemporaryFolder folder;
  std::unique_ptr<ConvertedTagger> converted;
};

TEST_F(ConvertTest, Crfsuite) {
  const Trained model = convert(kCrfsuite);
  EXPECT_EQ(converted->program(), "CRFsuite");
  EXPECT_EQ(converted->describe(), "2 labels, 2 attributes, 3 weights");
  EXPECT_EQ(model.predictor->all_weights(),
            "run\tV\t0.25\n"
            "a --> N: b\tN\t2\n"
            "(transition)\tN\tV\t1.5\n");
  const std::string data = folder.file("data.txt", "?\ta --> N\\: b\n?\trun\tunknown\n");
  EXPECT_EQ(model.predict(data), "N\nV\n\n");
  const double best = std::exp(2 + 1.5 + 0.25), z = best + std::exp(2) + std::exp(0.25) + 1;
  EXPECT_EQ(model.predict(data, TagPredictOptions{.kbest = 1}),
            fmt::format("# 0 {:.6f}\nN\nV\n\n", best / z));
}

TEST_F(ConvertTest, Wapiti) {
  const Trained model = convert(kWapiti);
  EXPECT_EQ(converted->program(), "Wapiti");
  EXPECT_EQ(model.predictor->all_weights(),
            "u:w=a\tY\t1\n"
            "*:t=p\tX\t0.75\n"
            "*:t=p\tX\tY\t-0.5\n"
            "b\tY\tX\t0.25\n");
  // Steps count from the second token on: scores of XX, XY, YX, YY.
  const std::string data = folder.file("data.txt", "a P\na P\n");
  const double xx = std::exp(0.75 + 0.75), xy = std::exp(0.75 + 1 - 0.5), yx = std::exp(1 + 0.75 + 0.25),
               yy = std::exp(1 + 1);
  const double z = xx + xy + yx + yy;
  EXPECT_EQ(model.predict(data, TagPredictOptions{.marginals = TagMarginals::label}),
            fmt::format("a P Y X:{:.6f} Y:{:.6f}\na P X X:{:.6f} Y:{:.6f}\n\n", (xx + xy) / z, (yx + yy) / z,
                        (xx + yx) / z, (xy + yy) / z));
}

TEST_F(ConvertTest, WapitiWithoutPatterns) {
  const Trained model =
      convert("#mdl#2#2\n#rdr#0/0/0\n#qrk#2\n1:X,\n1:Y,\n#qrk#2\n3:u a,\n2:bc,\n0=-0x1.8p+1\n3=2.5\n");
  EXPECT_EQ(model.predictor->all_weights(), "u a\tX\t-3\nbc\tX\tY\t2.5\n");
  // A step has "bc" where its token has: from X to Y. Elsewhere, and of equals, the first label.
  EXPECT_EQ(model.predict(folder.file("data.txt", "uz bc\nuz bc\nuz uz\n")), "uz bc X\nuz bc Y\nuz uz X\n\n");
}

TEST_F(ConvertTest, CrfPlusPlus) {
  const Trained model = convert(kCrfpp);
  EXPECT_EQ(converted->program(), "CRF++");
  EXPECT_EQ(model.predictor->all_weights(),
            "U00:a\tP\t1\nU00:a\tQ\t-0.5\nU00:b\tP\t-1\nU00:b\tQ\t1\n"
            "B\tP\tP\t2\nB\tP\tQ\t0\nB\tQ\tP\t-2\nB\tQ\tQ\t0.25\n");
  EXPECT_EQ(model.predict(folder.file("data.txt", "b\na\n")), "b\tP\na\tP\n\n");
}

// The template says which columns count; a label is the last one.
TEST_F(ConvertTest, FilesMayHaveMoreColumns) {
  const Trained model = convert(kCrfpp);
  EXPECT_EQ(model.predict(folder.file("one.txt", "b\na\n")), "b\tP\na\tP\n\n");
  EXPECT_EQ(model.predict(folder.file("two.txt", "b Q\na P\n")), "b Q P\na P P\n\n");
  const std::string four = folder.file("four.txt", "b P x Q\na Q x P\n");
  EXPECT_EQ(model.predict(four), "b P x Q P\na Q x P P\n\n");
  EXPECT_EQ(model.predictor->evaluate(four, {}).rates.at("accuracy"), 0.5);
  TagPredictOptions forced;
  forced.forced = "2";
  EXPECT_EQ(model.predict(four, forced), "b P x Q P\na Q x P Q\n\n");
  EXPECT_EQ(error_message([&] { model.predictor->evaluate(folder.path("one.txt"), {}); }),
            folder.path("one.txt") +
                ":1: 1 column; expected at least 2: those that the template looks at and the label");
  EXPECT_EQ(error_message([&] { model.predict(folder.file("ragged.txt", "b x y\na x\n")); }),
            folder.path("ragged.txt") + ":2: 2 columns; expected 3 as in line 1");
}

TEST_F(ConvertTest, FilesHaveTheColumnsOfTheTemplate) {
  const Trained two = convert(kWapiti);
  folder.file("one.txt", "b\na\n");
  EXPECT_EQ(error_message([&] { two.predict(folder.path("one.txt")); }),
            folder.path("one.txt") + ":1: 1 column; expected at least 2: those that the template looks at");
}

TEST_F(ConvertTest, PackedFiles) {
  const std::string path = folder.path("dump.txt.gz");
  OutputFile file(path);
  file.write(kWapiti);
  file.commit();
  ASSERT_EQ(std::ifstream(path, std::ios::binary).get(), 0x1f);  // it is packed
  EXPECT_EQ(ConvertedTagger(path).describe(), "2 labels, 2 attributes, 4 weights");
}

TEST_F(ConvertTest, AProgramGetsAModel) {
  const Model model = convert_model(folder.file("model.txt", kWapiti));
  EXPECT_EQ(model.tagger().num_labels(), 2u);
  EXPECT_EQ(model.info().solver, "converted from Wapiti");
  EXPECT_FALSE(model.info().certificate);
}

TEST_F(ConvertTest, WhatIsNone) {
  EXPECT_EQ(message(""), "m.txt: an empty file; expected a model of CRFsuite, Wapiti or CRF++");
  EXPECT_EQ(message("O\tw=a\n"),
            "m.txt:1: 'O\\x09w=a'; expected 'FILEHEADER = {' (crfsuite dump), '#mdl#' (a model of Wapiti) or "
            "'version: ' (crf_learn -t)");
  EXPECT_EQ(
      message("u:w=a\t#\tX\t0.5\n"),
      "m.txt:1: a dump of Wapiti, which lacks the patterns; expected the model file that it is a dump of, "
      "which begins with #mdl#");
  const std::string binary =
      "m.txt: a binary file; expected text: the output of 'crfsuite dump', a model of Wapiti, or the text "
      "model "
      "that 'crf_learn -t' writes";
  EXPECT_EQ(message("lCRF1234"), binary);
  EXPECT_EQ(message(std::string_view("d\0\0\0", 4)), binary);
}

TEST_F(ConvertTest, BadDumpsOfCrfsuite) {
  const auto bad = [&](std::string_view from, std::string_view to) { return message(kCrfsuite, from, to); };
  EXPECT_EQ(message(kCrfsuite.substr(0, kCrfsuite.find("  (0) run"))),
            "m.txt:22: the end of the file; expected more lines, then '}'");
  EXPECT_EQ(message(kCrfsuite.substr(0, kCrfsuite.find("STATE"))),
            "m.txt:21: the end of the file; expected 'STATE_FEATURES = {'");
  EXPECT_EQ(bad("TRANSITIONS", "EXTRAS"), "m.txt:18: 'EXTRAS = {'; expected 'TRANSITIONS = {'");
  EXPECT_EQ(bad("}\n\n", "}\n\nMORE\n").substr(0, 16), "m.txt:8: 'MORE';");
  EXPECT_EQ(message(std::string(kCrfsuite) + "MORE = {\n"),
            "m.txt:27: 'MORE = {'; expected the end of the file");
  EXPECT_EQ(bad("type: FOMC", "type: SEMI"), "m.txt:3: a model of the type 'SEMI'; expected FOMC");
  EXPECT_EQ(bad("num_labels: 2", "num_labels: x"), "m.txt:4: 'x'; expected a whole number");
  EXPECT_EQ(bad("num_labels: 2", "labels: 2"),
            "m.txt:6: a header without num_labels and num_attrs; expected both");
  EXPECT_EQ(bad("num_attrs: 2", "num_attrs: 3"),
            "m.txt:16: 2 names in ATTRIBUTES; expected 3, as num_attrs says");
  EXPECT_EQ(bad("1: N", "2: N"), "m.txt:10: '2: N'; expected '1: NAME'");
  EXPECT_EQ(bad("1: N", "1: V"), "m.txt:10: 'V' a second time; expected each name once");
  EXPECT_EQ(bad("N --> V: 1.5", "N --> W: 1.5"),
            "m.txt:19: 'N --> W'; expected names of the sections above on both sides of ' --> '");
  EXPECT_EQ(bad("(1) N", "(0) N"),
            "m.txt:19: '  (0) N --> V: 1.500000'; expected '  (1) LABEL --> LABEL: WEIGHT'");
  EXPECT_EQ(bad("1.500000", "nan"), "m.txt:19: the weight 'nan'; expected a finite number");
  EXPECT_EQ(bad("0.250000", "1e40"), "m.txt:23: the weight '1e40'; expected a finite number");
  EXPECT_EQ(bad("  (0) run --> V", "  (0) run --> V: 1\n  (0) run --> V"),
            "m.txt: two weights of 'run' with the same label; expected one");
}

TEST_F(ConvertTest, BadModelsOfWapiti) {
  const auto bad = [&](std::string_view from, std::string_view to) { return message(kWapiti, from, to); };
  EXPECT_EQ(bad("#mdl#2", "#mdl#0"),
            "m.txt:1: a model of the type '0'; expected 2, a CRF; maximum entropy models have no chains");
  EXPECT_EQ(bad("3/1/0", "3/1/1"),
            "m.txt:2: a model whose attributes do not begin with u, b or *; expected "
            "'#rdr#PATTERNS/COLUMN/0'");
  EXPECT_EQ(bad("3/1/0", "3/1"), "m.txt:2: '#rdr#3/1'; expected '#rdr#PATTERNS/COLUMN/0'");
  EXPECT_EQ(bad("3/1/0", "3/0/0"),
            "m.txt, templates:2: %X[0,1] uses the label; expected another column; the first one is column 0");
  EXPECT_EQ(bad("#rdr#3", "#rdr#2"), "m.txt:5: '1:b,'; expected '#qrk#LABELS'");
  EXPECT_EQ(bad("11:u", "10:u"), "m.txt:3: 'u:w=%x[0,0]', which has 11 bytes; expected 10, as the line says");
  EXPECT_EQ(bad("1:X,", "1:X"), "m.txt:7: '1:X'; expected 'LENGTH:NAME,'");
  EXPECT_EQ(bad("1:Y,", "1:X,"), "m.txt:8: 'X' a second time; expected each name once");
  EXPECT_EQ(bad("5:u:w=a", "5:v:w=a"), "m.txt:10: 'v:w=a'; expected an attribute that begins with u, b or *");
  EXPECT_EQ(bad("10=", "12="), "m.txt:16: index 12; expected increasing indices below 12");
  EXPECT_EQ(bad("10=", "5="), "m.txt:16: index 5; expected increasing indices below 12");
  EXPECT_EQ(bad("0x1p-2", "0x1p+999"), "m.txt:16: the weight '0x1p+999'; expected a finite number");
  EXPECT_EQ(bad("0x1p-2", "0xinf"), "m.txt:16: the weight '0xinf'; expected a finite number");
  EXPECT_EQ(bad("0x1p-2", "-nan"), "m.txt:16: the weight '-nan'; expected a finite number");
  EXPECT_EQ(bad("10=", "10:"), "m.txt:16: '10:0x1p-2'; expected 'INDEX=WEIGHT'");
  EXPECT_EQ(bad("#4", "#5"), "m.txt:16: the end of the file; expected 'INDEX=WEIGHT'");
  EXPECT_EQ(bad("#4", "#3"), "m.txt:16: '10=0x1p-2'; expected the end of the file");
  EXPECT_EQ(message("#mdl#2#0\n#rdr#0/0/0\n#qrk#1\n1:X,\n#qrk#1\n1:u,\n"),
            "m.txt: a model with 1 label; expected 2 to 65535");
  EXPECT_EQ(message("#mdl#2#0\n#rdr#0/0/0\n#qrk#2\n1:X,\n1:Y,\n#qrk#1\n1:u,\n"),
            "m.txt: a model without weights; expected at least one that is not 0");
}

TEST_F(ConvertTest, BadModelsOfCrfPlusPlus) {
  const auto bad = [&](std::string_view from, std::string_view to) { return message(kCrfpp, from, to); };
  EXPECT_EQ(bad("version: 100", "version: 200"), "m.txt:1: 'version: 200'; expected 'version: 100'");
  EXPECT_EQ(bad("cost-factor: 2", "cost-factor: inf"),
            "m.txt:2: 'cost-factor: inf'; expected a finite factor");
  EXPECT_EQ(bad("maxid", "minid"), "m.txt:3: 'minid: 8'; expected 'maxid: '");
  EXPECT_EQ(bad("xsize: 1", "xsize: -1"), "m.txt:4: '-1'; expected a whole number");
  EXPECT_EQ(bad("%x[0,0]", "%x[0,7]"),
            "m.txt, templates:1: %x[0,7] in data of 2 columns; expected a column that the data has; the "
            "first one is "
            "column 0");
  EXPECT_EQ(bad("6 U00:b", "7 U00:b"),
            "m.txt:14: weights of 'U00:b' from 7; expected 2 below 8, as maxid says");
  EXPECT_EQ(bad("6 U00:b\n", "6 U00:b\n6 U00:c\n"),
            "m.txt:15: 10 weights of 4 attributes; expected 8, as maxid says");
  EXPECT_EQ(bad("xsize: 1", "xsize: 18446744073709551615"),
            "m.txt:11: 18,446,744,073,709,551,615 columns; expected fewer than 65,536");
  EXPECT_EQ(bad("6 U00:b", "6 U00:a"), "m.txt:14: 'U00:a' a second time; expected each name once");
  EXPECT_EQ(bad("6 U00:b", "6 V00:b"),
            "m.txt:14: '6 V00:b'; expected 'ID ATTRIBUTE', where attributes begin with U or B");
  EXPECT_EQ(bad("-0.25", "NaN"), "m.txt:17: the weight 'NaN'; expected a finite number");
  EXPECT_EQ(bad("-0.5\n0.5\n", "-0.5\n"), "m.txt:22: the end of the file; expected 8 weights, as maxid says");
  EXPECT_EQ(message(std::string(kCrfpp) + "0.5\n"), "m.txt:24: '0.5'; expected the end of the file");
  EXPECT_EQ(message(kCrfpp.substr(0, kCrfpp.find("2 B"))),
            "m.txt:11: the end of the file; expected 'ID ATTRIBUTE', or a blank line and more");
}

// Wherever a file ends too early, it is an error; but for the last lines, which may be complete without an
// end.
TEST_F(ConvertTest, TruncatedFiles) {
  for (const std::string_view text : {kCrfsuite, kWapiti, kCrfpp}) {
    for (std::size_t size = 0; size + 8 < text.size(); ++size) {
      EXPECT_TRUE(message(text.substr(0, size)).starts_with("m.txt")) << text.substr(0, size);
    }
  }
}

// The models that other programs made, on the files that they labelled. Skipped where those are not there.
class ConvertOracleTest : public ConvertTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kOracles)) GTEST_SKIP() << "needs " << kOracles;
  }
  Trained convert_file(const std::string& program, const std::string& name) {
    program_ = program;
    converted = std::make_unique<ConvertedTagger>(path(name));
    return trained();
  }
  std::string path(const std::string& name) const { return (kOracles / program_ / name).string(); }
  std::string theirs(const std::string& name) const { return read_all(path(name)); }

  static constexpr double kPrinted = 2e-5;  // six digits of weights and of probabilities
  std::string program_;
};

TEST_F(ConvertOracleTest, Crfsuite) {
  for (const std::string name : {"a", "b"}) {
    SCOPED_TRACE(name);
    const Trained model = convert_file("crfsuite", name + ".dump.txt");
    const std::string data = path("test.txt");
    const auto mine = tokens_of(model.predict(data)), other = tokens_of(theirs(name + ".tag_p_i.txt"));
    ASSERT_EQ(mine.size(), other.size());
    for (std::size_t t = 0; t < mine.size(); ++t) {
      EXPECT_EQ(mine[t], std::vector<std::string>{rated(other[t].front()).first}) << "token " << t;
    }
    expect_same_marginals(model.predict(data, TagPredictOptions{.marginals = TagMarginals::label}),
                          theirs(name + ".tag_p_l.txt"), 7, kPrinted);

    std::vector<double> probabilities;
    for (const auto& row : fields_of(theirs(name + ".tag_p_i.txt"))) {
      if (!row.empty() && row.front() == "@probability") probabilities.push_back(std::stod(row.at(1)));
    }
    std::size_t i = 0;
    for (const auto& row : fields_of(model.predict(data, TagPredictOptions{.kbest = 1}))) {
      if (row.empty() || row.front() != "#") continue;
      ASSERT_LT(i, probabilities.size());
      EXPECT_NEAR(std::stod(row.at(2)), probabilities[i++], kPrinted);
    }
    EXPECT_EQ(i, 30u);
  }
}

TEST_F(ConvertOracleTest, Wapiti) {
  struct Case {
    std::string model, data, labels, marginals, best;
  };
  for (const Case& c :
       {Case{"a", "test.txt", "a.label_s.txt", "a.label_p_s.txt", "a.label_n3.txt"},
        Case{"b", "test.txt", "b.label_s.txt", "b.label_p_s.txt", "b.label_n3.txt"},
        Case{"raw", "raw_test.txt", "raw.label_c_s.txt", "raw.label_c_p_s.txt", "raw.label_c_n3.txt"}}) {
    SCOPED_TRACE(c.model);
    const Trained model = convert_file("wapiti", c.model + ".model.txt");
    auto labels = tokens_of(theirs(c.labels));
    for (auto& row : labels) row.pop_back();  // scores
    EXPECT_EQ(tokens_of(model.predict(path(c.data))), labels);
    expect_wapiti_marginals(model.predict(path(c.data), TagPredictOptions{.marginals = TagMarginals::label}),
                            theirs(c.marginals), kPrinted);
    EXPECT_EQ(tokens_of(model.predict(path(c.data), TagPredictOptions{.kbest = 3})),
              tokens_of(theirs(c.best)));
  }
}

TEST_F(ConvertOracleTest, CrfPlusPlus) {
  for (const std::string name : {"a", "b"}) {
    SCOPED_TRACE(name);
    const Trained model = convert_file("crfpp", name + ".model.txt");
    const std::string data = path("test.txt");
    EXPECT_EQ(tokens_of(model.predict(data)), tokens_of(theirs(name + ".test_v0.txt")));
    expect_same_marginals(model.predict(data, TagPredictOptions{.marginals = TagMarginals::label}),
                          theirs(name + ".test_v2.txt"), 7, kPrinted);
    expect_same_kbest(model.predict(data, TagPredictOptions{.kbest = 3}), theirs(name + ".test_n3.txt"),
                      kPrinted);
  }
}

}  // namespace
}  // namespace espalier::convert_test
