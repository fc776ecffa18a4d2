#include "espalier/train/trainer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/input.h"
#include "espalier/tasks/classify.h"
#include "espalier/tasks/tag.h"
#include "espalier/train/round.h"
#include "espalier/train/verify.h"
#include "generate/sentence_generator.h"
#include "generate/writers.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::trainer_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

std::string sentences(std::uint64_t seed, int count) {
  SentenceGenerator generator(seed);
  Sentence sentence;
  std::string text;
  for (int i = 0; i < count; ++i) {
    generator.next(sentence);
    append_tag(sentence, text);
  }
  return text;
}

// Every fifth label is O.
std::string with_wrong_labels(const std::string& text) {
  std::string result;
  std::istringstream stream(text);
  int token = 0;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && ++token % 5 == 0) line = line.substr(0, line.rfind('\t')) + "\tO";
    result += line + '\n';
  }
  return result;
}

class TrainerTest : public ::testing::Test {
 protected:
  std::string bytes(const Model& model) const {
    model.save(folder.path("bytes.esp"));
    return read_all(folder.path("bytes.esp"));
  }

  TemporaryFolder folder;
  std::string file = folder.file("train.txt", sentences(1, 60)),
              dev = folder.file("dev.txt", sentences(2, 30));
  std::unique_ptr<TrainingSet> data = read_tag_training(file, {});
};

TEST_F(TrainerTest, OneValueIsWhatTrainReturns) {
  const TrainOptions options{.loss = Loss::softmax_margin(), .l2 = 2};
  Trainer trainer(*data, options, options.l2);
  EXPECT_EQ(trainer.beginning(), "");
  EXPECT_EQ(trainer.solver().name, "auto");
  const Path& path = trainer.run();
  ASSERT_EQ(path.points.size(), 1u);
  EXPECT_EQ(path.status, Status::converged);
  EXPECT_EQ(path.points[0].l2, 2);
  EXPECT_EQ(bytes(trainer.model()), bytes(train(*data, options)));
}

// A run that was stopped goes on as if nothing had been, and another run is refused.
TEST_F(TrainerTest, ResumesFromItsCheckpoint) {
  TrainOptions options{.solver = "eg", .gap = 1e-4, .report_every = 1};
  const Model whole = train(*data, options);
  options.checkpoint = {folder.path("run.ckpt"), 0};
  options.passes = 4;
  {
    Trainer stopped(*data, options, options.l2);
    EXPECT_FALSE(stopped.checkpointed());
    EXPECT_EQ(stopped.run().status, Status::out_of_passes);
    EXPECT_TRUE(stopped.checkpointed());
  }
  ASSERT_TRUE(std::filesystem::exists(options.checkpoint.file));
  options.passes = 1000;
  options.checkpoint.resume = true;
  EXPECT_NE(error_message([&] { Trainer(*data, options, 3.0); }).find("l2"), std::string::npos);

  Trainer resumed(*data, options, options.l2);
  EXPECT_TRUE(resumed.beginning().starts_with("resumed " + options.checkpoint.file)) << resumed.beginning();
  EXPECT_GT(resumed.path().progress.passes, 0);
  EXPECT_EQ(resumed.run().status, Status::converged);
  EXPECT_LE(resumed.model().certificate().relative_gap(), 1e-4);
  // Two certified optima of one objective lie within each other's gaps.
  EXPECT_LE(resumed.model().certificate().dual, whole.certificate().primal);
  EXPECT_LE(whole.certificate().dual, resumed.model().certificate().primal);
  resumed.remove_checkpoint();
  EXPECT_FALSE(resumed.checkpointed());
  EXPECT_FALSE(std::filesystem::exists(options.checkpoint.file));
}

TEST_F(TrainerTest, SaysOnceThatACheckpointCannotBeWritten) {
  std::vector<std::string> warnings;
  TrainOptions options{.gap = 1e-4, .report_every = 1};
  options.checkpoint = {folder.path("none/run.ckpt"), 0};
  options.warning = [&](const std::string& text) { warnings.push_back(text); };
  EXPECT_EQ(bytes(train(*data, options)), bytes(train(*data, {.gap = 1e-4, .report_every = 1})));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings[0].ends_with("; the run continues")) << warnings[0];
}

