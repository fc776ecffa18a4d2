// Cross-validation and races of a TrainingSet: what selection/ does with a problem, set up in one call.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "espalier/tasks/classify.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/tag.h"
#include "espalier/train/cross_validate.h"
#include "espalier/train/race.h"
#include "espalier/train/read.h"
#include "selection/cross_validation_run.h"
#include "support/error_message.h"
#include "support/generated_data.h"
#include "support/temporary_folder.h"

namespace espalier::selection_test {
namespace {

using testing::error_message;
using testing::generated_sentences;

class SelectionTest : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder;
  std::unique_ptr<TrainingSet> data =
      read_tag_training(folder.file("train.txt", generated_sentences(1, 40, append_tag)), {});
};

// The same values of l2 with the same means as by hand, whatever the number of threads.
TEST_F(SelectionTest, CrossValidationIsTheOneOfTheProblem) {
  CrossValidateOptions options;
  options.train = {.loss = Loss::softmax_margin(), .solver = "eg", .gap = 0.01, .seed = 3};
  options.l2 = PathOptions{10, 0.1, 0.1};
  options.folds = 4;
  const auto folds = make_folds(40, 4, 3);
  SolverSettings settings;
  settings.stopping.gap = 0.01;
  settings.seed = 3;
  const CrossValidation by_hand =
      cross_validate(data->problem(), Loss::softmax_margin(), sequence_of(PathOptions{10, 0.1, 0.1}),
                     find_solver("eg", Loss::softmax_margin()), settings, folds, 1,
                     [&](std::size_t fold, const Weights& theta) {
                       const Evaluation held_out = data->evaluate_examples(theta, folds[fold]);
                       return HeldOutScore{held_out.dev_error, held_out.value};
                     });
  for (const std::size_t threads : {1, 2}) {
    options.train.threads = threads;
    std::size_t ticks = 0;
    options.train.tick = [&](double) { ++ticks; };
    std::map<double, std::set<std::size_t>> reported;
    const CrossValidated result = cross_validate(*data, options, [&](const FoldReport& report) {
      EXPECT_TRUE(reported[report.point.l2].insert(report.fold).second);
      EXPECT_EQ(report.held_out.metric, "F1 %");
      EXPECT_LE(report.point.certificate.relative_gap(), 0.01);
    });
    EXPECT_EQ(result.metric, "F1 %");
    EXPECT_EQ(result.best, by_hand.best);
    EXPECT_EQ(result.simplest, by_hand.simplest);
    ASSERT_EQ(result.values.size(), 3u);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(result.values[k].l2, by_hand.values[k].l2);
      EXPECT_EQ(result.values[k].mean, by_hand.values[k].mean);
      EXPECT_EQ(result.values[k].deviation, by_hand.values[k].deviation);
      EXPECT_EQ(reported[result.values[k].l2].size(), 4u);
    }
    EXPECT_GT(ticks, 0u);
  }
}

TEST_F(SelectionTest, ASearchIsTheDefault) {
  CrossValidateOptions options;
  options.folds = 2;
  const CrossValidated result = cross_validate(*data, options);
  EXPECT_GE(result.values.size(), 3u);
  EXPECT_EQ(result.values.at(result.best).folds, 2u);
  options.l2 = 0.5;
  const CrossValidated one = cross_validate(*data, options);
  ASSERT_EQ(one.values.size(), 1u);
  EXPECT_EQ(one.values[0].l2, 0.5);
}

// Documents stay whole.
TEST(SelectionOfGroups, FoldsKeepThemTogether) {
  ParseData trees;
  for (int i = 0; i < 12; ++i) {
    if (i % 3 == 0) trees.begin_document();
    trees.add({.form = "a", .head = 2});
    trees.add({.form = "b", .head = 0});
    trees.end_sentence();
  }
  ParseOptions options;
  options.unlabelled = true;
  options.hash_bits = 8;
  options.group_by = "boundary";
  const auto grouped = make_parse_training(trees, options);
  for (const auto& fold : make_folds(*grouped, 2, 1)) {
    ASSERT_EQ(fold.size(), 6u);
    std::map<std::uint32_t, std::size_t> documents;
    for (const std::uint32_t i : fold) ++documents[i / 3];
    for (const auto& [document, sentences] : documents) EXPECT_EQ(sentences, 3u) << document;
  }
  EXPECT_EQ(error_message([&] { cross_validate(*grouped); }),
            "folds 5: found 4 groups; expected at least 2 folds, and at least one group per fold");
}

