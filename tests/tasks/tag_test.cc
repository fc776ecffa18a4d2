#include "espalier/tasks/tag.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "espalier/tasks/registry.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"
#include "tasks/common.h"
#include "tasks/trained.h"

namespace espalier::tag_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;
using testing::Trained;

constexpr const char* kItems = "A\tx\nB\ty\n\nB\ty\nA\tx\nA\tx\tz\n";

TagOptions crfsuite() {
  TagOptions options;
  options.format = "crfsuite";
  return options;
}

// The weights of a training set by the names of things: tests do not depend on how those are numbered.
class NamedWeights {
 public:
  explicit NamedWeights(const TrainingSet& set)
      : sections_(set.sections()),
        theta_(set.problem().weight_shape()),
        labels_(dictionary("labels")),
        attributes_(dictionary("attributes")),
        transitions_(dictionary("transitions")) {}

  float& node(const std::string& attribute, const std::string& label) {
    return theta_.row(attributes_.find(attribute).value())[labels_.find(label).value()];
  }
  float& step(const std::string& attribute, const std::string& before, const std::string& label) {
    const std::size_t row = attributes_.size() + transitions_.find(attribute).value() * labels_.size() +
                            labels_.find(before).value();
    return theta_.row(row)[labels_.find(label).value()];
  }
  // Where all transitions are alike.
  float& step(const std::string& before, const std::string& label) {
    EXPECT_EQ(transitions_.size(), 1u);
    return step(std::string(transitions_.name(0)), before, label);
  }
  const Weights& theta() const { return theta_; }

 private:
  Dictionary dictionary(const std::string& name) const {
    const StoredTask stored{sections_.settings,
                            [this](std::string_view wanted) -> std::string_view {
                              for (const auto& [array, bytes] : sections_.arrays) {
                                if (array == wanted) return bytes;
                              }
                              throw Error("no array");
                            },
                            theta_, Loss::crf(), "model.esp"};
    return load_dictionary(name, stored);
  }

  TaskSections sections_;
  Weights theta_;
  Dictionary labels_, attributes_, transitions_;
};

// Labels A and B, attributes x, y and z.
NamedWeights some_weights(const TrainingSet& set) {
  NamedWeights weights(set);
  weights.node("x", "A") = 1;
  weights.node("y", "B") = 0.5f;
  weights.node("z", "B") = -0.25f;
  weights.step("A", "B") = 0.75f;
  weights.step("B", "B") = -2;
  return weights;
}

// All labellings by A and B of a sequence, best first, with their scores by the weights above.
struct Labelling {
  std::string labels;
  double score;
};
std::vector<Labelling> enumerate(const std::vector<std::string>& tokens) {
  std::vector<Labelling> all;
  for (std::size_t bits = 0; bits < std::size_t{1} << tokens.size(); ++bits) {
    Labelling one{"", 0};
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      one.labels += bits >> t & 1 ? 'B' : 'A';
      if (tokens[t].find('x') != std::string::npos && one.labels.back() == 'A') one.score += 1;
      if (tokens[t].find('y') != std::string::npos && one.labels.back() == 'B') one.score += 0.5;
      if (tokens[t].find('z') != std::string::npos && one.labels.back() == 'B') one.score -= 0.25;
      if (one.labels.ends_with("AB")) one.score += 0.75;
      if (one.labels.ends_with("BB")) one.score -= 2;
    }
    all.push_back(one);
  }
  std::ranges::sort(all, [](const Labelling& a, const Labelling& b) { return a.score > b.score; });
  return all;
}
double log_partition(const std::vector<Labelling>& all, double beta) {
  double sum = 0;
  for (const Labelling& one : all) sum += std::exp(beta * one.score);
  return std::log(sum);
}
double marginal(const std::vector<Labelling>& all, std::size_t t, char label, double beta) {
  double sum = 0;
  for (const Labelling& one : all) sum += one.labels[t] == label ? std::exp(beta * one.score) : 0;
  return sum / std::exp(log_partition(all, beta));
}

