// EG against the optima that scikit-learn and LIBLINEAR found; skipped where the shared folder is absent.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "espalier/features/row_features.h"
#include "espalier/solvers/eg.h"
#include "learning/multiclass_problem.h"
#include "tasks/classify/reader.h"

namespace espalier::eg_oracle_test {
namespace {

const std::string kShared = ESPALIER_SHARED_DIR;

struct Data {
  explicit Data(const std::string& path, const ClassifyReadOptions& options = {})
      : examples(read_classify_growing(path, options, attributes, labels)),
        problem(MulticlassExamples(examples.rows, attributes.size(), examples.labels, labels.size())) {}

  Dictionary attributes, labels;
  ClassifyExamples examples;
  MulticlassProblem problem;
};

struct Solution {
  Weights theta;
  Summary summary;
  const Progress& last() const { return summary.history.back(); }
};

Solution solve(const Problem& problem, const Loss& loss, double l2, double gap) {
  EgOptions options;
  options.stopping.gap = gap;
  options.stopping.passes = 5000;
  Solution solution;
  DualState dual(problem);
  solution.summary = eg({problem, loss, l2}, options, dual, solution.theta);
  return solution;
}

// Fields of a file with a header line, separated by tabs.
std::vector<std::vector<std::string>> table(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, '\t');) rows.back().push_back(field);
  }
  return rows;
}

const std::string kOptima = kShared + "/oracles/optima.tsv";

// Every optimum of the data set lies between our bounds, which are close. Returns how many there are.
int check_optima(const std::string& name, const Problem& problem) {
  int checked = 0;
  for (const auto& row : table(kOptima)) {
    if (row.at(0) != name) continue;
    const bool multinomial = row.at(1) == "multinomial";
    EXPECT_TRUE(multinomial || row[1] == "crammer-singer") << row[1];
    const double l2 = std::stod(row.at(2)), value = std::stod(row.at(3)), tolerance = std::stod(row.at(5));
    const Solution solution =
        solve(problem, multinomial ? Loss::crf() : Loss::svm(), l2, multinomial ? 1e-6 : 1e-3);
    EXPECT_EQ(solution.summary.status, Status::converged) << row[1] << ": " << solution.summary.message;
    // The last digits of the values were rounded.
    const double slack = tolerance + 1e-5;
    EXPECT_LE(solution.last().dual, value + slack) << row[1] << ", l2 " << l2;
    EXPECT_GE(solution.last().primal, value - slack) << row[1] << ", l2 " << l2;
    ++checked;
  }
  return checked;
}

TEST(EgOracle, OptimaOfLetterScale) {
  const std::string train = kShared + "/data/letter-scale/letter.scale.train.svm.gz";
  if (!std::filesystem::exists(kOptima) || !std::filesystem::exists(train)) {
    GTEST_SKIP() << "no oracles or data in " << kShared;
  }
  const Data data(train);
  ASSERT_EQ(data.problem.size(), 15000u);
  EXPECT_EQ(check_optima("letter-scale", data.problem), 6);
}

TEST(EgOracle, OptimaOfMnist) {
  const std::string images = kShared + "/data/mnist/train-images-idx3-ubyte.gz";
  const std::string labels = kShared + "/data/mnist/train-labels-idx1-ubyte.gz";
  if (!std::filesystem::exists(kOptima) || !std::filesystem::exists(images)) {
    GTEST_SKIP() << "no oracles or data in " << kShared;
  }
  ClassifyReadOptions options;
  options.format = ClassifyFormat::idx;
  options.first = 59000;
  const Data data(images + "," + labels, options);
  EXPECT_EQ(check_optima("mnist59k", data.problem), 3);
}

TEST(EgOracle, PredictionsOfLiblinear) {
  const std::string folder = kShared + "/oracles/liblinear/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const Data data(folder + "train.svm");
  const ClassifyExamples test = read_classify(folder + "test.svm", {}, data.attributes, data.labels);
  const auto objectives = table(folder + "objectives.tsv");
  ASSERT_EQ(objectives.size(), 2u);
  for (const auto& row : objectives) {
    const double l2 = std::stod(row[2]), dual = -l2 * std::stod(row[3]), primal = std::stod(row[4]);
    const Solution solution = solve(data.problem, Loss::svm(), l2, 1e-5);
    ASSERT_EQ(solution.summary.status, Status::converged) << row[0] << ": " << solution.summary.message;
    // Printed to six digits after the point, times l2.
    EXPECT_LE(solution.last().dual, primal + 1e-6 * l2) << row[0];
    EXPECT_GE(solution.last().primal, dual - 1e-6 * l2) << row[0];

    std::ifstream predictions(folder + row[0] + ".pred.txt");
    std::vector<double> s(data.labels.size());
    const Multiclass structure(data.labels.size());
    Workspace ws;
    int agree = 0;
    std::string theirs;
    for (std::size_t i = 0; i < test.labels.size(); ++i) {
      ASSERT_TRUE(std::getline(predictions, theirs));
      score_row(test.rows.row(i), solution.theta, 1.0, s);
      agree += data.labels.name(structure.decode(std::span<const double>(s), ws)) == theirs ? 1 : 0;
    }
    EXPECT_EQ(test.labels.size(), 100u);
    EXPECT_GE(agree, 99) << row[0];
  }
}

}  // namespace
}  // namespace espalier::eg_oracle_test