TEST_F(SelectionTest, ARaceIsTheOneOfTheProblem) {
  data->read_dev(folder.file("dev.txt", generated_sentences(2, 20, append_tag)));
  RaceOptions options;
  options.solvers = {"eg", "lbfgs", "sdca,eg"};
  options.train.gap = 1e-3;
  options.train.l2 = 2;
  std::vector<std::string> started, finished;
  std::size_t reports = 0;
  RaceEvents events;
  events.started = [&](const SolverEntry& solver) { started.push_back(solver.name); };
  events.report = [&](const RaceReport& report) {
    EXPECT_EQ(report.solver.name, started.back());
    EXPECT_NE(report.dev, nullptr);
    EXPECT_EQ(report.dev->text, data->evaluate_dev(report.theta).text);
    ++reports;
    return Control::go_on;
  };
  events.finished = [&](const RaceRun& run) { finished.push_back(run.solver); };
  const Race result = race(*data, options, events);
  EXPECT_EQ(started, options.solvers);
  EXPECT_EQ(finished, options.solvers);
  ASSERT_EQ(result.runs.size(), 3u);
  EXPECT_LE(result.lower, result.upper);
  std::size_t in_runs = 0;
  for (const RaceRun& run : result.runs) {
    EXPECT_EQ(run.summary.status, Status::converged);
    EXPECT_EQ(run.dev.size(), run.summary.history.size());
    in_runs += run.summary.history.size();
    for (const Progress& progress : run.summary.history) EXPECT_LE(result.lower, progress.primal);
  }
  EXPECT_EQ(reports, in_runs);
  // The first solver's run is that of training.
  TrainOptions alone = options.train;
  alone.solver = "eg";
  EXPECT_EQ(train(*data, alone).certificate().dual, result.runs[0].summary.history.back().dual);
}

TEST_F(SelectionTest, WhatDoesNotFit) {
  CrossValidateOptions folds;
  folds.folds = 41;
  EXPECT_EQ(error_message([&] { cross_validate(*data, folds); }),
            "folds 41: found 40 examples; expected at least 2 folds, and at least one example per fold");
  folds.folds = 2;
  folds.train.repeat = 2;
  EXPECT_EQ(error_message([&] { cross_validate(*data, folds); }),
            "repeated runs: not in cross-validation; expected none");
  folds.train.repeat = 1;
  folds.train.loss = Loss::risk();
  EXPECT_EQ(error_message([&] { cross_validate(*data, folds); }),
            "loss risk: not in cross-validation, which is for convex problems; expected a convex loss");
  RaceOptions options;
  options.train.loss = Loss::ramp();
  EXPECT_EQ(error_message([&] { race(*data, options); }),
            "loss ramp: not in a race, which is for convex problems; expected a convex loss");
  options.train.loss = Loss::crf();
  EXPECT_EQ(error_message([&] { race(*data, options); }), "solvers: none; expected some to race");
  options.solvers = {"eg", "eg"};
  EXPECT_EQ(error_message([&] { race(*data, options); }),
            "solvers: eg more than once; expected different ones");
  options.solvers = {"eg"};
  options.train.checkpoint.file = folder.path("run.ckpt");
  EXPECT_EQ(error_message([&] { race(*data, options); }), "a checkpoint: not in a race; expected none");
  options.train.checkpoint.file.clear();
  options.train.init = train(*data, {.gap = 0.1});
  EXPECT_EQ(error_message([&] { race(*data, options); }), "an initial model: not in a race; expected none");
  TagOptions partial;
  partial.partial = true;
  const auto unsure = read_tag_training(folder.file("partial.txt", "a X\nb ?\nc Y\n"), partial);
  EXPECT_EQ(
      error_message([&] { race(*unsure, RaceOptions{{"eg"}}); }),
      "uncertain gold outputs: not in a race, whose solvers share one convex problem; expected known ones");
  EXPECT_EQ(error_message([&] { cross_validate(*unsure, {}); }),
            "uncertain gold outputs: not in cross-validation, whose folds are convex problems; expected "
            "known ones");
}

}  // namespace
}  // namespace espalier::selection_test
