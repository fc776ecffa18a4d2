// What training takes from labels: constraints, partly known labels, and what becomes of sequences that are
// of no use.

#include "tasks/tag/gold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "espalier/tasks/tag.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"
#include "tasks/trained.h"

namespace espalier::tag_gold_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;
using testing::Trained;

class TagGoldTest : public ::testing::Test {
 protected:
  static TagOptions crfsuite() {
    TagOptions options;
    options.format = "crfsuite";
    return options;
  }
  static TagOptions valid(const std::string& scheme, const std::string& invalid = "refuse") {
    TagOptions options = crfsuite();
    options.valid = scheme;
    options.invalid = invalid;
    return options;
  }
  static TagOptions partial() {
    TagOptions options = crfsuite();
    options.partial = true;
    return options;
  }
  // Labels with spaces between, sequences with slashes: "O B-X / O".
  std::string write(const std::string& labels) const {
    std::string text;
    for (std::size_t at = 0; at < labels.size();) {
      const std::size_t end = std::min(labels.find(' ', at), labels.size());
      const std::string label = labels.substr(at, end - at);
      text += label == "/" ? "\n" : label + "\tis-" + label + "\n";
      at = end + 1;
    }
    return folder.file("train.txt", text);
  }
  std::unique_ptr<TrainingSet> read(const std::string& labels, const TagOptions& options) const {
    return read_tag_training(write(labels), options);
  }
  std::string message(const std::string& labels, const TagOptions& options) const {
    const std::string whole = error_message([&] { read(labels, options); });
    const std::string path = folder.path("train.txt");
    return whole.starts_with(path) ? "train.txt" + whole.substr(path.size()) : whole;
  }

  TemporaryFolder folder;
};

TEST_F(TagGoldTest, RefusesTheFirstTokenThatBreaksTheScheme) {
  const std::string advice = " does not allow it; invalid drop leaves such sequences out";
  EXPECT_EQ(message("O B-X I-X / O / B-X O I-X", valid("bio")),
            "train.txt:9: the label 'I-X' after 'O'; valid bio" + advice);
  EXPECT_EQ(message("O B-X I-X / I-X", valid("bio")),
            "train.txt:5: the label 'I-X' at the beginning of a sequence; valid bio" + advice);
  EXPECT_EQ(message("S-X O / O B-X", valid("bioes")),
            "train.txt:5: the label 'B-X' at the end of a sequence; valid bioes" + advice);
  EXPECT_EQ(message("O I-X / O B-X", valid("iob1")),
            "train.txt:5: the label 'B-X' after 'O'; valid iob1" + advice);
  TagOptions both = valid("bio");
  both.transitions = folder.file("pairs.txt", "B-X B-X\n");
  EXPECT_EQ(
      message("O B-X B-X", both),
      "train.txt:3: the label 'B-X' after 'B-X'; valid bio and transitions " + both.transitions + advice);
  both.valid.clear();
  EXPECT_EQ(message("O I-X B-X B-X", both),
            "train.txt:4: the label 'B-X' after 'B-X'; transitions " + both.transitions + advice);
}

