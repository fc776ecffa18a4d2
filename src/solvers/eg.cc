// Online exponentiated gradient on the dual (Collins et al. 2008, sections 3, 4 and 7).
//
//   maximise  D(u) = sum_i omega_i [ H(u_i)/beta + gamma(p_i.mu_i + q_i) ] - |w(u)|^2/(2 l2)
//
// one example at a time. With u_i kept as scores s_i, theta = w(u)/l2 and the direction
//
//   d = F_i'theta + gamma p_i - s_i/beta          the gradient of D in u_i, seen through the statistics
//
// an update is s' = s + eta d (Lemma 1 and the updates below it, for every beta and gamma at once), followed
// by w += omega_i F_i(mu - mu'). Its exact effect on the dual needs no further look at w:
//
//   D(u') - D(u) = omega { a - KL(u'|u)/beta - q/2 },     a = d.(mu' - mu),   q = omega |F_i(mu' - mu)|^2 /
//   l2
//
// (the paper's formula in section 7 after cancelling what is equal on both sides, so that small changes are
// not lost in the rounding of large entropies).
//
// Cost per visit: one score, one inference for each eta tried, one accumulate. Memory: s and mu of every
// example, w.

#include "espalier/solvers/eg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "kernels/vectors.h"

namespace espalier {

EgStep parse_eg_step(std::string_view name) {
  if (name == "auto") return EgStep::automatic;
  if (name == "paper") return EgStep::paper;
  if (name == "safe") return EgStep::safe;
  throw Error(fmt::format("--step: {} is no step rule; expected auto, paper or safe", in_quotes(name)));
}

EgStart parse_eg_start(std::string_view name) {
  if (name == "gold") return EgStart::gold;
  if (name == "uniform") return EgStart::uniform;
  throw Error(fmt::format("--start: {} is no starting point; expected gold or uniform", in_quotes(name)));
}

namespace {

// Log-odds of the gold output at the start. Much less than 10 leaves so much mass on wrong outputs that
// |w(u)|^2 of thousands of examples swamps the dual; much more only takes longer to come back from.
constexpr float kGoldLogOdds = 12;
// Step sizes tried on one example before it is left as it is.
constexpr int kMostTrials = 40;

class Eg {
 public:
  Eg(const Objective& objective, const EgOptions& options, DualState& dual, Weights& theta,
     const Observer& observer)
      : objective_(objective),
        problem_(objective.problem),
        options_(options),
        dual_(dual),
        theta_(theta),
        run_(options.stopping, observer),
        n_(problem_.size()),
        inverse_beta_(objective.loss.inverse_beta()),
        l2_(objective.l2),
        w_(problem_.weight_shape()),
        schedule_(options.sampling, n_, options.seed),
        priorities_(n_, 0.0f),
        stuck_(n_, false) {
    std::size_t longest = 0;
    for (std::size_t i = 0; i < n_; ++i) longest = std::max(longest, problem_.num_statistics(i));
    direction_.resize(longest);
    new_s_.resize(longest);
    new_mu_.resize(longest);
    delta_.resize(longest);
  }

  Summary solve() {
    if (options_.start == EgStart::gold) dual_.start_near_gold(problem_, kGoldLogOdds);
    if (options_.start == EgStart::uniform) dual_.start_uniform(problem_);
    resynchronise();
    if (options_.step == EgStep::safe) safe_eta_ = theorem_eta();
    if (options_.step == EgStep::paper) etas_.assign(n_, static_cast<float>(initial_eta()));

    bool over = options_.step == EgStep::automatic && options_.start != EgStart::warm && anneal();
    while (!over) {
      if (!run_.exhausted(passes())) sweep();
      if (run_.exhausted(passes()) || certificate_is_due()) over = certify_and_steer();
    }
    return run_.finish();
  }

 private:
  struct Trial {
    double eta = 0;
    double a = 0;          // d.(mu' - mu) >= 0
    double curvature = 0;  // |F_i(mu' - mu)|^2 / (eta a)
    double gain = 0;       // D(u') - D(u)
    double noise = 0;      // how much of omega a may be rounding of the marginals
    double tolerance = 0;  // how much of the gain
    double log_z = 0;

