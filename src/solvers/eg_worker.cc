// Online exponentiated gradient on the dual (Collins et al. 2008, sections 3, 4 and 7).
//
//   maximise  D(u) = sum_i omega_i [ H(u_i)/beta + gamma(p_i.mu_i + q_i) ] - g*(w(u))
//
// one example at a time (g*(w) = |w|^2/(2 l2) without l1). With u_i kept as scores s_i, theta = w(u)/l2, or
// soft(w(u), l1)/l2, and the direction
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
// not lost in the rounding of large entropies). With l1 the change is at least that.
//
// Cost per visit: one score, one inference for each eta tried, one accumulate. Memory: s and mu of every
// example, w.

#include "solvers/eg_worker.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/vectors.h"

namespace espalier {
namespace {

// Step sizes tried on one example before it is left as it is, where inference is approximate: what looks like
// a failure may be an error of inference, which smaller steps do not mend, and each of them costs one.
constexpr int kMostApproximateTrials = 6;

// How many times its mean along a step the variance of d is at the step's end. Where little mass is off one
// output it grows with the odds, and a curvature that is measured along the step is too small for the next
// one.
//
// With V(t) = Var(d) at s + t d, KL(u'|u) = int t V(t) dt and KL(u|u') = int (eta - t) V(t) dt: the first
// one's share of both says where on the way the variance lies. For V(t) ~ exp(lambda t/eta) it is 1/(1 - exp
// -lambda) - 1/lambda, a Langevin function in 2 share - 1, here inverted as by Cohen (1991), and the end is
// lambda/(1 - exp -lambda) times the mean.
double growth_at_end(double share) {
  // Beyond it, the odds are no exponential any more. 2 and 8 took 16.4 and 16.1 passes instead of 15.2 on
  // letter-scale (CRF, l2 = 0.1).
  constexpr double kMost = 4;
  constexpr double kPole = 0.96;  // where growth is far beyond kMost, short of 1 where lambda is infinite
  const double y = std::clamp(2 * share - 1, -kPole, kPole);
  const double lambda = 2 * y * (3 - y * y) / (1 - y * y);
  const double growth = std::abs(lambda) < 1e-3 ? 1 + lambda / 2 : lambda / (1 - std::exp(-lambda));
  return std::clamp(growth, 1 / kMost, kMost);
}

EgStepRule rule_of(const EgOptions& options) {
  ESPALIER_EXPECT(!options.eta || *options.eta > 0);
  if (options.eta || options.step == EgStep::safe) return EgStepRule::same;
  return options.step == EgStep::paper ? EgStepRule::paper : EgStepRule::automatic;
}

}  // namespace

EgShared::EgShared(const Objective& of, DualState& duals, const EgOptions& options)
    : objective(of),
      problem(of.problem),
      dual(duals),
      rule(rule_of(options)),
      first(options.start == EgStart::gold && options.log_odds > 0 ? FirstSteps::from_gold()
                                                                   : FirstSteps::from_anywhere()),
      inverse_beta(of.loss.inverse_beta()),
      l2(of.regularizer.l2),
      w(of.regularizer.dual_weights<float>(problem.weight_shape())),
      priorities(problem.size(), 0.0f),
      stuck(problem.size(), 0),
      conjugates(problem.fleet() ? problem.size() : 0) {
  if (of.loss.smooth() || rule != EgStepRule::automatic) return;
  smoothing.emplace(problem.size(), of.loss.gamma);
  inverse_beta = smoothing->inverse_beta();
}

EgWorker::EgWorker(EgShared& shared)
    : shared_(shared),
      problem_(shared.problem),
      most_trials_(problem_.inference() == Inference::approximate ? kMostApproximateTrials
                                                                  : EgShared::kMostTrials) {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < problem_.size(); ++i) longest = std::max(longest, problem_.num_statistics(i));
  for (AlignedVector<float>* memory : {&direction_, &new_s_, &new_mu_}) memory->resize(longest);
  if (!shared.dual.keeps_marginals()) old_mu_.resize(longest);
  if (!shared.conjugates.empty()) score_.resize(longest);
}