TEST_F(TagGoldTest, DropsSequencesThatBreakTheScheme) {
  const auto set = read("O I-X / O B-X I-X / I-X O / O O", valid("bio", "drop"));
  EXPECT_EQ(set->describe(),
            "2 sequences, 5 tokens, 3 labels, 3 attributes; 2 sequences dropped: labels violate bio");
  ASSERT_EQ(set->problem().size(), 2u);
  // Those that are left are the second and the fourth.
  std::vector<double> z(set->problem().num_statistics(0)), second(set->problem().num_statistics(1));
  set->problem().add_gold(0, 1.0, z);
  set->problem().add_gold(1, 1.0, second);
  EXPECT_EQ(std::vector(z.begin(), z.begin() + 9), (std::vector<double>{0, 0, 1, 1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(std::vector(second.begin(), second.begin() + 6), (std::vector<double>{0, 0, 1, 0, 0, 1}));

  EXPECT_EQ(read("O I-X / O B-X", valid("bio", "drop"))->describe(),
            "1 sequence, 2 tokens, 3 labels, 3 attributes; 1 sequence dropped: labels violate bio");
  EXPECT_EQ(read("O I-X B-X", crfsuite())->describe(), "1 sequence, 3 tokens, 3 labels, 3 attributes");
  EXPECT_EQ(message("O I-X / I-X O B-X", valid("bio", "drop")),
            "train.txt: no sequence is left: labels violate bio; expected at least one");
}

// The tokens that stay keep their attributes, values and transitions.
TEST_F(TagGoldTest, DroppingIsLikeAFileWithoutThem) {
  TagOptions options;
  options.templates = folder.file("template", "U:%x[0,0]\nB:%x[0,0]\n");
  options.valid = "bio";
  options.invalid = "drop";
  const auto dropped =
      read_tag_training(folder.file("all.txt", "b B-X\ni I-X\n\no O\ni I-X\n\no O\nb B-X\ni I-X\n"), options);
  const auto without =
      read_tag_training(folder.file("some.txt", "b B-X\ni I-X\n\no O\nb B-X\ni I-X\n"), options);
  ASSERT_EQ(dropped->problem().weight_shape(), without->problem().weight_shape());
  ASSERT_EQ(dropped->problem().size(), 2u);
  Weights theta(without->problem().weight_shape());
  for (std::size_t k = 0; k < theta.shape().rows * theta.shape().width; ++k) {
    theta.row(k / theta.shape().width)[k % theta.shape().width] = static_cast<float>(k % 7) - 3;
  }
  Workspace ws;
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<double> a(dropped->problem().num_statistics(i)), b(without->problem().num_statistics(i));
    dropped->problem().score(i, theta, 1.0, a, ws);
    without->problem().score(i, theta, 1.0, b, ws);
    EXPECT_EQ(a, b);
  }
}

TEST_F(TagGoldTest, RefusesConstraintsThatLeaveNothing) {
  EXPECT_EQ(message("B-X E-X", valid("bioes")),
            "valid bioes: no sequence of 1 label is left; expected some of every length");
  TagOptions options = crfsuite();
  options.transitions = folder.file("pairs.txt", "* (stop)\n");
  EXPECT_EQ(message("A B", options), "transitions " + options.transitions +
                                         ": no sequence of 1 label is left; expected some of every length");
  options.transitions = folder.file("pairs.txt", "A *\nB *\n");
  EXPECT_EQ(message("A B", options), "transitions " + options.transitions +
                                         ": no sequence of 2 labels is left; expected some of every length");
  EXPECT_EQ(message("O NN", valid("bio")), "valid bio: found the label 'NN'; expected O, B-TYPE or I-TYPE");
  EXPECT_EQ(message("O B-X", valid("bio", "ignore")), "invalid: found 'ignore'; expected refuse or drop");
}

// Attributes that speak for a stray I-X do not get it.
TEST_F(TagGoldTest, PredictionObeysTheConstraints) {
  const auto set = read("O B-X I-X", valid("bio"));
  Weights theta(set->problem().weight_shape());
  // Labels B-X, I-X, O; attributes is-O, is-B-X, is-I-X.
  theta.row(0)[2] = 1;
  theta.row(1)[0] = 0.5f;
  theta.row(2)[1] = 2;
  const std::string gold = folder.file("gold.txt", "O\tis-O\nB-X\tis-I-X\nI-X\tis-I-X\n");
  const auto loaded = Trained(load_tag_predictor, set->sections(), theta);
  EXPECT_EQ(loaded.predict(folder.file("test.txt", "\tis-I-X\n\tis-O\n\tis-I-X\n\n\tis-O\n\tis-I-X\n")),
            "B-X\nB-X\nI-X\n\nB-X\nI-X\n\n");
  const Evaluation evaluation = loaded.predictor->evaluate(gold, {});
  EXPECT_NEAR(evaluation.rates.at("accuracy").get<double>(), 1.0 / 3, 1e-12) << "B-X I-X I-X has score 4";
  set->read_dev(gold);
  EXPECT_EQ(set->evaluate_dev(theta).report.dump(), evaluation.report.dump());

  // Forbidden labels have no probability, and are not among the best.
  const std::string marginals = loaded.predict(folder.file("one.txt", "\tis-I-X\n"),
                                               TagPredictOptions{.marginals = TagMarginals::label});
  EXPECT_EQ(marginals, "B-X\tB-X:0.500000\tI-X:0.000000\tO:0.500000\n\n");
  const std::string best = loaded.predict(folder.path("one.txt"), TagPredictOptions{.kbest = 5});
  EXPECT_EQ(best, "# 0 0.500000\nB-X\n\n# 1 0.500000\nO\n\n");

  // Without constraints the same weights say I-X.
  const auto free = read("O B-X I-X", crfsuite());
  EXPECT_EQ(Trained(load_tag_predictor, free->sections(), theta).predict(folder.path("one.txt")), "I-X\n\n");
  EXPECT_FALSE(free->sections().settings.contains("constraints"));
}

TEST_F(TagGoldTest, RefusesStoredConstraintsThatDoNotFit) {
  const auto set = read("O B-X I-X", valid("bio"));
  const Weights theta(set->problem().weight_shape());
  const auto load = [&](const std::string& name, const std::string& bytes) {
    TaskSections sections = set->sections();
    for (auto& [array, contents] : sections.arrays) {
      if (array == name) contents = bytes;
    }
    return error_message([&] { Trained(load_tag_predictor, sections, theta); });
  };
  EXPECT_EQ(load("first_allowed", std::string("\1\1\1", 3)), "(no error)");
  EXPECT_EQ(load("first_allowed", std::string("\1\1", 2)),
            "model.esp: the section 'first_allowed' is not a table of zeros and ones; expected 3; retrain "
            "the model");
  EXPECT_EQ(load("last_allowed", std::string("\1\2\1", 3)),
            "model.esp: the section 'last_allowed' is not a table of zeros and ones; expected 3; retrain the "
            "model");
  EXPECT_EQ(load("steps_allowed", std::string("\1\1\1", 3)),
            "model.esp: the section 'steps_allowed' is not a table of zeros and ones; expected 9; retrain "
            "the model");
  EXPECT_EQ(load("last_allowed", std::string("\0\0\0", 3)),
            "model.esp: no sequence of 1 label is possible; retrain the model");
}

TEST_F(TagGoldTest, CostsOfLabels) {
  TagOptions options = crfsuite();
  options.costs = folder.file("costs.txt", "A B 3\nB A 0\n");
  const auto set = read("A B C", options);
  std::vector<double> cost(set->problem().num_statistics(0));
  set->problem().add_cost(0, 2.0, cost);
  EXPECT_EQ(std::vector(cost.begin(), cost.begin() + 9), (std::vector<double>{0, 6, 2, 0, 0, 2, 2, 2, 0}));
  EXPECT_EQ(std::count(cost.begin() + 9, cost.end(), 0.0), 9);
  options.costs = folder.file("costs.txt", "A D 3\n");
  EXPECT_EQ(message("A B C", options),
            options.costs + ":1: the label 'D'; expected a label of the training data");
}

TEST_F(TagGoldTest, LabelsOfWhichSeveralArePossible) {
  const auto set = read("A ? B|C / A B / C|B D", partial());
  EXPECT_EQ(set->describe(),
            "3 sequences, 7 tokens, 4 labels, 6 attributes, 3 tokens with an uncertain label");
  ASSERT_NE(set->latent_gold(), nullptr);
  std::vector<double> z(set->problem().num_statistics(0));
  set->problem().add_gold(0, 1.0, z);
  const std::vector<double> expected{1, 0, 0, 0, 0.25, 0.25, 0.25, 0.25, 0, 0.5, 0.5, 0};
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(z[k], expected[k], 1e-15) << k;
  std::vector<double> cost(set->problem().num_statistics(0));
  set->problem().add_cost(0, 1.0, cost);
  EXPECT_EQ(std::vector(cost.begin(), cost.begin() + 12),
            (std::vector<double>{0, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 1}));
}

TEST_F(TagGoldTest, TheCostOfAnUnsureLabelIsTheLeast) {
  TagOptions options = partial();
  options.costs = folder.file("costs.txt", "A C 3\nB C 2\nA D 0.5\n");
  const auto set = read("A|B C D", options);
  std::vector<double> cost(set->problem().num_statistics(0));
  set->problem().add_cost(0, 1.0, cost);
  EXPECT_EQ(std::vector(cost.begin(), cost.begin() + 4), (std::vector<double>{0, 0, 2, 0.5}));
}

// ? and | mean nothing unless they are said to.
TEST_F(TagGoldTest, WithoutPartialTheyAreOrdinaryLabels) {
  const auto set = read("A ? B|C", crfsuite());
  EXPECT_EQ(set->describe(), "1 sequence, 3 tokens, 3 labels, 3 attributes");
  EXPECT_EQ(set->latent_gold(), nullptr);
  EXPECT_EQ(read("A B", partial())->latent_gold(), nullptr) << "all labels are known";
}

TEST_F(TagGoldTest, SequencesOfWhichNothingIsKnown) {
  const auto set = read("? ? / A B / A|B ?", partial());
  EXPECT_EQ(set->describe(),
            "1 sequence, 2 tokens, 2 labels, 4 attributes; 2 sequences dropped: no label is known");
  EXPECT_EQ(message("? A|B / B|A", partial()),
            "train.txt: no sequence is left: no label is known; expected at least one");
}

TEST_F(TagGoldTest, PartialLabelsThatMakeNoSense) {
  const std::string expected = "; expected ?, or labels separated by |";
  EXPECT_EQ(message("A B / A B| ?", partial()), "train.txt:5: the label 'B|'" + expected);
  EXPECT_EQ(message("A |", partial()), "train.txt:2: the label '|'" + expected);
  EXPECT_EQ(message("A A||B", partial()), "train.txt:2: the label 'A||B'" + expected);
  EXPECT_EQ(message("A B|?", partial()), "train.txt:2: the label 'B|?'" + expected);
  EXPECT_EQ(message("A ? A|A", partial()), "train.txt: only the label 'A'; expected at least two labels");
}

TEST_F(TagGoldTest, PartialLabelsObeyTheConstraints) {
  TagOptions options = valid("bio");
  options.partial = true;
  // Before the first I-X there is a B-X: no sequence begins with I-X.
  const auto set = read("? I-X O / B-X O", options);
  std::vector<double> z(set->problem().num_statistics(0));
  set->problem().add_gold(0, 1.0, z);
  EXPECT_EQ(std::vector(z.begin(), z.begin() + 9), (std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  // No completion is possible.
  EXPECT_EQ(message("B-X O / O I-X|B-Y I-Y|I-X / O I-X|I-Y O", options),
            "train.txt:9: the label 'I-X|I-Y' after 'O'; valid bio does not allow it; invalid drop leaves "
            "such sequences out");
  EXPECT_EQ(message("I-X ? / B-X O", options),
            "train.txt:1: the label 'I-X' at the beginning of a sequence; valid bio does not allow it; "
            "invalid drop leaves such sequences out");
}

}  // namespace
}  // namespace espalier::tag_gold_test
