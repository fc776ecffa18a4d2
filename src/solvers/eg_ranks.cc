#include "solvers/eg_ranks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/vectors.h"

namespace espalier {
namespace {

// How much of what is added up may be rounding: changes are differences of floats.
constexpr double kRoundingOfRanks = 1e-6;
// Halves of a round that are tried before it is taken back.
constexpr int kMostHalves = 4;

// How often the ranks meet in a quarter of a pass: with 1, 2 and 8, what is measured at adapt() took 36.6,
// 29.7 and 20.2 passes. Few weights are soon exchanged; and a rank without some visits between has nothing to
// tell.
std::size_t parts_of_quarter(const Problem& problem, std::size_t ranks) {
  constexpr std::size_t kParts = 8, kMostParts = 32, kFewWeights = 100000, kFewestVisits = 8;
  const WeightShape shape = problem.weight_shape();
  const std::size_t parts = shape.rows * shape.width <= kFewWeights ? kMostParts : kParts;
  return std::clamp<std::size_t>(problem.total_size() / ranks / 4 / kFewestVisits, 1, parts);
}

// What an example adds to the dual but for g*, times its weight.
double weighted_conjugate(const EgShared& shared, std::size_t i, In s, In mu, double log_z, Workspace& ws) {
  const Problem& problem = shared.problem;
  const double entropy = log_z - kernels::expected_score(s.data(), mu.data(), s.size()).value;
  double cost = 0;
  if (shared.objective.loss.gamma != 0) {
    Workspace::Frame frame(ws);
    const auto p = frame.take<float>(s.size());
    std::fill(p.begin(), p.end(), 0.0f);
    problem.add_cost(i, 1.0f, p);
    cost = kernels::dot(p.data(), mu.data(), s.size());
  }
  return problem.weight(i) * (entropy * shared.inverse_beta + shared.objective.loss.gamma * cost);
}

}  // namespace

EgRanks::EgRanks(Communicator& fleet, EgShared& shared, Team& team)
    : fleet_(fleet),
      shared_(shared),
      team_(team),
      start_(shared.problem.weight_shape()),
      change_(shared.problem.weight_shape()),
      seen_(shared.problem.size(), 0),
      parts_(parts_of_quarter(shared.problem, fleet.size())),
      sigma_(static_cast<double>(fleet.size())) {}

void EgRanks::begin(std::span<const std::uint32_t> round) {
  if (std::exchange(fresh_, false)) {
    const auto to = start_.values(), from = shared_.w.values();
    share_range(team_, to.size(), [&](std::size_t first, std::size_t last) {
      std::copy(&from[first], &from[0] + last, &to[first]);
    });
  }
  visited_.clear();
  scores_.clear();
  const auto now = static_cast<std::uint32_t>(++meetings_);
  for (const std::uint32_t i : round) {
    if (std::exchange(seen_[i], now) == now) continue;
    visited_.push_back(i);
    const In s = std::as_const(shared_.dual).s(i);
    scores_.insert(scores_.end(), s.begin(), s.end());
  }
  shared_.sigma = sigma_;
}

Communicator::Round EgRanks::meet(std::size_t trials, double gain, bool stop) {
  const auto w = shared_.w.values(), change = change_.values();
  const auto start = start_.values();
  const auto for_all_weights = [&](const auto& call) {
    share_range(team_, w.size(), [&](std::size_t first, std::size_t last) {
      for (std::size_t j = first; j < last; ++j) call(j);
    });
  };
  const auto inverse = static_cast<float>(1 / sigma_);
  for_all_weights([&](std::size_t j) { change[j] = w[j] == start[j] ? 0.0f : (w[j] - start[j]) * inverse; });
  own_ = own_sums(trials, stop);
  // promised_k + [g*(w + sigma Delta_k) - g*(w)]/sigma
  const double promised = gain - std::exchange(gain_before_, gain);
  double gained = add_up_changes(promised + conjugate_change(sigma_) / sigma_);
  Communicator::Round round;
  round.sigma = sigma_;
  round.rho = rho_;
  while (gained < 0) {
    more_trials_ += 2 * visited_.size();
    const bool back = round.halves++ == kMostHalves;
    const double entropies = back ? take_back() : take_half();
    own_ = own_sums(trials, stop);
    gained = add_up_changes(entropies);
    if (back) gained = 0;
  }
  for_all_weights([&](std::size_t j) { w[j] = start[j] += change[j]; });
  adapt(round);
  sums_.gain += gained;
  round.gain = gained;
  return round;
}

EgRanks::OwnSums EgRanks::own_sums(std::size_t trials, bool stop) const {
  double entropies = 0, proxies = 0;
  if (shared_.smoothing) entropies = shared_.smoothing->sum_of_own_entropies();
  for (const float proxy : shared_.priorities) proxies += proxy;
  return {static_cast<double>(trials + more_trials_), proxies, entropies, stop ? 1.0 : 0.0};
}

void EgRanks::take_sums(const double* sums) {
  sums_.trials = static_cast<std::size_t>(sums[0]);
  sums_.proxies = sums[1];
  if (shared_.smoothing) shared_.smoothing->set_sum_of_entropies(sums[2]);
  sums_.stop = sums[3] > 0;
}

void EgRanks::add_up(std::size_t trials, bool stop) {
  OwnSums sums = own_sums(trials, stop);
  fleet_.add_up(sums);
  take_sums(sums.data());
}

double EgRanks::conjugate_change(double scale) const {
  const SoftThreshold& l1 = shared_.objective.regularizer.l1;
  double sum = 0;
  for (std::size_t r = 0; r < change_.shape().rows; ++r) {
    const float *w = start_.row(r), *change = change_.row(r);
    const double threshold = l1.of_row(r);
    double of_row = 0;
    for (std::size_t k = 0; k < change_.shape().width; ++k) {
      if (change[k] == 0) continue;
      const double before = soft(static_cast<double>(w[k]), threshold);
      const double after = soft(w[k] + scale * change[k], threshold);
      of_row += (after - before) * (after + before);
    }
    sum += of_row;
  }
  return sum / (2 * shared_.l2);
}

double EgRanks::add_up_changes(double entropies) {
  double sums[] = {
      own_[0], own_[1], own_[2], own_[3], entropies, std::abs(entropies), euclidean_squared_norm(change_)};
  fleet_.add_up(std::span<double>(sums));
  take_sums(sums);
  fleet_.add_up_rows(change_.values(), change_.shape().width, change_.stride());
  rho_ = sums[6] > 0 ? euclidean_squared_norm(change_) / sums[6] : 0;
  const double conjugate = conjugate_change(1), gained = sums[4] - conjugate;
  const double noise = kRoundingOfRanks * (sums[5] + std::abs(conjugate));
  return gained < 0 && gained >= -noise ? 0 : gained;
}

double EgRanks::take_half() {
  const Problem& problem = shared_.problem;
  DualState& dual = shared_.dual;
  change_.fill(0);
  double sum = 0;
  const float* before = scores_.data();
  for (const std::uint32_t i : visited_) {
    Workspace::Frame frame(ws_);
    const Out s = dual.s(i);
    const In old(before, s.size());
    before += s.size();
    const auto old_mu = frame.take<float>(s.size()), delta = frame.take<float>(s.size());
    const double old_log_z = problem.log_partition(i, old, old_mu, ws_);
    for (std::size_t k = 0; k < s.size(); ++k) s[k] = s[k] == old[k] ? s[k] : (s[k] + old[k]) / 2;
    dual.refresh(problem, i, ws_);
    const In mu = dual.mu(problem, i, frame, ws_);
    sum += weighted_conjugate(shared_, i, s, mu, dual.log_z(i), ws_) -
           weighted_conjugate(shared_, i, old, old_mu, old_log_z, ws_);
    if (shared_.smoothing) {
      const double entropy = dual.log_z(i) - kernels::expected_score(s.data(), mu.data(), s.size()).value;
      shared_.smoothing->set_entropy(i, problem.weight(i) * entropy);
    }
    const auto omega = static_cast<float>(problem.weight(i));
    for (std::size_t k = 0; k < s.size(); ++k) delta[k] = omega * (old_mu[k] - mu[k]);
    problem.accumulate(i, delta, change_, ws_);
  }
  return sum;
}

double EgRanks::take_back() {
  change_.fill(0);
  const float* before = scores_.data();
  for (const std::uint32_t i : visited_) {
    const Out s = shared_.dual.s(i);
    std::copy_n(before, s.size(), s.begin());
    before += s.size();
    shared_.dual.refresh(shared_.problem, i, ws_);
  }
  return 0;
}

// Too small a sigma overshoots, and everybody corrects that at once, so that rho rises and falls over several
// rounds. It follows at once when rho rises, and slowly when it falls: 1,500 sentences of CoNLL-2000 (CRF, l2
// = 1, gap 1e-3) on 4 ranks took 20.2 passes so, 29.2 with CoCoA+'s 4 throughout, and 15.9 on one. (Trials,
// in which the first rounds were longer; as it is now, 22.3 and 15.6.)
void EgRanks::adapt(const Communicator::Round& round) {
  constexpr double kMargin = 1.1, kKept = 0.97;
  const auto ranks = static_cast<double>(fleet_.size());
  const double wanted = std::clamp(kMargin * round.rho, 1.0, ranks);
  sigma_ = round.halves > 0 ? std::min(ranks, 2 * std::max(sigma_, wanted))
                            : std::max(wanted, kKept * sigma_ + (1 - kKept) * wanted);
}

}  // namespace espalier