struct EgWorker::Trial {
  double eta = 0;
  double a = 0;          // d.(mu' - mu) >= 0
  double curvature = 0;  // |F_i(mu' - mu)|^2 / (eta a)
  double kl = 0;         // KL(u'|u)
  double gain = 0;       // D(u') - D(u)
  double noise = 0;      // how much of omega a may be rounding of the marginals
  double tolerance = 0;  // how much of the gain
  double log_z = 0;
  double growth = 1;  // of the variance of d, from its mean along the step to the end

  // A loss that rounding explains is none. Where nearly all mass is on one output, a is small and its sign
  // open: whoever insisted on a gain there would never leave that output.
  bool failed() const { return !(gain >= -tolerance); }
};

// d = F_i'theta + gamma p_i - s_i/beta, centred: for beta = infinity, scores would otherwise grow with every
// visit until floats could no longer tell outputs in balance apart.
void EgWorker::look(std::size_t i) {
  const Out d = direction(i);
  problem_.score(i, shared_.w, static_cast<float>(1 / shared_.l2), d, ws_);
  if (!score_.empty()) std::ranges::copy(d, score_.begin());
  if (shared_.objective.loss.gamma != 0)
    problem_.add_cost(i, static_cast<float>(shared_.objective.loss.gamma), d);
  const In s = shared_.dual.s(i);
  const auto shrink = static_cast<float>(shared_.inverse_beta);
  for (std::size_t k = 0; k < s.size(); ++k) d[k] -= shrink * s[k];
  if (!shared_.dual.keeps_marginals()) problem_.log_partition(i, s, {old_mu_.data(), s.size()}, ws_);
  problem_.centre(i, mu(i), d);
}

In EgWorker::mu(std::size_t i) const {
  if (shared_.dual.keeps_marginals()) return std::as_const(shared_.dual).mu(i);
  return {old_mu_.data(), problem_.num_statistics(i)};
}

BlockStep EgWorker::visit(const BlockVisit& at, Out delta) {
  const std::size_t i = at.example;
  delta_ = delta;
  crowding_ = shared_.sigma * at.crowding;
  const Sharing* sharing = at.lists ? problem_.sharing() : nullptr;
  lists_ = sharing && sharing->lists_with_norm() ? at.lists : nullptr;
  trials_ = 0;
  look(i);
  Trial trial;
  switch (shared_.rule) {
    case EgStepRule::automatic:
      trial = automatic_step(i);
      break;
    case EgStepRule::paper:
      trial = paper_step(i);
      break;
    case EgStepRule::same:
      trial = try_step(i, shared_.eta);
      break;
  }
  shared_.priorities[i] = static_cast<float>(problem_.weight(i) * gap_proxy(trial));
  const bool moved = trial.eta > 0;
  if (moved && !shared_.conjugates.empty()) {
    shared_.conjugates[i].value += conjugate_change(i, trial);
    shared_.conjugates[i].rounding += trial.tolerance;
  }
  if (moved) move(i, trial);
  return {shared_.priorities[i], moved ? trial.gain : 0, trials_, moved, lists_ != nullptr};
}

bool EgWorker::step_by(std::size_t i, double eta, Out delta) {
  delta_ = delta;
  lists_ = nullptr;
  look(i);
  const Trial trial = try_step(i, eta);
  move(i, trial);
  problem_.accumulate(i, In(delta), shared_.w, ws_);
  return !trial.failed();
}

