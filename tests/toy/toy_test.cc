// Adding a task takes what is in toy_task.cc and a row in the table: the door, models and the whole command
// line know the rest.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/input.h"
#include "cli/commands.h"
#include "espalier/model/model.h"
#include "espalier/tasks/registry.h"
#include "espalier/train/read.h"
#include "espalier/train/train.h"
#include "support/temporary_folder.h"

namespace espalier {

TaskEntry toy_task();

}  // namespace espalier

namespace espalier::toy_test {
namespace {

class ToyTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (find_task("toy") == nullptr) add_task(toy_task());  // the row
  }

  struct Outcome {
    int status;
    std::string out, err;
  };
  // The program in this process, where the table has the toy.
  static Outcome run(const std::vector<std::string>& arguments) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int status = cli::run(arguments);
    std::fflush(stdout);
    std::string out = ::testing::internal::GetCapturedStdout();
    return {status, std::move(out), ::testing::internal::GetCapturedStderr()};
  }
  static std::string succeed(const std::vector<std::string>& arguments) {
    Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  }

  testing::TemporaryFolder folder;
  std::string words = folder.file("words.txt", "low abba\nlow cabba\nhigh zyx\nhigh xzzy\n");
};

TEST_F(ToyTest, ThroughTheDoor) {
  const TaskEntry& toy = *find_task("toy");
  OptionValues options(toy.options());
  options.set("letters", "1");
  const auto data = read_training(toy, words, options);
  const Model model = train(*data, {.l2 = 0.1, .gap = 1e-6});
  EXPECT_LE(model.certificate().relative_gap(), 1e-6);
  model.save(folder.path("toy.esp"));

  const Model loaded = Model::load(folder.path("toy.esp"));
  EXPECT_EQ(loaded.info().task, "toy");
  EXPECT_EQ(loaded.predictor().describe(), "2 kinds of words");
  const auto predict = [&](const PredictOptions& how) {
    std::string text;
    loaded.predictor().predict(words, how, [&](std::string_view piece) { text += piece; });
    return text;
  };
  EXPECT_EQ(predict({}), "low\nlow\nhigh\nhigh\n");
  OptionValues with_scores(toy.predict_options());
  with_scores.set("scores", "true");
  const auto weight = [&](std::string_view letter) {
    return double{*loaded.predictor().find_weight({letter, {}, "low"})};
  };
  const std::string first = fmt::format("low {:.3f}\n", 2 * weight("a") + 2 * weight("b"));
  EXPECT_TRUE(predict(with_scores).starts_with(first)) << predict(with_scores);
  EXPECT_EQ(loaded.predictor().evaluate(words, {}).rates.at("error"), Json(0.0));
}

TEST_F(ToyTest, OnTheCommandLine) {
  const std::string model = folder.path("toy.esp"), log = folder.path("log"), best = folder.path("best.esp");
  succeed({"train", "toy", words, "--dev", words, "--letters", "1", "--ends", "-o", model, "--log", log,
           "--quiet"});
  const std::string started = read_all(log);
  EXPECT_NE(started.find(R"("task":"toy")"), std::string::npos);
  EXPECT_NE(started.find(R"("letters":1,"ends":true,"tone":"calm")"), std::string::npos) << started;
  EXPECT_EQ(succeed({"predict", model, words}), "low\nlow\nhigh\nhigh\n");
  EXPECT_TRUE(succeed({"predict", model, words, "--scores"}).starts_with("low 1."));
  EXPECT_NE(succeed({"eval", model, words}).find("error 0"), std::string::npos);
  EXPECT_NE(succeed({"show", model}).find("toy"), std::string::npos);
  succeed({"path", "toy", words, "--dev", words, "--l2-max", "1", "--l2-min", "0.5", "-o", best, "--quiet"});
  succeed({"cross-validate", "toy", words, "--folds", "2", "--l2", "1", "--quiet"});
  succeed({"race", "toy", words, "--solvers", "eg,lbfgs", "--gap", "1e-2", "--quiet"});
  // A checkpoint is that of these options.
  const std::string checkpoint = folder.path("run.ckpt");
  succeed({"train", "toy", words, "-o", model, "--gap", "1e-12", "--passes", "2", "--checkpoint", checkpoint,
           "--checkpoint-every", "0", "--quiet"});
  const Outcome other = run({"train", "toy", words, "--letters", "1", "-o", model, "--checkpoint", checkpoint,
                             "--resume", "--quiet"});
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find(checkpoint), std::string::npos) << other.err;
  succeed({"train", "toy", words, "-o", model, "--checkpoint", checkpoint, "--resume", "--quiet"});
}

TEST_F(ToyTest, InHelp) {
  const std::string help = succeed({"train", "toy", "--help"});
  for (const char* piece : {"what kind of word a word is: lines KIND WORD\n", "\nOptions of toy:\n",
                            "  --letters N             how many are looked at together (default: 2)\n",
                            "  --ends                  mark where words begin and end\n",
                            "  espalier train toy words.txt --letters 1"})
    EXPECT_NE(help.find(piece), std::string::npos) << piece << "\n" << help;
  EXPECT_EQ(help.find("--tone"), std::string::npos);
  EXPECT_NE(succeed({"train", "toy", "--help-all"}).find("  --tone "), std::string::npos);
  EXPECT_NE(succeed({"train", "--help"}).find("\n  toy "), std::string::npos);
  EXPECT_NE(succeed({"predict", "--help-all"}).find("toy: of the kinds, behind them\n"), std::string::npos);
}

TEST_F(ToyTest, MistakesAreItsOwn) {
  const auto complaint = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2);
    return outcome.err;
  };
  const std::string model = folder.path("toy.esp");
  EXPECT_EQ(complaint({"train", "toy", words, "--letters", "4", "-o", model}),
            "espalier: --letters: found '4'; expected a whole number from 1 to 3; see 'espalier train toy "
            "--help'\n");
  EXPECT_EQ(complaint({"train", "toy", words, "--tone", "loud", "-o", model}),
            "espalier: --tone: found 'loud'; expected calm or shrill; see 'espalier train toy --help'\n");
  succeed({"train", "toy", words, "-o", model, "--quiet"});
  EXPECT_EQ(
      complaint({"predict", model, words, "--kbest", "2"}),
      "espalier: --kbest: given for a model of toy; expected a model of tag, classify, parse, treebank, "
      "graph or align\n");
  const std::string tags = folder.file("tags.txt", "a DT\ndog NN\n"), tagger = folder.path("tagger.esp");
  succeed({"train", "tag", tags, "-o", tagger, "--quiet"});
  EXPECT_EQ(complaint({"predict", tagger, tags, "--scores"}),
            "espalier: --scores: given for a model of tag; expected a model of toy\n");
}

TEST_F(ToyTest, GeneratesAndShowsItself) {
  const std::string generated = succeed({"generate", "toy", "-n", "3", "--seed", "7"});
  EXPECT_EQ(generated, succeed({"generate", "toy", "-n", "3", "--seed", "7"}));
  EXPECT_EQ(std::count(generated.begin(), generated.end(), '\n'), 3);
  const std::string demo = succeed({"demo", "toy"});
  EXPECT_TRUE(demo.starts_with("Is a word made of vowels?\n\n# words\n$ espalier generate toy -n 50 -o"));
  EXPECT_NE(demo.find("\nerror 0"), std::string::npos) << demo;
  EXPECT_NE(demo.find("\nNext: your own data. 'espalier train toy --help' has the options.\n"),
            std::string::npos);
}

}  // namespace
}  // namespace espalier::toy_test
