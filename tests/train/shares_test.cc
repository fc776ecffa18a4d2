// Ranks that have read a share each: the problem, the checkpoints and the models of one process.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/fingerprint.h"
#include "base/input.h"
#include "espalier/tasks/registry.h"
#include "espalier/train/read.h"
#include "espalier/train/trainer.h"
#include "fleet/file_share.h"
#include "fleet/threads.h"
#include "model/checkpoint.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::shares_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

using Options = std::vector<std::pair<std::string, std::string>>;

class SharesTest : public ::testing::Test {
 protected:
  static std::string generated(const std::string& task, int count) {
    const auto next = find_task(task)->generators.front().start(1);
    std::string text;
    for (int i = 0; i < count; ++i) next(text);
    return text;
  }
  std::unique_ptr<TrainingSet> read(const std::string& task, const InputFiles& files, const Options& options,
                                    Communicator* fleet) const {
    const TaskEntry& entry = *find_task(task);
    OptionValues values(entry.options());
    for (const auto& [name, value] : options) values.set(name, value);
    Reading reading;
    reading.fleet = fleet;
    return read_training(entry, files, values, reading);
  }
  // All that does not depend on who has which examples.
  static std::string seen(const TrainingSet& data) {
    std::string text = data.describe() + '\n' + std::to_string(data.fingerprint()) + '\n';
    const TaskSections sections = data.sections();
    text += sections.settings.dump() + '\n';
    for (const auto& [name, bytes] : sections.arrays)
      text += name + ' ' + std::to_string(fingerprint_of(bytes)) + '\n';
    const WeightShape shape = data.problem().weight_shape();
    text += std::to_string(shape.rows) + " x " + std::to_string(shape.width) + '\n';
    return text + run_identity(data, Loss::crf(), 1, "eg").dump();
  }
  // Three ranks see what one process sees, and none has the examples of another.
  void expect_shares(const std::string& task, const InputFiles& files, const Options& options) const {
    SCOPED_TRACE(task + (options.empty() ? "" : " " + options.front().first));
    const auto alone = read(task, files, options, nullptr);
    const std::string expected = seen(*alone);
    std::vector<std::string> of_rank(3);
    std::vector<std::size_t> sizes(3);
    run_ranks(3, [&](Communicator& fleet) {
      const auto data = read(task, files, options, &fleet);
      ASSERT_EQ(data->fleet(), &fleet);
      sizes[fleet.rank()] = data->problem().size();
      of_rank[fleet.rank()] = seen(*data);
    });
    for (const std::string& text : of_rank) EXPECT_EQ(text, expected);
    EXPECT_EQ(sizes[0] + sizes[1] + sizes[2], alone->problem().size());
    EXPECT_LT(*std::ranges::max_element(sizes), alone->problem().size() / 2);
  }
  // All ranks read everything.
  void expect_everything(const std::string& task, const InputFiles& files, const Options& options) const {
    SCOPED_TRACE(task + (options.empty() ? "" : " " + options.front().first));
    run_ranks(2, [&](Communicator& fleet) {
      const auto data = read(task, files, options, &fleet);
      EXPECT_EQ(data->fleet(), nullptr);
      EXPECT_EQ(data->problem().size(), read(task, files, options, nullptr)->problem().size());
    });
  }

  struct Trained {
    std::vector<std::string> models;
    double primal = 0, dual = 0, passes = 0;
    std::string beginning;
  };
  Trained train_on(std::size_t ranks, const std::string& task, const InputFiles& files,
                   const Options& options, const TrainOptions& how, double stop_after = 1e9) const {
    Trained trained;
    trained.models.resize(ranks);
    run_ranks(ranks, [&](Communicator& fleet) {
      const bool alone = ranks == 1;
      const auto data = read(task, files, options, alone ? nullptr : &fleet);
      TrainOptions own = how;
      if (!alone) own.fleet = &fleet;
      Trainer trainer(*data, own, own.l2);
      TrainObserver observer;
      observer.report = [&](const TrainReport& report) {
        return report.progress.passes >= stop_after ? Control::stop : Control::go_on;
      };
      const Path& path = trainer.run(observer);
      const std::string file = folder.path("of-" + std::to_string(fleet.rank()) + ".esp");
      trainer.model().save(file);
      trained.models[fleet.rank()] = read_all(file);
      if (fleet.rank() != 0) return;
      trained.beginning = trainer.beginning();
      trained.primal = path.points.back().certificate.primal;
      trained.dual = path.points.back().certificate.dual;
      trained.passes = path.progress.passes;
    });
    return trained;
  }

