// Several solvers as one. Each contender has its work, in passes of eg, counted by fixed ratios:
//
//   done so far, left = passes that its own gaps forecast (forecast.h), or a promise where it has not been
//   tried
//
// The one at work is left where what it has left is more than kAdvantage times what the best of the others
// has. It is parked with its duals, if it has any, so that it can continue if the other turns out to be no
// better.
//
// What every report is worth: the best dual of all bounds the optimum for the weights of all, and the best
// weights of all have the certificate. A run has converged where these two meet the tolerance, whoever found
// them.

#include "solvers/automatic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/solvers/eg.h"
#include "features/assign_weights.h"
#include "learning/certify.h"
#include "solvers/eg_worker.h"
#include "solvers/forecast.h"
#include "solvers/lbfgs.h"
#include "solvers/margin_scale.h"
#include "solvers/training.h"

namespace espalier {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
// A change costs a start, and forecasts are rough.
constexpr double kAdvantage = 1.5;
// Reports that a forecast takes.
constexpr std::size_t kFewestReports = 3;
// The curvature in so many is soon known, and everybody pulls at them.
constexpr std::size_t kFewWeights = 2000;
// Passes of annealing to an l2 at which eg is never the first to get there: of topics, Snakes, letters and
// sentences at l2 = 1e-6, which take 20 to 24, lbfgs solves all and eg none in 1,000 passes. At 1e-3, which
// takes 10 to 16, either may be the faster one.
constexpr double kNextToNothing = 18;

// Other weights than the last ones are worth a report where they are better by more than rounding of lbfgs'
// last ones (relative to the primal), or by this part of the tolerance.
constexpr double kRounded = 1e-6, kWorthReport = 0.1;

// What looks for the last digits takes as long as some passes. It waits until there have been so many times
// as many as before.
constexpr double kWait = 1.2;

// Those that contenders() chooses from.
constexpr std::string_view kSmooth[] = {"eg", "lbfgs", "bmrm"},
                           kMaximum[] = {"smo", "frank-wolfe", "cutting-plane", "bmrm"};

struct Contender {
  SolverEntry solver;
  double cost;                // of a pass, in passes of eg
  double promise;             // passes that it is hoped to take
  double settled;             // passes before its gaps tell anything
  double patience;            // passes of a stint before it is left
  std::vector<GapAt> gaps{};  // its own, after the passes that it made itself
  double passes = 0;
  double best_primal = kUnbounded;  // of its own weights
  int stints = 0;
  Training parked{};
  bool finished = false;  // it stalled: nothing is left to hope for
};

// Where all examples are one part each, as in classification.
bool single_cliques(const Problem& problem) {
  const Factored* factored = problem.factored();
  return factored && problem.size() > 0 && factored->num_cliques(0) == 1;
}

// Passes that eg makes at a larger l2 before its gaps are those of the objective; below 0 where l2 is larger
// than that.
double annealing_passes(const Objective& objective) {
  const Problem& problem = objective.problem;
  double mean = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) mean += problem.weight(i) * problem.squared_change(i);
  mean /= static_cast<double>(problem.size());
  return std::log2(FirstSteps::from_gold().l2 * mean / objective.regularizer.l2);
}

// Weights for each statistic: solvers on the primal work on all weights in every pass, most of all L-BFGS on
// twenty vectors of them.
double weights_per_statistic(const Problem& problem) {
  double statistics = 0;
  for (std::size_t i = 0; i < problem.size(); ++i)
    statistics += static_cast<double>(problem.num_statistics(i));
  const WeightShape shape = problem.weight_shape();
  return static_cast<double>(shape.rows) * static_cast<double>(shape.width) / std::max(1.0, statistics);
}

// Of the gold outputs, on average.
double parts_per_output(const Problem& problem) {
  std::vector<float> gold;
  double parts = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    gold.assign(problem.num_statistics(i), 0.0f);
    problem.add_gold(i, 1.0f, gold);
    parts += std::accumulate(gold.begin(), gold.end(), 0.0);
  }
  return parts / static_cast<double>(std::max<std::size_t>(problem.size(), 1));
}