class TagTest : public ::testing::Test {
 protected:
  void SetUp() override { set = read_tag_training(folder.file("train.txt", kItems), crfsuite()); }
  Trained trained(Loss loss = Loss::crf()) const {
    return Trained(load_tag_predictor, set->sections(), some_weights(*set).theta(), loss);
  }

  TemporaryFolder folder;
  std::unique_ptr<TrainingSet> set;
};

TEST_F(TagTest, IsInTheTable) {
  EXPECT_EQ(std::ranges::count_if(
                task_table(),
                [](const TaskEntry& entry) { return entry.name == "tag" && entry.version == kTagVersion; }),
            1);
}

TEST_F(TagTest, TrainingSet) {
  EXPECT_EQ(set->task(), "tag");
  EXPECT_EQ(set->version(), kLinearTagVersion);
  EXPECT_EQ(set->describe(), "2 sequences, 5 tokens, 2 labels, 3 attributes");
  EXPECT_EQ(set->problem().size(), 2u);
  EXPECT_EQ(set->problem().weight_shape(), (WeightShape{3 + 2, 2}));
  EXPECT_EQ(set->problem().num_statistics(1), 3u * 2 + 2 * 2);
  EXPECT_EQ(set->sections().settings.dump(), R"({"format":"crfsuite"})");
}

TEST_F(TagTest, TheCostIsThatOfHamming) {
  std::vector<double> cost(set->problem().num_statistics(1));
  set->problem().add_cost(1, 1.0, cost);
  EXPECT_EQ(cost, (std::vector<double>{1, 0, 0, 1, 0, 1, 0, 0, 0, 0}));  // gold B A A
  EXPECT_EQ(set->problem().cost_offset(1), 0);
}

TEST_F(TagTest, ColumnsWithATemplate) {
  TagOptions options;
  options.templates = folder.file("template", "U00:%x[0,0]\nB\n");
  const auto columns = read_tag_training(folder.file("columns.txt", "x A\ny B\n\nx A\n"), options);
  EXPECT_EQ(columns->describe(), "2 sequences, 3 tokens, label in column 2 of 2: 2 labels, 2 attributes");
  EXPECT_EQ(columns->sections().settings.dump(), R"({"format":"columns","columns":2,"label_column":2})");
  options.label_column = 1;
  options.templates = folder.file("template", "U00:%x[0,1]\nB\n");
  const auto swapped = read_tag_training(folder.file("swapped.txt", "A x\nB y\n\nA x\n"), options);
  EXPECT_EQ(swapped->sections().settings.dump(), R"({"format":"columns","columns":2,"label_column":1})");
  EXPECT_EQ(swapped->describe(), "2 sequences, 3 tokens, label in column 1 of 2: 2 labels, 2 attributes");
  options.label_column.reset();
  options.templates.clear();
  options.first = 1;
  const std::string described = read_tag_training(folder.path("columns.txt"), options)->describe();
  EXPECT_TRUE(described.starts_with("1 sequence, 2 tokens, label in column 2 of 2: 2 labels, ")) << described;
}

