// Tagging against what CRFsuite, CRF++ and Wapiti made of the same files; skipped where the shared folder is
// absent.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/input.h"
#include "espalier/solvers/registry.h"
#include "espalier/tasks/tag.h"
#include "solvers/training.h"
#include "tasks/other_programs.h"
#include "tasks/trained.h"

namespace espalier::tag_oracle_test {
namespace {

using namespace testing;

// A model at the optimum for l2 = 2.
class TagOracleTest : public ::testing::Test {
 protected:
  void train(const std::string& program, const TagOptions& options, const std::string& file = "train.txt") {
    folder = kOracles / program;
    set = read_tag_training(path(file), options);
    SolverSettings settings;
    settings.stopping.gap = 1e-8;
    Training training;
    const Summary summary =
        find_solver("eg", Loss::crf()).run({set->problem(), Loss::crf(), 2}, settings, training, {});
    last = summary.history.back();
    EXPECT_LE(last.relative_gap(), 1e-8) << summary.message;
    tagger = std::make_unique<Trained>(load_tag_predictor, set->sections(), training.theta);
  }
  std::string path(const std::string& name) const { return (folder / name).string(); }

  std::filesystem::path folder;
  std::unique_ptr<TrainingSet> set;
  std::unique_ptr<Trained> tagger;
  Progress last;
};

TEST_F(TagOracleTest, Crfsuite) {
  if (!std::filesystem::exists(kOracles)) GTEST_SKIP() << "needs " << kOracles;
  TagOptions options;
  options.format = "crfsuite";
  train("crfsuite", options);
  EXPECT_TRUE(set->describe().starts_with("60 sequences, 719 tokens, 7 labels, ")) << set->describe();
  EXPECT_NEAR(last.primal, 234.826598, 1e-6 * 234.826598);

  const std::string ours =
      tagger->predict(path("test.txt"), TagPredictOptions{.marginals = TagMarginals::label});
  expect_same_marginals(ours, read_all(path("a.tag_p_l.txt")), 7);
  const auto mine = tokens_of(tagger->predict(path("test.txt"))),
             theirs = tokens_of(read_all(path("a.tag_p_i.txt")));
  ASSERT_EQ(mine.size(), theirs.size());
  for (std::size_t t = 0; t < mine.size(); ++t) {
    EXPECT_EQ(mine[t], std::vector<std::string>{rated(theirs[t].front()).first}) << "token " << t;
  }
}

// CRFsuite has observed features unless told otherwise. Model b lacks those that its L1 term made 0.
TEST_F(TagOracleTest, ObservedFeaturesOfCrfsuite) {
  if (!std::filesystem::exists(kOracles)) GTEST_SKIP() << "needs " << kOracles;
  TagOptions options;
  options.format = "crfsuite";
  options.features = "observed";
  train("crfsuite", options);
  std::set<std::vector<std::string>> ours;
  std::istringstream weights(tagger->predictor->all_weights());
  for (std::string line; std::getline(weights, line);) {
    std::vector<std::string> names;
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, '\t');) names.push_back(field);
    names.pop_back();
    if (names.size() == 3) names.erase(names.begin());  // two labels, and what all transitions have in common
    ours.insert(std::move(names));
  }
  // Its 1,227 include two of the attribute "zero", whose value is 0 throughout.
  EXPECT_NE(read_all(path("b.train_log.txt")).find("Number of features: 1227\n"), std::string::npos);
  EXPECT_EQ(ours.size(), 1225u);

  std::istringstream dump(read_all(path("b.dump.txt")));
  std::size_t listed = 0;
  for (std::string line; std::getline(dump, line);) {
    const std::size_t arrow = line.find(" --> "), colon = line.rfind(": ");
    if (arrow == std::string::npos) continue;
    std::vector<std::string> names{line.substr(6, arrow - 6), line.substr(arrow + 5, colon - arrow - 5)};
    // As lines of weights have them.
    for (std::size_t at = 0; (at = names[0].find('\\', at)) != std::string::npos; at += 2)
      names[0].insert(at, 1, '\\');
    EXPECT_TRUE(ours.contains(names)) << line;
    ++listed;
  }
  EXPECT_GT(listed, 700u);
}

TEST_F(TagOracleTest, CrfPlusPlus) {
  if (!std::filesystem::exists(kOracles)) GTEST_SKIP() << "needs " << kOracles;
  TagOptions options;
  options.templates = (kOracles / "crfpp" / "template.txt").string();
  train("crfpp", options);
  EXPECT_TRUE(set->describe().starts_with("60 sequences, ")) << set->describe();
  EXPECT_NEAR(last.primal, 248.577301, 1e-6 * 248.577301);

  const std::string ours =
      tagger->predict(path("test.txt"), TagPredictOptions{.marginals = TagMarginals::label});
  expect_same_marginals(ours, read_all(path("a.test_v2.txt")), 7);
  EXPECT_EQ(tokens_of(tagger->predict(path("test.txt"))), tokens_of(read_all(path("a.test_v0.txt"))));

  expect_same_kbest(tagger->predict(path("test.txt"), TagPredictOptions{.kbest = 3}),
                    read_all(path("a.test_n3.txt")), 1e-4);
}