// The first one begins. Costs and promises are what the race of defaults showed (docs/solvers.md#auto); they
// decide when to try another one, and its own gaps decide whether to stay.
std::vector<Contender> contenders(const Objective& objective, bool warm) {
  const Problem& problem = objective.problem;
  const Loss& loss = objective.loss;
  // The others have no duals but those that weights imply, which have to be exact, and no kernels.
  const bool alone = problem.kernel() || problem.inference() == Inference::approximate;
  const bool sparse = objective.regularizer.sparse();
  const double weights = weights_per_statistic(problem);
  // An output of many parts is one block with one step, and has too many rivals to keep a list of them.
  const bool large = parts_per_output(problem) > 200;
  const double annealing = annealing_passes(objective);
  std::vector<Contender> all;
  if (loss.smooth()) {
    // Blocks that all pull at the same few weights, or are the whole problem, undo each other's steps. So do
    // any blocks where l2 is next to nothing: each of them alone would drive the weights a thousand times too
    // far.
    const WeightShape shape = problem.weight_shape();
    const bool few_weights = shape.rows * shape.width <= kFewWeights && annealing > 7;
    const bool blocks_collide =
        !alone && ((large && annealing > -0.5) || few_weights || annealing > kNextToNothing);
    const double first_passes = warm ? 0 : std::max(0.0, annealing);
    all.push_back(
        {find_solver("eg", loss), 1, blocks_collide ? 300.0 : 50.0, first_passes, first_passes + 10});
    if (alone) return all;
    if (!(objective.regularizer.l2 > 0)) all.clear();
    // L-BFGS keeps twenty vectors of all weights, and works on each of them in every pass.
    if (large && weights > 1 && !sparse) {
      all.push_back({find_solver("bmrm", loss), 0.7 + 0.5 * weights, 60, 10, 200});
    } else {
      all.push_back(
          {find_solver("lbfgs", loss), 0.7 + 1.5 * weights, 50, 4, blocks_collide ? 1000.0 : 150.0});
    }
    if (blocks_collide && !warm && all.size() > 1) std::swap(all[0], all[1]);
  } else if (single_cliques(problem)) {
    all.push_back({find_solver("smo", loss), 0.5, 50, 0, 15});
    if (!alone && !sparse) all.push_back({find_solver("cutting-plane", loss), 15, 25, 2, 200});
  } else {
    all.push_back({find_solver("frank-wolfe", loss), 1, 50, 0, 15});
    if (alone || sparse) return all;
    if (large) {
      all.push_back({find_solver("bmrm", loss), 0.7 + 0.5 * weights, 60, 10, 200});
      std::swap(all[0], all[1]);
      return all;
    }
    all.push_back({find_solver("cutting-plane", loss), 6, 25, 2, 200});
  }
  return all;
}

// Those that the run has the memory for, in their order; the smallest where it has it for none.
std::vector<Contender> those_that_fit(std::vector<Contender> all, const Objective& objective,
                                      const SolverSettings& settings) {
  const auto bytes = [&](const Contender& c) { return memory_of(c.solver, objective, settings).total(); };
  const auto least = std::min_element(
      all.begin(), all.end(), [&](const Contender& a, const Contender& b) { return bytes(a) < bytes(b); });
  const double most = std::max(settings.memory, bytes(*least));
  std::erase_if(all, [&](const Contender& c) { return bytes(c) > most; });
  return all;
}

class Automatic {
 public:
  Automatic(const Objective& objective, const SolverSettings& settings, Training& training,
            const Observer& observer)
      : objective_(objective),
        settings_(settings),
        training_(training),
        observer_(observer),
        contenders_(those_that_fit(contenders(objective, training.dual.has_value()), objective, settings)),
        now_(settings.stopping.before) {}

