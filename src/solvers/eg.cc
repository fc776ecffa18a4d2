// Online exponentiated gradient on the dual (Collins et al. 2008, Figure 3): which examples are visited when,
// by whom, and when the gap is measured. What a visit does is in eg_worker.cc.

#include "espalier/solvers/eg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "espalier/base/error.h"
#include "features/assign_weights.h"
#include "kernels/vectors.h"
#include "learning/certify.h"
#include "learning/negligible.h"
#include "learning/rank_problem.h"
#include "learning/sweep.h"
#include "solvers/crew.h"
#include "solvers/eg_ranks.h"
#include "solvers/eg_worker.h"
#include "solvers/option_rows.h"
#include "solvers/visits.h"

namespace espalier {

const OptionTable& eg_options() {
  using Row = OptionOf<EgTuning>;
  static const OptionTable table{
      sampling_row<EgTuning>(),
      step_row(&EgTuning::step,
               {{"auto", EgStep::automatic}, {"paper", EgStep::paper}, {"safe", EgStep::safe}})
          .only_if([](const EgTuning& own) { return !own.eta; }, "no " + setting("eta")),
      Row("eta", &EgTuning::eta, "use this constant step size").above(0),
      start_row<EgTuning>(),
      Row("log_odds", &EgTuning::log_odds,
          "gold start: initial log-odds of gold parts against the others, in nats")
          .from(0)
          .logged_if_changed()
          .only_if([](const EgTuning& own) { return own.start == EgStart::gold; },
                   setting("start") + " gold"),
      Row("anneal", &EgTuning::anneal,
          Words<EgAnneal>{{"auto", EgAnneal::automatic}, {"no", EgAnneal::none}, {"paper", EgAnneal::paper}},
          "first passes at a larger l2: auto (with automatic steps), no, paper (the paper's Figure 8)")
          .logged_if_changed(),
      recompute_row<EgTuning>("half the memory for duals, at the cost of one more inference per visit")};
  return table;
}

namespace {

class Eg {
 public:
  Eg(const Objective& objective, const EgOptions& options, DualState& dual, Weights& theta,
     const Observer& observer)
      : objective_(objective),
        problem_(objective.problem),
        options_(options),
        dual_(dual),
        theta_(theta),
        run_(objective, options.stopping, observer),
        n_(problem_.size()),
        shared_(objective, dual, options),
        sweep_(options.threads, problem_.fleet()),
        crew_(problem_, shared_.w, sweep_.team(), options.threads.share_visits,
              [this] { return std::make_unique<EgWorker>(shared_); }),
        schedule_(options.sampling, n_, options.seed),
        proxy_ratio_(first_ratio(objective.problem.fleet(), options.start == EgStart::warm)) {
    if (problem_.fleet()) ranks_.emplace(RankProblem::of(problem_).blocks(), shared_, sweep_.team());
  }

  Summary solve() {
    if (options_.start == EgStart::gold)
      dual_.start_near_gold(problem_, static_cast<float>(options_.log_odds), sweep_);
    if (options_.start == EgStart::uniform) dual_.start_near_gold(problem_, 0, sweep_);
    if (dual_.way && dual_.way->w.shape() == problem_.weight_shape()) {
      assign_weights(shared_.w, std::exchange(dual_.way->w, {}), 1, sweep_.team());
      estimate_dual(sweep_, [](std::size_t, In, Workspace&) {});
    } else {
      set_weights();
    }
    shared_.l2 = annealed_l2();
    if (shared_.rule == EgStepRule::same) shared_.eta = options_.eta ? *options_.eta : theorem_eta();
    if (shared_.rule == EgStepRule::paper) shared_.etas.assign(n_, static_cast<float>(initial_eta()));

    bool over = false;
    if (options_.start == EgStart::warm) {
      if (dual_.way && std::exchange(dual_.way->ahead, false)) go_ahead();
      if (shared_.smoothing) over = smooth_as_before();
    } else {
      over = anneal();
    }
    while (!over) {
      if (!run_.exhausted(passes())) sweep();
      if (shared_.smoothing) cool();
      follow_estimate();
      if (run_.exhausted(passes()) || certificate_is_due()) over = certify_and_steer();
    }
    if (dual_.way) leave_way();
    Summary summary = run_.finish();
    // Never silently: what approximate inference calls a step up may be none (Martins et al. 2010, footnote
    // 9).
    if (problem_.inference() == Inference::approximate) {
      summary.message +=
          fmt::format("; inference is approximate, {} of {} visits found no step that improves",
                      sum_over(problem_.fleet(), skipped_), trials());
    }
    return summary;
  }