TEST_F(TagTest, OptionsThatDoNotGoTogether) {
  const auto message = [&](const TagOptions& options) {
    return error_message([&] { read_tag_training(folder.path("train.txt"), options); });
  };
  TagOptions options = crfsuite();
  options.templates = folder.file("template", "U00:%x[0,0]\n");
  EXPECT_EQ(message(options), "template: given for format crfsuite; expected format columns");
  options = crfsuite();
  options.label_column = 1;
  EXPECT_EQ(message(options), "label_column: given for format crfsuite; expected format columns");
  options.format.reset();
  options.label_column = 0;
  EXPECT_EQ(message(options), "label_column: 0; expected at least 1");
  options = crfsuite();
  options.first = 0;
  EXPECT_EQ(message(options), "first: 0 sequences; expected at least 1");
  options.first.reset();
  options.min_count = 0;
  EXPECT_EQ(message(options), "min_count: 0; expected at least 1");
  options = crfsuite();
  options.encoding = "bolou";
  EXPECT_EQ(message(options), "encoding: unknown encoding of chunks 'bolou'; did you mean bilou?");
  options = crfsuite();
  for (const char* weights : {"comments", "0", "", "-1", "2x"}) {
    options.example_weights = weights;
    EXPECT_EQ(
        message(options),
        fmt::format("example_weights: '{}'; expected comment, or the number of a column, from 1", weights));
  }
  options.example_weights.reset();
  options.format = "csv";
  EXPECT_EQ(message(options), "format: unknown format 'csv'; expected columns, crfsuite or wapiti");
  options.format.reset();
  options.templates = folder.file("template", "\n \n");
  EXPECT_EQ(message(options),
            options.templates + ": no templates; expected at least one line that begins with U or B");
  options.templates = folder.path("none");
  EXPECT_EQ(message(options),
            options.templates + ": cannot open: No such file or directory; expected a file that can be read");
}

TEST_F(TagTest, PredictsAsCrfsuiteDoes) {
  const Trained tagger = trained();
  // With and without gold labels, one of them unseen; an unknown attribute; a sequence of one token.
  const std::string input = folder.file("test.txt", "A\tx\nC\ty\tnew:7\n\n\ty\n\n\n\tx\n\ty\n\ty\n\ty\n");
  EXPECT_EQ(enumerate({"x", "y", "y", "y"}).front().labels, "ABAB");
  EXPECT_EQ(tagger.predict(input), "A\nB\n\nB\n\n\nA\nB\nA\nB\n\n");
  EXPECT_EQ(tagger.predictor->describe(), "2 labels, 3 attributes");
  EXPECT_EQ(tagger.predict(folder.file("empty.txt", "")), "");
}

TEST_F(TagTest, ColumnsComeBackWithOneMore) {
  TagOptions options;
  options.templates = folder.file("template", "U:%x[0,0]\nB\n");
  const auto columns = read_tag_training(folder.file("columns.txt", "x 1 A\ny 1 B\n"), options);
  NamedWeights weights(*columns);
  weights.node("U:x", "A") = 1;
  weights.node("U:y", "B") = 1;
  const Trained tagger(load_tag_predictor, columns->sections(), weights.theta());
  // The separator is the line's own, whatever ends it; labels may be missing.
  EXPECT_EQ(tagger.predict(folder.file("test.txt", "x 1 A\ny\t1\tC\n\n\ny  1 B\r\n\r\nx\t1 A\n")),
            "x 1 A A\ny\t1\tC\tB\n\n\ny  1 B B\n\nx\t1 A\tA\n\n");
  EXPECT_EQ(tagger.predict(folder.file("test.txt", "x 1\ny 1\n\ny\t1\n")), "x 1 A\ny 1 B\n\ny\t1\tB\n\n");
}

TEST_F(TagTest, WapitiFilesComeBackWithOneMore) {
  TagOptions options;
  options.format = "wapiti";
  const auto wapiti = read_tag_training(folder.file("w.txt", "ux A\nuy *s B\n"), options);
  EXPECT_EQ(wapiti->sections().settings.dump(), R"({"format":"wapiti"})");
  NamedWeights weights(*wapiti);
  weights.node("uy", "B") = 1;
  weights.step("*s", "A", "B") = 3;
  const Trained tagger(load_tag_predictor, wapiti->sections(), weights.theta());
  EXPECT_EQ(tagger.predict(folder.file("test.txt", "ux A\nux *s\nuy\tB\n")), "ux A A\nux *s B\nuy\tB\tB\n\n");
}

