// Raw text from a file of two columns through every command.

#include "cli/cli_test.h"

namespace espalier::testing {
namespace {

class CliTextTest : public CliTest {
 protected:
  void generate_texts() const {
    succeed("generate text -n 400 --seed 1 -o train.tsv");
    succeed("generate text -n 100 --seed 2 -o dev.tsv");
    succeed("generate text -n 100 --seed 3 -o test.tsv");
  }
};

TEST_F(CliTextTest, EveryCommandReadsIt) {
  generate_texts();
  const std::string options =
      " --format text --ngrams 2 --weighting tf-idf --min-count 2 --char-ngrams 3 --l2 0.1";
  succeed("train classify train.tsv --dev dev.tsv --quiet -o model.esp" + options);
  succeed("train classify train.tsv --quiet -o again.esp" + options);
  EXPECT_TRUE(read("again.esp") == read("model.esp"));
  // Guessing among eight topics is wrong seven times out of eight.
  EXPECT_LT(json("eval model.esp test.tsv --json")["error"].get<double>(), 0.5);

  // With labels, without them and from standard input: the same answers, one for each line.
  const std::string answers = succeed("predict model.esp test.tsv");
  EXPECT_EQ(lines(answers).size(), 100u);
  std::string texts;
  for (const std::string& line : lines(read("test.tsv"))) texts += line.substr(line.find('\t') + 1) + '\n';
  EXPECT_EQ(succeed("predict model.esp -", texts), answers);
  EXPECT_EQ(lines(succeed("predict model.esp -", "one text\n\n\n")).size(), 3u);

  succeed("train classify train.tsv --init model.esp --quiet -o other.esp" + options);
  succeed("cross-validate classify train.tsv --folds 2 --quiet --format text --weighting tf-idf --l2 0.1");
  succeed("path classify train.tsv --dev dev.tsv --l2-max 1 --l2-min 0.1 --quiet -o best.esp --format text");
  succeed("race classify train.tsv --solvers eg,sdca --passes 3 --quiet --format text --ngrams 2");
  EXPECT_NE(succeed("show model.esp --weights").find("~<"), std::string::npos);
}

TEST_F(CliTextTest, NamedAttributes) {
  write("train.txt", "spam free:2 #win:1\nham note:1 team:1\nspam #win:2\nham team:1\n");
  succeed("train classify train.txt --format named --quiet -o model.esp");
  EXPECT_EQ(succeed("predict model.esp -", "free:1\nham #win:3\nteam:1 unknown:7\n"), "spam\nspam\nham\n");
  EXPECT_EQ(json("eval model.esp train.txt --json")["errors"].get<int>(), 0);
}

TEST_F(CliTextTest, OnlyModelsOfTextHaveItsVersion) {
  generate_texts();
  succeed("train classify train.tsv --format text --quiet -o model.esp");
  EXPECT_EQ(json("show model.esp --json")["settings"]["format"].get<std::string>(), "text");
  succeed("generate classify -n 100 -o train.txt");
  succeed("train classify train.txt --format crfsuite --quiet -o old.esp");
  EXPECT_EQ(read("old.esp").find("\"task_version\":3"), std::string::npos);
  EXPECT_NE(read("old.esp").find("\"task_version\":1"), std::string::npos);
  EXPECT_NE(read("model.esp").find("\"task_version\":3"), std::string::npos);
}

}  // namespace
}  // namespace espalier::testing
