// What predict and eval do for taggers besides labelling: threads, confidences, labels that are given.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/cli_test.h"

namespace espalier::testing {
namespace {

class CliPredictTest : public CliTest {
 protected:
  void SetUp() override {
    succeed("generate tag -n 200 --seed 1 -o train.txt");
    succeed("train tag train.txt -o model.esp --quiet --gap 1e-2");
  }
  // Many blocks of sentences, most of them short.
  std::string many_sentences() const {
    std::string text;
    while (text.size() < 600'000) {
      text += read("train.txt");
      for (int i = 0; i < 200; ++i) text += "Rome\tNNP\tB-LOC\n\n";
    }
    return text;
  }
  static std::vector<std::string> split(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
    return fields;
  }
  void expect_error(const std::string& arguments, const std::string& message, const std::string& input = "") {
    const auto before = files();
    const Outcome outcome = run(arguments, input);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.err, "espalier: " + message + "\n");
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(files(), before) << arguments;
  }
};

TEST_F(CliPredictTest, ThreadsGiveTheSameBytes) {
  write("many.txt", many_sentences());
  for (const std::string options : {"", " --marginals entity --min-confidence 0.9", " --kbest 2"}) {
    const std::string one = succeed("predict model.esp many.txt" + options);
    EXPECT_GT(one.size(), 500'000u);
    for (const std::string threads : {"1", "2", "5"}) {
      EXPECT_TRUE(succeed("predict model.esp many.txt --threads " + threads + options) == one)
          << threads << options;
    }
  }
  const std::string evaluated = succeed("eval model.esp many.txt");
  for (const std::string threads : {"1", "2", "5"}) {
    EXPECT_EQ(succeed("eval model.esp many.txt --threads " + threads), evaluated);
  }
  EXPECT_EQ(succeed("predict model.esp --threads 5", ""), "");
}

TEST_F(CliPredictTest, ThreadsFailAlike) {
  const std::string text = many_sentences();
  const std::size_t middle = text.find("\n\n", text.size() / 2) + 2;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(middle), '\n');
  const std::map<std::string, std::string> mistakes{
      {"one\ttwo\tthree\tfour\n",
       "4 columns; expected 3 as in line 1, or --format crfsuite for attribute files"},
      {std::string("a\0b", 3), "a NUL byte; expected a text file, plain or compressed by gzip or zstd"}};
  for (const auto& [mistake, message] : mistakes) {
    write("bad.txt", text.substr(0, middle) + mistake + text.substr(middle));
    const std::string expected = fmt::format("bad.txt:{}: {}", line, message);
    const std::string before = run("predict model.esp bad.txt").out;
    EXPECT_FALSE(before.empty());
    EXPECT_TRUE(succeed("predict model.esp", text).starts_with(before));
    for (const std::string threads : {"1", "2", "5"}) {
      expect_error("predict model.esp bad.txt -o out.txt --threads " + threads, expected);
      expect_error("eval model.esp bad.txt --threads " + threads, expected);
      // Standard output cannot be taken back; it ends with a whole sentence.
      EXPECT_TRUE(run("predict model.esp bad.txt --threads " + threads).out == before) << threads;
    }
  }
  // Two mistakes: the first one in the file is told.
  const std::string two = "one\ttwo\tthree\tfour\n\n";
  write("bad.txt", two + text.substr(0, middle) + std::string("a\0b", 3));
  for (const std::string threads : {"1", "5"}) {
    expect_error("predict model.esp bad.txt --threads " + threads,
                 "bad.txt:1: 4 columns; expected 3 as in training, or 2 without the label");
  }
  expect_error("predict model.esp bad.txt --threads 0",
               "--threads: found '0'; expected a whole number >= 1; see 'espalier predict --help'");
}

TEST_F(CliPredictTest, ConfidenceOfEntities) {
  const std::string input = "Mr\tNNP\nSmith\tNNP\nleft\tVBD\nNew\tNNP\nYork\tNNP\n";
  const std::vector<std::string> best = lines(succeed("predict model.esp", input));
  const std::vector<std::string> shown = lines(succeed("predict model.esp --marginals entity", input));
  ASSERT_EQ(shown.size(), best.size());
  double least = 1;
  std::size_t outside = 0;
  for (std::size_t i = 0; i + 1 < shown.size(); ++i) {
    const auto fields = split(shown[i]);
    ASSERT_EQ(fields.size(), 4u);
    EXPECT_EQ(shown[i].substr(0, best[i].size() + 1), best[i] + '\t');
    EXPECT_EQ(fields[2] == "O", fields[3] == "_");
    outside += fields[3] == "_";
    if (fields[2].starts_with("I-")) {
      EXPECT_EQ(fields[3], split(shown[i - 1])[3]);
    }
    if (fields[3] != "_") least = std::min(least, std::stod(fields[3]));
  }
  EXPECT_GT(outside, 0u);
  EXPECT_GT(least, 0);
  ASSERT_LT(least, 1);

  // The least probable one goes, the others stay.
  const double limit = least + 1e-6;
  const std::vector<std::string> sure =
      lines(succeed(fmt::format("predict model.esp --marginals entity --min-confidence {}", limit), input));
  std::size_t gone = 0;
  for (std::size_t i = 0; i + 1 < shown.size(); ++i) {
    const auto before = split(shown[i]), now = split(sure[i]);
    const bool goes = before[3] != "_" && std::stod(before[3]) < limit;
    EXPECT_EQ(now[2], goes ? "O" : before[2]);
    EXPECT_EQ(now[3], goes ? "_" : before[3]);
    gone += goes;
  }
  EXPECT_GT(gone, 0u);
  EXPECT_EQ(succeed("predict model.esp --min-confidence 0", input), succeed("predict model.esp", input));
}

TEST_F(CliPredictTest, ConfidenceOfTokensThatAreNoChunks) {
  write("tags.txt", "a DT\ndog NN\n\nthe DT\ncat NN\n");
  succeed("train tag tags.txt -o tags.esp --quiet --l2 0.1");
  const std::vector<std::string> marginals = lines(succeed("predict tags.esp --marginals", "dog\n"));
  const std::vector<std::string> entities = lines(succeed("predict tags.esp --marginals entity", "dog\n"));
  const auto fields = split(marginals.front());
  ASSERT_EQ(fields.size(), 4u);
  EXPECT_EQ(fields[1], "NN");
  EXPECT_EQ(entities.front(), "dog\tNN\t" + fields[3].substr(fields[3].find(':') + 1));
  EXPECT_EQ(succeed("predict tags.esp --min-confidence 1", "dog\n"), "dog\t_\n\n");
}

TEST_F(CliPredictTest, ForcedLabels) {
  const std::string free = succeed("predict model.esp", "Rome\tNNP\nis\tVBZ\nold\tJJ\n");
  const auto last = [](const std::string& text, std::size_t line) { return split(lines(text)[line]).back(); };
  const std::string all_free =
      succeed("predict model.esp --forced 3", "Rome\tNNP\t_\nis\tVBZ\t?\nold\tJJ\t_\n");
  for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(last(all_free, t), last(free, t));
  EXPECT_TRUE(all_free.starts_with("Rome\tNNP\t_\t")) << all_free;

  const std::string forced = succeed("predict model.esp --forced 3 --marginals",
                                     "Rome\tNNP\tB-PER\nis\tVBZ\tI-PER|B-ORG\nold\tJJ\t_\n");
  EXPECT_NE(forced.find("B-PER:1.000000"), std::string::npos) << forced;
  EXPECT_EQ(split(lines(forced)[0])[3], "B-PER");
  const std::string second = split(lines(forced)[1])[3];
  EXPECT_TRUE(second == "I-PER" || second == "B-ORG") << second;
  EXPECT_NE(lines(forced)[1].find("\tO:0.000000"), std::string::npos) << forced;
  double sum = 0;
  for (const std::string& line :
       lines(succeed("predict model.esp --forced 3 --kbest 1000", "Rome\tNNP\tB-PER|B-ORG|O\n"))) {
    if (line.starts_with("# ")) sum += std::stod(words(line).at(2));
  }
  EXPECT_NEAR(sum, 1, 1e-5);

  // Any column, also with the label in the file, and the label itself.
  EXPECT_EQ(split(lines(succeed("predict model.esp --forced 1", "B-PER\tRome\tNNP\n"))[0]),
            (std::vector<std::string>{"B-PER", "Rome", "NNP", "B-PER"}));
  EXPECT_EQ(split(lines(succeed("predict model.esp --forced 3", "Rome\tNNP\tB-PER\tB-LOC\n"))[0]).back(),
            "B-PER");
  EXPECT_EQ(split(lines(succeed("predict model.esp --forced label", "Rome\tNNP\tB-PER\n"))[0]).back(),
            "B-PER");
}

TEST_F(CliPredictTest, ForcedLabelsOfAttributeFiles) {
  write("items.txt", "A\tx\nB\ty\nA\tx\n");
  succeed("train tag items.txt --format crfsuite -o items.esp --quiet --l2 0.1");
  EXPECT_EQ(succeed("predict items.esp", "B\tx\n\ty\n"), "A\nB\n\n");
  EXPECT_EQ(succeed("predict items.esp --forced label", "B\tx\n\ty\n_\tx\n"), "B\nB\nA\n\n");
  expect_error("predict items.esp --forced 3 -o out.txt",
               "--forced: column 3 for a model of crfsuite; expected label");
}

// Lines between sentences stay where they are, also where a block of sentences ends.
TEST_F(CliPredictTest, ThreadsKeepWhatIsBetweenSentences) {
  std::string input = "\n-DOCSTART- -X-\n\n", expected = input;
  while (input.size() < 300'000) {
    for (int i = 0; i < 100; ++i) {
      input += "Rome\tNNP\n\n";
      expected += "Rome\tNNP\tLABEL\n\n";
    }
    input += "\n-DOCSTART- -X-\n\n";
    expected += "\n-DOCSTART- -X-\n\n";
  }
  const std::string label = split(lines(succeed("predict model.esp", "Rome\tNNP\n")).front()).back();
  for (std::size_t at; (at = expected.find("LABEL")) != std::string::npos;) expected.replace(at, 5, label);
  for (const std::string threads : {"1", "2", "5"}) {
    EXPECT_TRUE(succeed("predict model.esp --threads " + threads, input) == expected) << threads;
  }
  EXPECT_EQ(succeed("predict model.esp --threads 2", "\n\n-DOCSTART-\n"), "\n\n-DOCSTART-\n");
}

TEST_F(CliPredictTest, WritesOtherEncodings) {
  const std::string input = "Mr\tNNP\nSmith\tNNP\nleft\tVBD\nNew\tNNP\nYork\tNNP\n";
  const std::string forced = "Rome\tNNP\tB-LOC\nRome\tNNP\tB-LOC\nRome\tNNP\tI-LOC\nis\tVBZ\tO\n";
  const auto written = [&](const std::string& encoding) {
    std::string labels;
    for (const std::string& line :
         lines(succeed("predict model.esp --forced 3 --encoding " + encoding, forced))) {
      if (!line.empty()) labels += split(line).back() + ' ';
    }
    return labels;
  };
  EXPECT_EQ(written("bio"), "B-LOC B-LOC I-LOC O ");
  EXPECT_EQ(written("iob1"), "I-LOC B-LOC I-LOC O ");
  EXPECT_EQ(written("bioes"), "S-LOC B-LOC E-LOC O ");
  EXPECT_EQ(succeed("predict model.esp --encoding bio", input), succeed("predict model.esp", input));
  expect_error("predict model.esp train.txt --encoding iob -o out.txt",
               "--encoding: found 'iob'; did you mean iob1?");
  write("tags.txt", "a DT\ndog NN\n");
  succeed("train tag tags.txt -o tags.esp --quiet");
  expect_error("predict tags.esp tags.txt --encoding bio -o out.txt",
               "--encoding: a model with the label 'DT'; expected labels that are O, or a prefix (B-, I-, "
               "E-, S-, L- or U-) and a type");
}

TEST_F(CliPredictTest, Mistakes) {
  const std::string see = "; see 'espalier predict --help'";
  write("new.txt", "Rome\tNNP\n");
  expect_error(
      "predict model.esp --marginals new.txt",
      "--marginals: found 'new.txt'; expected label or entity; put file names before --marginals" + see);
  expect_error("predict model.esp new.txt --min-confidence 1.5",
               "--min-confidence: found '1.5'; expected a probability, a number from 0 to 1" + see);
  expect_error("predict model.esp new.txt --forced x",
               "--forced: 'x'; expected label, or a column counted from 1");
  expect_error("predict model.esp new.txt --forced 0",
               "--forced: '0'; expected label, or a column counted from 1");
  expect_error("predict model.esp new.txt --forced 3 -o out.txt",
               "new.txt:1: 2 columns; expected the forced labels in column 3, as --forced says");
  expect_error("predict model.esp new.txt --forced 2",
               "new.txt:1: 2 columns; expected 4 as in training, and the forced one, or 3 without the label");
  expect_error("predict model.esp new.txt --forced label", "new.txt:1: 2 columns; expected 3 as in training");
  write("new.txt", "Rome\tNNP\t_\n\nis\tVBZ\tO|VERB\n");
  expect_error(
      "predict model.esp new.txt --forced 3 -o out.txt",
      "new.txt:3: the forced label 'VERB'; expected a label of the model, several of them as 'A|B', or "
      "'_' for any");

  succeed("train tag train.txt -o svm.esp --quiet --loss svm --l2 16 --gap 0.1");
  for (const std::string option : {"--marginals entity", "--min-confidence 0.5"}) {
    expect_error(
        "predict svm.esp new.txt " + option,
        option.substr(0, option.find(' ')) +
            ": a model of loss svm has no probabilities; expected one trained with a finite beta, such as "
            "--loss crf");
  }
  train_model();  // a classifier
  for (const std::string option :
       {"--marginals entity", "--min-confidence 0.5", "--forced label", "--encoding bio"}) {
    const std::string name = option == "--marginals entity" ? option : option.substr(0, option.find(' '));
    expect_error("predict model.esp test.txt " + option,
                 name + ": given for a model of classify; expected a model of tag");
  }
}

}  // namespace
}  // namespace espalier::testing
