#include "espalier/train/train.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/input.h"
#include "espalier/learning/certificate.h"
#include "espalier/solvers/eg.h"
#include "espalier/tasks/classify.h"
#include "espalier/tasks/registry.h"
#include "espalier/tasks/tag.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::train_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

constexpr const char* kRows =
    "no 1:1 3:2\nyes 2:1\nno 1:2\nyes 2:1 3:-1\nmaybe 3:1\nno 2:0.1\nyes 1:0.3 2:2\nmaybe 3:0.5 2:0.2\n";
constexpr const char* kSentences =
    "we P\nwalk V\nthe D\ndogs N\n\nthe D\nwalk N\n\ndogs N\nwatch V\na D\nwatch N\n\n"
    "we P\nwatch V\nthe D\nfish N\n\nwe P\nfish V\n\na D\nwatch N\n\n";

class TrainTest : public ::testing::Test {
 protected:
  std::string predictions(const Model& model, const std::string& file) const {
    std::string text;
    OptionValues options(find_task(model.info().task)->predict_options());
    if (model.info().loss.smooth()) options.set("marginals", "label");
    model.predictor().predict(file, options, [&](std::string_view piece) { text += piece; });
    return text;
  }
  std::string bytes(const Model& model) const {
    model.save(folder.path("bytes.esp"));
    return read_all(folder.path("bytes.esp"));
  }

  TemporaryFolder folder;
  std::string rows = folder.file("train.svm", kRows), sentences = folder.file("train.txt", kSentences);
  std::unique_ptr<TrainingSet> classify = read_classify_training(rows, {}),
                               tag = read_tag_training(sentences, {});
};

// The model has the weights and the certificate that a program finds which puts everything together itself.
TEST_F(TrainTest, CertifiesItsOwnWeights) {
  for (TrainingSet* data : {classify.get(), tag.get()}) {
    for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss{3, 1}}) {
      const Objective objective{data->problem(), loss, 0.3};
      EgOptions by_hand;
      by_hand.stopping.gap = 1e-6;
      DualState dual(data->problem());
      Weights theta;
      const Summary summary = eg(objective, by_hand, dual, theta);
      const Certificate expected = certify(objective, theta, dual);

      const Model model = train(*data, {.loss = loss, .l2 = 0.3, .solver = "eg", .gap = 1e-6});
      EXPECT_EQ(model.info().task, data->task());
      EXPECT_EQ(model.info().loss, loss);
      EXPECT_EQ(model.info().l2, 0.3);
      EXPECT_EQ(model.info().solver, "eg");
      EXPECT_EQ(model.info().certificate->inference, Inference::exact);
      EXPECT_EQ(model.certificate().primal, expected.primal);
      EXPECT_EQ(model.certificate().dual, expected.dual);
      EXPECT_EQ(model.certificate().passes, summary.history.back().passes);
      EXPECT_LE(model.certificate().relative_gap(), 1e-6);
      std::size_t weights = 0;
      model.predictor().for_each_weight([&](const WeightName& name, float weight) {
        const float* place = data->find_weight(name, theta);
        ASSERT_NE(place, nullptr);
        EXPECT_EQ(weight, *place);
        ++weights;
      });
      EXPECT_EQ(weights, theta.shape().rows * theta.shape().width);
    }
  }
}

TEST_F(TrainTest, SavedAndLoadedItPredictsTheSame) {
  for (TrainingSet* data : {classify.get(), tag.get()}) {
    for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
      const std::string& file = data == classify.get() ? rows : sentences;
      const Model model = train(*data, {.loss = loss, .gap = 0.01});
      model.save(folder.path("model.esp"));
      const Model loaded = Model::load(folder.path("model.esp"));
      EXPECT_EQ(predictions(loaded, file), predictions(model, file));
      EXPECT_EQ(loaded.describe(), model.describe());
      EXPECT_EQ(loaded.certificate().gap(), model.certificate().gap());
      EXPECT_EQ(bytes(loaded), bytes(model));
    }
  }
}

