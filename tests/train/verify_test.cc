// What is proven of a model from its weights and its data alone: of every task, that it is what the file
// says, that it is true, and that a model which says something else is found out.

#include "espalier/train/verify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "espalier/train/read.h"
#include "espalier/train/train.h"
#include "model/make_model.h"
#include "support/error_message.h"
#include "support/generated_data.h"
#include "support/temporary_folder.h"
#include "train/recertify.h"

namespace espalier::verify_test {
namespace {

using testing::error_message;
using testing::generated_graphs;
using testing::generated_sentences;

struct Case {
  std::string name, task;
  std::string (*text)(int seed);
  std::vector<std::pair<std::string, std::string>> options;
};

std::string classify_text(int seed) { return generated_sentences(seed, 30, append_classify); }
std::string tag_text(int seed) { return generated_sentences(seed, 15, append_tag); }
std::string parse_text(int seed) { return generated_sentences(seed, 6, append_parse); }
std::string treebank_text(int seed) { return generated_sentences(seed, 5, append_treebank); }
std::string align_text(int seed) { return generated_sentences(seed, 8, append_align); }
std::string graph_text(int seed) { return generated_graphs(seed, 3); }

const Case kCases[] = {
    {"Classify", "classify", classify_text, {{"format", "crfsuite"}}},
    {"ClassifyKernel", "classify", classify_text, {{"format", "crfsuite"}, {"kernel", "poly,2,1,1"}}},
    {"Tag", "tag", tag_text, {}},
    {"TagObserved", "tag", tag_text, {{"features", "observed"}, {"order", "2"}, {"min_count", "2"}}},
    {"TagKernel", "tag", tag_text, {{"kernel", "poly,2,1,1"}, {"first", "8"}}},
    {"Parse", "parse", parse_text, {{"hash_bits", "12"}, {"unlabelled", "true"}}},
    {"ParseLabelled", "parse", parse_text, {{"hash_bits", "12"}}},
    {"ParseSecondOrder", "parse", parse_text, {{"hash_bits", "12"}, {"order", "2"}, {"unlabelled", "true"}}},
    {"Treebank", "treebank", treebank_text, {{"hash_bits", "10"}}},
    {"TreebankTags", "treebank", treebank_text, {{"hash_bits", "8"}, {"tags", "predicted"}}},
    {"Graph", "graph", graph_text, {}},
    {"Align", "align", align_text, {{"links", "2"}}},
    {"GraphRelaxed", "graph", graph_text, {{"inference", "trw"}}},
};

class VerifyTest : public ::testing::TestWithParam<Case> {
 protected:
  std::string file(int seed) const { return folder.file(fmt::format("{}", seed), GetParam().text(seed)); }
  std::unique_ptr<TrainingSet> data(int seed, std::size_t threads = 1, const Loss& loss = Loss::crf()) const {
    const TaskEntry& task = *find_task(GetParam().task);
    OptionValues options(task.options());
    for (const auto& [name, value] : GetParam().options) options.set(name, value);
    Reading reading;
    reading.threads = threads;
    reading.loss = loss;
    return read_training(task, file(seed), options, reading);
  }
  // As whoever has nothing but the model and the file reads it.
  std::unique_ptr<TrainingSet> data_of(const Model& model, int seed) const {
    return read_training_of(model, file(seed), reading_options(model));
  }
  static TrainOptions options(const Loss& loss = Loss::crf()) {
    TrainOptions options;
    options.loss = loss;
    options.l2 = 2;
    options.gap = loss.smooth() ? 1e-3 : 1e-2;  // maxima take long
    options.passes = 60;
    return options;
  }

