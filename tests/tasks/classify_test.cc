#include "espalier/tasks/classify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "espalier/tasks/registry.h"
#include "espalier/tasks/tag.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"
#include "tasks/trained.h"

namespace espalier::classify_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;
using testing::Trained;

constexpr const char* kTrain = "no 1:1 3:2\nyes 2:1\nno 1:2\nyes 2:1 3:-1\nmaybe 3:1\n";

// Labels in alphabetical order: maybe, no, yes. Attributes in that of the file: 1, 3, 2.
Weights some_weights(const TrainingSet& set) {
  Weights theta(set.problem().weight_shape());
  theta.row(0)[1] = 2;     // 1 says no
  theta.row(2)[2] = 1.5f;  // 2 says yes
  theta.row(1)[0] = 1;     // 3 says maybe, not yes
  theta.row(1)[2] = -0.25f;
  return theta;
}

TEST(Classify, IsInTheTable) {
  bool found = false;
  for (const TaskEntry& entry : task_table()) {
    if (entry.name != "classify") continue;
    found = true;
    EXPECT_EQ(entry.version, kClassifyVersion);
  }
  EXPECT_TRUE(found);
}

TEST(Classify, TrainingSet) {
  const TemporaryFolder folder;
  const auto set = read_classify_training(folder.file("train.svm", kTrain), {});
  EXPECT_EQ(set->task(), "classify");
  EXPECT_EQ(set->version(), 1);
  EXPECT_EQ(set->describe(), "5 examples, 3 labels, 3 attributes");
  EXPECT_EQ(set->problem().size(), 5u);
  EXPECT_EQ(set->problem().weight_shape(), (WeightShape{3, 3}));
  EXPECT_EQ(set->sections().settings.dump(), R"({"format":"libsvm","bias":false,"costs":false})");
}

TEST(Classify, FirstAndBias) {
  const TemporaryFolder folder;
  ClassifyOptions options;
  options.first = 2;
  options.bias = true;
  const auto set = read_classify_training(folder.file("train.svm", kTrain), options);
  EXPECT_EQ(set->describe(), "2 examples, 2 labels, 4 attributes");
}

TEST(Classify, CostsReachTheProblem) {
  const TemporaryFolder folder;
  ClassifyOptions options;
  options.costs = folder.file("costs.txt", "no yes 3\n");
  const auto set = read_classify_training(folder.file("train.svm", kTrain), options);
  std::vector<double> cost(3);
  set->problem().add_cost(0, 1.0, cost);
  EXPECT_EQ(cost, (std::vector<double>{1, 0, 3}));
  EXPECT_EQ(set->sections().settings["costs"], true);
}

TEST(Classify, PredictsTheBestLabel) {
  const TemporaryFolder folder;
  const auto set = read_classify_training(folder.file("train.svm", kTrain), {});
  const Trained trained(load_classify_predictor, set->sections(), some_weights(*set));
  // With and without gold labels; unknown attributes change nothing.
  const std::string input = folder.file("test.svm", "no 1:1\n2:1 9:100\n3:1\nother 1:1 2:1\n");
  EXPECT_EQ(trained.predict(input), "no\nyes\nmaybe\nno\n");
  EXPECT_EQ(trained.predictor->describe(), "3 labels, 3 attributes");
}

TEST(Classify, MarginalsAndBestOutputs) {
  const TemporaryFolder folder;
  const auto set = read_classify_training(folder.file("train.svm", kTrain), {});
  const Trained trained(load_classify_predictor, set->sections(), some_weights(*set));
  const std::string input = folder.file("test.svm", "1:1\n");
  // softmax(0, 2, 0)
  EXPECT_EQ(trained.predict(input, ClassifyPredictOptions{.marginals = true}),
            "no\tmaybe:0.106507\tno:0.786986\tyes:0.106507\n");
  EXPECT_EQ(trained.predict(input, ClassifyPredictOptions{.kbest = 2}), "no:0.786986\tmaybe:0.106507\n");
  EXPECT_EQ(trained.predict(input, ClassifyPredictOptions{.kbest = 9}),
            "no:0.786986\tmaybe:0.106507\tyes:0.106507\n");

  // u ~ exp(beta s); and a maximum has scores, no probabilities
  const Trained cold(load_classify_predictor, set->sections(), some_weights(*set), {0.5, 1});
  EXPECT_EQ(cold.predict(input, ClassifyPredictOptions{.kbest = 1}), "no:0.576117\n");
  const Trained maximum(load_classify_predictor, set->sections(), some_weights(*set), Loss::svm());
  EXPECT_EQ(maximum.predict(input, ClassifyPredictOptions{.kbest = 2}), "no:2.000000\tmaybe:0.000000\n");
  EXPECT_EQ(
      error_message([&] { maximum.predict(input, ClassifyPredictOptions{.marginals = true}); }),
      "marginals: a model of loss svm has no probabilities; expected one trained with a finite beta, such as "
      "loss crf");
}