TEST_F(TrainerTest, StartsFromAModel) {
  TrainOptions options;
  options.init = train(*data, {});
  Trainer again(*data, options, options.l2);
  EXPECT_TRUE(again.beginning().starts_with("started from the model in memory: ")) << again.beginning();
  again.run();
  EXPECT_LT(again.model().certificate().passes, options.init->certificate().passes);

  const auto other = read_classify_training(folder.file("rows.svm", "a 1:1\nb 2:1\n"), {});
  EXPECT_EQ(error_message([&] { train(*other, options); }),
            "the model in memory: a model of the task tag; expected one of the task classify");
}

TEST_F(TrainerTest, FollowsAPath) {
  data->read_dev(dev);
  EXPECT_EQ(data->dev(), dev);
  const PathOptions values{4, 1, 0.5};
  std::vector<double> finished, reported;
  TrainObserver observer;
  observer.report = [&](const TrainReport& report) {
    if (reported.empty() || reported.back() != report.l2) reported.push_back(report.l2);
    return Control::go_on;
  };
  observer.finished = [&](const PathPoint& point, const std::string& headline) {
    finished.push_back(point.l2);
    EXPECT_TRUE(headline.starts_with("F1 ")) << headline;
  };
  Trainer trainer(*data, {}, values);
  const Path& path = trainer.run(observer);
  EXPECT_EQ(finished, values.values());
  EXPECT_EQ(reported, values.values());
  EXPECT_EQ(trainer.headlines().size(), finished.size());
  const Model model = trainer.model();
  EXPECT_EQ(model.info().l2, path.points[path.best].l2);
  EXPECT_EQ(model.certificate().primal, path.points[path.best].certificate.primal);
  EXPECT_NEAR(evaluate_primal({data->problem(), Loss::crf(), *model.info().l2}, path.theta),
              model.certificate().primal, 1e-9 * model.certificate().primal);
}

TEST_F(TrainerTest, SearchesByHeldOutData) {
  const L2Range range{0.1, 10};
  EXPECT_EQ(error_message([&] { Trainer(*data, {}, range); }),
            "a search for l2: no held-out data to choose on; expected some (read_dev)");
  data->read_dev(dev);
  Trainer trainer(*data, {.gap = 1e-2}, range);
  const Path& path = trainer.run();
  ASSERT_GE(path.points.size(), 2u);
  for (const PathPoint& point : path.points) EXPECT_GE(point.dev_error, path.points[path.best].dev_error);
  EXPECT_EQ(trainer.model().info().l2, path.points[path.best].l2);
}

TEST_F(TrainerTest, RepeatsWithOtherSeeds) {
  std::vector<std::uint64_t> seeds;
  TrainObserver observer;
  observer.repeated = [&](const RepeatedRun& run) { seeds.push_back(run.seed); };
  Trainer trainer(*data, {.seed = 5, .repeat = 3}, 1.0);
  trainer.run(observer);
  EXPECT_EQ(seeds, (std::vector<std::uint64_t>{5, 6, 7}));
  ASSERT_NE(trainer.repeats(), nullptr);
  const RepeatedRun& best = trainer.repeats()->runs[trainer.repeats()->best];
  EXPECT_EQ(bytes(trainer.model()), bytes(train(*data, {.seed = best.seed})));
}