    // A loss that rounding explains is none. Where nearly all mass is on one output, a is small and its sign
    // open: whoever insisted on a gain there would never leave that output.
    bool failed() const { return !(gain >= -tolerance); }
  };

  double passes() const { return static_cast<double>(visits_) / static_cast<double>(n_); }

  bool out_of_visits() const {
    return options_.stopping.interrupted() || passes() >= options_.stopping.passes;
  }

  // Section 7.1.1: from a cold start, the first passes are made at a larger l2, which is easy, and which
  // halves with every pass. It begins at half the mean of R_i^2, where one part moves the weights about as
  // much as they resist. On MNIST (gap 1e-3) this took l2 = 1 from 41 passes to 20 and l2 = 0.1 from 294 to
  // 117; on sentences with few attributes it changed little. True: the run is over.
  bool anneal() {
    double mean = 0;
    for (std::size_t i = 0; i < n_; ++i) mean += problem_.weight(i) * problem_.squared_change(i);
    mean /= static_cast<double>(n_);
    const double first = mean / 2;
    if (!(first > objective_.l2)) return false;
    for (l2_ = first; l2_ > objective_.l2; l2_ = first * std::exp2(-passes())) {
      sweep();
      const bool exhausted = run_.exhausted(passes());
      const bool due = exhausted || passes() - certified_at_ >= options_.report_every;
      if (due && report(certified())) return true;
    }
    l2_ = objective_.l2;
    resynchronise();  // gains so far were those of other objectives
    return false;
  }

  // One round of visits; fewer if the run is interrupted or out of passes or time.
  void sweep() {
    const auto round = schedule_.next_round(priorities_);
    for (std::size_t r = 0; r < round.size(); ++r) {
      if (r + 6 < round.size()) prefetch(round[r + 6], Prefetch::location);
      if (r + 3 < round.size()) prefetch(round[r + 3], Prefetch::contents);
      visit(round[r]);
      if (out_of_visits()) return;
      constexpr std::size_t kVisitsPerLookAtTheClock = 256;
      if (r % kVisitsPerLookAtTheClock == 0 && run_.exhausted(passes())) return;
    }
  }

  void prefetch(std::size_t i, Prefetch what) const {
    problem_.prefetch(i, what);
    dual_.prefetch(i, what);
  }

  void visit(std::size_t i) {
    prepare(i);
    Trial trial;
    switch (options_.step) {
      case EgStep::automatic:
        trial = automatic_step(i);
        break;
      case EgStep::paper:
        trial = paper_step(i);
        break;
      case EgStep::safe:
        trial = try_step(i, safe_eta_);
        break;
    }
    priorities_[i] = static_cast<float>(problem_.weight(i) * gap_proxy(trial));
    if (trial.eta > 0) move(i, trial);
  }

  // d = F_i'theta + gamma p_i - s_i/beta, centred: for beta = infinity, scores would otherwise grow with every visit until
  // floats could no longer tell outputs in balance apart.
  void prepare(std::size_t i) {
    const Out d = direction(i);
    problem_.score(i, w_, static_cast<float>(1 / l2_), d, ws_);
    if (objective_.loss.gamma != 0) problem_.add_cost(i, static_cast<float>(objective_.loss.gamma), d);
    const In s = dual_.s(i);
    const auto shrink = static_cast<float>(inverse_beta_);
    for (std::size_t k = 0; k < s.size(); ++k) d[k] -= shrink * s[k];
    problem_.centre(i, dual_.mu(i), d);
  }