  TemporaryFolder folder;
  std::string tags = folder.file("tags.txt", generated("tag", 120));
  std::string examples = folder.file("examples.txt", generated("classify", 300));
};

TEST_F(SharesTest, TaggingReadsWhatOneProcessReads) {
  const Options none;
  expect_shares("tag", tags, none);
  expect_shares("tag", std::vector<std::string>{tags, folder.file("more.txt", generated("tag", 40))}, none);
  expect_shares("tag", tags, {{"min_count", "3"}});
  expect_shares("tag", tags, {{"features", "observed"}});
  expect_shares("tag", tags, {{"min_freq", "2"}});
  expect_shares("tag", tags, {{"order", "3"}, {"features", "observed"}});
  expect_shares("tag", tags, {{"encoding", "bioes"}, {"valid", "bioes"}});
  expect_shares("tag", tags, {{"l1_except", "transitions"}});
  const std::string patterns = folder.file("patterns", "U:%x[0,0]\nU:%x[-1,0]\nB:%x[0,0]\n");
  expect_shares("tag", tags, {{"template", patterns}});
  expect_shares("tag", tags, {{"template", patterns}, {"features", "observed"}});
  expect_shares("tag", tags, {{"template", patterns}, {"min_freq", "2"}, {"min_count", "2"}});
}

TEST_F(SharesTest, ClassificationReadsWhatOneProcessReads) {
  const Options crfsuite{{"format", "crfsuite"}};
  expect_shares("classify", examples, crfsuite);
  expect_shares("classify", examples, {{"bias", "true"}, crfsuite[0], {"min_count", "3"}});
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += std::string(i % 3 ? "yes" : "no") + "\tword" + std::to_string(i % 17) + " and w" +
            std::to_string(i * 7) + '\n';
  expect_shares("classify", folder.file("text", text), {{"format", "text"}, {"weighting", "tf-idf"}});
}

TEST_F(SharesTest, OthersReadEverything) {
  expect_everything("tag", tags, {{"first", "50"}});
  expect_everything("tag", tags, {{"partial", "true"}});
  expect_everything("tag", tags, {{"valid", "bio"}, {"invalid", "drop"}});
  expect_everything("classify", examples, {{"format", "crfsuite"}, {"first", "50"}});
  expect_everything("parse", folder.file("parse.txt", generated("parse", 30)), {{"unlabelled", "true"}});
  expect_everything("treebank", folder.file("trees.txt", generated("treebank", 30)), {});
}

// A label sequence that is refused is the first one of the file, with its line there.
TEST_F(SharesTest, MessagesAreThoseOfOneProcess) {
  std::string text = generated("tag", 100);
  text += "a X I-PER\n\n" + generated("tag", 20) + "b X I-LOC\n\n";
  const Options options{{"valid", "bio"}, {"label_column", "3"}};
  const std::vector<std::string> files{folder.file("broken.txt", text), tags};
  const std::string expected = error_message([&] { read("tag", files, options, nullptr); });
  EXPECT_NE(expected.find("broken.txt:"), std::string::npos) << expected;
  EXPECT_EQ(
      error_message([&] { run_ranks(3, [&](Communicator& fleet) { read("tag", files, options, &fleet); }); }),
      expected);
}

TEST_F(SharesTest, TrainsToTheSameOptimum) {
  for (const auto& [task, file, options] : {std::tuple<std::string, std::string, Options>{"tag", tags, {}},
                                            {"classify", examples, {{"format", "crfsuite"}}}}) {
    const Trained alone = train_on(1, task, file, options, {}), shared = train_on(3, task, file, options, {});
    for (const std::string& model : shared.models) EXPECT_TRUE(model == shared.models.front());
    EXPECT_LE(shared.primal - shared.dual, 1e-3 * shared.primal);
    EXPECT_LE(shared.dual, alone.primal);
    EXPECT_LE(alone.dual, shared.primal);
  }
}

// Duals belong to examples, whoever has read them.
TEST_F(SharesTest, AnyNumberOfRanksResumes) {
  TrainOptions how{.l2 = 0.1, .gap = 1e-5, .report_every = 1};
  how.checkpoint = {folder.path("run.ckpt"), 0, false};
  train_on(3, "tag", tags, {}, how, 2);
  how.checkpoint.resume = true;
  double passes = 2;
  for (const std::size_t ranks : {2, 5, 1}) {
    SCOPED_TRACE(ranks);
    const Trained trained = train_on(ranks, "tag", tags, {}, how, passes + 1);
    EXPECT_TRUE(trained.beginning.starts_with("resumed ")) << trained.beginning;
    EXPECT_GT(trained.passes, passes);
    passes = trained.passes;
  }
}

}  // namespace
}  // namespace espalier::shares_test