  testing::TemporaryFolder folder;
};

INSTANTIATE_TEST_SUITE_P(Tasks, VerifyTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST_P(VerifyTest, ProvesWhatTheModelSays) {
  for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
    if (loss.gamma > 0 && GetParam().name == "GraphRelaxed") continue;
    const auto set = data(1, 1, loss);
    const Model model = Model::from_bytes(train(*set, options(loss)).bytes());
    const auto again = data_of(model, 1);
    const Verification found = verify(model, *again);
    EXPECT_EQ(found.verdict, Verdict::agrees) << loss.name() << ' ' << found.proven.gap() << " of "
                                              << model.certificate().gap() << ' ' << model.describe().dump();
    EXPECT_EQ(found.same_data, true);
    EXPECT_NEAR(found.objective, model.certificate().primal, found.rounding);
    EXPECT_LE(found.proven.gap(), kProvenEnough * model.certificate().gap() + found.rounding);
    EXPECT_EQ(found.proven.inference, model.certificate().inference);

    // It is true: there are no weights with an objective below the bound, also none that a longer run finds.
    TrainOptions longer = options(loss);
    longer.gap /= 10;
    const Certificate best = train(*set, longer).certificate();
    EXPECT_LE(found.proven.dual, best.primal + found.rounding) << loss.name();
    EXPECT_GE(found.proven.gap() + found.rounding, found.objective - best.primal) << loss.name();
  }
}

TEST_P(VerifyTest, SeveralThreadsProveTheSameObjective) {
  const auto set = data(1, 3);
  TrainOptions several = options();
  several.threads = 3;
  const Model model = train(*set, several);
  const auto again = data_of(model, 1);
  const Verification one = verify(model, *again), three = verify(model, *again, {.threads = 3});
  for (const Verification& found : {one, three}) EXPECT_EQ(found.verdict, Verdict::agrees);
  EXPECT_EQ(one.objective, three.objective);
}

// Models with one weight of another sign, and everything else as it is; not of one so small that it moves the
// objective by no more than rounding does.
TEST_P(VerifyTest, FindsFlippedWeights) {
  const auto set = data(1);
  const Model model = train(*set, options());
  Weights theta = weights_on(*set, model);
  std::vector<float*> large;
  for (float& weight : theta.values()) {
    if (std::abs(weight) > 1e-3f) large.push_back(&weight);
  }
  ASSERT_FALSE(large.empty());
  for (const std::size_t which : {std::size_t{0}, large.size() / 3, large.size() / 2, large.size() - 1}) {
    float& weight = *large[which];
    weight = -weight;
    const Verification found = verify(make_model(model.info(), *set, theta), *set, {.passes = 0});
    EXPECT_EQ(found.verdict, Verdict::other_objective) << which << " of " << large.size();
    weight = -weight;
  }
}

TEST_P(VerifyTest, FindsOtherData) {
  const auto set = data(1);
  const Model model = train(*set, options());
  const auto other = data(2);
  const std::string message =
      error_message([&] { EXPECT_EQ(verify(model, *other, {.passes = 0}).verdict, Verdict::other_data); });
  if (message != "(no error)") {
    EXPECT_TRUE(message.ends_with("; expected the data and the options of its training")) << message;
  }
}

class VerifyTags : public ::testing::Test {
 protected:
  static std::unique_ptr<TrainingSet> tags(const testing::TemporaryFolder& folder,
                                           const TagOptions& options = {}) {
    return read_tag_training(folder.file("tags", tag_text(1)), options);
  }
  static Model with(const Model& model, const TrainingSet& set,
                    const std::function<void(ModelInfo&)>& change) {
    ModelInfo info = model.info();
    change(info);
    return make_model(info, set, weights_on(set, model));
  }
  testing::TemporaryFolder folder;
};

TEST_F(VerifyTags, FindsBoundsThatAreFalseOrNotProven) {
  const auto set = tags(folder);
  const Model model = train(*set, {.gap = 1e-2});
  const double primal = model.certificate().primal;
  const Model too_good =
      with(model, *set, [&](ModelInfo& info) { info.certificate->dual = primal * (1 - 1e-9); });
  const Verification found = verify(too_good, *set);
  EXPECT_EQ(found.verdict, Verdict::false_bound);
  EXPECT_LT(found.lowest, too_good.certificate().dual);
  // Nobody looks for better weights here.
  EXPECT_EQ(verify(too_good, *set, {.passes = 0}).verdict, Verdict::unproven);
  EXPECT_EQ(verify(model.rounded(16), *set).verdict, Verdict::nothing_claimed);
  const Model of_other_l2 = with(model, *set, [](ModelInfo& info) { info.l2 = 1.001; });
  EXPECT_EQ(verify(of_other_l2, *set).verdict, Verdict::other_objective);
  const Model of_nobody = with(model, *set, [](ModelInfo& info) { info.data.clear(); });
  EXPECT_EQ(verify(of_nobody, *set).same_data, std::nullopt);
  EXPECT_EQ(verify(of_nobody, *set).verdict, Verdict::agrees);
}

TEST_F(VerifyTags, ModelsOfAllKindsOfTraining) {
  const auto set = tags(folder);
  const TrainOptions all[] = {
      {.l2 = 1, .l1 = 0.5},
      {.l2 = 0, .l1 = 0.5, .gap = 1e-2},
      {.bits = 16},
      {.loss = Loss::svm(), .bits = 16},
      {.solver = "lbfgs"},
      {.solver = "sdca"},
      {.loss = Loss::svm(), .solver = "cutting-plane"},
      {.loss = Loss::svm(), .solver = "smo"},
      {.loss = Loss::perceptron(), .solver = "perceptron", .passes = 5},
  };
  for (const TrainOptions& options : all) {
    const Model model = train(*set, options);
    const Verification found = verify(model, *set);
    EXPECT_EQ(found.verdict, Verdict::agrees)
        << model.describe().dump() << ' ' << found.proven.gap() << " of " << model.certificate().gap();
  }
}

TEST_F(VerifyTags, L1ThatLeavesOutTransitions) {
  TagOptions reading;
  reading.l1_except = {"transitions"};
  const auto set = tags(folder, reading);
  const Model model = train(*set, {.l1 = 0.5});
  const auto again = read_training_of(model, folder.path("tags"), reading_options(model));
  EXPECT_EQ(verify(model, *again).verdict, Verdict::agrees);
  EXPECT_EQ(verify(model, *tags(folder)).verdict, Verdict::other_objective);
}

TEST_F(VerifyTags, RescaledSlacks) {
  const auto set = tags(folder);
  TrainOptions options{.loss = Loss::svm(), .solver = "cutting-plane", .gap = 1e-2};
  options.solver_options.cutting_plane.rescaling = Rescaling::slack;
  const Model model = train(*set, options);
  EXPECT_TRUE(Model::from_bytes(model.bytes()).info().slack_rescaling);
  EXPECT_EQ(model.describe().at("rescaling"), "slack");
  const Verification found = verify(model, *set);
  EXPECT_EQ(found.verdict, Verdict::agrees) << found.proven.gap() << " of " << model.certificate().gap();
  // It is not the objective of the family.
  const Model margins = with(model, *set, [](ModelInfo& info) { info.slack_rescaling = false; });
  EXPECT_EQ(verify(margins, *set).verdict, Verdict::other_objective);
  options.bits = 16;
  EXPECT_EQ(verify(train(*set, options), *set).verdict, Verdict::agrees);
  options.solver = "auto";
  EXPECT_EQ(error_message([&] { train(*set, options); }),
            "rescaling slack: an objective that auto does not have; expected solver cutting-plane");
}

TEST_F(VerifyTags, UncertainLabels) {
  TagOptions reading;
  reading.partial = true;
  const std::string path = folder.file("unsure", "a X\nb ?\n\nb Y\na X|Y\n\nb Y\n\na X\n\nb ?\na ?\nb X\n\n");
  const auto set = read_tag_training(path, reading);
  for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
    for (const int bits : {16, 32}) {
      const Model model = train(*set, {.loss = loss, .bits = bits});
      ASSERT_TRUE(model.info().objective.has_value());
      const auto again = read_training_of(model, path, reading_options(model));
      const Verification found = verify(model, *again);
      EXPECT_EQ(found.verdict, Verdict::agrees);
      EXPECT_NEAR(found.objective, *model.info().objective, found.rounding);
      EXPECT_EQ(found.same_data, true);
      EXPECT_FALSE(found.claimed.has_value());
      const Model other = with(model, *set, [](ModelInfo& info) { *info.objective *= 1.001; });
      EXPECT_EQ(verify(other, *set).verdict, Verdict::other_objective);
    }
  }
}

TEST_F(VerifyTags, RefusesWhatHasNoObjective) {
  const auto set = tags(folder);
  const auto classes = read_training(*find_task("classify"), folder.file("classes", "a 1:1\nb 2:1\n"),
                                     OptionValues(find_task("classify")->options()));
  const Model model = train(*set);
  EXPECT_EQ(error_message([&] { verify(model, *classes); }),
            "the model in memory: a model of the task tag; expected one of the task classify");
  const Model foreign = with(model, *set, [](ModelInfo& info) {
    info.l2.reset();
    info.certificate.reset();
    info.solver = "converted from CRF++";
  });
  EXPECT_EQ(error_message([&] { verify(foreign, *set); }),
            "the model in memory: a model converted from CRF++, which states no objective; expected one that "
            "was trained here");
}

}  // namespace
}  // namespace espalier::verify_test