TEST_F(TagTest, WhatIsBetweenSequencesIsKept) {
  TagOptions options;
  options.templates = folder.file("template", "U:%x[0,0]\n");
  options.example_weights = "comment";
  const auto columns = read_tag_training(folder.file("columns.txt", "x A\n\n# weight: 2\ny B\n"), options);
  EXPECT_EQ(columns->problem().weight(0), 1);
  EXPECT_EQ(columns->problem().weight(1), 2);
  NamedWeights weights(*columns);
  weights.node("U:y", "B") = 1;
  const Trained tagger(load_tag_predictor, columns->sections(), weights.theta());
  const std::string input =
      folder.file("test.txt", "-DOCSTART- O\n\nx A\n\n\n-DOCSTART- O\n\n# weight: 2\ny B\n\n\n");
  EXPECT_EQ(tagger.predict(input), "-DOCSTART- O O\n\nx A A\n\n\n-DOCSTART- O O\n\n# weight: 2\ny B B\n\n\n");
  EXPECT_EQ(tagger.predict(input, TagPredictOptions{.kbest = 1}),
            "-DOCSTART- O O\n\n# 0 0.500000\nx A A\n\n\n-DOCSTART- O O\n\n# weight: 2\n"
            "# 0 0.731059\ny B B\n\n\n");
  EXPECT_EQ(tagger.predictor->evaluate(input, {}).rates.at("accuracy"), 1.0);
}

// A line with another number of columns than the rest is where conlleval stops.
TEST_F(TagTest, LinesThatBeginADocumentGetAsManyColumnsAsTokens) {
  TagOptions options;
  options.templates = folder.file("template", "U:%x[0,0]\n");
  options.label_column = 2;
  const auto columns = read_tag_training(folder.file("columns.txt", "x A p\ny B p\n"), options);
  const NamedWeights weights(*columns);
  const Trained tagger(load_tag_predictor, columns->sections(), weights.theta());
  const auto predict = [&](const std::string& text, const TagPredictOptions& of = {}) {
    return tagger.predict(folder.file("test.txt", text), of);
  };
  // Its own label, in the label's column; O where there is none, or another number of columns.
  EXPECT_EQ(predict("-DOCSTART- G -X-\n\nx B p\n"), "-DOCSTART- G -X- G\n\nx B p A\n\n");
  EXPECT_EQ(predict("-DOCSTART-\t-X-\n\nx\tp\n"), "-DOCSTART-\t-X-\tO\n\nx\tp\tA\n\n");
  EXPECT_EQ(predict("-DOCSTART-\nx B p\n"), "-DOCSTART- O\nx B p A\n\n");
  EXPECT_EQ(predict("-DOCSTART-\n"), "-DOCSTART-\tO\n");
  EXPECT_EQ(predict("x B p\n-DOCSTART- G -X-\n"), "x B p A\n\n-DOCSTART- G -X- G\n");
  // The column of forced labels moves the label's.
  EXPECT_EQ(predict("-DOCSTART- _ G -X-\nx B A p\n", {.forced = "2"}), "-DOCSTART- _ G -X- G\nx B A p B\n\n");
  EXPECT_EQ(predict("-DOCSTART- G _ -X-\nx A B p\n", {.forced = "3"}), "-DOCSTART- G _ -X- G\nx A B p B\n\n");
  EXPECT_EQ(predict("-DOCSTART- O O\nx A p\n", {.marginals = TagMarginals::label}),
            "-DOCSTART- O O O _ _\nx A p A A:0.500000 B:0.500000\n\n");
  EXPECT_EQ(predict("-DOCSTART- O O\nx A p\n", {.marginals = TagMarginals::entity}),
            "-DOCSTART- O O O _\nx A p A 0.500000\n\n");
}