 private:
  // Of all ranks, as of their last meeting.
  std::size_t trials() const { return ranks_ ? ranks_->sums().trials : trials_; }
  double gain() const { return ranks_ ? ranks_->sums().gain : gain_; }

  double passes(std::size_t trials) const {
    return static_cast<double>(steering_ + trials) / static_cast<double>(problem_.total_size());
  }
  double passes() const { return passes(trials()); }
  // While visits are going on: the other ranks have done about as much as this one.
  double passes_meanwhile(std::size_t crew_trials) const {
    if (!ranks_) return passes(crew_trials);
    return passes(trials() + ranks_->fleet().size() * (crew_trials - before_meeting_));
  }

  bool out_of_visits(std::size_t crew_trials) const {
    return options_.stopping.interrupted() || passes_meanwhile(crew_trials) >= options_.stopping.passes;
  }

  // Section 7.1.1: from a cold start, the first passes are made at a larger l2, which is easy, and which
  // falls. Where it is ours to choose, it halves with every pass, and begins where one part moves the weights
  // by some of what they resist.
  double annealed_l2() const {
    const double l2 = objective_.regularizer.l2;
    if (options_.start == EgStart::warm) return l2;
    if (options_.anneal == EgAnneal::paper) {
      // What the paper's l2 never quite reaches counts as reached here: the dual of such duals is within the
      // square of it.
      constexpr double kReached = 1e-3;
      const double excess = 9 * std::pow(0.7, std::max(0.0, passes() - 5));
      return excess < kReached ? l2 : l2 * (1 + excess);
    }
    if (options_.anneal == EgAnneal::none || shared_.rule != EgStepRule::automatic) return l2;
    double mean = 0;
    for (std::size_t i = 0; i < n_; ++i) mean += problem_.weight(i) * problem_.squared_change(i);
    mean = sum_over(problem_.fleet(), mean) / static_cast<double>(problem_.total_size());
    return std::max(l2, shared_.first.l2 * mean * std::exp2(-passes()));
  }

  // True: the run is over.
  bool anneal() {
    if (!(shared_.l2 > objective_.regularizer.l2)) return false;
    for (; shared_.l2 > objective_.regularizer.l2; shared_.l2 = annealed_l2()) {
      sweep();
      const bool exhausted = run_.exhausted(passes());
      const bool due = exhausted || passes() - certified_at_ >= options_.report_every;
      if (due && report(certified())) return true;
    }
    estimate_dual(sweep_,
                  [](std::size_t, In, Workspace&) {});  // the gains so far were those of other objectives
    return false;
  }

  // What the smoothed problem still lacks, read off the visits.
  double estimated_gap() const { return proxy_ratio_ * sum_of_proxies(); }
  double hidden_gap() const { return shared_.smoothing ? shared_.smoothing->hidden() : 0; }

  // Duals at hand tell by their gap how far beta had come. True: the run is over.
  bool smooth_as_before() {
    const Certificate certificate = certified();
    shared_.smoothing->start_at_gap(certificate.gap());
    shared_.inverse_beta = shared_.smoothing->inverse_beta();
    return report(certificate);
  }

  // Early duals may be below zero, gaps that are enough may not.
  void cool() {
    shared_.smoothing->cool(estimated_gap(), options_.stopping.gap * std::max(0.0, value_.value));
    shared_.inverse_beta = shared_.smoothing->inverse_beta();
  }

  // One round of visits; fewer if the run is interrupted or out of passes or time.
  void sweep() {
    const bool quarter = options_.sampling == Sampling::gap && std::exchange(begun_, true);
    const std::span<const std::uint32_t> round = schedule_.next_round(shared_.priorities);
    if (!ranks_) return visit(round);
    // The ranks meet after each part of it.
    const std::vector<std::size_t> begins = ranks_->parts_of(round, quarter ? 1 : 4);
    // What comes next is another smoothing. (Another l2 changes how g* counts, at both ends of a round.)
    const bool changes = shared_.smoothing.has_value();
    for (std::size_t k = 0; k + 1 < begins.size(); ++k) {
      const auto part = round.subspan(begins[k], begins[k + 1] - begins[k]);
      before_meeting_ = trials_;
      ranks_->begin(part);
      visit(part);
      tell(ranks_->meet(trials_, options_.stopping.interrupted(), changes && k + 2 == begins.size()));
      before_meeting_ = trials_;
      if (ranks_->sums().stop || passes() >= options_.stopping.passes) return;
    }
  }

