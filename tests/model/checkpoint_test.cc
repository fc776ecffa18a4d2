#include "model/checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "espalier/model/model.h"
#include "espalier/solvers/registry.h"
#include "espalier/tasks/classify.h"
#include "espalier/tasks/tag.h"
#include "model/make_model.h"
#include "model/model_file.h"
#include "selection/path_run.h"
#include "solvers/training.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::checkpoint_test {
namespace {
using testing::error_message;
using testing::TemporaryFolder;

constexpr const char* kTrain = "a x\nb y\n\nb x\na z\na y\n\n";

class CheckpointTest : public ::testing::Test {
 protected:
  std::unique_ptr<TrainingSet> read(const std::string& text, const TagOptions& options = {}) const {
    return read_tag_training(folder.file("train.txt", text), options);
  }
  static Json identity_of(const TrainingSet& data, double l2 = 1, const Loss& loss = Loss::crf()) {
    return run_identity(data, loss, l2, "eg");
  }
  // A path with one finished value, and duals that are not trivial.
  Checkpoint trained(const TrainingSet& data, const std::string& solver = "eg") const {
    Checkpoint checkpoint;
    SolverSettings settings;
    settings.stopping.gap = 1e-8;
    const SolverEntry entry = find_solver(solver, Loss::crf());
    const PathRun run{
        data.problem(),
        Loss::crf(),
        entry,
        settings,
        [](const Weights&) { return 0.25; },
        [](const Regularizer& now, const Progress&, const Weights&) {
          return now.l2 < 1 ? Control::stop : Control::go_on;
        },
        [&](const PathPoint& point) { checkpoint.headlines.push_back("l2 " + std::to_string(point.l2)); }};
    continue_path(checkpoint.path, run, PathOptions{2, 0.5, 0.5}.values());
    return checkpoint;
  }
  std::string load_message(const Json& identity, const Problem& problem) const {
    const std::string message = error_message([&] { load_checkpoint(file, identity, problem); });
    return message.starts_with(file) ? "run.ckpt" + message.substr(file.size()) : message;
  }

