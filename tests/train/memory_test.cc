// What a run is expected to take of memory, against what it takes.

#include "train/memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/free_memory.h"
#include "espalier/tasks/classify.h"
#include "espalier/tasks/tag.h"
#include "espalier/train/train.h"
#include "support/error_message.h"

namespace espalier::memory_test {
namespace {

using testing::error_message;

// The most that this process has had in memory since the last call, or 0 where the system does not say.
double peak_since_reset() {
  double kilobytes = 0;
  if (std::FILE* status = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof(line), status) != nullptr) {
      if (std::sscanf(line, "VmHWM: %lf", &kilobytes) == 1) break;
    }
    std::fclose(status);
  }
  return 1024 * kilobytes;
}
bool reset_peak() {
  std::FILE* file = std::fopen("/proc/self/clear_refs", "w");
  return file != nullptr && std::fputs("5", file) >= 0 && std::fclose(file) == 0;
}

// Many attributes, so that nearly all memory is weights: 5.4 MB as floats.
ClassifyData wide() {
  ClassifyData data;
  for (int i = 0; i < 96; ++i) {
    std::vector<std::string> names;
    for (int j = 0; j < 160; ++j) names.push_back(fmt::format("x{}", 160 * i + j));
    std::vector<ClassifyData::Attribute> row;
    for (const std::string& name : names) row.push_back({name, 1});
    data.add(row, fmt::format("L{}", i % 88));
  }
  return data;
}
// Few, so that it is duals: 9.6 MB as floats.
ClassifyData long_data() {
  ClassifyData data;
  for (int i = 0; i < 12000; ++i)
    data.add({{fmt::format("x{}", i % 29), 1}, {fmt::format("y{}", i % 7), 1}}, fmt::format("L{}", i % 200));
  return data;
}

class MemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers take memory of their own";
#endif
    if (!reset_peak()) GTEST_SKIP() << "needs Linux";
  }

  // As docs/scale.md promises.
  static void check(TrainingSet& data, const TrainOptions& options) {
    SCOPED_TRACE(options.solver + " " + options.loss.name());
    Trainer trainer(data, options, options.l2);
    const MemoryForecast forecast = trainer.memory();
    ASSERT_TRUE(reset_peak());
    trainer.run();
    const std::size_t saved = trainer.model().bytes().size();
    const double peak = peak_since_reset();
    EXPECT_GT(saved, 0u);
    EXPECT_GE(forecast.total(), peak / 1.25);
    EXPECT_LE(forecast.total(), 3 * peak);
    // Half of what training adds would not be noticed beside much data.
    constexpr double kMegabyte = 1 << 20;
    EXPECT_GE(forecast.of_training() + kMegabyte, (peak - forecast.data) / 1.25);
  }
};

TEST_F(MemoryTest, EverySolverTakesAboutWhatIsForecast) {
  for (const ClassifyData& data : {wide(), long_data()}) {
    const auto set = make_classify_training(data);
    for (const SolverEntry& solver : solver_table()) {
      for (const Loss loss : {Loss::crf(), Loss::svm()}) {
        if (is_for(solver, loss))
          check(*set, {.loss = loss, .solver = solver.name, .passes = 2, .threads = 1, .report_every = 1});
      }
    }
    check(*set, {.passes = 2, .threads = 2});
    check(*set, {.loss = Loss::svm(), .passes = 2, .threads = 1});
  }
}

TEST_F(MemoryTest, SequencesHaveCliqueMarginals) {
  TagData data;
  for (int i = 0; i < 300; ++i) {
    for (int t = 0; t < 20; ++t)
      data.add_attributes({{fmt::format("x{}", (i + t) % 17), 1}}, fmt::format("L{}", (i * t) % 24));
    data.end_sentence();
  }
  const auto set = make_tag_training(data);
  for (const char* solver : {"eg", "sdca"}) check(*set, {.solver = solver, .passes = 2, .threads = 1});
  for (const char* solver : {"smo", "frank-wolfe"})
    check(*set, {.loss = Loss::svm(), .solver = solver, .passes = 2, .threads = 1});
}

TEST_F(MemoryTest, LimitsAreKeptAndSayWhatTakesLess) {
  const auto set = make_classify_training(long_data());
  const auto message = [&](const TrainOptions& options) {
    return error_message([&] { train(*set, options); });
  };
  const double all = Trainer(*set, {.solver = "eg", .threads = 1}, 1.0).memory().total();
  const auto limited = [&](double bytes) {
    return message({.solver = "eg", .passes = 1, .threads = 1, .memory = static_cast<std::size_t>(bytes)});
  };
  EXPECT_EQ(limited(1.5 * all), "(no error)");
  const std::string refused = limited(all / 2);
  EXPECT_NE(refused.find("memory: training takes about "), std::string::npos) << refused;
  EXPECT_NE(refused.find("recompute"), std::string::npos) << refused;
  // What takes less fits into less.
  TrainOptions less{.solver = "eg", .threads = 1};
  less.solver_options.eg.recompute = true;
  EXPECT_LT(Trainer(*set, less, 1.0).memory().total(), 0.8 * all);
}

// At an l2 of next to nothing lbfgs begins, which keeps many copies of the weights; eg where they do not fit.
TEST_F(MemoryTest, AutoChoosesAmongThoseThatFit) {
  const auto set = make_classify_training(wide());
  const Objective objective{set->problem(), Loss::crf(), 1e-9};
  SolverSettings settings;
  const auto weights = [&](const char* solver) {
    return memory_of(find_solver(solver, Loss::crf()), objective, settings).weights;
  };
  EXPECT_GE(weights("auto"), weights("lbfgs"));
  settings.memory = weights("lbfgs") / 2;
  EXPECT_LT(weights("auto"), settings.memory);
  EXPECT_GE(weights("auto"), weights("eg"));
  settings.memory = 1;  // too little for any
  EXPECT_LT(weights("auto"), weights("lbfgs"));
}

}  // namespace
}  // namespace espalier::memory_test
