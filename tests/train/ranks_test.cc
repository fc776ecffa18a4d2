// Training on several ranks, which are threads here: models, and checkpoints that any number of ranks
// resumes.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "base/input.h"
#include "espalier/tasks/tag.h"
#include "espalier/train/trainer.h"
#include "fleet/threads.h"
#include "generate/sentence_generator.h"
#include "generate/writers.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::ranks_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

class RanksTest : public ::testing::Test {
 protected:
  static std::string sentences(int count) {
    SentenceGenerator generator(1);
    Sentence sentence;
    std::string text;
    for (int i = 0; i < count; ++i) {
      generator.next(sentence);
      append_tag(sentence, text);
    }
    return text;
  }
  std::string bytes(const Model& model, const std::string& name) const {
    model.save(folder.path(name));
    return read_all(folder.path(name));
  }
  // Model bytes of every rank, and what the run began with.
  struct Trained {
    std::vector<std::string> models;
    std::string beginning;
    Status status = Status::not_run;
    double gap = 0, passes = 0;
  };
  Trained train_on(std::size_t ranks, TrainOptions options, double stop_after = 1e9) {
    Trained trained;
    trained.models.resize(ranks);
    run_ranks(ranks, [&](Communicator& fleet) {
      TrainOptions own = options;
      own.fleet = &fleet;
      Trainer trainer(*data, own, own.l2);
      TrainObserver observer;
      observer.report = [&](const TrainReport& report) {
        return report.progress.passes >= stop_after ? Control::stop : Control::go_on;
      };
      const Path& path = trainer.run(observer);
      trained.models[fleet.rank()] =
          bytes(trainer.model(), "of-rank-" + std::to_string(fleet.rank()) + ".esp");
      if (fleet.rank() != 0) return;
      trained.beginning = trainer.beginning();
      trained.status = path.status;
      trained.gap = path.points.back().certificate.relative_gap();
      trained.passes = path.progress.passes;
    });
    return trained;
  }
  std::vector<std::string> files_of(const std::string& prefix) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(prefix)) names.push_back(name);
    }
    std::ranges::sort(names);
    return names;
  }

  TemporaryFolder folder;
  std::string file = folder.file("train.txt", sentences(60));
  std::unique_ptr<TrainingSet> data = read_tag_training(file, {});
};

TEST_F(RanksTest, AllHaveTheSameModel) {
  const Trained trained = train_on(3, {});
  EXPECT_EQ(trained.status, Status::converged);
  EXPECT_LE(trained.gap, 1e-3);
  for (const std::string& model : trained.models) EXPECT_TRUE(model == trained.models.front());
}

// Weights of 16 bits are certified anew, which takes all ranks.
TEST_F(RanksTest, RoundedWeightsAreCertifiedByAll) {
  const Trained trained = train_on(2, {.bits = 16});
  EXPECT_TRUE(trained.models[0] == trained.models[1]);
}

TEST_F(RanksTest, AnyNumberOfRanksResumes) {
  const std::string checkpoint = folder.path("run.ckpt");
  TrainOptions options{.l2 = 0.1, .gap = 1e-5, .report_every = 1};
  options.checkpoint = {checkpoint, 0, false};
  train_on(3, options, 2);
  EXPECT_EQ(files_of("run.ckpt").size(), 4u);  // one of each, and the one that names them

  options.checkpoint.resume = true;
  double passes = 2;
  for (const std::size_t ranks : {2, 5, 1}) {
    SCOPED_TRACE(ranks);
    const Trained trained = train_on(ranks, options, passes + 1);
    EXPECT_TRUE(trained.beginning.starts_with("resumed " + checkpoint)) << trained.beginning;
    EXPECT_GT(trained.passes, passes);
    EXPECT_EQ(files_of("run.ckpt").size(), ranks + 1);  // the older ones are gone
    passes = trained.passes;
  }

  // And so does a program without ranks, from what they left. Its duals are as good as theirs were.
  options.passes = passes + 1000;
  Trainer alone(*data, options, options.l2);
  const Path& path = alone.run();
  EXPECT_EQ(path.status, Status::converged);
  EXPECT_GT(path.progress.passes, passes);
  alone.remove_checkpoint();
  EXPECT_EQ(files_of("run.ckpt").size(), 0u);
}

// The other way round: one process begins.
TEST_F(RanksTest, ResumeWhatOneProcessBegan) {
  TrainOptions options{.l2 = 0.1, .solver = "eg", .gap = 1e-4, .report_every = 1};
  options.checkpoint = {folder.path("run.ckpt"), 0, false};
  Trainer alone(*data, options, options.l2);
  TrainObserver observer;
  observer.report = [](const TrainReport& report) {
    return report.progress.passes >= 2 ? Control::stop : Control::go_on;
  };
  alone.run(observer);
  options.checkpoint.resume = true;
  const Trained trained = train_on(4, options);
  EXPECT_EQ(trained.status, Status::converged);
  EXPECT_LE(trained.gap, 1e-4);
}

// A checkpoint whose files are not all there is no checkpoint.
TEST_F(RanksTest, MissingFilesOfRanksAreToldByName) {
  TrainOptions options{.l2 = 0.1, .gap = 1e-5, .report_every = 1};
  options.checkpoint = {folder.path("run.ckpt"), 0, false};
  train_on(2, options, 2);
  options.checkpoint.resume = true;
  const std::vector<std::string> all = files_of("run.ckpt.");
  ASSERT_EQ(all.size(), 2u);
  std::filesystem::remove(folder.path(all[1]));
  const std::string message = error_message([&] { train_on(2, options); });
  EXPECT_NE(message.find(all[1]), std::string::npos) << message;
}

// Ctrl-C on one of them ends all at the same report.
TEST_F(RanksTest, AnInterruptOfOneIsOneOfAll) {
  std::atomic<bool> stop = false;
  std::atomic<int> stopped = 0;
  run_ranks(3, [&](Communicator& fleet) {
    TrainOptions own{.l2 = 0.01, .gap = 0, .report_every = 1};
    own.fleet = &fleet;
    if (fleet.rank() == 1) own.stop = &stop;
    TrainObserver observer;
    observer.report = [&](const TrainReport& report) {
      if (report.progress.passes >= 2) stop = true;
      return Control::go_on;
    };
    Trainer trainer(*data, own, own.l2);
    stopped += trainer.run(observer).status == Status::stopped ? 1 : 0;
  });
  EXPECT_EQ(stopped, 3);
}

TEST_F(RanksTest, OtherOptionsOnOneOfThemAreRefused) {
  const std::string message = error_message([&] {
    run_ranks(2, [&](Communicator& fleet) {
      TrainOptions own;
      own.fleet = &fleet;
      if (fleet.rank() == 1) own.loss = Loss::softmax_margin();
      Trainer(*data, own, own.l2);
    });
  });
  EXPECT_EQ(message, "rank 1 has other data or options than rank 0; expected the same on all ranks");
}

}  // namespace
}  // namespace espalier::ranks_test
