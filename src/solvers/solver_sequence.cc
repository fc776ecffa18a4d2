#include "solvers/solver_sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "espalier/base/error.h"
#include "solvers/hand_over.h"
#include "solvers/training.h"

namespace espalier {
namespace {

// On random problems, values from 0.5 to 0.03 took smo,eg 34 to 37 passes to a gap of 1e-2 for classes and
// 100 to 116 for chains.
constexpr double kCloseEnough = 0.1;
// In passes. Half of it saves up to five of them where a stage never gets close, but takes a primal that goes
// up and down for one that has stopped; twice as many are wasted.
constexpr double kPatience = 10;

// Detects a stage that makes next to no progress.
class Patience {
 public:
  bool over(const Progress& now) {
    constexpr double kClearlySmaller = 0.9;
    if (now.gap() < kClearlySmaller * gap_) {
      gap_ = now.gap();
      since_ = now.passes;
    }
    return now.passes - since_ >= kPatience;
  }

 private:
  double gap_ = std::numeric_limits<double>::infinity(), since_ = 0;
};

// The stages of one run, one after the other.
class StagedRun {
 public:
  StagedRun(const Objective& objective, const SolverSettings& settings, Training& training,
            const Observer& observer)
      : objective_(objective),
        settings_(settings),
        training_(training),
        observer_(observer),
        now_(settings.stopping.before) {}

  // True: the next stage is to continue.
  bool run(const SolverEntry& stage, bool last) {
    SolverSettings here = settings_;
    here.stopping = settings_.stopping.rest(now_);
    if (!last) here.stopping.gap = std::max(settings_.stopping.gap, kCloseEnough);
    Patience patience;
    bool handing_over = false;
    const int epochs = static_cast<int>(summary_.history.size());
    Summary summary = stage.run(objective_, here, training_, [&](Progress progress, const Weights& theta) {
      progress.epoch += epochs;
      const Control control = observer_ ? observer_(progress, theta) : Control::go_on;
      if (control == Control::stop) return control;
      handing_over = !last && patience.over(progress);
      return handing_over ? Control::stop : Control::go_on;
    });
    for (Progress& progress : summary.history) {
      progress.epoch += epochs;
      summary_.history.push_back(progress);
    }
    summary_.status = summary.status;
    summary_.message = std::move(summary.message);
    if (!summary_.history.empty()) now_ = summary_.history.back();
    if (last) return false;
    if (summary_.status == Status::stalled) return true;
    if (summary_.status == Status::stopped) return handing_over && !settings_.stopping.interrupted();
    return summary_.status == Status::converged && std::abs(now_.relative_gap()) > settings_.stopping.gap;
  }

  // It takes time and inferences, and counts as training. False where it was interrupted: then the run ends
  // with the weights that the last stage left, and their certificate.
  bool hand_over(Duals from, Duals to) {
    const auto start = std::chrono::steady_clock::now();
    const std::size_t inferences = espalier::hand_over(objective_, from, to, settings_, training_);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    now_.passes += static_cast<double>(inferences) / static_cast<double>(objective_.problem.size());
    now_.seconds += took.count();
    now_.wall_seconds += took.count();
    if (!settings_.stopping.interrupted() || summary_.history.empty()) return true;
    const Progress& last = summary_.history.back();
    summary_.status = Status::stopped;
    summary_.message =
        fmt::format("stopped: relative gap {:.2g} after {:.1f} passes", last.relative_gap(), last.passes);
    return false;
  }

  const Progress& now() const { return now_; }
  Summary finish(const std::string& stages) {
    summary_.message += fmt::format(" ({})", stages);
    return std::move(summary_);
  }

 private:
  const Objective& objective_;
  const SolverSettings& settings_;
  Training& training_;
  const Observer& observer_;
  Progress now_;
  Summary summary_;
};

bool has_duals(const Training& training, Duals kind) {
  return kind == Duals::scores    ? training.dual.has_value()
         : kind == Duals::means   ? training.means.has_value()
         : kind == Duals::cliques ? training.cliques.has_value()
                                  : false;
}

Summary run_stages(const std::vector<SolverEntry>& stages, const Objective& objective,
                   const SolverSettings& settings, Training& training, const Observer& observer) {
  StagedRun run(objective, settings, training, observer);
  const SolverEntry& last = stages.back();
  const bool has_weights = training.theta.shape() == objective.problem.weight_shape();
  if (has_duals(training, last.duals) || has_weights) {
    if (!has_duals(training, last.duals)) run.hand_over(Duals::none, last.duals);
    run.run(last, true);
    return run.finish(last.name + " alone, from the weights at hand");
  }
  std::string story;
  for (std::size_t k = 0; k < stages.size(); ++k) {
    if (k > 0 && !run.hand_over(stages[k - 1].duals, stages[k].duals))
      return run.finish(story + "interrupted");
    if (!run.run(stages[k], k + 1 == stages.size())) return run.finish(story + stages[k].name);
    story += fmt::format("{} until {:.1f} passes, then ", stages[k].name, run.now().passes);
  }
  return run.finish(story);
}

}  // namespace

SolverEntry solvers_in_sequence(std::vector<SolverEntry> stages) {
  ESPALIER_EXPECT(!stages.empty());
  SolverEntry sequence = stages.back();
  sequence.summary = "solvers in sequence";
  for (auto stage = stages.rbegin() + 1; stage != stages.rend(); ++stage) {
    sequence.name = stage->name + "," + sequence.name;
    sequence.converges = sequence.converges || stage->converges;
    sequence.needs_cliques = sequence.needs_cliques || stage->needs_cliques;
    sequence.needs_coordinates = sequence.needs_coordinates || stage->needs_coordinates;
    sequence.sparse = sequence.sparse && stage->sparse;
    sequence.without_l2 = sequence.without_l2 && stage->without_l2;
    sequence.batch = sequence.batch && stage->batch;
    sequence.allocates = sequence.allocates || stage->allocates;
    sequence.one_by_one = sequence.one_by_one || stage->one_by_one;
    sequence.options.insert(sequence.options.begin(), stage->options.begin(), stage->options.end());
  }
  // Duals of one stage may still be there when those of the next are made.
  sequence.memory = [stages](const Objective& objective, const SolverSettings& settings) {
    MemoryUse most;
    for (const SolverEntry& stage : stages) {
      if (!stage.memory) continue;
      const MemoryUse use = stage.memory(objective, settings);
      most.weight = std::max(most.weight, use.weight);
      most.statistic += use.statistic;
      most.clique_marginal += use.clique_marginal;
      most.example = std::max(most.example, use.example);
    }
    return most;
  };
  sequence.run = [stages = std::move(stages)](const Objective& objective, const SolverSettings& settings,
                                              Training& training, const Observer& observer) {
    return run_stages(stages, objective, settings, training, observer);
  };
  return sequence;
}

}  // namespace espalier