  Summary solve() {
    std::size_t at = first();
    while (run(at)) at = change(at);
    return finish();
  }

 private:
  // Who continues from what is at hand: weights alone are those of L-BFGS.
  std::size_t first() const {
    const bool has_weights = training_.theta.shape() == objective_.problem.weight_shape();
    const Duals at_hand = training_.dual      ? Duals::scores
                          : training_.means   ? Duals::means
                          : training_.cliques ? Duals::cliques
                                              : Duals::none;
    if (at_hand == Duals::none && !(has_weights && objective_.loss.smooth())) return 0;
    for (std::size_t k = 0; k < contenders_.size(); ++k) {
      if (contenders_[k].solver.duals == at_hand) return k;
    }
    return 0;
  }

  // Work that is left, in passes of eg.
  double left(const Contender& c) const {
    if (c.finished) return kUnbounded;
    if (c.stints == 0) return c.cost * c.promise;
    // Solvers for maxima slow down as they go. One whose gap does not fall may find its way yet, but nobody
    // knows when.
    const double slowing = objective_.loss.smooth() ? 1 : 2, unknown = 10 * c.passes;
    return slowing * c.cost * std::min(forecast(c).value_or(unknown), unknown);
  }

  // In gaps themselves, not relative ones: far from the optimum those are all about 1. What is asked for is a
  // share of the primal in the end. Duals of maxima come close to that early on, while primals are still
  // several times as large.
  std::optional<double> forecast(const Contender& c) const {
    constexpr double kLeast = 0.1;
    const double optimum =
        objective_.loss.smooth() ? best_primal_ : std::max(best_dual_, kLeast * best_primal_);
    return passes_to_gap(c.gaps, settings_.stopping.gap * optimum);
  }

  std::size_t best_other(std::size_t at) const {
    std::size_t best = at;
    for (std::size_t k = 0; k < contenders_.size(); ++k) {
      if (k == at || contenders_[k].finished) continue;
      if (best == at || left(contenders_[k]) < left(contenders_[best])) best = k;
    }
    return best;
  }

  bool worth_leaving(std::size_t at, double passes_of_stint, std::size_t gaps_of_stint) const {
    const Contender& c = contenders_[at];
    const std::size_t other = best_other(at);
    if (other == at || gaps_of_stint < kFewestReports) return false;
    // Whoever comes back gets at least half as much as was spent on everything so far, so that changes become
    // rare.
    const double least = c.stints == 1 ? c.patience : std::max(c.patience, spent() / (2 * c.cost));
    return passes_of_stint >= least && left(c) > kAdvantage * left(contenders_[other]);
  }

  double spent() const {
    double sum = 0;
    for (const Contender& c : contenders_) sum += c.cost * c.passes;
    return sum;
  }