  // s' = s + eta d with its marginals (in new_s_, new_mu_), mu - mu' (in delta_), and what it would do to the
  // dual.
  Trial try_step(std::size_t i, double eta) {
    ++visits_;
    const In s = dual_.s(i), mu = dual_.mu(i), d = direction(i);
    const std::size_t length = s.size();
    const Out new_s{new_s_.data(), length}, new_mu{new_mu_.data(), length}, delta{delta_.data(), length};
    const auto step = static_cast<float>(eta);
    for (std::size_t k = 0; k < length; ++k) new_s[k] = s[k] + step * d[k];

    Trial trial;
    trial.eta = eta;
    trial.log_z = problem_.log_partition(i, new_s, new_mu, ws_);
    const kernels::MarginalChange change =
        kernels::change_along(d.data(), mu.data(), new_mu.data(), delta.data(), length);
    trial.a = change.gain;

    // KL(u'|u) = eta d.mu' - log Z' + log Z. KL(u'|u) + KL(u|u') = eta a, and for close distributions the two
    // are equal: then half of it is more exact than the difference of logarithms.
    double kl = eta * trial.a / 2;
    constexpr double kClose = 1e-4;
    if (eta * trial.a > kClose) kl = eta * change.mean - (trial.log_z - dual_.log_z(i));

    const double omega = problem_.weight(i);
    constexpr double kRounding = 0x1p-23;
    trial.noise = omega * kRounding * change.absolute;
    // Marginals that are rounded to mu (1 + kRounding) move by kRounding of the diameter, whatever the step. Where d is zero
    // on all that has mass, nothing else is seen of it.
    const double diameter = problem_.squared_diameter(i);
    trial.tolerance = trial.noise + omega * omega * kRounding * kRounding * diameter / (2 * l2_);
    const double squared_norm = problem_.squared_norm(i, delta, ws_);
    // eta a = KL(u'|u) + KL(u|u') >= 4 TV^2 (Pinsker), and |F_i(mu' - mu)| <= 2 G_i TV: a larger curvature is rounding.
    trial.curvature = trial.a > 0 ? std::min(squared_norm / (eta * trial.a), diameter) : 0;
    trial.gain = omega * (trial.a - kl * inverse_beta_ - omega * squared_norm / (2 * l2_));
    if (!std::isfinite(trial.gain)) trial.gain = -std::numeric_limits<double>::infinity();
    return trial;
  }

  // The step that maximises the dual's parabola along the update. To second order a = eta V with V =
  // Var_u(d), KL = eta^2 V/2 and |F_i(mu' - mu)|^2 = eta^2 c V with the curvature c, so the gain omega { eta
  // V - eta^2 V/2 (1/beta + omega c/l2) } is largest at
  //   eta = 1 / (1/beta + omega c/l2).
  // c comes from the example's last visit. Where a step fails, its own c gives the next one.
  Trial automatic_step(std::size_t i) {
    const double omega = problem_.weight(i);
    float& curvature = dual_.curvature(i);
    // Before anything is known: a tenth of the bound, about right for ten equally likely outputs.
    if (curvature == 0) curvature = static_cast<float>(0.1 * problem_.squared_change(i));
    const auto best_eta = [&](double c) { return 1 / (inverse_beta_ + omega * c / l2_); };
    // A curvature measured on a nearly settled distribution is far too small for one that moves.
    constexpr double kFastestGrowth = 1.25;
    constexpr double kNarrow = 1.25;  // where the search between two steps ends
    const double largest = largest_step(i);
    double low = 0, high = 0;  // steps known to be too timid and too bold
    double eta = std::min(best_eta(curvature), largest);
    for (int t = 0; t < kMostTrials; ++t) {
      const Trial trial = try_step(i, eta);
      if (trial.failed()) {
        high = eta;
        eta = std::min(low > 0 ? (low + high) / 2 : high / 2, best_eta(trial.curvature));
        if (!(eta > low)) eta = (low + high) / 2;
        if (high <= kNarrow * low) eta = low;
        continue;
      }
      // A plateau: all mass on outputs that the exact gap calls wrong, so that no small step changes
      // anything. The search ends with the boldest step that does no harm. Where outputs that have mass are
      // in balance it may be a small one, but several visits of it bring mass to the others.
      const bool timid = stuck_[i] && omega * trial.a < kStuckShare * priorities_[i];
      if (timid && eta < largest && (high == 0 || high > kNarrow * eta)) {
        low = eta;
        eta = high > 0 ? (low + high) / 2 : std::min(4 * eta, largest);
        continue;
      }
      stuck_[i] = false;
      // Where no marginal moved, nothing was measured: steps that grew on would drive the scores to where
      // floats can no longer tell them apart.
      if (omega * trial.a > trial.noise) {
        const double least = curvature / kFastestGrowth;
        curvature = static_cast<float>(std::max(trial.curvature, least));
      }
      return trial;
    }
    return {};
  }

