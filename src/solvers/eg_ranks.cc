#include "solvers/eg_ranks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "kernels/vectors.h"

namespace espalier {
namespace {

// How much of what is added up may be rounding: changes are differences of floats.
constexpr double kRoundingOfRanks = 1e-6;
// Halves of a round that are tried before it is taken back.
constexpr int kMostHalves = 4;

// How often a rank changes a block before it is exchanged, about, and the most meetings of a pass. CoNLL-2000
// (CRF, l2 = 2) on 2 ranks had a relative gap of 1.9e-3 after 8.4 passes with 8 changes and 128 meetings,
// 1.1e-3 with 16 and 256, 1.0e-3 with 4 and 256, 1.2e-3 with 16 and 512; one process had 0.5e-3.
constexpr std::size_t kVisitsOfBlock = 16, kMostMeetings = 256;
// A round with rho this many times sigma is over at once. The dual may fall where it is twice.
constexpr double kOvershooting = 1.6;
// A rank without some visits between two meetings has nothing to tell.
constexpr std::size_t kFewestVisits = 8;

}  // namespace

EgRanks::EgRanks(const RankBlocks& blocks, EgShared& shared, Team& team)
    : blocks_(blocks),
      fleet_(blocks.fleet()),
      shared_(shared),
      team_(team),
      exchange_(blocks, shared.w, team),
      seen_(shared.problem.size(), 0),
      sigma_(std::max(1.0, static_cast<double>(fleet_.size()) / 2)) {}

// A power of two, at least 4.
std::size_t EgRanks::meetings_of_pass() const {
  const std::size_t visits = shared_.problem.total_size() / fleet_.size();
  return std::clamp<std::size_t>(std::bit_floor(visits / kFewestVisits), 4, kMostMeetings);
}

std::vector<std::size_t> EgRanks::parts_of(std::span<const std::uint32_t> visits,
                                           std::size_t quarters) const {
  const std::size_t parts = meetings_of_pass() / 4 * quarters;
  const auto work_of = [&](std::uint32_t i) {
    return static_cast<double>(1 + shared_.problem.num_statistics(i));
  };
  double all = 0, before = 0;
  for (const std::uint32_t i : visits) all += work_of(i);
  std::vector<std::size_t> begins{0};
  for (std::size_t k = 0; k < visits.size() && begins.size() < parts; ++k) {
    before += work_of(visits[k]);
    while (begins.size() < parts &&
           before * static_cast<double>(parts) >= all * static_cast<double>(begins.size()))
      begins.push_back(k + 1);
  }
  begins.resize(parts, visits.size());
  begins.push_back(visits.size());
  return begins;
}

void EgRanks::begin(std::span<const std::uint32_t> visits) {
  if (!std::exchange(begun_, true)) {
    exchange_.restart();
    half_norm_ = fleet_.sum(half_norm());
    start_round();
  }
  for (const std::uint32_t i : visits) {
    if (std::exchange(seen_[i], round_) == round_) continue;
    visited_.push_back(i);
    shared_.conjugates[i] = {};
    const In s = std::as_const(shared_.dual).s(i);
    scores_.insert(scores_.end(), s.begin(), s.end());
  }
}

void EgRanks::start_round() {
  meetings_ = 0;
  visited_.clear();
  scores_.clear();
  ++round_;
  norms_ = {};
  half_norm_before_ = half_norm_;
  shared_.sigma = sigma_;
  if (sigma_ != 1) keep_own();
}

std::optional<Communicator::Round> EgRanks::meet(std::size_t trials, bool stop, bool end) {
  trials_ = trials;
  stop_ = stop;
  const std::size_t of_pass = meetings_of_pass();
  ++meetings_;
  // More ranks overshoot more, and their sigma follows what a round measures: it should not be old.
  const std::size_t rounds = fleet_.size() <= 2 ? 1 : 4;  // of a pass
  if (end || meetings_ * rounds == of_pass) return end_round();
  // Those that a rank changes kVisitsOfBlock times in 2^k parts of a pass meet every 2^k times.
  const std::size_t often = std::bit_width(kVisitsOfBlock * fleet_.size() * of_pass) - 1;
  const auto doublings = static_cast<std::size_t>(std::countr_zero(meetings_));
  exchange(blocks_.shared_from(often > doublings ? often - doublings : 0), sigma_);
  if (norms_.sum > kOvershooting * sigma_ * norms_.own) return end_round();
  return {};
}

std::optional<Communicator::Round> EgRanks::close(std::size_t trials) {
  if (!begun_) return {};
  trials_ = trials;
  std::optional<Communicator::Round> round;
  if (meetings_ > 0) round = end_round();
  begun_ = false;
  return round;
}

void EgRanks::exchange(std::size_t blocks, double times) {
  double proxies = 0;
  for (const float proxy : shared_.priorities) proxies += proxy;
  double sums[] = {static_cast<double>(trials_ + more_trials_), proxies,
                   shared_.smoothing ? shared_.smoothing->sum_of_own_entropies() : 0, stop_ ? 1.0 : 0.0};
  const RankExchange::Norms norms = exchange_.exchange(blocks, times, sums);
  norms_.own += norms.own, norms_.sum += norms.sum;
  sums_.trials = static_cast<std::size_t>(sums[0]);
  sums_.proxies = sums[1];
  if (shared_.smoothing) shared_.smoothing->set_sum_of_entropies(sums[2]);
  sums_.stop = sums[3] > 0;
}

void EgRanks::add_up(std::size_t trials, bool stop) {
  trials_ = trials;
  stop_ = stop;
  if (!begun_) exchange_.restart();
  exchange(0, 1);
}

Communicator::Round EgRanks::end_round() {
  if (sigma_ != 1) part_own();
  exchange(blocks_.shared().size(), sigma_);
  Communicator::Round round;
  round.sigma = sigma_;
  round.rho = norms_.own > 0 ? norms_.sum / norms_.own : 0;
  double gained = round_gain();
  while (gained < 0) {
    more_trials_ += 2 * visited_.size();
    const bool back = round.halves++ == kMostHalves;
    take_back(!back);
    exchange(blocks_.shared().size(), 1);
    gained = round_gain();
    if (back) gained = 0;
  }
  round.gain = gained;
  sums_.gain += gained;
  adapt(round);
  start_round();
  return round;
}

// By how much the dual has risen since the round began.
double EgRanks::round_gain() {
  EgShared::ConjugateChange own;
  for (const std::uint32_t i : visited_) {
    own.value += shared_.conjugates[i].value;
    own.rounding += shared_.conjugates[i].rounding;
  }
  double sums[] = {own.value, std::abs(own.value), own.rounding, half_norm()};
  fleet_.add_up(sums);
  const double conjugate = (sums[3] - half_norm_before_) / shared_.l2, gained = sums[0] - conjugate;
  // What float leaves open of each weight comes to that of its square.
  const double noise =
      sums[2] + kRoundingOfRanks * (sums[1] + std::abs(conjugate)) + 0x1p-24 * sums[3] / shared_.l2;
  half_norm_ = sums[3];
  return gained >= -noise ? std::max(0.0, gained) : gained;
}

double EgRanks::half_norm() const {
  const Regularizer& regularizer = shared_.objective.regularizer;
  const auto norm_of = [&](std::span<const std::uint32_t> blocks) {
    std::vector<double> norms(blocks.size());
    share_range(team_, blocks.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const auto w = blocks_.of(std::as_const(shared_.w).values(), blocks[k]);
        if (!regularizer.sparse()) {
          norms[k] = kernels::squared_norm(w.data(), w.size());
          continue;
        }
        for (std::size_t j = 0; j < w.size(); ++j) {
          const double threshold =
              regularizer.l1.of_row((blocks[k] * blocks_.size() + j) / shared_.w.stride());
          const double x = soft(static_cast<double>(w[j]), threshold);
          norms[k] += x * x;
        }
      }
    });
    double sum = 0;
    for (const double norm : norms) sum += norm;
    return sum;
  };
  return (norm_of(exchange_.own_part()) + norm_of(blocks_.own())) / 2;
}

