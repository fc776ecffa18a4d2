// `predict --samples` and `--entropy`, as a user runs them.

#include <cmath>
#include <map>

#include "cli/cli_test.h"

namespace espalier::testing::samples_test {
namespace {

class CliSamplesTest : public CliTest {
 protected:
  Json first(const std::string& arguments) const { return json("predict model.esp one --json " + arguments); }
  // Of draws of one input, how often each output came is about its probability; and the entropy is about the
  // mean of -log of these.
  void check() const {
    constexpr int kDraws = 2000;
    const Json json = first("--entropy --samples " + std::to_string(kDraws) + " --seed 7");
    std::map<std::string, std::pair<int, double>> drawn;  // how often, and with which probability
    double surprise = 0, squares = 0;
    for (Json one : json.at("samples")) {
      const double p = one.at("probability").get<double>();
      ASSERT_GT(p, 0);
      ASSERT_LE(p, 1 + 1e-9);
      surprise -= std::log(p) / kDraws;
      squares += std::log(p) * std::log(p) / kDraws;
      one.erase("probability");
      auto& [times, probability] = drawn[one.dump()];
      ++times;
      probability += p;
    }
    const double deviation = std::sqrt(std::max(0.0, squares - surprise * surprise) / kDraws);
    EXPECT_NEAR(json.at("entropy").get<double>(), surprise, 5 * deviation + 1e-6);
    for (const auto& [text, of] : drawn) {
      const double p = of.second / of.first;
      EXPECT_NEAR(of.first, p * kDraws, 5 * std::sqrt(p * kDraws) + 3) << text;
    }
  }
  // Every input has draws of its own; the same seed gives the same bytes, with any number of threads.
  void check_bytes() const {
    const std::string predict = "predict model.esp input --samples 3";
    const std::string once = succeed(predict + " --threads 1");
    EXPECT_EQ(succeed(predict + " --threads 3"), once);
    EXPECT_EQ(succeed(predict + " --seed 1"), once);
    EXPECT_NE(succeed(predict + " --seed 2"), once);
    EXPECT_EQ(succeed(predict + " --entropy --json --threads 1"),
              succeed(predict + " --entropy --json --threads 2"));
  }
};

TEST_F(CliSamplesTest, OfLabels) {
  succeed("generate tag -n 30 --seed 1 -o train");
  succeed("generate tag -n 100 --seed 2 -o input");
  succeed("generate tag -n 1 --seed 3 -o one");
  for (const char* order : {"1", "2"}) {
    succeed(std::string("train tag train --l2 30 -q -o model.esp --features observed --order ") + order);
    check();
    check_bytes();
  }
  const std::vector<std::string> text = lines(succeed("predict model.esp input --samples 2 --entropy"));
  EXPECT_EQ(text[0].substr(0, 10), "# entropy ");
  EXPECT_EQ(text[1].substr(0, 4), "# 0 ");
  EXPECT_EQ(error("predict model.esp input --samples 2 --kbest 2"),
            "espalier: --samples: given with --kbest; expected one of the two");
  EXPECT_EQ(error("predict model.esp input --seed 2"),
            "espalier: --seed: no effect; expected --samples, or no --seed");
  succeed("train tag train --l2 30 -q -o model.esp --loss svm --gap 0.1");
  EXPECT_EQ(error("predict model.esp input --samples 2"),
            "espalier: --samples: a model of loss svm has no probabilities; expected one trained with a "
            "finite beta, "
            "such as --loss crf");
  EXPECT_EQ(error("predict model.esp input --entropy"),
            "espalier: --entropy: a model of loss svm has no probabilities; expected one trained with a "
            "finite beta, "
            "such as --loss crf");
}

TEST_F(CliSamplesTest, OfClasses) {
  succeed("generate classify -n 100 --seed 1 -o train");
  succeed("generate classify -n 50 --seed 2 -o input");
  succeed("generate classify -n 1 --seed 3 -o one");
  succeed("train classify train --format crfsuite --loss 2,1 --l2 30 -q -o model.esp");
  check();
  check_bytes();
  EXPECT_NE(lines(succeed("predict model.esp input --entropy")).at(0).find("\tentropy="), std::string::npos);
}

TEST_F(CliSamplesTest, OfTrees) {
  succeed("generate parse -n 30 --seed 1 -o train");
  succeed("generate parse -n 70 --seed 2 -o input");
  succeed("generate parse -n 1 --seed 3 -o one");
  for (const char* options : {"--unlabelled", "--structure nonprojective --single-root --longest 12"}) {
    succeed(std::string("train parse train --l2 30 -q --hash-bits 12 -o model.esp ") + options);
    check();
    check_bytes();
  }
  succeed("train parse train --unlabelled --order 2 --l2 100 -q --hash-bits 12 -o model.esp");
  EXPECT_GE(first("--entropy").at("entropy").get<double>(), 0);
  EXPECT_EQ(error("predict model.esp input --samples 2"),
            "espalier: --samples: given for a parser of order 2; expected one of order 1");
}

TEST_F(CliSamplesTest, OfDerivations) {
  succeed("generate treebank -n 40 --seed 1 -o train");
  succeed("generate treebank -n 40 --seed 2 -o input");
  succeed("generate treebank -n 1 --seed 4 -o one");
  succeed("train treebank train --l2 30 -q --hash-bits 12 -o model.esp");
  check();
  check_bytes();
}

TEST_F(CliSamplesTest, OfGraphs) {
  succeed("generate graph -n 20 --seed 1 -o train");
  succeed("generate graph -n 70 --seed 2 -o input");
  succeed("generate graph -n 1 --seed 3 -o one");
  succeed("train graph train --l2 30 -q --inference exact -o model.esp");
  check();
  check_bytes();
  succeed("train graph train --l2 30 -q --inference trw -o model.esp");
  EXPECT_EQ(error("predict model.esp input --samples 2"),
            "espalier: --samples: given with approximate inference; expected a model of exact inference");
  EXPECT_EQ(error("predict model.esp input --entropy"),
            "espalier: --entropy: given with approximate inference; expected a model of exact inference");
}

}  // namespace
}  // namespace espalier::testing::samples_test