// s' = s + eta d with its marginals (in new_s_, new_mu_), mu - mu' (in delta_), and what it would do to the
// dual.
EgWorker::Trial EgWorker::try_step(std::size_t i, double eta) {
  ++trials_;
  const In s = shared_.dual.s(i), mu = this->mu(i), d = direction(i);
  const std::size_t length = s.size();
  const Out new_s{new_s_.data(), length}, new_mu{new_mu_.data(), length}, delta = delta_;
  const auto step = static_cast<float>(eta);
  for (std::size_t k = 0; k < length; ++k) new_s[k] = s[k] + step * d[k];

  Trial trial;
  trial.eta = eta;
  trial.log_z = problem_.log_partition(i, new_s, new_mu, ws_);
  const kernels::MarginalChange change =
      kernels::change_along(d.data(), mu.data(), new_mu.data(), delta.data(), length);
  trial.a = change.gain;

  const Divergence divergence(eta * trial.a, eta * change.mean, trial.log_z - shared_.dual.log_z(i));
  const double kl = trial.kl = divergence.kl;
  if (divergence.exact) trial.growth = growth_at_end(kl / (eta * trial.a));

  const double omega = problem_.weight(i);
  trial.noise = omega * kRoundingOfMarginals * change.absolute;
  // Marginals that are rounded to mu (1 + kRoundingOfMarginals) move by that share of the diameter, whatever
  // the step. Where d is zero on all that has mass, nothing else is seen of it.
  const double diameter = problem_.squared_diameter(i);
  trial.tolerance =
      trial.noise + omega * omega * kRoundingOfMarginals * kRoundingOfMarginals * diameter / (2 * shared_.l2);
  const double squared_norm = lists_ ? problem_.sharing()->list_with_norm(i, delta, *lists_, ws_)
                                     : problem_.squared_norm(i, delta, ws_);
  // eta a = KL(u'|u) + KL(u|u') >= 4 TV^2 (Pinsker), and |F_i(mu' - mu)| <= 2 G_i TV: a larger curvature is
  // rounding.
  trial.curvature = trial.a > 0 ? std::min(squared_norm / (eta * trial.a), diameter) : 0;
  trial.gain =
      omega * (trial.a - kl * shared_.inverse_beta - omega * crowding_ * squared_norm / (2 * shared_.l2));
  if (!std::isfinite(trial.gain)) trial.gain = -std::numeric_limits<double>::infinity();
  return trial;
}

// The step that maximises the dual's parabola along the update. To second order a = eta V with V =
// Var_u(d), KL = eta^2 V/2 and |F_i(mu' - mu)|^2 = eta^2 c V with the curvature c, so the gain omega { eta
// V - eta^2 V/2 (1/beta + omega c/l2) } is largest at
//   eta = 1 / (1/beta + omega c/l2).
// c comes from the example's last visit, and grows as V does from the mean along that step to its end: c is
// in proportion to V where mass goes back and forth between two outputs. Where a step fails, its own c gives
// the next one.
EgWorker::Trial EgWorker::automatic_step(std::size_t i) {
  const double omega = problem_.weight(i);
  float& curvature = shared_.dual.curvature(i);
  if (curvature == 0) curvature = static_cast<float>(shared_.first.curvature * problem_.squared_change(i));
  const double quadratic = omega * crowding_ / shared_.l2;
  const auto best_eta = [&](double c) { return 1 / (shared_.inverse_beta + quadratic * c); };
  // A curvature measured on a nearly settled distribution is far too small for one that moves. How much
  // larger the next step may be: with 1.1, 1.25, 1.5 and 3 it took 9.1, 8.9, 9.0 and 9.5 passes to 1e-3 on
  // CoNLL-2000 (CRF, l2 = 2), 15.3, 15.2, 17.1 and 17.4 on letter-scale (l2 = 0.1), and 49.3, 49.2, 52.0 and
  // 55.7 on CoNLL-2000 as an SVM (l2 = 20).
  constexpr double kFastestGrowth = 1.25;
  // Where the search between two steps ends, and how much bolder it gets on a plateau. Neither matters: runs
  // without plateaus, which are most, never ask, and others took between 9 % less and 6 % more passes with
  // 1.1 and 1.5, and with 2 and 8.
  constexpr double kNarrow = 1.25, kBolder = 4;
  const double largest = 1 / shared_.inverse_beta;  // lands on pi_i
  double low = 0, high = 0;                         // steps known to be too timid and too bold
  double eta = std::min(best_eta(curvature), largest);
  for (int t = 0; t < most_trials_; ++t) {
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
    const bool timid = shared_.stuck[i] && omega * trial.a < EgShared::kStuckShare * shared_.priorities[i];
    if (timid && eta < largest && (high == 0 || high > kNarrow * eta)) {
      low = eta;
      eta = high > 0 ? (low + high) / 2 : std::min(kBolder * eta, largest);
      continue;
    }
    shared_.stuck[i] = 0;
    // Where no marginal moved, nothing was measured: steps that grew on would drive the scores to where
    // floats can no longer tell them apart.
    if (omega * trial.a > trial.noise) {
      const double least = curvature / kFastestGrowth;
      curvature = static_cast<float>(std::max(trial.growth * trial.curvature, least));
    }
    return trial;
  }
  return {};
}