// Blocks that this rank alone changes count its changes once, after a round.
void EgRanks::keep_own() {
  own_before_.resize(blocks_.own().size() * blocks_.size());
  share_range(team_, blocks_.own().size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      std::ranges::copy(blocks_.of(shared_.w.values(), blocks_.own()[k]),
                        own_before_.data() + k * blocks_.size());
    }
  });
}

void EgRanks::part_own() {
  const auto inverse = static_cast<float>(1 / sigma_);
  share_range(team_, blocks_.own().size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto w = blocks_.of(shared_.w.values(), blocks_.own()[k]);
      const float* before = own_before_.data() + k * blocks_.size();
      for (std::size_t j = 0; j < w.size(); ++j) w[j] = before[j] + (w[j] - before[j]) * inverse;
    }
  });
}

// Every example that was visited goes back half of the way that the round went, or all of it:
//   s' = s + e,    e = (s of before - s)/2
// The weights follow. As EgWorker::conjugate_change has it, the example's part of the dual changes by
//   a - KL(u'|u)/beta + F_i'theta.(mu - mu'),     a = d.(mu' - mu)
void EgRanks::take_back(bool half) {
  const Problem& problem = shared_.problem;
  DualState& dual = shared_.dual;
  const float* before = scores_.data();
  for (const std::uint32_t i : visited_) {
    Workspace::Frame frame(ws_);
    const Out s = dual.s(i);
    const std::size_t length = s.size();
    const In first(before, length);
    before += length;
    const auto old = frame.take<float>(length), old_mu = frame.take<float>(length),
               delta = frame.take<float>(length), e = frame.take<float>(length),
               d = frame.take<float>(length), score = frame.take<float>(length);
    std::ranges::copy(s, old.begin());
    const double old_log_z = problem.log_partition(i, old, old_mu, ws_);
    for (std::size_t k = 0; k < length; ++k) {
      const float there = half ? old[k] + (first[k] - old[k]) / 2 : first[k];
      e[k] = there - old[k];
      s[k] = there;
    }
    dual.refresh(problem, i, ws_);
    const In mu = dual.mu(problem, i, frame, ws_);
    problem.score(i, shared_.w, static_cast<float>(1 / shared_.l2), score, ws_);
    std::ranges::copy(score, d.begin());
    if (shared_.objective.loss.gamma != 0)
      problem.add_cost(i, static_cast<float>(shared_.objective.loss.gamma), d);
    for (std::size_t k = 0; k < length; ++k) d[k] -= static_cast<float>(shared_.inverse_beta) * old[k];
    problem.centre(i, old_mu, d);
    const auto way = kernels::change_along(e.data(), old_mu.data(), mu.data(), delta.data(), length);
    const double kl = Divergence(way.gain, way.mean, dual.log_z(i) - old_log_z).kl;
    const auto gain = kernels::change_along(d.data(), old_mu.data(), mu.data(), delta.data(), length);
    shared_.conjugates[i].value += problem.weight(i) * (gain.gain - kl * shared_.inverse_beta +
                                                        kernels::dot(score.data(), delta.data(), length));
    shared_.conjugates[i].rounding += problem.weight(i) * kRoundingOfMarginals * gain.absolute;
    if (shared_.smoothing) {
      const double entropy = dual.log_z(i) - kernels::expected_score(s.data(), mu.data(), s.size()).value;
      shared_.smoothing->set_entropy(i, problem.weight(i) * entropy);
    }
    const auto omega = static_cast<float>(problem.weight(i));
    for (float& change : delta) change *= omega;
    problem.accumulate(i, delta, shared_.w, ws_);
  }
}

// Too small a sigma overshoots, and everybody corrects that at once, so that rho rises and falls over several
// rounds. It follows at once when rho rises, and slowly when it falls. A sigma of rho/2 is what the dual does
// not fall with, and two ranks, where rho is 2 at most, do best with 1: on CoNLL-2000 their relative gap was
// 1.1e-3 after 8.4 passes, and 1.8e-3 where sigma began at 2 and was 1 from the fourth round on.
void EgRanks::adapt(const Communicator::Round& round) {
  constexpr double kMargin = 1.1, kKept = 0.8;
  const auto ranks = static_cast<double>(fleet_.size());
  const double wanted = fleet_.size() <= 2 ? 1 : std::clamp(kMargin * round.rho, 1.0, ranks);
  sigma_ = round.halves > 0 ? std::min(ranks, 2 * std::max(sigma_, wanted))
                            : std::max(wanted, kKept * sigma_ + (1 - kKept) * wanted);
}

}  // namespace espalier
