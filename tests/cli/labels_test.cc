// What a user says of labels: constraints, costs and labels that are partly known.

#include <algorithm>
#include <cmath>
#include <random>

#include "cli/cli_test.h"

namespace espalier::testing::labels_test {
namespace {

// Columns of words and BIO tags. One line a token.
class CliLabelsTest : public CliTest {
 protected:
  static constexpr const char* kGood = "a O\nb B-X\nc I-X\n\na O\nb B-X\n";

  void SetUp() override { write("good.txt", kGood); }
  void refuse(const std::string& arguments, const std::string& message) const {
    const auto before = files();
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.err, "espalier: " + message + "\n");
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(files(), before);
  }
};

TEST_F(CliLabelsTest, RefusesWhatIsNoConstraint) {
  const std::string train = "train tag good.txt -o out.esp --log run.jsonl ";
  refuse(train + "--valid brackets",
         "--valid: found 'brackets'; expected iob1, bio, iob2, bioes, iobes or bilou; see 'espalier train "
         "tag --help'");
  refuse(train + "--valid bio --invalid repair",
         "--invalid: found 'repair'; expected refuse or drop; see 'espalier train tag --help'");
  refuse(train + "--valid iob1",
         "good.txt:2: the label 'B-X' after 'O'; --valid iob1 does not allow it; --invalid drop leaves such "
         "sequences out");
  refuse(train + "--valid iob1 --invalid drop",
         "good.txt: no sequence is left: labels violate iob1; expected at least one");
  refuse(train + "--transitions none.txt",
         "none.txt: cannot open: No such file or directory; expected a file that can be read");
  write("pairs.txt", "# none\nO I-X\nO I-Y\n");
  refuse(train + "--transitions pairs.txt",
         "pairs.txt:3: the label 'I-Y'; expected a label of the training data, (start), (stop) or *");
  write("pairs.txt", "(start) O\n");
  refuse(
      train + "--transitions pairs.txt",
      "good.txt:1: the label 'O' at the beginning of a sequence; --transitions pairs.txt does not allow it; "
      "--invalid drop leaves such sequences out");
  write("pairs.txt", "* (stop)\n");
  refuse(train + "--valid bio --transitions pairs.txt",
         "--valid bio and --transitions pairs.txt: no sequence of 1 label is left; expected some of every "
         "length");
  write("tags.txt", "a DT\nb NN\n");
  refuse("train tag tags.txt --valid bio -o out.esp",
         "--valid bio: found the label 'DT'; expected O, B-TYPE or I-TYPE");
}

TEST_F(CliLabelsTest, RefusesCostsAndPartialLabels) {
  write("costs.txt", "O B-X 2\nO B-Y 1\n");
  refuse("train tag good.txt --loss svm --costs costs.txt -o out.esp",
         "costs.txt:2: the label 'B-Y'; expected a label of the training data");
  write("bad.txt", "a O\nb B-X|\n");
  refuse("train tag bad.txt --partial -o out.esp",
         "bad.txt:2: the label 'B-X|'; expected ?, or labels separated by |");
  write("unknown.txt", "a ?\nb O|B\n");
  refuse("train tag unknown.txt --partial -o out.esp",
         "unknown.txt: no sequence is left: no label is known; expected at least one");
  const std::string several =
      "--partial: not for several values of l2; expected espalier train tag with one value, such as --l2 1";
  refuse("train tag good.txt --dev good.txt --partial --l2 auto -o out.esp", several);
  refuse("path tag good.txt --dev good.txt --partial -o out.esp", several);
}

TEST_F(CliLabelsTest, ConstraintsHoldInTheModel) {
  write("train.txt", "a O\nb B-X\nc I-X\n\nc I-X\na O\n\na O\nc I-X\n\nb B-X\nc I-X\nc I-X\n");
  const Outcome outcome = run("train tag train.txt --valid bio --invalid drop -o model.esp --log run.jsonl");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(lines(outcome.err)[0].ends_with("; 2 sequences dropped: labels violate bio")) << outcome.err;
  const Json start = Json::parse(lines(read("run.jsonl")).front());
  EXPECT_EQ(start.at("valid"), "bio");
  EXPECT_EQ(start.at("invalid"), "drop");
  EXPECT_FALSE(start.contains("partial"));
  EXPECT_EQ(json("show model.esp --json").at("settings").at("constraints"), true);
  EXPECT_EQ(words(succeed("predict model.esp", "c\nc\n")),
            (std::vector<std::string>{"c", "B-X", "c", "I-X"}));
  for (const std::string& line : lines(succeed("predict model.esp --marginals", "c\n"))) {
    if (line.empty()) continue;
    EXPECT_NE(line.find("I-X:0.000000"), std::string::npos) << line;
  }
}

TEST_F(CliLabelsTest, CostsShapeTheMargin) {
  write("costs.txt", "O B-X 4\n");
  succeed("train tag good.txt --loss softmax-margin --quiet -o plain.esp --gap 1e-6");
  succeed("train tag good.txt --loss softmax-margin --costs costs.txt --quiet -o costly.esp --gap 1e-6");
  const auto primal = [&](const std::string& model) {
    return json("show --json " + model).at("certificate").at("primal").get<double>();
  };
  EXPECT_GT(primal("costly.esp"), primal("plain.esp") + 0.1);
  // A loss without a cost has no use for them.
  EXPECT_EQ(
      error("train tag good.txt --costs costs.txt --quiet -o costly.esp"),
      "espalier: --costs: no effect; expected a loss with a margin, such as --loss softmax-margin, or no "
      "--costs");
}

// Mistakes that are free or very dear: the start is near the gold labels all the same.
TEST_F(CliLabelsTest, CostsOfAnySizeConverge) {
  succeed("generate tag -n 100 --seed 1 -o train.txt");
  write("costs.txt", "O B-PER 1000\nO B-LOC 0\nB-PER O 0.001\n");
  for (const char* loss : {"softmax-margin", "3,1"}) {
    succeed(std::string("train tag train.txt --costs costs.txt --quiet --passes 200 -o model.esp --loss ") +
            loss);
    EXPECT_LE(json("show model.esp --json").at("certificate").at("relative_gap").get<double>(), 1e-3) << loss;
  }
}

class CliPartialTest : public CliTest {
 protected:
  void SetUp() override {
    succeed("generate tag -n 300 --seed 1 -o full.txt");
    hide(0.15);
  }
  // part.txt: some labels are unknown, some among a few. some.txt: only the sentences where all are known.
  void hide(double share) {
    std::mt19937 random(1);
    std::string part, some, sentence, hidden_sentence;
    bool complete = true;
    truth.clear();
    for (const std::string& line : lines(read("full.txt"))) {
      if (line.empty()) {
        part += hidden_sentence + '\n';
        if (complete) some += sentence + '\n';
        sentence.clear();
        hidden_sentence.clear();
        complete = true;
        continue;
      }
      const std::size_t tab = line.rfind('\t');
      const std::string label = line.substr(tab + 1);
      std::string shown = label;
      const double chance = static_cast<double>(random()) / 0x1p32;
      if (chance < share)
        shown =
            chance < 0.8 * share ? "?" : "O|B-PER" + (label == "O" || label == "B-PER" ? "" : "|" + label);
      truth.emplace_back(shown == label ? "" : label);
      complete = complete && shown == label;
      sentence += line + '\n';
      hidden_sentence += line.substr(0, tab + 1) + shown + '\n';
    }
    write("part.txt", part);
    write("some.txt", some);
  }
  // The share of hidden labels that a model finds.
  double recovered(const std::string& model) const {
    std::size_t token = 0, hidden = 0, right = 0;
    for (const std::string& line : lines(succeed("predict " + model + " part.txt"))) {
      if (line.empty()) continue;
      const std::string& label = truth.at(token++);
      hidden += label.empty() ? 0 : 1;
      right += !label.empty() && line.substr(line.rfind('\t') + 1) == label ? 1 : 0;
    }
    EXPECT_EQ(token, truth.size());
    return static_cast<double>(right) / static_cast<double>(hidden);
  }