  void tell(std::optional<Communicator::Round> round) {
    if (!round || !ranks_->fleet().on_round) return;
    round->passes = passes();
    ranks_->fleet().on_round(*round);
  }

  void visit(std::span<const std::uint32_t> round) {
    std::size_t until_look = 1;
    crew_.visit(round, [&](std::size_t, const BlockStep& step) {
      trials_ += step.inferences;
      gain_ += step.gain;
      skipped_ += step.moved ? 0 : 1;
      if (out_of_visits(trials_)) return true;
      if (--until_look > 0) return false;
      until_look = interval_.next();
      return run_.exhausted_here(passes_meanwhile(trials_));
    });
  }

  // Section 7: the first of beta, beta/2, beta/4, ... that improves the dual for at least 95 % of a tenth of
  // the examples.
  double initial_eta() {
    std::vector<std::uint32_t> sample(n_);
    for (std::size_t i = 0; i < n_; ++i) sample[i] = static_cast<std::uint32_t>(i);
    Random random(options_.seed);
    random.shuffle(std::span(sample));
    sample.resize((n_ + 9) / 10);

    // beta = infinity has no natural largest step. Much beyond the safe one, steps still improve the dual,
    // but leave examples saturated, and it takes as many visits to bring them back. How much is a matter of
    // l2: 4, 16 and 64 safe steps took 76, 50 and 33 passes to 1e-2 on letter-scale with l2 = 1, and 20, 8
    // and 12 with l2 = 10.
    constexpr double kBoldest = 16;
    double eta = objective_.loss.smooth() ? objective_.loss.beta : kBoldest * theorem_eta();
    const DualState before = dual_;
    const Weights w_before = shared_.w;
    EgWorker worker(shared_);  // what it gains is undone
    std::size_t trials = 0;
    AlignedVector<float> delta;
    const auto over = [&] { return out_of_visits(trials_ + trials); };
    for (int t = 0; t < EgShared::kMostTrials && !over(); ++t, eta /= 2) {
      std::size_t improved = 0;
      for (const auto i : sample) {
        if (over()) break;
        delta.resize(problem_.num_statistics(i));
        improved += worker.step_by(i, eta, delta) ? 1 : 0;
        ++trials;
      }
      dual_ = before;
      shared_.w = w_before;
      if (20 * improved >= 19 * sample.size()) break;
    }
    steering_ += trials;
    return eta;
  }

  // Theorem 2: eta <= 1/(1/beta + max_i omega_i G_i^2/l2), G_i the largest |F_i(z_i - chi(y))|.
  double theorem_eta() const {
    double largest = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      largest =
          std::max(largest, problem_.weight(i) * problem_.squared_diameter(i) / objective_.regularizer.l2);
    }
    largest = largest_of(problem_.fleet(), largest);
    const double tau = shared_.inverse_beta + largest;
    return tau > 0 ? 1 / tau : 1;
  }

  // w(u) from the marginals as they are stored, and about what the dual is there: as exact as floats are,
  // which is enough to begin with, and without an inference.
  void set_weights() {
    if (options_.threads > 1 && options_.threads.share_visits)
      return set_weights_exactly(kNegligibleOfWeights);
    own_weights_ = problem_.fleet() != nullptr;
    Sweep alone(1, problem_.fleet());  // whatever adds to the weights of all
    estimate_dual(alone, [&](std::size_t i, In mu, Workspace& mine) {
      Workspace::Frame of_example(mine);
      const auto difference = of_example.take<float>(mu.size());
      const auto omega = static_cast<float>(problem_.weight(i));
      for (std::size_t k = 0; k < mu.size(); ++k) difference[k] = -omega * mu[k];
      problem_.add_gold(i, omega, difference);
      problem_.accumulate(i, In(difference), shared_.w, mine);
    });
  }