  // beta lands on pi_i. beta = infinity has no such end: there it is the step that makes the most likely
  // output the least likely one whatever the scores, as far as floats can tell. An example without features
  // takes it.
  double largest_step(std::size_t i) {
    if (objective_.loss.smooth()) return objective_.loss.beta;
    constexpr double kNats = 500;
    const Out d = direction(i);
    const auto [low, high] = std::minmax_element(d.begin(), d.end());
    return *high > *low ? kNats / (*high - *low) : 1;
  }

  // Section 7: halve until the dual improves, then grow by 1.05. A step that changes nothing is taken, but
  // does not grow: it could do so for ever.
  Trial paper_step(std::size_t i) {
    for (int t = 0; t < kMostTrials; ++t) {
      const Trial trial = try_step(i, etas_[i]);
      if (!trial.failed()) {
        if (trial.gain > trial.noise) etas_[i] *= 1.05f;
        return trial;
      }
      etas_[i] *= 0.5f;
    }
    return {};
  }

  // Section 7: the first of beta, beta/2, beta/4, ... that improves the dual for at least 95 % of a tenth of
  // the examples.
  double initial_eta() {
    std::vector<std::uint32_t> sample(n_);
    for (std::size_t i = 0; i < n_; ++i) sample[i] = static_cast<std::uint32_t>(i);
    Random random(options_.seed);
    random.shuffle(std::span(sample));
    sample.resize((n_ + 9) / 10);

    // beta = infinity has no natural largest step. Much beyond the safe one, steps still improve the dual, but
    // leave examples saturated, and it takes as many visits to bring them back.
    double eta = objective_.loss.smooth() ? objective_.loss.beta : 16 * theorem_eta();
    const DualState before = dual_;
    const Weights w_before = w_;
    const double value_before = dual_value_;
    for (int t = 0; t < kMostTrials && !out_of_visits(); ++t, eta /= 2) {
      std::size_t improved = 0;
      for (const auto i : sample) {
        if (out_of_visits()) break;
        prepare(i);
        const Trial trial = try_step(i, eta);
        improved += trial.failed() ? 0 : 1;
        move(i, trial);
      }
      dual_ = before;
      w_ = w_before;
      dual_value_ = value_before;
      if (20 * improved >= 19 * sample.size()) break;
    }
    return eta;
  }

  // Theorem 2: eta <= 1/(1/beta + max_i omega_i G_i^2/l2), G_i the largest |F_i(z_i - chi(y))|.
  double theorem_eta() const {
    double largest = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      largest = std::max(largest, problem_.weight(i) * problem_.squared_diameter(i) / objective_.l2);
    }
    const double tau = inverse_beta_ + largest;
    return tau > 0 ? 1 / tau : 1;
  }

  // Takes the step last tried: w += omega_i F_i(mu - mu').
  void move(std::size_t i, const Trial& trial) {
    const Out s = dual_.s(i), mu = dual_.mu(i);
    const double omega = problem_.weight(i);
    std::copy_n(new_s_.begin(), s.size(), s.begin());
    std::copy_n(new_mu_.begin(), mu.size(), mu.begin());
    dual_.log_z(i) = trial.log_z;
    const Out delta{delta_.data(), s.size()};
    if (omega != 1) {
      for (float& change : delta) change *= static_cast<float>(omega);
    }
    problem_.accumulate(i, delta, w_, ws_);
    dual_value_ += trial.gain;
  }

  // The gap of the example before its visit, read off the step. V = a/eta is the variance of d; near the
  // optimum g_i = KL(u_i|pi_i)/beta = beta V/2. Far from it (and for beta = infinity) a gap grows like the
  // spread of d, not its square.
  double gap_proxy(const Trial& trial) const {
    if (!(trial.eta > 0) || !(trial.a > 0)) return 0;
    const double spread = std::sqrt(trial.a / trial.eta);
    return objective_.loss.smooth() ? spread * spread / (2 * inverse_beta_ + spread) : spread;
  }

  // w(u) anew from the duals in double precision, so that rounding in w never limits the gap.
  void resynchronise() {
    evaluate_dual(objective_, dual_, value_, ws_);
    dual_value_ = value_.value;
    w_.assign(value_.w);
  }

