#include "espalier/solvers/registry.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "solvers/training.h"
#include "support/error_message.h"
#include "support/random_problem.h"

namespace espalier::registry_test {
namespace {

using test_support::OwnedProblem;
using testing::error_message;

TEST(SolverTable, NamesAreFound) {
  std::set<std::string_view> names;
  for (const SolverEntry& entry : solver_table()) {
    const Loss loss = entry.losses == Losses::maximum ? Loss::svm() : Loss::crf();
    EXPECT_EQ(find_solver(entry.name, loss).name, entry.name);
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " twice";
  }
  EXPECT_TRUE(names.contains("eg") && names.contains("lbfgs") && names.contains("sgd"));
}

TEST(SolverTable, RefusesUnknownNames) {
  const std::string names =
      "auto, eg, eg-batch, sdca, frank-wolfe, smo, excessive-gap, extragradient, cutting-plane, bmrm, lbfgs, "
      "sgd, "
      "dca, mira or perceptron";
  EXPECT_EQ(error_message([] { find_solver("adam", Loss::crf()); }),
            "solver: unknown solver 'adam'; expected " + names);
  EXPECT_EQ(error_message([] { find_solver("lbgfs", Loss::crf()); }),
            "solver: unknown solver 'lbgfs'; did you mean lbfgs?");
  EXPECT_EQ(error_message([] { find_solver("", Loss::svm()); }),
            "solver: unknown solver ''; expected " + names);
}

TEST(SolverTable, RefusesLossesThatAreNotTheSolvers) {
  EXPECT_EQ(error_message([] { find_solver("lbfgs", Loss::svm()); }),
            "solver lbfgs: not for loss svm; expected a loss of finite beta, or solver eg");
  EXPECT_EQ(find_solver("eg", Loss::svm()).name, "eg");
  EXPECT_EQ(find_solver("sgd", Loss::perceptron()).name, "sgd");
}

// docs/solvers.md has a row for each, and says which of them kernels are not for.
TEST(SolverTable, IsDocumented) {
  std::ifstream file(std::filesystem::path(ESPALIER_SOURCE_DIR) / "docs/solvers.md");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  for (const SolverEntry& entry : solver_table()) {
    EXPECT_TRUE(page.find("\n| `" + entry.name + "` |") != std::string::npos ||
                page.find("\n| [`" + entry.name + "`](#") != std::string::npos)
        << entry.name;
  }
  std::string refusing;
  for (const SolverEntry& entry : solver_table()) {
    if (entry.needs_coordinates) refusing = "`" + entry.name + "`, " + refusing;
  }
  refusing.resize(refusing.size() - 2);
  EXPECT_NE(page.find("all of them work but " + refusing + " and"), std::string::npos) << refusing;
}

// Each from nothing, and with the settings that concern it.
TEST(SolverTable, EverySolverTrains) {
  const OwnedProblem owned(1);
  for (const SolverEntry& entry : solver_table()) {
    Training training;
    SolverSettings settings;
    settings.stopping.gap = 0.3;
    settings.stopping.passes = 50;
    int reports = 0;
    const Loss loss = entry.losses == Losses::maximum ? Loss::svm() : Loss::crf();
    const Summary summary =
        entry.run({owned.problem, loss, 2}, settings, training, [&](const Progress&, const Weights&) {
          ++reports;
          return Control::go_on;
        });
    EXPECT_TRUE(summary.status == Status::converged ||
                (!entry.converges && summary.status == Status::out_of_passes))
        << entry.name << ": " << summary.message;
    EXPECT_EQ(training.theta.shape(), owned.problem.weight_shape()) << entry.name;
    EXPECT_EQ(static_cast<std::size_t>(reports), summary.history.size()) << entry.name;
  }
}

TEST(SolverTable, EgGoesOnFromTheDualsAtHand) {
  const OwnedProblem owned(2);
  for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
    const SolverEntry& entry = find_solver("eg", loss);
    const Objective objective{owned.problem, loss, 1};
    Training training;
    SolverSettings settings;
    settings.stopping.gap = loss.smooth() ? 1e-6 : 1e-3;
    const Summary first = entry.run(objective, settings, training, {});
    ASSERT_EQ(first.status, Status::converged);
    ASSERT_TRUE(training.dual.has_value());
    const Summary again = entry.run(objective, settings, training, {});
    EXPECT_EQ(again.status, Status::converged);
    EXPECT_LE(again.history.back().passes, 1.5);
  }
}

// How far beta had come is read off the duals, so that a run in two parts needs about as many passes as one
// in one.
TEST(SolverTable, EgResumesAMaximumWhereItWas) {
  const OwnedProblem owned(2);
  const SolverEntry& entry = find_solver("eg", Loss::svm());
  const Objective objective{owned.problem, Loss::svm(), 1};
  SolverSettings loose, tight;
  loose.stopping.gap = 1e-2;
  tight.stopping.gap = 1e-4;
  Training parts, whole;
  const double first = entry.run(objective, loose, parts, {}).history.back().passes;
  const Summary second = entry.run(objective, tight, parts, {});
  const Summary once = entry.run(objective, tight, whole, {});
  ASSERT_EQ(second.status, Status::converged);
  ASSERT_EQ(once.status, Status::converged);
  EXPECT_LT(second.history.front().relative_gap(), 1.1e-2);
  EXPECT_LE(first + second.history.back().passes, 1.3 * once.history.back().passes);
}

}  // namespace
}  // namespace espalier::registry_test