TEST_F(TagTest, AModelKeepsHowItsInputIsRead) {
  TagOptions options;
  options.templates = folder.file("template", "u:%x[0,0]\nu:t=%t[0,0,\"^\\u\"]\n");
  options.encoding = "bioes";
  options.example_weights = "2";
  options.gazetteers = {folder.file("LOC.txt", "New York\n"), folder.file("more.txt", "ORG\tBell\n")};
  const auto columns =
      read_tag_training(folder.file("columns.txt", "New 2 I-A\nYork 2 I-A\n\nin 1 O\nBell 1 B-B\n"), options);
  EXPECT_EQ(
      columns->sections().settings.dump(),
      R"({"format":"columns","columns":3,"label_column":3,"gazetteer":true,"encoding":"bioes","example_weights":2})");
  EXPECT_EQ(columns->problem().weight(0), 2);
  NamedWeights weights(*columns);
  weights.node("gazetteer=B-LOC", "B-A") = 1;
  weights.node("gazetteer=E-LOC", "E-A") = 1;
  weights.node("gazetteer=S-ORG", "S-B") = 1;
  weights.node("u:t=false", "O") = 1;
  const Trained tagger(load_tag_predictor, columns->sections(), weights.theta());
  const std::string gold = folder.file("gold.txt", "in 1 O\nNew 1 B-A\nYork 1 I-A\nBell 1 B-B\n");
  EXPECT_EQ(tagger.predict(gold), "in 1 O O\nNew 1 B-A B-A\nYork 1 I-A E-A\nBell 1 B-B S-B\n\n");
  // Scored by its chunks, whatever spells them.
  EXPECT_EQ(tagger.predictor->evaluate(gold, {}).report.dump(),
            R"({"accuracy":1.0,"precision":1.0,"recall":1.0,"f1":1.0,"tokens":4,"sequences":1,)"
            R"("sequence_accuracy":1.0,"chunks":{"gold":2,"predicted":2,"correct":2},)"
            R"("types":{"A":{"precision":1.0,"recall":1.0,"f1":1.0,"gold":1,"predicted":1,"correct":1},)"
            R"("B":{"precision":1.0,"recall":1.0,"f1":1.0,"gold":1,"predicted":1,"correct":1}}})");
  columns->read_dev(gold);
  EXPECT_EQ(columns->evaluate_dev(weights.theta()).rates.dump(),
            tagger.predictor->evaluate(gold, {}).rates.dump());
}

// conlleval would take both S-A for one chunk.
TEST_F(TagTest, NeighboursOfOneTypeAreTwoChunksWhereTheEncodingIsKnown) {
  TagOptions options;
  options.templates = folder.file("template", "U:%x[0,0]\n");
  options.encoding = "bioes";
  const auto columns = read_tag_training(folder.file("columns.txt", "x S-A\ny O\n"), options);
  NamedWeights weights(*columns);
  weights.node("U:x", "S-A") = 1;
  const Trained tagger(load_tag_predictor, columns->sections(), weights.theta());
  const std::string gold = folder.file("gold.txt", "x S-A\nx S-A\n");
  EXPECT_EQ(tagger.predictor->evaluate(gold, {}).report.at("chunks").dump(),
            R"({"gold":2,"predicted":2,"correct":2})");
}

TEST_F(TagTest, RareAttributesAreCounted) {
  TagOptions options = crfsuite();
  options.min_count = 3;
  EXPECT_EQ(read_tag_training(folder.path("train.txt"), options)->describe(),
            "2 sequences, 5 tokens, 2 labels, 1 attribute (2 dropped as rare)");
}

TEST_F(TagTest, OneColumnIsSeparatedByATab) {
  TagOptions options;
  options.templates = folder.file("template", "U:%x[0,0]\n");
  const auto columns = read_tag_training(folder.file("columns.txt", "x A\ny B\n"), options);
  const Trained tagger(load_tag_predictor, columns->sections(), Weights(columns->problem().weight_shape()));
  EXPECT_EQ(tagger.predict(folder.file("test.txt", "y\n")), "y\tA\n\n");
}