  // True: another one continues.
  bool run(std::size_t at) {
    Contender& c = contenders_[at];
    ++c.stints;
    const double before = c.passes;
    const Progress start = now_;
    const std::size_t gaps_before = c.gaps.size();
    leaving_ = false;
    SolverSettings settings = settings_;
    settings.stopping = settings_.stopping.rest(now_);
    const int epochs = static_cast<int>(summary_.history.size());
    // Weights far from the optimum imply duals that are worse than that of the gold outputs, which is 0.
    const double floor = c.solver.duals == Duals::none ? 0 : -kUnbounded;
    const bool is_lbfgs = c.solver.name == "lbfgs";
    // What lbfgs reports on the way is the primal of weights that are not yet rounded to float.
    const bool exact = c.solver.duals != Duals::none;
    const Observer observer = [&](const Progress& progress, const Weights& theta) {
      const double passes = progress.passes - start.passes;
      c.passes = before + passes;
      // Its best weights are what counts: at a small l2 the primal goes up and down while the dual rises.
      // Those of others would hide how fast its own come down.
      c.best_primal = std::min(c.best_primal, progress.primal);
      const double gap = c.best_primal - progress.dual;
      if (passes >= c.settled || c.stints > 1) c.gaps.push_back({c.passes, gap});
      const Control control = take(progress, theta, floor, epochs, exact);
      if (control == Control::stop || converged_) return Control::stop;
      leaving_ = worth_leaving(at, passes, c.gaps.size() - gaps_before);
      return leaving_ ? Control::stop : Control::go_on;
    };
    Summary summary;
    if (is_lbfgs) {
      summary = run_lbfgs(settings, observer);
    } else {
      summary = c.solver.run(objective_, settings, training_, observer);
    }
    summary_.status = summary.status;
    summary_.message = std::move(summary.message);
    if (!summary.history.empty()) said_gap_ = summary.history.back().relative_gap();
    stints_.push_back(fmt::format("{} for {:.1f} passes", c.solver.name, c.passes - before));
    if (converged_) return false;
    if (summary_.status == Status::stalled) {
      c.finished = true;
      // Others work in float: where double precision is at its end, so are they.
      constexpr double kFloats = 1e-5;
      if (is_lbfgs && now_.relative_gap() <= kFloats) return false;
      return best_other(at) != at;
    }
    return leaving_ && !settings_.stopping.interrupted() && summary_.status == Status::stopped;
  }

  // Its reports say what its own weights imply, also where that is below bounds that are known: how that
  // falls is the forecast.
  Summary run_lbfgs(const SolverSettings& settings, const Observer& observer) {
    const WeightShape shape = objective_.problem.weight_shape();
    if (training_.theta.shape() != shape) training_.theta = Weights(shape);
    LbfgsOptions options;
    options.stopping = settings.stopping;
    options.threads = settings.threads;
    options.keep_best_dual = false;
    return lbfgs(objective_, options, training_.theta, observer);
  }

  // A report, with the best bound so far. `floor` is one that needs no solver.
  // `exact`: the primal is that of theta as it is.
  Control take(Progress progress, const Weights& theta, double floor, int epochs, bool exact) {
    if (!progress.approximate()) {
      best_dual_ = std::max({best_dual_, floor, progress.dual});
      // Where eg is alone, weights imply no duals that bound anything.
      const bool implied = objective_.loss.smooth() && contenders_.size() > 1;
      if (implied && progress.passes >= kWait * implied_at_) imply_dual(progress, theta);
      set_certificate(progress, progress.primal);
      if (progress.primal < best_primal_) {
        best_primal_ = progress.primal;
        best_is_exact_ = exact;
        // Where these are good enough, the run ends with them: nobody asks for a copy.
        if (!exact || !meets_tolerance(best_primal_)) keep_best(theta);
      }
    }
    progress.epoch += epochs;
    now_ = progress;
    summary_.history.push_back(progress);
    const Control control = observer_ ? observer_(progress, theta) : Control::go_on;
    if (!progress.approximate() && !objective_.loss.smooth() && !meets_tolerance(best_primal_)) scale(theta);
    converged_ = !progress.approximate() && best_converges();
    return control;
  }

  // With all threads where weights are many: most of the time goes into pages of memory that are new.
  void keep_best(const Weights& theta) {
    constexpr std::size_t kMany = std::size_t{1} << 20;
    Team team(theta.values().size() < kMany ? 1 : std::size_t{settings_.threads});
    assign_weights(best_theta_, theta, 1, team);
  }

  // Where scores are large and the objective is small, more is certain of the dual that weights imply than of
  // that of their duals.
  void imply_dual(const Progress& progress, const Weights& theta) {
    implied_at_ = progress.passes;
    Sweep sweep(settings_.threads);
    best_dual_ = std::max(best_dual_, certify_implied(objective_, theta, sweep).dual);
  }