  TemporaryFolder folder;
  std::string file = folder.path("run.ckpt");
};

// A search may go back to its best value, so that its duals are kept beside those of the value under way.
TEST_F(CheckpointTest, RoundTripOfASearch) {
  const auto data = read(kTrain);
  for (const std::string solver : {"eg", "lbfgs", "sdca"}) {
    Checkpoint saved = trained(*data, solver);
    saved.path.training_l2 = 0.5;
    saved.path.best_training = saved.path.training;
    saved.path.training = {};
    const SolverEntry entry = find_solver(solver, Loss::crf());
    SolverSettings settings;
    entry.run({data->problem(), Loss::crf(), 0.1}, settings, saved.path.training, {});
    save_checkpoint(file, identity_of(*data), saved);
    const PathInProgress loaded = load_checkpoint(file, identity_of(*data), data->problem()).path;
    EXPECT_EQ(loaded.training_l2, 0.5);
    ASSERT_TRUE(loaded.best_training) << solver;
    const auto same = [](const Training& a, const Training& b) {
      if (a.dual && b.dual) return std::ranges::equal(a.dual->scores(), b.dual->scores());
      if (a.cliques && b.cliques) return std::ranges::equal(a.cliques->all(), b.cliques->all());
      return std::ranges::equal(a.theta.values(), b.theta.values());
    };
    EXPECT_TRUE(same(loaded.training, saved.path.training)) << solver;
    EXPECT_TRUE(same(*loaded.best_training, *saved.path.best_training)) << solver;
    EXPECT_FALSE(same(loaded.training, *loaded.best_training)) << solver;
  }
}

TEST_F(CheckpointTest, RoundTrip) {
  const auto data = read(kTrain);
  for (const std::string solver : {"eg", "lbfgs"}) {
    const Checkpoint saved = trained(*data, solver);
    ASSERT_GE(saved.path.points.size(), 2u);
    save_checkpoint(file, identity_of(*data), saved);
    const Checkpoint loaded = load_checkpoint(file, identity_of(*data), data->problem());
    EXPECT_EQ(loaded.headlines, saved.headlines);
    EXPECT_EQ(loaded.path.progress.passes, saved.path.progress.passes);
    EXPECT_EQ(loaded.path.progress.seconds, saved.path.progress.seconds);
    EXPECT_EQ(loaded.path.best, saved.path.best);
    EXPECT_TRUE(std::ranges::equal(loaded.path.theta.values(), saved.path.theta.values()));
    ASSERT_EQ(loaded.path.points.size(), saved.path.points.size());
    for (std::size_t k = 0; k < saved.path.points.size(); ++k) {
      const PathPoint &a = loaded.path.points[k], &b = saved.path.points[k];
      EXPECT_EQ(a.l2, b.l2);
      EXPECT_EQ(a.certificate.primal, b.certificate.primal);
      EXPECT_EQ(a.certificate.dual, b.certificate.dual);
      EXPECT_EQ(a.certificate.passes, b.certificate.passes);
      EXPECT_EQ(a.total_passes, b.total_passes);
      EXPECT_EQ(a.dev_error, 0.25);
    }
    ASSERT_EQ(loaded.path.training.dual.has_value(), solver == "eg");
    if (solver == "eg") {
      EXPECT_TRUE(
          std::ranges::equal(loaded.path.training.dual->scores(), saved.path.training.dual->scores()));
      EXPECT_EQ(loaded.path.training.dual->curvatures(), saved.path.training.dual->curvatures());
      EXPECT_TRUE(std::ranges::equal(loaded.path.training.dual->mu(1), saved.path.training.dual->mu(1)));
    } else {
      EXPECT_TRUE(
          std::ranges::equal(loaded.path.training.theta.values(), saved.path.training.theta.values()));
    }
  }
}

TEST_F(CheckpointTest, SaysWhatIsDifferent) {
  TagOptions options;
  options.templates = folder.file("one.template", "U00:%x[0,0]\nB\n");
  const auto data = read(kTrain, options);
  save_checkpoint(file, identity_of(*data), trained(*data));
  EXPECT_EQ(load_message(identity_of(*data, 2), data->problem()),
            "run.ckpt: a checkpoint of a run with l2 1.0; expected l2 2.0, as in this run");
  EXPECT_EQ(load_message(identity_of(*data, 1, Loss::svm()), data->problem()),
            "run.ckpt: a checkpoint of a run with loss crf; expected loss svm, as in this run");
  EXPECT_EQ(load_message(run_identity(*data, Loss::crf(), 1.0, "sgd"), data->problem()),
            "run.ckpt: a checkpoint of a run with solver eg; expected solver sgd, as in this run");
  EXPECT_EQ(load_message(run_identity(*data, Loss::crf(), Json{2.0, 1.0}, "eg"), data->problem()),
            "run.ckpt: a checkpoint of a run with l2 1.0; expected l2 [2.0,1.0], as in this run");

  options.templates = folder.file("two.template", "U00:%x[0,0]\nU01:%x[-1,0]\nB\n");
  const auto other_template = read(kTrain, options);
  EXPECT_EQ(load_message(identity_of(*other_template), other_template->problem()),
            "run.ckpt: a checkpoint of a run with different templates; expected those of this run");
  TagOptions by_first = options;
  by_first.templates = folder.path("one.template");
  by_first.label_column = 1;
  EXPECT_EQ(error_message([&] { read(kTrain, by_first); }).find("uses the label") != std::string::npos, true);

  Json more = identity_of(*data);
  more["order"] = 2;
  EXPECT_EQ(load_message(more, data->problem()),
            "run.ckpt: a checkpoint of a run without order; expected order 2, as in this run");
  Json fewer = identity_of(*data);
  fewer.erase("columns");
  EXPECT_EQ(load_message(fewer, data->problem()),
            "run.ckpt: a checkpoint of a run with columns; expected one without it, as in this run");
}

TEST_F(CheckpointTest, KnowsItsTrainingData) {
  const auto data = read(kTrain);
  save_checkpoint(file, identity_of(*data), trained(*data));
  for (const char* other : {
           "a x\nb y\n\nb x\na z\na x\n\n",         // another gold label
           "a x\nb y\n\nb x\na z\nb y\n\n",         // another word
           "a x\nb y\nb x\na z\na y\n\n",           // one sequence less
           "a x\nb y\n\nb x\na z\na y\n\na x\n\n",  // one more
           "a x\nb y\n\nb x\na w\na y\n\n",         // a label of another name
       }) {
    const auto changed = read(other);
    EXPECT_EQ(load_message(identity_of(*changed), changed->problem()),
              "run.ckpt: a checkpoint of a run with different training data; expected those of this run")
        << other;
  }
  const auto same = read(kTrain);
  EXPECT_EQ(load_message(identity_of(*same), same->problem()), "(no error)");
}

TEST_F(CheckpointTest, ValuesAndCostsCount) {
  const auto read_rows = [&](const std::string& rows, const std::string& costs) {
    ClassifyOptions options;
    if (!costs.empty()) options.costs = folder.file("costs.txt", costs);
    return run_identity(*read_classify_training(folder.file("train.svm", rows), options), Loss::crf(), 1.0,
                        "eg");
  };
  const Json one = read_rows("1 1:0.5 2:1\n2 2:1\n", "");
  EXPECT_EQ(one, read_rows("1 1:0.5 2:1\n2 2:1\n", ""));
  EXPECT_NE(one, read_rows("1 1:0.6 2:1\n2 2:1\n", ""));
  EXPECT_NE(one, read_rows("1 1:0.5 2:1\n2 1:1\n", ""));
  EXPECT_NE(one, read_rows("1 1:0.5 2:1\n2 2:1\n", "1 2 3\n"));
  EXPECT_NE(read_rows("1 1:0.5 2:1\n2 2:1\n", "1 2 4\n"), read_rows("1 1:0.5 2:1\n2 2:1\n", "1 2 3\n"));
}

TEST_F(CheckpointTest, RefusesOtherFiles) {
  const auto data = read(kTrain);
  const Json identity = identity_of(*data);
  EXPECT_EQ(load_message(identity, data->problem()),
            "run.ckpt: cannot open: No such file or directory; expected a model that can be read");
  std::ofstream(file) << "something else";
  EXPECT_EQ(load_message(identity, data->problem()),
            "run.ckpt: not a model; expected a file that 'espalier train' wrote");
  make_model({"tag", Loss::crf(), 1, "eg", Certificate{}}, *data, Weights(data->problem().weight_shape()))
      .save(file);
  EXPECT_EQ(load_message(identity, data->problem()),
            "run.ckpt: a model; expected the checkpoint of an interrupted run");

  save_checkpoint(file, identity, trained(*data));
  std::string message = error_message([&] { Model model(file); });
  EXPECT_EQ(message.substr(file.size()), ": a checkpoint, which resume continues from; expected a model");
  // A changed byte anywhere is found.
  std::string bytes;
  {
    std::ifstream stream(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(stream), {});
  }
  for (std::size_t at = 0; at < bytes.size(); at += 97) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    std::ofstream(file, std::ios::binary) << damaged;
    EXPECT_NE(load_message(identity, data->problem()), "(no error)") << at;
  }
  std::ofstream(file, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  EXPECT_NE(load_message(identity, data->problem()).find("truncated"), std::string::npos);
}

TEST_F(CheckpointTest, RefusesSoundFilesThatDoNotFit) {
  const auto data = read(kTrain);
  const Json identity = identity_of(*data);
  const auto message = [&](const std::string& state, std::size_t scores) {
    const std::vector<float> zeros(scores);
    ModelFileWriter writer;
    writer.add_bytes("checkpoint", state);
    writer.add("scores", std::span<const float>(zeros));
    writer.add("curvatures", std::span<const float>(zeros).first(2));
    writer.write(file);
    return load_message(identity, data->problem());
  };
  Json state{{"identity", identity},   {"passes", 1}, {"seconds", 1},
             {"wall_seconds", 1},      {"best", 0},   {"training_l2", 1},
             {"points", Json::array()}};
  const std::size_t scores = DualState(data->problem()).scores().size();
  EXPECT_EQ(message(state.dump(), scores), "(no error)");
  EXPECT_EQ(message(state.dump(), scores - 1),
            "run.ckpt: " + std::to_string(scores - 1) + " scores of 2 examples; expected " +
                std::to_string(scores) + " of 2; start the run again without resume");
  state.erase("passes");
  EXPECT_TRUE(message(state.dump(), scores).starts_with("run.ckpt: an unreadable section ("));
  EXPECT_TRUE(message("{", scores).ends_with("start the run again without resume"));
}

}  // namespace
}  // namespace espalier::checkpoint_test