  // About what the dual is, from what is stored; `visit` sees every example before its weights are counted.
  template <class Visit>
  void estimate_dual(Sweep& sweep, const Visit& visit) {
    value_.value = sweep.sum(n_, [&](std::size_t i, Workspace& mine) {
      Workspace::Frame of_example(mine);
      const In s = dual_.s(i), mu = dual_.mu(problem_, i, of_example, mine);
      visit(i, mu, mine);
      const double entropy = dual_.log_z(i) - kernels::expected_score(s.data(), mu.data(), s.size()).value;
      double cost = problem_.cost_offset(i);
      if (objective_.loss.gamma != 0) {
        Workspace::Frame frame(mine);
        const auto p = frame.take<float>(s.size());
        std::fill(p.begin(), p.end(), 0.0f);
        problem_.add_cost(i, 1.0f, p);
        cost += kernels::dot(p.data(), mu.data(), s.size());
      }
      if (shared_.smoothing) shared_.smoothing->set_entropy(i, problem_.weight(i) * entropy);
      return problem_.weight(i) * (entropy * shared_.inverse_beta + objective_.loss.gamma * cost);
    });
    if (own_weights_) RankProblem::of(problem_).blocks().add_up(shared_.w);
    own_weights_ = false;
    if (ranks_) ranks_->add_up(trials_, false);
    value_.value -= objective_.regularizer.conjugate(problem_, shared_.w);
    gain_before_ = gain();
  }

  // From the duals of the last value of a path to where those of this one are expected, as far from there as
  // they are from those of the value before:
  //   s_i <- s_i + (s_i - s_i of the value before)        (-infinity stays what it is)
  // One inference for each example, which counts as a pass. Weights that imply scores, extrapolated in the
  // same way, are no substitute: all examples follow an error of theirs at once.
  void go_ahead() {
    DualState::Way& way = *dual_.way;
    if (!objective_.loss.smooth() || passes() + kPassesAhead > options_.stopping.passes) {
      way.scores = {};
      return;
    }
    const double before = value_.value;
    const Weights w = shared_.w;
    move_scores([](float& s, float& last) { last = std::exchange(s, s == last ? s : 2 * s - last); });
    set_weights_exactly(1e-5f);
    ahead_ = {before, value_.value};
    if (value_.value > before) return;
    move_scores([](float& s, float& last) { s = last; });
    shared_.w = w;
    estimate_dual(sweep_, [](std::size_t, In, Workspace&) {});
  }

  // Calls move(score, what it was at the value before) for all of them.
  template <class Move>
  void move_scores(const Move& move) {
    const float* const first = dual_.scores().data();
    sweep_.sum(n_, [&](std::size_t i, Workspace& mine) {
      const Out s = dual_.s(i);
      float* last = dual_.way->scores.data() + (s.data() - first);
      for (float& score : s) move(score, *last++);
      dual_.refresh(problem_, i, mine);
      return 0.0;
    });
    steering_ += problem_.total_size();
  }

  // set_weights() with less left out than changes of weights in single precision may leave out
  // (learning/negligible.h). All examples have moved by little: what they would leave out together is more
  // than the gap (Spanish trees, the path from 1000 to 0.79: 72 passes, and 86 otherwise).
  void set_weights_exactly(float left_out) {
    clear_weights(value_.w, problem_.weight_shape(), sweep_.team());
    sweep_.accumulate(problem_, value_.w, [&](std::size_t i, DoubleOut difference, Workspace& mine) {
      const double omega = problem_.weight(i);
      Workspace::Frame of_example(mine);
      std::ranges::transform(std::as_const(dual_).mu(problem_, i, of_example, mine), difference.begin(),
                             [omega](float mu) { return -omega * static_cast<double>(mu); });
      problem_.add_gold(i, omega, difference);
      const double least = negligible(DoubleIn(difference), left_out);
      for (double& change : difference) change = std::abs(change) > least ? change : 0;
      return 0.0;
    });
    assign_weights(shared_.w, value_.w, 1, sweep_.team());
    estimate_dual(sweep_, [](std::size_t, In, Workspace&) {});
  }

  // What the next value begins with. Going ahead brings the duals this much nearer to where they end, or it
  // is not worth its pass: what two certificates leave open in the scores grows as l2 falls, until it is most
  // of their difference.
  void leave_way() {
    constexpr double kWorthwhileShare = 0.75;
    dual_.way->w = std::move(shared_.w);  // as the last certificate has set them
    if (ahead_ && ahead_->after - ahead_->before < kWorthwhileShare * (value_.value - ahead_->before))
      dual_.way->scores = {};
  }