TEST_F(TagOracleTest, WapitiPatterns) {
  if (!std::filesystem::exists(kOracles)) GTEST_SKIP() << "needs " << kOracles;
  TagOptions options;
  options.templates = (kOracles / "wapiti" / "pattern.txt").string();
  train("wapiti", options);
  EXPECT_NEAR(last.primal, 152.330920, 1e-6 * 152.330920);
  EXPECT_EQ(tokens_of(tagger->predict(path("test.txt"))), tokens_of(read_all(path("a.label.txt"))));
  expect_wapiti_marginals(
      tagger->predict(path("test.txt"), TagPredictOptions{.marginals = TagMarginals::label}),
      read_all(path("a.label_p_s.txt")));
}

TEST_F(TagOracleTest, WapitiAttributes) {
  if (!std::filesystem::exists(kOracles)) GTEST_SKIP() << "needs " << kOracles;
  TagOptions options;
  options.format = "wapiti";
  train("wapiti", options, "raw_train.txt");
  EXPECT_NEAR(last.primal, 186.386372, 1e-6 * 186.386372);
  auto theirs = tokens_of(read_all(path("raw.label_c_s.txt")));
  for (auto& row : theirs) row.pop_back();
  EXPECT_EQ(tokens_of(tagger->predict(path("raw_test.txt"))), theirs);
  expect_wapiti_marginals(
      tagger->predict(path("raw_test.txt"), TagPredictOptions{.marginals = TagMarginals::label}),
      read_all(path("raw.label_c_p_s.txt")));
}

// optima.tsv: what L-BFGS of CRFsuite and Wapiti ended with, which proves nothing of its distance to the
// optimum.
TEST(TagOptima, OfConll2000) {
  const auto data = std::filesystem::path(ESPALIER_SHARED_DIR) / "data" / "conll2000" / "train.crfsuite.gz";
  if (!std::filesystem::exists(data) || !std::filesystem::exists(kOracles / "optima.tsv")) {
    GTEST_SKIP() << "no oracles or data in " << ESPALIER_SHARED_DIR;
  }
  TagOptions options;
  options.format = "crfsuite";
  const auto set = read_tag_training(data.string(), options);
  std::size_t found = 0;
  std::istringstream rows(read_all((kOracles / "optima.tsv").string()));
  for (std::string row; std::getline(rows, row);) {
    if (!row.starts_with("conll2000-crfsuite\tcrf\t")) continue;
    std::istringstream fields(row);
    std::string name, loss, l2, value;
    for (std::string* field : {&name, &loss, &l2, &value}) std::getline(fields, *field, '\t');
    SCOPED_TRACE("l2 = " + l2);
    SolverSettings settings;
    settings.stopping.gap = 1e-6;
    Training training;
    const Summary summary = find_solver("eg", Loss::crf())
                                .run({set->problem(), Loss::crf(), std::stod(l2)}, settings, training, {});
    EXPECT_EQ(summary.status, Status::converged) << summary.message;
    const Progress& last = summary.history.back();
    // Theirs is no better than our bound, but for the digits printed, and no worse than where L-BFGS stops.
    EXPECT_GE(std::stod(value), last.dual - 0.005);
    EXPECT_LE(std::stod(value), last.primal * (1 + 5e-6));
    ++found;
  }
  EXPECT_EQ(found, 3u);
}

// The l2 is the one that testa chooses among 10, 5, 2.5, ... down to 0.1.
TEST(TagQuality, OfConll2003WithBuiltInAttributes) {
  const auto data = std::filesystem::path(ESPALIER_SHARED_DIR) / "data" / "conll2003";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no " << data;
  const auto set = read_tag_training((data / "eng.train.gz").string(), {});
  SolverSettings settings;
  settings.stopping.gap = 1e-3;
  Training training;
  const Summary summary =
      find_solver("eg", Loss::crf()).run({set->problem(), Loss::crf(), 0.15625}, settings, training, {});
  EXPECT_EQ(summary.status, Status::converged) << summary.message;
  set->read_dev((data / "eng.testb.gz").string());
  const double f1 = set->evaluate_dev(training.theta).rates.at("f1").get<double>();
  EXPECT_GE(f1, 0.84);
}

}  // namespace
}  // namespace espalier::tag_oracle_test
