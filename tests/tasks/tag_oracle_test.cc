// Tagging against what CRFsuite, CRF++ and Wapiti made of the same files; skipped where the shared folder is absent.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "espalier/base/input.h"
#include "espalier/solvers/registry.h"
#include "espalier/tasks/tag.h"
#include "tasks/trained.h"

namespace espalier {
namespace {

using testing::Trained;

const std::filesystem::path kOracles = std::filesystem::path(ESPALIER_SHARED_DIR) / "oracles";

// The lines of a file or an output, as fields; a blank line has none.
std::vector<std::vector<std::string>> fields_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; fields >> field;) rows.back().push_back(field);
  }
  return rows;
}

// "LABEL:0.5" or "LABEL/0.5"
std::pair<std::string, double> rated(const std::string& field) {
  const std::size_t at = field.find_last_of(":/");
  return {field.substr(0, at), std::stod(field.substr(at + 1))};
}

// The rows of tokens: neither blank nor headings.
std::vector<std::vector<std::string>> tokens_of(const std::string& text) {
  auto rows = fields_of(text);
  std::erase_if(rows, [](const auto& row) {
    return row.empty() || row.front() == "#" || row.front().starts_with('@');
  });
  return rows;
}

// Our marginals and theirs: the last L fields of each token.
void expect_same_marginals(const std::string& ours, const std::string& theirs, std::size_t num_labels) {
  const auto mine = tokens_of(ours), other = tokens_of(theirs);
  ASSERT_EQ(mine.size(), other.size());
  ASSERT_GT(mine.size(), 300u);
  for (std::size_t t = 0; t < mine.size(); ++t) {
    std::map<std::string, double> marginals;
    ASSERT_GT(mine[t].size(), num_labels);
    ASSERT_GT(other[t].size(), num_labels);
    for (std::size_t k = 0; k < num_labels; ++k) marginals.insert(rated(mine[t].rbegin()[k]));
    for (std::size_t k = 0; k < num_labels; ++k) {
      const auto [label, probability] = rated(other[t].rbegin()[k]);
      EXPECT_NEAR(marginals.at(label), probability, 1e-3) << "token " << t << ", " << label;
    }
  }
}

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

  const std::string ours = tagger->predict(path("test.txt"), {.format = {}, .marginals = true});
  expect_same_marginals(ours, read_all(path("a.tag_p_l.txt")), 7);
  const auto mine = tokens_of(tagger->predict(path("test.txt"))),
             theirs = tokens_of(read_all(path("a.tag_p_i.txt")));
  ASSERT_EQ(mine.size(), theirs.size());
  for (std::size_t t = 0; t < mine.size(); ++t) {
    EXPECT_EQ(mine[t], std::vector<std::string>{rated(theirs[t].front()).first}) << "token " << t;
  }
}

TEST_F(TagOracleTest, CrfPlusPlus) {
  if (!std::filesystem::exists(kOracles)) GTEST_SKIP() << "needs " << kOracles;
  TagOptions options;
  options.templates = (kOracles / "crfpp" / "template.txt").string();
  train("crfpp", options);
  EXPECT_TRUE(set->describe().starts_with("60 sequences, ")) << set->describe();
  EXPECT_NEAR(last.primal, 248.577301, 1e-6 * 248.577301);

  const std::string ours = tagger->predict(path("test.txt"), {.format = {}, .marginals = true});
  expect_same_marginals(ours, read_all(path("a.test_v2.txt")), 7);
  EXPECT_EQ(tokens_of(tagger->predict(path("test.txt"))), tokens_of(read_all(path("a.test_v0.txt"))));

  const auto mine = fields_of(tagger->predict(path("test.txt"), {.format = {}, .kbest = 3})),
             theirs = fields_of(read_all(path("a.test_n3.txt")));
  std::size_t heads = 0;
  ASSERT_EQ(mine.size(), theirs.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i].empty() || mine[i].front() != "#") {
      EXPECT_EQ(mine[i], theirs[i]) << "line " << i + 1;
      continue;
    }
    ASSERT_EQ(mine[i].size(), 3u);
    ASSERT_EQ(theirs[i].size(), 3u) << "line " << i + 1;
    EXPECT_EQ(mine[i][1], theirs[i][1]);
    EXPECT_NEAR(std::stod(mine[i][2]), std::stod(theirs[i][2]), 1e-4) << "line " << i + 1;
    ++heads;
  }
  EXPECT_GE(heads, 30u);
}

// The labels of largest marginal, and these, of Wapiti's "label -p -s": LABEL TAB LABEL/P behind each line.
void expect_wapiti_marginals(const std::string& ours, const std::string& theirs) {
  const auto mine = tokens_of(ours), other = tokens_of(theirs);
  ASSERT_EQ(mine.size(), other.size());
  ASSERT_GT(mine.size(), 100u);
  for (std::size_t t = 0; t < mine.size(); ++t) {
    const auto [label, probability] = rated(other[t].back());
    bool found = false;
    for (const std::string& field : mine[t]) {
      if (!field.starts_with(label + ":")) continue;
      EXPECT_NEAR(rated(field).second, probability, 1e-3) << "token " << t;
      found = true;
    }
    EXPECT_TRUE(found) << "token " << t;
  }
}

TEST_F(TagOracleTest, WapitiPatterns) {
  if (!std::filesystem::exists(kOracles)) GTEST_SKIP() << "needs " << kOracles;
  TagOptions options;
  options.templates = (kOracles / "wapiti" / "pattern.txt").string();
  train("wapiti", options);
  EXPECT_NEAR(last.primal, 152.330920, 1e-6 * 152.330920);
  EXPECT_EQ(tokens_of(tagger->predict(path("test.txt"))), tokens_of(read_all(path("a.label.txt"))));
  expect_wapiti_marginals(tagger->predict(path("test.txt"), {.format = {}, .marginals = true}),
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
  expect_wapiti_marginals(tagger->predict(path("raw_test.txt"), {.format = {}, .marginals = true}),
                          read_all(path("raw.label_c_p_s.txt")));
}

// optima.tsv: what L-BFGS of CRFsuite and Wapiti ended with, which proves nothing of its distance to the optimum.
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

}  // namespace
}  // namespace espalier