  bool best_converges() {
    if (!meets_tolerance(best_primal_) || best_is_exact_) return meets_tolerance(best_primal_);
    Sweep sweep(settings_.threads);
    best_primal_ = evaluate_primal(objective_, best_theta_, sweep);
    best_is_exact_ = true;
    return meets_tolerance(best_primal_);
  }

  bool meets_tolerance(double primal) const {
    Progress best;
    set_certificate(best, primal);
    return best.relative_gap() <= settings_.stopping.gap;
  }

  // Where losses are all that is left of the gap, and small enough to come from rounding, longer weights may
  // do without them.
  void scale(const Weights& theta) {
    constexpr double kRoundings = 0x1p-16;  // of margins, which are sums of many weights
    const Problem& problem = objective_.problem;
    double weights = 0;
    for (std::size_t i = 0; i < problem.size(); ++i) weights += problem.weight(i);
    const double norm = objective_.regularizer.value(problem, theta);
    const bool rounded = now_.primal - norm <= kRoundings * objective_.loss.gamma * weights;
    if (!rounded || norm - best_dual_ > settings_.stopping.gap / 2 * norm || now_.passes < kWait * scaled_at_)
      return;
    scaled_at_ = now_.passes;
    Sweep sweep(settings_.threads);
    ValuedWeights scaled = scaled_for_margins(objective_, theta, sweep);
    if (!(scaled.primal < best_primal_)) return;
    best_primal_ = scaled.primal;
    best_is_exact_ = true;
    best_theta_ = std::move(scaled.theta);
  }

  void set_certificate(Progress& progress, double primal) const {
    const Certificate certificate = checked(objective_, {primal, best_dual_});
    progress.primal = certificate.primal;
    progress.dual = certificate.dual;
    progress.rounding = certificate.rounding;
  }

  // Parks the one at work, and makes ready what the next one starts from.
  std::size_t change(std::size_t at) {
    const std::size_t next = best_other(at);
    Contender& from = contenders_[at];
    Contender& to = contenders_[next];
    say(from, to);
    from.parked.dual = std::exchange(training_.dual, std::nullopt);
    from.parked.means = std::exchange(training_.means, std::nullopt);
    from.parked.cliques = std::exchange(training_.cliques, std::nullopt);
    training_.dual = std::exchange(to.parked.dual, std::nullopt);
    training_.means = std::exchange(to.parked.means, std::nullopt);
    training_.cliques = std::exchange(to.parked.cliques, std::nullopt);
    // Weights that are worse than zeros are not worth starting from.
    if (best_theta_.shape() == objective_.problem.weight_shape()) training_.theta = best_theta_;
    if (to.solver.duals == Duals::none && (nothing_is_certain() || worse_than_zero()))
      training_.theta = Weights(objective_.problem.weight_shape());
    return next;
  }

  // No dual so far is above that of the gold outputs, which is 0: a small l2 let the weights run far ahead of
  // what they will be, and from there solvers on the primal take longer than from none.
  bool nothing_is_certain() const { return best_dual_ <= 0; }

  bool worse_than_zero() const {
    Sweep sweep(settings_.threads);
    return evaluate_primal(objective_, Weights(objective_.problem.weight_shape()), sweep) < best_primal_;
  }

  void say(const Contender& from, const Contender& to) const {
    if (!settings_.notice) return;
    const std::optional<double> more = forecast(from);
    constexpr double kEver = 100;  // times what it took so far: nobody would wait for that
    settings_.notice(fmt::format(
        "from {} to {} after {:.1f} passes: {}", from.solver.name, to.solver.name, now_.passes,
        more && *more < kEver * from.passes ? fmt::format("it would take about {:.0f} more", *more)
                                            : std::string("its gap has almost stopped falling")));
  }

