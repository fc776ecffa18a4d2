// Models of other programs.

#include <algorithm>

#include "cli/cli_test.h"

namespace espalier::testing::convert_test {
namespace {

class CliConvertTest : public CliTest {
 protected:
  void SetUp() override { write("old.txt", kModel); }

  // Of CRF++.
  static constexpr std::string_view kModel =
      "version: 100\ncost-factor: 1\nmaxid: 8\nxsize: 1\n\n"
      "O\nX\n\n"
      "U00:%x[0,0]\nB\n\n"
      "4 B\n0 U00:a\n2 U00:b\n\n"
      "1.5\n-1.5\n-1\n1\n0.5\n-0.5\n-0.25\n0.25\n";
};

TEST_F(CliConvertTest, ConvertsShowsAndPredicts) {
  const Outcome outcome = run("convert old.txt -o new.esp");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "converted from CRF++: 2 labels, 2 attributes, 8 weights; saved new.esp\n");
  EXPECT_EQ(succeed("show new.esp --top 1"),
            "model        new.esp\n"
            "task         tag: 2 labels, 2 attributes\n"
            "loss         crf\n"
            "solver       converted from CRF++; no certificate\n"
            "weights      8 of 8 are not zero\n"
            "\n"
            "heaviest weights of each label\n"
            "O\n"
            "    +1.5000  U00:a\n"
            "X\n"
            "    +1.0000  U00:b\n"
            "transitions\n"
            "    +0.5000  O -> O\n");
  const Json shown = json("show new.esp --json");
  EXPECT_EQ(shown.at("loss"), "crf");
  EXPECT_EQ(shown.at("solver"), "converted from CRF++");
  EXPECT_FALSE(shown.contains("certificate"));
  EXPECT_FALSE(shown.contains("l2"));

  EXPECT_EQ(succeed("predict new.esp -", "a x O\nb x X\nb x X\n"), "a x O O\nb x X X\nb x X X\n\n");
  EXPECT_EQ(lines(succeed("eval new.esp -", "a O\nb X\nb X\n")).front(), "accuracy 100.00 % (3 of 3 tokens)");
}

TEST_F(CliConvertTest, ReadsStandardInput) {
  const Outcome outcome = run("convert - -o new.esp", std::string(kModel));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(succeed("predict new.esp", "b\n"), "b\tX\n\n");
}

TEST_F(CliConvertTest, ReadsAPipe) {
  const Outcome outcome = run_shell("mkfifo pipe; cat old.txt > pipe & \"$E\" convert pipe -o new.esp");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(succeed("predict new.esp", "b\n"), "b\tX\n\n");
}

TEST_F(CliConvertTest, IsComparedWithATrainedModel) {
  succeed("convert old.txt -o new.esp");
  write("template.txt", "U00:%x[0,0]\nB\n");
  write("data.txt", "a O\nb X\n\nb X\na O\n");
  succeed("train tag data.txt --template template.txt --quiet -o trained.esp");
  const std::vector<std::string> rows = lines(succeed("show --diff new.esp trained.esp"));
  const auto has = [&](const std::vector<std::string>& row) {
    return std::any_of(rows.begin(), rows.end(), [&](const auto& line) {
      const auto found = words(line);
      return found.size() >= row.size() && std::equal(row.begin(), row.end(), found.begin());
    });
  };
  EXPECT_TRUE(has({"solver", "converted", "from", "CRF++", "auto"}));
  EXPECT_TRUE(has({"l2", "(none)", "1.0"}));
  EXPECT_TRUE(has({"primal", "(none)"}));
  EXPECT_TRUE(has({"relative", "gap", "(none)"}));
  EXPECT_TRUE(has({"passes", "(none)"}));
}

TEST_F(CliConvertTest, StartsTraining) {
  succeed("convert old.txt -o new.esp");
  write("template.txt", "U00:%x[0,0]\nB\n");
  write("data.txt", "a O\nb X\n\nb X\na O\n");
  const Outcome outcome =
      run("train tag data.txt --template template.txt --init new.esp --solver lbfgs -o trained.esp");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines(outcome.err).at(1), "started from new.esp: 2 of its 2 labels, 2 of its 2 attributes");
}

TEST_F(CliConvertTest, LeavesNothingHalfWritten) {
  write("bad.txt", kModel.substr(0, kModel.size() - 5));
  write("new.esp", "as it was");
  const Outcome outcome = run("convert bad.txt -o new.esp");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "espalier: bad.txt:22: the end of the file; expected 8 weights, as maxid says\n");
  EXPECT_EQ(read("new.esp"), "as it was");
  EXPECT_EQ(files(), (std::set<std::string>{"bad.txt", "new.esp", "old.txt"}));
  EXPECT_EQ(run("convert missing.txt -o new.esp").status, 2);
  EXPECT_EQ(run("convert old.txt -o missing/new.esp").status, 2);
  EXPECT_EQ(run("convert old.txt").status, 2);
}