// A difference of losses goes down in rounds, of which the model has the last one's certificate.
TEST_F(TrainerTest, TrainsDifferencesOfLossesInRounds) {
  const auto wrong = read_tag_training(folder.file("wrong.txt", with_wrong_labels(sentences(1, 60))), {});
  for (const auto& [loss, l2] : {std::pair(Loss::ramp(), 60.0), std::pair(Loss::risk(), 3.0)}) {
    SCOPED_TRACE(loss.name());
    const TrainOptions options{.loss = loss, .l2 = l2, .rounds = {.gap = 0, .rounds = 4}};
    std::vector<CccpRound> rounds;
    TrainObserver observer;
    observer.round = [&](const CccpRound& round) { rounds.push_back(round); };
    Trainer trainer(*wrong, options, options.l2);
    trainer.run(observer);
    const Model model = trainer.model();
    EXPECT_EQ(model.info().loss, loss);
    ASSERT_GE(rounds.size(), 2u);
    EXPECT_LT(rounds.back().objective, 0.995 * rounds.front().objective);
    EXPECT_EQ(model.info().objective, rounds.back().objective);
    EXPECT_EQ(model.certificate().primal, rounds.back().certificate.primal);
    EXPECT_EQ(bytes(model), bytes(train(*wrong, options)));
    const Verification found = verify(Model::load(folder.path("bytes.esp")), *wrong, {.threads = 1});
    EXPECT_EQ(found.verdict, Verdict::agrees);
    EXPECT_NEAR(found.objective, *model.info().objective, found.rounding);
    EXPECT_FALSE(found.claimed);
    EXPECT_LE(found.proven.dual, found.proven.primal);
    EXPECT_EQ(found.same_data, true);
    // Half the bits have an objective of their own.
    TrainOptions small = options;
    small.bits = 16;
    const Model rounded = train(*wrong, small);
    EXPECT_NE(*rounded.info().objective, *model.info().objective);
    EXPECT_NEAR(verify(rounded, *wrong, {.threads = 1}).objective, *rounded.info().objective, found.rounding);
    EXPECT_EQ(
        error_message([&] { round_and_certify(model, 16, *wrong); }),
        fmt::format("{}: a model of loss {}, whose last round its file does not have; expected none, or "
                    "no data",
                    model.name(), loss.name()));
  }
}

TEST_F(TrainerTest, RefusesWhatDoesNotGoTogether) {
  TrainOptions repeated{.repeat = 2};
  EXPECT_EQ(error_message([&] { Trainer(*data, repeated, PathOptions{}); }),
            "repeated runs: not with several values of l2; expected one of the two");
  repeated.checkpoint.file = folder.path("run.ckpt");
  EXPECT_EQ(error_message([&] { Trainer(*data, repeated, 1.0); }),
            "repeated runs: not with a checkpoint; expected one of the two");
  TagOptions partial;
  partial.partial = true;
  const auto unsure = read_tag_training(folder.file("unsure.txt", "a X\nb ?\n\nb Y\na X|Y\n\n"), partial);
  EXPECT_EQ(error_message([&] { Trainer(*unsure, {}, PathOptions{}); }),
            "uncertain gold outputs: not with several values of l2; expected one of the two");
  EXPECT_EQ(error_message([&] { Trainer(*unsure, {.repeat = 2}, 1.0); }),
            "repeated runs: not with uncertain gold outputs; expected one of the two");
  const TrainOptions ramp{.loss = Loss::ramp()};
  EXPECT_EQ(error_message([&] { Trainer(*unsure, ramp, 1.0); }),
            "uncertain gold outputs: not with loss ramp; expected one of the two");
  EXPECT_EQ(error_message([&] { Trainer(*data, ramp, PathOptions{}); }),
            "loss ramp: not with several values of l2; expected one of the two");
  EXPECT_EQ(error_message([&] { Trainer(*data, {.loss = Loss::risk(), .solver = "sgd"}, 1.0); }),
            "solver sgd: not with loss risk, each of whose rounds needs an optimum; expected a solver that "
            "converges, such as auto");
  TrainOptions slack = ramp;
  slack.solver = "cutting-plane";
  slack.solver_options.cutting_plane.rescaling = Rescaling::slack;
  EXPECT_EQ(error_message([&] { Trainer(*data, slack, 1.0); }),
            "rescaling slack: not with loss ramp; expected margin");
  EXPECT_EQ(error_message([&] { Trainer(*data, {}, 1.0).model(); }),
            "a run that ended before its first report; expected one that trains");
}

}  // namespace
}  // namespace espalier::trainer_test