TEST_F(TagTest, MarginalsAreThoseOfAllLabellings) {
  const std::string input = folder.file("test.txt", "\tx\n\ty\n\tx\tz\n\n\ty\n");
  for (const double beta : {1.0, 0.5}) {
    const Trained tagger = trained({beta, 0});
    std::string expected;
    for (const std::vector<std::string>& tokens :
         {std::vector<std::string>{"x", "y", "xz"}, std::vector<std::string>{"y"}}) {
      const auto all = enumerate(tokens);
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        expected += fmt::format("{}\tA:{:.6f}\tB:{:.6f}\n", all.front().labels[t],
                                marginal(all, t, 'A', beta), marginal(all, t, 'B', beta));
      }
      expected += '\n';
    }
    EXPECT_EQ(tagger.predict(input, TagPredictOptions{.marginals = TagMarginals::label}), expected) << beta;
  }
}

TEST_F(TagTest, BestLabellings) {
  const std::string input = folder.file("test.txt", "\tx\n\ty\n\tx\tz\n\n\ty\n");
  const auto first = enumerate({"x", "y", "xz"}), second = enumerate({"y"});
  const auto block = [](std::size_t rank, double value, const std::string& labels) {
    std::string text = fmt::format("# {} {:.6f}\n", rank, value);
    for (const char label : labels) text += fmt::format("{}\n", label);
    return text + '\n';
  };
  for (const std::size_t k : {1u, 3u, 100u}) {
    std::string probable, best;
    for (const auto& all : {first, second}) {
      for (std::size_t r = 0; r < std::min(k, all.size()); ++r) {
        probable += block(r, std::exp(0.5 * all[r].score - log_partition(all, 0.5)), all[r].labels);
        best += block(r, all[r].score, all[r].labels);
      }
    }
    EXPECT_EQ(trained({0.5, 1}).predict(input, TagPredictOptions{.kbest = k}), probable);
    // A maximum has scores, no probabilities.
    EXPECT_EQ(trained(Loss::svm()).predict(input, TagPredictOptions{.kbest = k}), best);
  }
  EXPECT_EQ(
      error_message(
          [&] { trained(Loss::svm()).predict(input, TagPredictOptions{.marginals = TagMarginals::label}); }),
      "marginals: a model of loss svm has no probabilities; expected one trained with a finite beta, such as "
      "loss crf");
}

TEST_F(TagTest, MarginalsBesideEachOfTheBest) {
  const auto all = enumerate({"y"});
  EXPECT_EQ(trained().predict(folder.file("test.txt", "\ty\n"),
                              TagPredictOptions{.marginals = TagMarginals::label, .kbest = 2}),
            fmt::format("# 0 {1:.6f}\nB\tA:{0:.6f}\tB:{1:.6f}\n\n# 1 {0:.6f}\nA\tA:{0:.6f}\tB:{1:.6f}\n\n",
                        marginal(all, 0, 'A', 1), marginal(all, 0, 'B', 1)));
}

// Steps with a table of their own, some of which occur again, and one that training never saw.
TEST_F(TagTest, TransitionsThatLookAtTheInput) {
  TagOptions options;
  options.templates = folder.file("template", "U:%x[0,0]\nB:%x[0,0]\n");
  const auto columns = read_tag_training(folder.file("columns.txt", "x A\ny B\nx B\ny A\nx A\n"), options);
  NamedWeights weights(*columns);
  weights.node("U:x", "A") = 0.25f;
  weights.step("B:x", "A", "B") = 1.5f;
  weights.step("B:y", "B", "B") = -1.25f;
  const Trained tagger(load_tag_predictor, columns->sections(), weights.theta());

  const std::vector<std::string> tokens{"x", "y", "x", "new", "x", "y"};
  std::vector<Labelling> all;
  for (std::size_t bits = 0; bits < std::size_t{1} << tokens.size(); ++bits) {
    Labelling one{"", 0};
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      one.labels += bits >> t & 1 ? 'B' : 'A';
      if (tokens[t] == "x" && one.labels.back() == 'A') one.score += 0.25;
      if (tokens[t] == "x" && one.labels.ends_with("AB")) one.score += 1.5;
      if (tokens[t] == "y" && one.labels.ends_with("BB")) one.score -= 1.25;
    }
    all.push_back(one);
  }
  std::string input, expected;
  for (const std::string& token : tokens) input += token + '\n';
  const std::string best = std::ranges::max_element(all, {}, &Labelling::score)->labels;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    expected += fmt::format("{}\t{}\tA:{:.6f}\tB:{:.6f}\n", tokens[t], best[t], marginal(all, t, 'A', 1),
                            marginal(all, t, 'B', 1));
  }
  // Twice, and a single token between: one sequence leaves nothing to the next.
  EXPECT_EQ(tagger.predict(folder.file("test.txt", input + "\nnew\n\n" + input),
                           TagPredictOptions{.marginals = TagMarginals::label}),
            expected + "\nnew\tA\tA:0.500000\tB:0.500000\n\n" + expected + "\n");
}