  double sum_of_proxies() const {
    double sum = 0;
    for (const float p : priorities_) sum += p;
    return sum;
  }

  // When the gap is probably small enough, or none has been measured for a while. Certification costs about
  // two passes, and nothing here may depend on the clock, or a run could not be repeated to the bit.
  bool certificate_is_due() const {
    const double since = passes() - certified_at_;
    if (since >= options_.report_every) return true;
    if (since < kLeastPassesBetween) return false;
    const double gap = proxy_ratio_ * sum_of_proxies();
    return gap <= options_.stopping.gap * std::max(0.0, dual_value_ + gap);
  }

  // The certificate of the current duals, at theta = w(u)/l2.
  Certificate certified() {
    run_.pause();
    resynchronise();
    theta_.assign(value_.w, 1 / objective_.l2);
    Certificate certificate = certify(objective_, theta_, dual_, value_, ws_);
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
    // Proxies that see but a part of the gap have lost sight of saturated examples.
    constexpr double kBlind = 4, kLargestRatio = 1000;
    const bool blind = certificate.gap() > kBlind * proxies;
    if (proxies > 0) proxy_ratio_ = std::clamp(certificate.gap() / proxies, 0.25, kLargestRatio);
    const bool affordable = passes() >= steer_from_ && passes() + 1 < options_.stopping.passes;
    if (blind && affordable && options_.step == EgStep::automatic) steer_by_exact_gaps();
    return false;
  }

  // The exact gap of every example, in place of its proxy. It steers, so it counts as a pass.
  void steer_by_exact_gaps() {
    certify(objective_, theta_, dual_, value_, ws_, &gaps_);
    visits_ += n_;
    double all = 0, stuck = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const auto exact = static_cast<float>(problem_.weight(i) * std::max(0.0, gaps_[i]));
      stuck_[i] = priorities_[i] < kStuckShare * exact;
      priorities_[i] = exact;
      all += exact;
      stuck += stuck_[i] ? exact : 0;
    }
    proxy_ratio_ = 1;
    // Where examples are stuck they tend to hold half of the gap. Where they are not, the proxies were merely too small
    // (chains with beta = infinity: 39 passes instead of 34 if every certificate steers), and it takes a while until
    // another look is worth a pass.
    constexpr double kWorthwhile = 0.05, kLongestWait = 20;
    steer_from_ = stuck < kWorthwhile * all ? passes() + std::min(passes(), kLongestWait) : 0;
  }

  Out direction(std::size_t i) { return {direction_.data(), problem_.num_statistics(i)}; }

  static constexpr double kStuckShare = 1e-3;
  static constexpr double kLeastPassesBetween = 0.2;

  const Objective& objective_;
  const Problem& problem_;
  const EgOptions& options_;
  DualState& dual_;
  Weights& theta_;
  Run run_;
  std::size_t n_;
  double inverse_beta_;
  double l2_;  // the objective's, but for the first passes of a cold start

  Weights w_;        // w(u), not divided by l2
  DualValue value_;  // as of the last resynchronisation
  double dual_value_ = 0;
  Schedule schedule_;
  std::vector<float> priorities_;  // omega_i times a proxy of g_i
  std::vector<bool> stuck_;
  double proxy_ratio_ =
      1.3;  // true gap over the sum of proxies, as last measured; this is what it tends to be
  double certified_at_ = 0;
  double steer_from_ = 0;  // passes before which exact gaps are not worth their cost
  std::size_t visits_ = 0;
  double safe_eta_ = 0;
  std::vector<float> etas_;
  std::vector<double> gaps_;
  AlignedVector<float> direction_, new_s_, new_mu_, delta_;
  Workspace ws_;
};

}  // namespace

void check_eg_loss(const Loss& loss) {
  if (!loss.smooth() && loss.gamma == 0) {
    throw Error(
        "--loss perceptron: its regularised optimum is theta = 0; expected a loss with a cost (gamma > 0) or "
        "a finite beta");
  }
}

Summary eg(const Objective& objective, const EgOptions& options, DualState& dual, Weights& theta,
           const Observer& observer) {
  check_eg_loss(objective.loss);
  return Eg(objective, options, dual, theta, observer).solve();
}

}  // namespace espalier