  // w(u) anew from the duals in double precision, so that neither rounding in w nor a change that two workers
  // made at once limits the gap.
  void resynchronise() {
    evaluate_dual(objective_, dual_, value_, sweep_);
    gain_before_ = gain();
    assign_weights(shared_.w, value_.w, 1, sweep_.team());
  }

  double sum_of_proxies() const {
    if (ranks_) return ranks_->sums().proxies;
    double sum = 0;
    for (const float p : shared_.priorities) sum += p;
    return sum;
  }

  // About how many times the gap asked for there is still: at most 1 where that is reached. It tells when to
  // measure; no certificate is made of it.
  double estimated_excess() const {
    const double gap = estimated_gap() + hidden_gap();
    const double enough = options_.stopping.gap * (value_.value + gain() - gain_before_ + gap);
    if (!(enough > 0)) return gap <= enough ? 0 : std::numeric_limits<double>::infinity();
    return gap / enough;
  }

  // Remembers what that was a pass ago, to tell how fast it falls.
  void follow_estimate() {
    if (passes() < followed_.back().passes + 1) return;
    followed_.front() = followed_.back();
    followed_.back() = {passes(), estimated_excess()};
  }

  // Whether the gap, falling as it does, is there before another report is due. Then the first one would be
  // in vain; later ones tell how a longer run got on.
  bool end_is_near() const {
    if (shared_.smoothing || certified_at_ > 0) return false;
    const double gone = passes() - followed_.front().passes, excess = estimated_excess();
    const double fallen = std::log(followed_.front().excess / excess);  // in `gone` passes
    return fallen > 0 && std::log(excess) * gone < fallen * options_.report_every;
  }

  // When the gap is probably small enough, or none has been measured for a while. A report costs about
  // two passes, and nothing here may depend on the clock, or a run could not be repeated to the bit.
  bool certificate_is_due() const {
    const double since = passes() - certified_at_;
    if (since >= options_.report_every && (since >= 2 * options_.report_every || !end_is_near())) return true;
    // The primal of a maximum goes up and down from one pass to the next, and no estimate knows when.
    const double least = shared_.smoothing ? 1 : kLeastPassesBetween;
    return since >= least && estimated_excess() <= 1;
  }

  // The certificate of the current duals, at theta(u).
  Certificate certified() {
    run_.pause();
    if (ranks_) tell(ranks_->close(trials_));
    resynchronise();
    objective_.regularizer.assign(theta_, value_.w, sweep_.team());
    Certificate certificate = certify(objective_, theta_, dual_, value_, sweep_);
    certificate.passes = passes();
    certified_at_ = passes();
    return certificate;
  }

  bool report(const Certificate& certificate) {
    const bool over = run_.report(certificate, theta_);
    run_.resume();
    return over;
  }

  bool certify_and_steer() {
    const double proxies = sum_of_proxies();
    const Certificate certificate = certified();
    if (report(certificate)) return true;
    followed_ = {};  // they were estimates with another ratio
    // Proxies that see but a part of the gap have lost sight of saturated examples. Half and twice of it took
    // between 5 % less and 7 % more passes where examples get stuck, and elsewhere the same.
    constexpr double kBlind = 4;
    // A ratio that one odd report has driven beyond these would certify in every round, or not until
    // report_every. Few runs get there: 0.1 and 0.5, and 100 and 10,000, changed no pass on CoNLL-2000 or
    // letter-scale.
    constexpr double kSmallestRatio = 0.25, kLargestRatio = 1000;
    const double left = certificate.gap() - hidden_gap();
    const bool blind = left > kBlind * proxies;
    if (proxies > 0) proxy_ratio_ = std::clamp(left / proxies, kSmallestRatio, kLargestRatio);
    const bool affordable = passes() >= steer_from_ && passes() + 1 < options_.stopping.passes;
    if (blind && affordable && shared_.rule == EgStepRule::automatic) steer_by_exact_gaps();
    return false;
  }