// A model outlives what it was trained on and what it was copied from.
TEST_F(TrainTest, IsAValue) {
  auto trained = std::make_unique<Model>(train(*tag, {}));
  const std::string before = predictions(*trained, sentences);
  tag.reset();
  const Model copy = *trained;
  trained.reset();
  EXPECT_EQ(predictions(copy, sentences), before);
  Tagger::Sentence sentence(copy.tagger());
  sentence.clear();
  for (const char* word : {"we", "fish", "a", "walk"}) sentence.add_columns({word});
  std::string labels;
  for (const std::uint32_t label : sentence.labels()) labels += copy.tagger().label(label);
  EXPECT_EQ(labels, "PVDN");
}

TEST_F(TrainTest, TheSameSeedGivesTheSameBytes) {
  TrainOptions options{.gap = 1e-5};
  const std::string first = bytes(train(*tag, options));
  EXPECT_EQ(bytes(train(*tag, options)), first);
  options.seed = 2;
  EXPECT_NE(bytes(train(*tag, options)), first);
}

TEST_F(TrainTest, TheObserverSeesReportsAndMayEndTheRun) {
  std::vector<Progress> reports;
  const Model model =
      train(*tag, {.gap = 0, .report_every = 1}, [&](const Progress& progress, const Weights&) {
        reports.push_back(progress);
        return progress.passes >= 3 ? Control::stop : Control::go_on;
      });
  ASSERT_GE(reports.size(), 2u);
  EXPECT_EQ(model.certificate().primal, reports.back().primal);
  EXPECT_EQ(model.certificate().dual, reports.back().dual);
  EXPECT_EQ(model.certificate().passes, reports.back().passes);
}

// Where labels are not all known there is one convex problem after the other: the certificate is that of the
// last.
TEST_F(TrainTest, FillsInUnsureLabels) {
  TagOptions options;
  options.partial = true;
  const auto partial =
      read_tag_training(folder.file("partial.txt", "a X\nb ?\n\nb Y\na X|Y\n\nb Y\n\na X\n\n"), options);
  const Model model = train(*partial, {.gap = 1e-4});
  EXPECT_LE(model.certificate().relative_gap(), 1e-4);
  EXPECT_GE(model.certificate().gap(), 0);
}

TEST_F(TrainTest, RefusesWhatIsNoProblem) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double l2 : {0.0, -1.0, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_NE(error_message([&] { train(*tag, {.l2 = l2}); }).find("; expected a number > 0"),
              std::string::npos)
        << l2;
  }
  EXPECT_EQ(error_message([&] { train(*tag, {.loss = Loss::svm(), .solver = "lbfgs"}); }),
            "solver lbfgs: not for loss svm; expected a loss of finite beta, or solver eg");
  EXPECT_EQ(error_message([&] { train(*classify, {}).tagger(); }),
            "the model in memory: a model of classify; expected a model of tag");
}

// As data, options have the defaults and the names of the struct, and the errors of options.
TEST_F(TrainTest, OptionsAreATable) {
  OptionValues values(train_option_table());
  const TrainOptions usual;
  for (const OptionRow& row : train_option_table().rows()) EXPECT_EQ(row.load(&usual), row.default_value);
  values.set("loss", "2,0.5");
  values.set("gap", "1e-5");
  values.set("outer_rounds", "7");
  const auto& options = values.as<TrainOptions>();
  EXPECT_EQ(options.loss, (Loss{2, 0.5}));
  EXPECT_EQ(options.gap, 1e-5);
  EXPECT_EQ(options.rounds.rounds, 7);
  EXPECT_EQ(values.get("loss"), Json("2,0.5"));
  EXPECT_TRUE(error_message([&] { values.set("loss", "crv"); }).starts_with("loss: unknown loss 'crv'"));
  EXPECT_EQ(error_message([&] { values.set("passes", "0"); }), "passes: found '0'; expected a number > 0");
}

}  // namespace
}  // namespace espalier::train_test