  std::vector<std::string> truth;  // of each token; empty where it is shown
};

TEST_F(CliPartialTest, RecoversLabelsThatAreNotKnown) {
  succeed("train tag part.txt --partial --valid bio -o partial.esp --quiet");
  succeed("train tag some.txt --valid bio -o some.esp --quiet");
  const auto hidden =
      std::count_if(truth.begin(), truth.end(), [](const auto& label) { return !label.empty(); });
  const auto outside = std::count(truth.begin(), truth.end(), "O");
  const double chance = static_cast<double>(outside) / static_cast<double>(hidden);
  const double partial = recovered("partial.esp"), dropping = recovered("some.esp");
  EXPECT_GT(partial, 0.95);
  EXPECT_GT(1 - chance, 3 * (1 - partial)) << "better than the most frequent label";
  EXPECT_GT(1 - dropping, 1.5 * (1 - partial)) << "better than sentences with all labels alone";
}

TEST_F(CliPartialTest, LogsRounds) {
  const Outcome outcome =
      run("train tag part.txt --partial --outer-rounds 3 --outer-gap 0 -o model.esp --log run.jsonl");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("\nround 1: objective "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("\nround 3: objective "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("\nout of rounds: objective "), std::string::npos) << outcome.err;
  int round = 1;
  double pass = 0;
  Json last;
  for (const std::string& line : lines(read("run.jsonl"))) {
    const Json event = Json::parse(line);
    if (event.at("event") == "start") {
      EXPECT_EQ(event.at("partial"), true);
      EXPECT_EQ(event.at("outer_rounds"), 3);
      EXPECT_EQ(event.at("outer_gap"), 0);
    }
    if (event.at("event") == "end") {
      EXPECT_EQ(event.at("status"), "out of rounds");
    }
    if (event.at("event") != "progress") continue;
    const int now = event.at("round").get<int>();
    EXPECT_TRUE(now == round || now == round + 1);
    round = now;
    EXPECT_GE(event.at("pass").get<double>(), pass);
    pass = event.at("pass").get<double>();
    last = event;
  }
  EXPECT_EQ(round, 3);
  // The certificate is that of the last round's problem.
  const Json certificate = json("show model.esp --json").at("certificate");
  EXPECT_EQ(certificate.at("primal"), last.at("primal"));
  EXPECT_EQ(certificate.at("dual"), last.at("dual"));
  EXPECT_LE(certificate.at("relative_gap").get<double>(), 1e-3);
}

TEST_F(CliPartialTest, WithoutUnsureLabelsItIsOrdinaryTraining) {
  for (const char* solver : {"eg", "lbfgs"}) {
    const std::string train = std::string("train tag full.txt --quiet --solver ") + solver;
    succeed(train + " -o plain.esp");
    succeed(train + " --partial -o partial.esp --log run.jsonl");
    // Their files tell how the data were read.
    EXPECT_EQ(run("show plain.esp --weights").out, run("show partial.esp --weights").out);
    EXPECT_EQ(json("show plain.esp --json").at("certificate"),
              json("show partial.esp --json").at("certificate"));
    EXPECT_EQ(read("run.jsonl").find("\"round\""), std::string::npos);
  }
}

TEST_F(CliPartialTest, TheSameSeedGivesTheSameModel) {
  succeed("train tag part.txt --partial --quiet --outer-rounds 3 -o a.esp");
  succeed("train tag part.txt --partial --quiet --outer-rounds 3 -o b.esp");
  EXPECT_EQ(read("a.esp"), read("b.esp"));
}

TEST_F(CliPartialTest, LbfgsAndMarginsGoThroughItToo) {
  for (const char* options : {"--solver lbfgs", "--loss softmax-margin", "--loss svm --l2 10 --gap 0.02"}) {
    succeed(std::string("train tag part.txt --partial --valid bio --quiet -o model.esp --outer-rounds 4 ") +
            options);
    EXPECT_GT(recovered("model.esp"), 0.95) << options;
  }
}

}  // namespace
}  // namespace espalier::testing::labels_test
