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

}  // namespace
}  // namespace espalier::testing::convert_test