TEST_F(TagTest, EvaluatesByChunksAsTrainingDoes) {
  const std::string train = folder.file("train.txt", "O\to\nB-P\tb\nI-P\ti\n\nB-P\tb\nO\to\nI-P\ti\n");
  const auto chunks = read_tag_training(train, crfsuite());
  NamedWeights weights(*chunks);
  weights.node("o", "O") = weights.node("b", "B-P") = weights.node("i", "I-P") = 1;
  // Of two chunks one is found; the other is of a type that training never saw. Five of six tokens are right.
  const std::string gold = folder.file("gold.txt", "O\to\nB-P\tb\nI-P\ti\n\nB-Q\tb\nO\to\nO\to\n");
  const Trained tagger(load_tag_predictor, chunks->sections(), weights.theta());
  const Evaluation result = tagger.predictor->evaluate(gold, {});
  EXPECT_NEAR(result.rates.at("accuracy").get<double>(), 5.0 / 6, 1e-12);
  EXPECT_EQ(result.rates.at("precision"), 0.5);
  EXPECT_EQ(result.rates.at("recall"), 0.5);
  EXPECT_EQ(result.rates.at("f1"), 0.5);

  chunks->read_dev(gold);
  EXPECT_EQ(chunks->evaluate_dev(weights.theta()).report.dump(), result.report.dump());
}

TEST_F(TagTest, EvaluationNeedsLabels) {
  const std::string input = folder.file("test.txt", "A\tx\n\ty\n");
  const Trained tagger = trained();
  EXPECT_TRUE(error_message([&] { tagger.predictor->evaluate(input, {}); }).starts_with(input + ":2: "));
  EXPECT_TRUE(error_message([&] { set->read_dev(input); }).starts_with(input + ":2: "));
  const std::string empty = folder.file("empty.txt", "\n\n");
  EXPECT_EQ(error_message([&] { tagger.predictor->evaluate(empty, {}); }),
            empty + ": no sequences; expected at least one");
  EXPECT_EQ(error_message([&] { set->read_dev(empty); }), empty + ": no sequences; expected at least one");
}

TEST_F(TagTest, TheFormatIsThatOfTraining) {
  const std::string input = folder.file("test.txt", "A\tx\n");
  const Trained tagger = trained();
  EXPECT_EQ(tagger.predict(input, TagPredictOptions{.format = "crfsuite"}), "A\n\n");
  const std::string refusal =
      "format: columns for a model of crfsuite; expected the format that the model was trained on";
  EXPECT_EQ(error_message([&] { tagger.predict(input, TagPredictOptions{.format = "columns"}); }), refusal);
  EXPECT_EQ(error_message([&] { tagger.predictor->evaluate(input, {.format = "columns"}); }), refusal);
  EXPECT_EQ(error_message([&] { tagger.predict(input, TagPredictOptions{.format = "csv"}); }),
            "format: unknown format 'csv'; expected columns, crfsuite or wapiti");
}

