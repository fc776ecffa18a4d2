// Trains with logical ranks, threads of this process, and says what a run on as many machines would exchange:
// bench/scaling/ranks.py runs it.
//
//   simulate_ranks TASK FILE --ranks K [--loss L] [--l2 X] [--gap G] [--passes N] [--verbose] [NAME=VALUE
//   ...]
//
// A line of JSON for the run: rounds, passes, bytes that a rank sends, in rounds and in certificates.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/solvers/registry.h"
#include "espalier/tasks/registry.h"
#include "espalier/train/read.h"
#include "fleet/threads.h"
#include "learning/rank_problem.h"
#include "solvers/training.h"

namespace {

using namespace espalier;

struct SimulatedRun {
  std::string task, file, loss = "crf", solver = "eg";
  double l2 = 1, gap = 1e-3, passes = 1000;
  std::size_t ranks = 1;
  bool verbose = false;
  std::vector<std::string> settings;
};

int simulate(const SimulatedRun& run) {
  const TaskEntry* task = find_task(run.task);
  if (task == nullptr) throw Error(run.task + ": no task");
  OptionValues options(task->options());
  for (const std::string& setting : run.settings) {
    const std::size_t equals = setting.find('=');
    options.set(setting.substr(0, equals), setting.substr(equals + 1));
  }
  const auto data = read_training(*task, run.file, options);
  const Loss loss = Loss::parse(run.loss);
  Json result;
  run_ranks(run.ranks, [&](Communicator& fleet) {
    const RankProblem problem = RankProblem::share_of(data->problem(), fleet);
    SolverSettings settings;
    settings.stopping.gap = run.gap;
    settings.stopping.passes = run.passes;
    std::size_t rounds = 0, halved = 0;
    double sum_of_sigma = 0;
    std::uint64_t bytes_before = fleet.traffic().bytes, of_rounds = 0, largest_round = 0;
    fleet.on_round = [&](const Communicator::Round& round) {
      ++rounds;
      halved += round.halves > 0 ? 1 : 0;
      sum_of_sigma += round.sigma;
      const std::uint64_t bytes = fleet.traffic().bytes - bytes_before;
      bytes_before = fleet.traffic().bytes;
      of_rounds += bytes;
      largest_round = std::max(largest_round, bytes);
      if (run.verbose && fleet.rank() == 0) {
        fmt::print(stderr, "pass {:.2f} sigma {:.2f} rho {:.2f} gain {:.4g} halves {} bytes {}\n",
                   round.passes, round.sigma, round.rho, round.gain, round.halves, bytes);
      }
    };
    Training training;
    const SolverEntry solver = find_solver(run.solver, loss);
    const Summary summary = solver.run(
        {problem, loss, run.l2}, settings, training, [&](const Progress& progress, const Weights&) {
          bytes_before = fleet.traffic().bytes;
          if (run.verbose && fleet.rank() == 0)
            fmt::print(stderr, "pass {:.2f} gap {:.3g}\n", progress.passes, progress.relative_gap());
          return Control::go_on;
        });
    const double sent = fleet.largest(static_cast<double>(fleet.traffic().bytes));
    const double in_rounds = fleet.largest(static_cast<double>(of_rounds));
    if (fleet.rank() != 0) return;
    const Progress& last = summary.history.back();
    const auto per_round = [&](double x) { return rounds > 0 ? x / static_cast<double>(rounds) : 0; };
    result = {{"ranks", run.ranks},
              {"examples", data->problem().size()},
              {"status", to_string(summary.status)},
              {"passes", last.passes},
              {"relative_gap", last.relative_gap()},
              {"primal", last.primal},
              {"dual", last.dual},
              {"certificates", summary.history.size()},
              {"rounds", rounds},
              {"halved", halved},
              {"sigma", per_round(sum_of_sigma)},
              {"bytes", sent},
              {"bytes_in_rounds", in_rounds},
              {"bytes_a_round", per_round(in_rounds)},
              {"meetings", fleet.traffic().meetings},
              {"weights", data->problem().weight_shape().rows * data->problem().weight_shape().width}};
  });
  fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  SimulatedRun run;
  std::vector<std::string> names;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto next = [&] { return std::string(k + 1 < argc ? argv[++k] : ""); };
    if (word == "--ranks")
      run.ranks = static_cast<std::size_t>(std::atoi(next().c_str()));
    else if (word == "--loss")
      run.loss = next();
    else if (word == "--solver")
      run.solver = next();
    else if (word == "--l2")
      run.l2 = std::atof(next().c_str());
    else if (word == "--gap")
      run.gap = std::atof(next().c_str());
    else if (word == "--passes")
      run.passes = std::atof(next().c_str());
    else if (word == "--verbose")
      run.verbose = true;
    else if (word.find('=') != word.npos)
      run.settings.push_back(word);
    else
      names.push_back(word);
  }
  if (names.size() != 2 || run.ranks == 0) {
    std::fputs("usage: simulate_ranks TASK FILE --ranks K [--loss L] [--l2 X] [--gap G] [--passes N]\n",
               stderr);
    return 2;
  }
  run.task = names[0];
  run.file = names[1];
  try {
    return simulate(run);
  } catch (const Error& e) {
    std::fputs((std::string(e.what()) + '\n').c_str(), stderr);
    return 2;
  }
}