// Weights of 16 bits, of models of this program.
class CliRoundTest : public CliTest {
 protected:
  void SetUp() override {
    write("train.txt", "a\tx\tz\nb\ty\na\tx\ty\nb\tz\tx\n");
    succeed("train classify train.txt --format crfsuite --quiet -o model.esp");
  }
};

TEST_F(CliRoundTest, HasNoCertificateWithoutData) {
  EXPECT_EQ(run("convert --bits 16 model.esp -o small.esp").err,
            "model.esp: 2 labels, 3 attributes; rounded to 16 bits: no certificate; saved small.esp\n");
  const std::string shown = succeed("show small.esp --top 0");
  EXPECT_NE(shown.find("solver       auto; no certificate (weights were rounded to 16 bits)\n"
                       "weights      6 of 6 are not zero, 16 bits each\n"),
            std::string::npos)
      << shown;
  const Json json = this->json("show small.esp --json");
  EXPECT_FALSE(json.contains("certificate"));
  EXPECT_EQ(json.at("weights").dump(), R"({"nonzero":6,"all":6,"bits":16})");
  EXPECT_EQ(run("eval small.esp train.txt").err,
            "espalier: small.esp: no certificate (weights were rounded to 16 bits)\n");
  EXPECT_EQ(succeed("predict small.esp train.txt"), succeed("predict model.esp train.txt"));
  EXPECT_NE(succeed("show --diff model.esp small.esp").find("(none)"), std::string::npos);
}

TEST_F(CliRoundTest, IsCertifiedOnItsData) {
  const Outcome outcome = run("convert --bits 16 --data train.txt --format crfsuite model.esp -o small.esp");
  EXPECT_TRUE(outcome.err.starts_with("model.esp: 2 labels, 3 attributes; rounded to 16 bits: relative gap "))
      << outcome.err;
  EXPECT_TRUE(json("show small.esp --json").contains("certificate"));
  EXPECT_EQ(run("eval small.esp train.txt").err, "");
  // As if it had been trained so.
  const Outcome trained = run("train classify train.txt --format crfsuite --bits 16 -o trained.esp");
  EXPECT_NE(trained.err.find("; rounded to 16 bits: relative gap "), std::string::npos) << trained.err;
  EXPECT_EQ(succeed("show trained.esp --weights"), succeed("show small.esp --weights"));
  EXPECT_EQ(json("show trained.esp --json").at("certificate").at("primal"),
            json("show small.esp --json").at("certificate").at("primal"));
  // Of other data it says nothing.
  write("other.txt", "a\tx\nb\ty\na\tx\ty\nb\tz\tx\n");
  const Outcome other = run("convert --bits 16 --data other.txt --format crfsuite model.esp -o other.esp");
  EXPECT_EQ(other.status, 2);
  EXPECT_TRUE(other.err.starts_with("espalier: model.esp: an objective of ")) << other.err;
  EXPECT_TRUE(other.err.ends_with("; expected the data and the options of its training\n")) << other.err;
}

TEST_F(CliRoundTest, RefusesWhatDoesNotFit) {
  const auto refused = [&](const std::string& command) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.status, 2);
    return outcome.err;
  };
  EXPECT_EQ(refused("convert model.esp -o small.esp"),
            "espalier: model.esp: a model of espalier; expected --bits 16, or a model of CRFsuite, Wapiti or "
            "CRF++\n");
  EXPECT_EQ(refused("convert --bits 16 --format crfsuite model.esp -o small.esp"),
            "espalier: options of training data without --data; expected --data FILE, or none of them\n");
  EXPECT_EQ(refused("convert --data train.txt model.esp -o small.esp"),
            "espalier: --data: no effect without --bits; expected --bits 16, or no --data\n");
  EXPECT_EQ(refused("convert --bits 16 --data train.txt --order 2 model.esp -o small.esp"),
            "espalier: --order: given for a model of classify; expected a model of tag or parse\n");
  EXPECT_NE(refused("convert --bits 8 model.esp -o small.esp").find("--bits: found '8'; expected 16 or 32"),
            std::string::npos);
}

TEST_F(CliRoundTest, RoundsModelsOfOtherPrograms) {
  write("old.txt",
        "version: 100\ncost-factor: 1\nmaxid: 8\nxsize: 1\n\nO\nX\n\nU00:%x[0,0]\nB\n\n4 B\n0 U00:a\n2 "
        "U00:b\n\n"
        "1.5\n-1.5\n-1\n1\n0.5\n-0.5\n-0.25\n0.25\n");
  EXPECT_EQ(
      run("convert --bits 16 old.txt -o new.esp").err,
      "converted from CRF++: 2 labels, 2 attributes, 8 weights; rounded to 16 bits: no certificate; saved "
      "new.esp\n");
  EXPECT_EQ(succeed("predict new.esp", "b\n"), "b\tX\n\n");
}

}  // namespace
}  // namespace espalier::testing::convert_test