  Summary finish() {
    if (summary_.history.empty()) return std::move(summary_);
    // A solver on the primal may have said its last gap, where an earlier bound is better.
    bool as_it_said =
        stints_.size() == 1 && !converged_ && said_gap_ == summary_.history.back().relative_gap();
    // The best weights are not always the last ones.
    const double last_primal = summary_.history.back().primal;
    const bool missed = converged_ && !(summary_.history.back().relative_gap() <= settings_.stopping.gap);
    const double worth = std::min(kRounded, kWorthReport * settings_.stopping.gap);
    const bool better = last_primal - best_primal_ > worth * last_primal;
    if (best_theta_.shape() == training_.theta.shape() && (missed || better)) {
      Sweep sweep(settings_.threads);
      const double exact = evaluate_primal(objective_, best_theta_, sweep);
      if (exact < last_primal) {
        training_.theta = best_theta_;
        as_it_said = false;
        ++now_.epoch;
        set_certificate(now_, exact);
        summary_.history.push_back(now_);
        if (observer_) observer_(now_, training_.theta);
      }
    }
    leave_duals();
    const Progress& last = summary_.history.back();
    if (converged_ && summary_.status == Status::stopped && last.relative_gap() <= settings_.stopping.gap)
      summary_.status = Status::converged;
    if (!as_it_said && summary_.status != Status::stalled)
      summary_.message = describe_ending(summary_.status, last);
    if (stints_.size() > 1) summary_.message += fmt::format(" ({})", fmt::join(stints_, ", then "));
    return std::move(summary_);
  }

  // Where eg begins, it is to begin at the next l2, too, whoever came to the end of this one: from the duals
  // that the weights imply.
  void leave_duals() {
    if (!converged_ || contenders_.front().solver.duals != Duals::scores || training_.dual) return;
    const Problem& problem = objective_.problem;
    training_.dual.emplace(problem, settings_.keep_marginals());
    training_.dual->start_at(problem, training_.theta, objective_.loss.beta, objective_.loss.gamma);
  }

  const Objective& objective_;
  const SolverSettings& settings_;
  Training& training_;
  const Observer& observer_;
  std::vector<Contender> contenders_;
  Progress now_;
  Summary summary_;
  std::vector<std::string> stints_;  // what was done, for the message
  double said_gap_ = 0;              // by the solver that worked last, in its own
  double best_primal_ = kUnbounded, best_dual_ = -kUnbounded;
  bool best_is_exact_ =
      false;  // the primal of best_theta_ as it is stored, not of weights before they are rounded to float
  double scaled_at_ = 0;     // passes when weights were last scaled
  double implied_at_ = 100;  // and when their own dual was last looked at: most runs are over before
  Weights best_theta_;
  bool converged_ = false, leaving_ = false;
};

}  // namespace

SolverEntry automatic_solver(const Loss& loss) {
  if (!loss.smooth() && loss.gamma == 0) return find_solver("perceptron", loss);
  SolverEntry entry;
  entry.name = "auto";
  entry.summary =
      "eg for a CRF, frank-wolfe or smo for an SVM; another solver when it is forecast to be faster";
  entry.duals = loss.smooth() ? Duals::scores : Duals::means;
  entry.sparse = true;
  entry.without_l2 = loss.smooth();
  entry.allocates = true;
  entry.one_by_one = true;
  for (const std::string_view name : loss.smooth() ? std::span<const std::string_view>(kSmooth) : kMaximum) {
    const SolverEntry contender = find_solver(name, loss);
    entry.options.insert(entry.options.end(), contender.options.begin(), contender.options.end());
  }
  entry.memory = [](const Objective& objective, const SolverSettings& settings) {
    const auto fit = those_that_fit(contenders(objective, false), objective, settings);
    MemoryUse use = fit.front().solver.memory(objective, settings);
    use.weight += objective.loss.smooth() ? 4 : 12;  // the best weights so far, and longer ones
    return use;
  };
  entry.run = [](const Objective& objective, const SolverSettings& settings, Training& training,
                 const Observer& observer) {
    return Automatic(objective, settings, training, observer).solve();
  };
  return entry;
}

}  // namespace espalier