TEST(Classify, EvaluatesByErrorOrCost) {
  const TemporaryFolder folder;
  const std::string train = folder.file("train.svm", kTrain);
  const std::string gold = folder.file("gold.svm", "no 1:1\nno 2:1\nyes 2:1\nother 3:1\n");
  const auto set = read_classify_training(train, {});
  const Weights theta = some_weights(*set);
  const Trained trained(load_classify_predictor, set->sections(), theta);
  const Evaluation result = trained.predictor->evaluate(gold, {});
  EXPECT_EQ(result.headline, "error 50.00 %");
  EXPECT_EQ(result.dev_error, 0.5);

  // The same by the training set, as a solver's observer asks for it.
  set->read_dev(gold);
  EXPECT_EQ(set->evaluate_dev(theta).report.dump(), result.report.dump());

  ClassifyOptions options;
  options.costs = folder.file("costs.txt", "no yes 3\n");
  const auto priced = read_classify_training(train, options);
  const Trained by_cost(load_classify_predictor, priced->sections(), theta);
  EXPECT_EQ(by_cost.predictor->evaluate(gold, {}).headline, "error 50.00 %, cost 1.0000");
}

TEST(Classify, EvaluationNeedsLabels) {
  const TemporaryFolder folder;
  const auto set = read_classify_training(folder.file("train.svm", kTrain), {});
  const Trained trained(load_classify_predictor, set->sections(), some_weights(*set));
  const std::string input = folder.file("test.svm", "no 1:1\n1:1\n");
  EXPECT_TRUE(error_message([&] { trained.predictor->evaluate(input, {}); }).starts_with(input + ":2: "));
}

TEST(Classify, OtherFormatThanInTraining) {
  const TemporaryFolder folder;
  const auto set = read_classify_training(folder.file("train.svm", kTrain), {});
  const Trained trained(load_classify_predictor, set->sections(), some_weights(*set));
  const std::string input = folder.file("test.txt", "no\t1:2\nyes\t2\n");
  EXPECT_EQ(trained.predict(input, ClassifyPredictOptions{.format = "crfsuite"}), "no\nyes\n");
  EXPECT_EQ(error_message([&] { trained.predict(input, TagPredictOptions()); }),
            "options of another task; expected those of predictions by a model of classify");
  EXPECT_NE(error_message([&] { trained.predict(input, ClassifyPredictOptions{.format = "csv"}); }),
            "(no error)");
}

TEST(Classify, ShowsWeights) {
  const TemporaryFolder folder;
  const auto set = read_classify_training(folder.file("train.svm", kTrain), {});
  const Trained trained(load_classify_predictor, set->sections(), some_weights(*set));
  EXPECT_EQ(trained.predictor->strongest(2),
            "maybe\n    +1.0000  3\n    +0.0000  1\n"
            "no\n    +2.0000  1\n    +0.0000  3\n"
            "yes\n    +1.5000  2\n    +0.0000  1\n");
  EXPECT_EQ(trained.predictor->all_weights(),
            "1\tmaybe\t0\n1\tno\t2\n1\tyes\t0\n"
            "3\tmaybe\t1\n3\tno\t0\n3\tyes\t-0.25\n"
            "2\tmaybe\t0\n2\tno\t0\n2\tyes\t1.5\n");
}

}  // namespace
}  // namespace espalier::classify_test