// Section 7: halve until the dual improves, then grow by 1.05. A step that changes nothing is taken, but
// does not grow: it could do so for ever.
EgWorker::Trial EgWorker::paper_step(std::size_t i) {
  for (int t = 0; t < most_trials_; ++t) {
    const Trial trial = try_step(i, shared_.etas[i]);
    if (!trial.failed()) {
      if (trial.gain > trial.noise) shared_.etas[i] *= 1.05f;
      return trial;
    }
    shared_.etas[i] *= 0.5f;
  }
  return {};
}

// What the step last tried does to the example's part of the dual, which is all but g*. With the scores
// F_i'theta that it looked at, whatever the weights are by now, the dual's change but for q is
//   a - KL/beta = { change of the part } + F_i'theta.(mu' - mu).
// Marginals are floats, and do not quite add up to 1. Since d is centred, a sees nothing of that; g* does,
// and here the same comes back with the other sign. (Entropies, or s.(mu' - mu), would not do: the level of s
// is not that of the scores, and the difference times the missing mass was more than what late rounds gain.)
double EgWorker::conjugate_change(std::size_t i, const Trial& trial) {
  const double along = kernels::dot(score_.data(), delta_.data(), problem_.num_statistics(i));
  return problem_.weight(i) * (trial.a - trial.kl * shared_.inverse_beta + along);
}

// Takes the step last tried. delta = omega_i(mu - mu'), which the weights have to follow.
void EgWorker::move(std::size_t i, const Trial& trial) {
  const Out s = shared_.dual.s(i);
  const double omega = problem_.weight(i);
  std::copy_n(new_s_.begin(), s.size(), s.begin());
  if (shared_.dual.keeps_marginals()) std::copy_n(new_mu_.begin(), s.size(), shared_.dual.mu(i).begin());
  shared_.dual.log_z(i) = trial.log_z;
  if (shared_.smoothing) {
    const double entropy = trial.log_z - kernels::dot(new_s_.data(), new_mu_.data(), s.size());
    shared_.smoothing->set_entropy(i, omega * entropy);
  }
  if (const double scale = omega * shared_.sigma; scale != 1) {
    for (float& change : delta_) change *= static_cast<float>(scale);
    if (lists_) lists_->scale(static_cast<float>(scale));
  }
}

// The gap of the example before its visit, read off the step. V = a/eta is the variance of d; near the
// optimum g_i = KL(u_i|pi_i)/beta = beta V/2. Far from it a gap grows like the spread of d, not its
// square.
double EgWorker::gap_proxy(const Trial& trial) const {
  if (!(trial.eta > 0) || !(trial.a > 0)) return 0;
  const double spread = std::sqrt(trial.a / trial.eta);
  return spread * spread / (2 * shared_.inverse_beta + spread);
}

}  // namespace espalier