  // The exact gap of every example, in place of its proxy. It steers, so it counts as a pass.
  void steer_by_exact_gaps() {
    certify(objective_, theta_, dual_, value_, sweep_, &gaps_);
    steering_ += problem_.total_size();
    double all = 0, stuck = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double hidden = shared_.smoothing ? shared_.smoothing->hidden(i) : 0;
      const auto exact = static_cast<float>(std::max(0.0, problem_.weight(i) * gaps_[i] - hidden));
      shared_.stuck[i] = shared_.priorities[i] < EgShared::kStuckShare * exact;
      shared_.priorities[i] = exact;
      all += exact;
      stuck += shared_.stuck[i] ? exact : 0;
    }
    if (ranks_) {
      double sums[] = {all, stuck};
      ranks_->fleet().add_up(sums);
      all = sums[0], stuck = sums[1];
      ranks_->add_up(trials_, false);
    }
    proxy_ratio_ = 1;
    // Where examples are stuck they tend to hold half of the gap. Where they are not, the proxies were merely
    // too small, and it takes a while until another look is worth a pass. How long hardly matters: 0.02 and
    // 0.2, and 5 and 80, changed nothing on CoNLL-2000, and passes by 5 % at most where examples get stuck.
    constexpr double kWorthwhile = 0.05, kLongestWait = 20;
    steer_from_ = stuck < kWorthwhile * all ? passes() + std::min(passes(), kLongestWait) : 0;
  }

  // Going ahead, back again, and one pass to go on from there.
  static constexpr double kPassesAhead = 3;
  // Less than the quarter of a pass that is a round, so that every round may be certified where the gap seems
  // small enough.
  static constexpr double kLeastPassesBetween = 0.2;
  // The gap over the sum of proxies before any was measured: about what it is where a run ends before its
  // second report, between 0.3 and 0.9 from nothing, above 1 from duals at hand. Other runs have measured
  // theirs when they come near the end.
  static constexpr double kRatioFromNothing = 0.7, kRatioFromDuals = 1.3;
  // Ranks see less of it, without what the others have changed since they met: on CoNLL-2000 it was 0.76 on 2
  // and 1.3 to 1.8 on 4 of them.
  static double first_ratio(const Communicator* fleet, bool from_duals) {
    constexpr double kMoreOfEachRank = 0.2;
    const double others = fleet ? static_cast<double>(fleet->size() - 1) : 0;
    return (from_duals ? kRatioFromDuals : kRatioFromNothing) * (1 + kMoreOfEachRank * others);
  }

  const Objective& objective_;
  const Problem& problem_;
  const EgOptions& options_;
  DualState& dual_;
  Weights& theta_;
  Run run_;
  ClockInterval interval_;
  std::size_t n_;
  EgShared shared_;
  Sweep sweep_;
  Crew crew_;
  DualValue value_;         // as it was last computed or estimated
  double gain_before_ = 0;  // of all visits, then
  struct Ahead {
    double before, after;  // the dual
  };
  std::optional<Ahead> ahead_;  // where the run began with it
  Schedule schedule_;
  // The last two estimates, at least a pass apart.
  struct Estimate {
    double passes = 0, excess = 0;
  };
  std::array<Estimate, 2> followed_{};
  double proxy_ratio_;  // the gap over the sum of proxies, as last measured
  double certified_at_ = 0;
  double steer_from_ = 0;     // passes before which exact gaps are not worth their cost
  std::size_t steering_ = 0;  // visits that were no steps: they count all the same
  std::size_t trials_ = 0;    // visits so far; every eta tried is one
  std::size_t skipped_ = 0;   // visits in which no step improved the dual
  double gain_ = 0;           // of the dual by all steps so far
  std::vector<double> gaps_;
  std::optional<EgRanks> ranks_;    // where this is one of several
  std::size_t before_meeting_ = 0;  // trials_ at their last meeting
  bool own_weights_ = false;        // shared_.w has but those of this rank's examples
  bool begun_ = false;              // the first round was visited
};

}  // namespace

void check_eg_loss(const Loss& loss) {
  if (!loss.smooth() && loss.gamma == 0) {
    throw Error::in(setting("loss") + " perceptron", "its regularised optimum is theta = 0",
                    "expected a loss with a cost (gamma > 0) or a finite beta");
  }
}

Summary eg(const Objective& objective, const EgOptions& options, DualState& dual, Weights& theta,
           const Observer& observer) {
  check_eg_loss(objective.loss);
  return Eg(objective, options, dual, theta, observer).solve();
}

}  // namespace espalier
