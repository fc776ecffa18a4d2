#include "train/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/free_memory.h"
#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/base/options.h"
#include "espalier/tasks/registry.h"

namespace espalier {
namespace {

// Of one thread, for the example with the most statistics: scratch memory of inference, and what solvers and
// certificates keep of it.
double scratch_of_longest(const Objective& objective) {
  const Problem& problem = objective.problem;
  std::size_t longest = 0;
  for (std::size_t i = 1; i < problem.size(); ++i) {
    if (problem.num_statistics(i) > problem.num_statistics(longest)) longest = i;
  }
  if (problem.size() == 0) return 0;
  const std::size_t statistics = problem.num_statistics(longest);
  constexpr std::size_t kArrays = 4;  // scores, marginals, gradients, differences
  Workspace ws;
  {
    const std::vector<double> scores(statistics);
    std::vector<double> mu(statistics);
    if (objective.loss.smooth()) {
      problem.log_partition(longest, scores, mu, ws);
    } else {
      problem.argmax(longest, scores, mu, ws);
    }
  }
  return static_cast<double>(ws.capacity() + kArrays * statistics * sizeof(double));
}

// The value of an option that the data were read with; its default where they do not say.
Json value_of(const TrainingSet& data, const OptionRow& row) {
  return data.reading().value(row.name, row.default_value);
}

}  // namespace

MemoryForecast forecast_memory(const Objective& objective, const SolverEntry& solver,
                               const SolverSettings& settings, std::size_t runs) {
  // Sweeps of several threads list what they are about to change.
  constexpr double kLists = 1 << 23;
  return_free_memory();
  MemoryForecast forecast;
  forecast.data = static_cast<double>(resident_memory());
  const SolverMemory of_run = memory_of(solver, objective, settings);
  forecast.weights = static_cast<double>(runs) * of_run.weights;
  forecast.duals = static_cast<double>(runs) * of_run.duals;
  const std::size_t threads = runs > 1 ? runs : settings.threads.number;
  forecast.scratch = static_cast<double>(threads) * scratch_of_longest(objective);
  if (threads > 1 && runs == 1) forecast.scratch += kLists;
  return forecast;
}

double memory_left(std::size_t limit) {
  return_free_memory();
  return static_cast<double>(limit) - static_cast<double>(resident_memory());
}

std::string smaller_by(const MemoryForecast& forecast, const TrainingSet& data, const SolverEntry& solver,
                       const SolverSettings& settings) {
  std::vector<std::string> ways;
  const auto add = [&](std::string_view option, const std::string& value) {
    ways.push_back(setting(option) + (value.empty() ? "" : " " + value));
  };
  const TaskEntry* task = find_task(data.task());
  const auto row = [&](const char* name) { return task == nullptr ? nullptr : task->options().find(name); };
  const bool is_eg = solver.duals == Duals::scores;
  // What is a small part of all need not be smaller.
  constexpr double kMuch = 0.2;
  if (forecast.weights > kMuch * forecast.total()) {
    // Of few labels, nearly all have been seen with an attribute.
    constexpr std::size_t kManyLabels = 16;
    if (const OptionRow* features = row("features"); features != nullptr &&
                                                     value_of(data, *features) == Json("all") &&
                                                     data.problem().weight_shape().width >= kManyLabels)
      add("features", "observed");
    if (const OptionRow* bits = row("hash_bits"); bits != nullptr && value_of(data, *bits).is_number()) {
      constexpr int kFewer = 2, kFewest = 10;
      const int now = value_of(data, *bits).get<int>();
      if (now - kFewer >= kFewest) add("hash_bits", std::to_string(now - kFewer));
    }
  }
  if (is_eg && forecast.duals > kMuch * forecast.total() && settings.keep_marginals()) add("recompute", "");
  if (!is_eg && forecast.of_training() > forecast.data) add("solver", "eg");
  if (const OptionRow* count = row("min_count"); count != nullptr && value_of(data, *count).is_number())
    add("min_count", std::to_string(value_of(data, *count).get<int>() + 1));
  if (row("first") != nullptr) add("first", "N");
  return listed(ways);
}

void check_memory(const MemoryForecast& forecast, std::size_t limit, const TrainingSet& data,
                  const SolverEntry& solver, const SolverSettings& settings) {
  if (limit == 0 || forecast.total() <= static_cast<double>(limit)) return;
  const std::string ways = smaller_by(forecast, data, solver, settings);
  throw Error(
      fmt::format("{}: training takes about {} (data {}, weights {}, duals {}); expected at most {}{}{}",
                  setting("memory"), in_bytes(forecast.total()), in_bytes(forecast.data),
                  in_bytes(forecast.weights + forecast.scratch), in_bytes(forecast.duals),
                  in_bytes(static_cast<double>(limit)), ways.empty() ? "" : ", for example by ", ways));
}

}  // namespace espalier