TEST_F(TagTest, ShowsWeights) {
  const Trained tagger = trained();
  EXPECT_EQ(tagger.predictor->strongest(2),
            "A\n    +1.0000  x\n    +0.0000  y\n"
            "B\n    +0.5000  y\n    +0.0000  x\n"
            "transitions\n    +0.7500  A -> B\n    +0.0000  A -> A\n");
  const std::string all = tagger.predictor->all_weights();
  EXPECT_TRUE(all.starts_with("x\tA\t1\nx\tB\t0\ny\tA\t0\ny\tB\t0.5\nz\tA\t0\nz\tB\t-0.25\n")) << all;
  for (const char* step : {"A\tA\t0", "A\tB\t0.75", "B\tA\t0", "B\tB\t-2"}) {
    const std::size_t at = all.find(std::string("\t") + step + "\n");
    EXPECT_NE(at, std::string::npos) << step;
  }
  EXPECT_EQ(std::ranges::count(all, '\n'), 10);
}

TEST_F(TagTest, ShowsTransitionsByWhatTheyLookAt) {
  TagOptions options;
  options.templates = folder.file("template", "U:%x[0,0]\nB:%x[0,0]\n");
  const auto columns = read_tag_training(folder.file("columns.txt", "x A\ny B\nx A\n"), options);
  NamedWeights weights(*columns);
  weights.step("B:x", "B", "A") = 3;
  const Trained tagger(load_tag_predictor, columns->sections(), weights.theta());
  EXPECT_TRUE(tagger.predictor->strongest(1).ends_with("transitions\n    +3.0000  B -> A  B:x\n"));
  EXPECT_NE(tagger.predictor->all_weights().find("B:x\tB\tA\t3\n"), std::string::npos);
}

TEST_F(TagTest, NoTransitionsAtAll) {
  TagOptions options;
  options.templates = folder.file("template", "U:%x[0,0]\n");
  const auto columns = read_tag_training(folder.file("columns.txt", "x A\ny B\nx A\n"), options);
  EXPECT_EQ(columns->problem().weight_shape(), (WeightShape{2, 2}));
  NamedWeights weights(*columns);
  weights.node("U:y", "B") = 1;
  const Trained tagger(load_tag_predictor, columns->sections(), weights.theta());
  EXPECT_EQ(tagger.predict(folder.file("test.txt", "y\nx\n")), "y\tB\nx\tA\n\n");
  EXPECT_EQ(tagger.predictor->strongest(1), "A\n    +0.0000  U:x\nB\n    +1.0000  U:y\n");
}

TEST_F(TagTest, RefusesSettingsThatDoNotFit) {
  TagOptions options;
  options.templates = folder.file("template", "U:%x[0,0]\nB\n");
  const auto columns = read_tag_training(folder.file("columns.txt", "x A\ny B\n"), options);
  const Weights theta(columns->problem().weight_shape());
  const auto message = [&](const char* key, const Json& value) {
    TaskSections sections = columns->sections();
    sections.settings[key] = value;
    return error_message([&] { Trained(load_tag_predictor, sections, theta); });
  };
  EXPECT_EQ(message("format", "columns"), "(no error)");
  EXPECT_EQ(message("format", "csv"), "model.esp: a model of the format 'csv'; retrain the model");
  EXPECT_EQ(message("label_column", 3), "model.esp: label column 3 of 2; retrain the model");
  EXPECT_EQ(message("label_column", 0), "model.esp: label column 0 of 2; retrain the model");
  EXPECT_THROW(message("label_column", -1), JsonError);  // of which Model makes a message
  EXPECT_EQ(message("columns", 0), "model.esp: label column 2 of 0; retrain the model");
  EXPECT_EQ(
      error_message([&] {
        Trained(load_tag_predictor, columns->sections(), Weights({3, 2}));
      }),
      "model.esp: 3 x 2 weights for 2 labels, 2 attributes, 1 of transitions; expected one for each label, "
      "or pair of them; retrain the model");
}

}  // namespace
}  // namespace espalier::tag_test
