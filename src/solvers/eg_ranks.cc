#include "solvers/eg_ranks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>

#include "fleet/bytes.h"
#include "kernels/vectors.h"

namespace espalier {
namespace {

// How much of what is added up may be rounding: changes are differences of floats.
constexpr double kRoundingOfRanks = 1e-6;
// Halves of a round that are tried before it is taken back.
constexpr int kMostHalves = 4;

// Work, in multiplications of a score or so: of a statistic, for inference; of a weight that a round may
// change, and of one that is sent or received; and of the messages of a meeting, whatever is in them.
constexpr double kWorkOfInference = 20, kWorkOfTouched = 1, kWorkOfSent = 2, kWorkOfMeeting = 100000;
// Which share of the visits' work meetings should cost, at most and at least: they are worth much. On 1,474
// sentences of CoNLL-2000 (CRF, l2 = 1, gap 1e-3), 2 and 4 ranks took 16.2 and 22.3 passes with 32 meetings a
// pass, 20.4 and 33.5 with about 5, and one took 15.9.
constexpr double kMostOfVisits = 1, kLeastOfVisits = 0.25;
constexpr std::size_t kPartsAtFirst = 8, kMostParts = 32;  // of a quarter of a pass
// A rank without some visits between two meetings has nothing to tell.
constexpr std::size_t kFewestVisits = 8;

}  // namespace

EgRanks::EgRanks(const RankBlocks& blocks, EgShared& shared, Team& team)
    : blocks_(blocks),
      fleet_(blocks.fleet()),
      shared_(shared),
      team_(team),
      marks_(blocks),
      sum_((blocks.first_shared(fleet_.rank() + 1) - blocks.first_shared(fleet_.rank())) * blocks.size()),
      has_sum_(blocks.first_shared(fleet_.rank() + 1) - blocks.first_shared(fleet_.rank()), 0),
      seen_(shared.problem.size(), 0),
      parts_(kPartsAtFirst),
      sigma_(static_cast<double>(fleet_.size())) {}

std::size_t EgRanks::plan_parts() {
  const double exchanged = std::exchange(exchanged_since_, 0), visited = std::exchange(visited_since_, 0);
  if (exchanged > kMostOfVisits * visited) {
    parts_ /= 2;
  } else if (exchanged < kLeastOfVisits * visited) {
    parts_ *= 2;
  }
  const std::size_t visits = shared_.problem.total_size() / fleet_.size() / 4;
  parts_ = std::clamp<std::size_t>(parts_, 1, std::clamp<std::size_t>(visits / kFewestVisits, 1, kMostParts));
  return parts_;
}

void EgRanks::begin(std::span<const std::uint32_t> round) {
  const Sharing* sharing = shared_.problem.sharing();
  visited_.clear();
  scores_.clear();
  visited_work_ = 0;
  const auto now = static_cast<std::uint32_t>(++meetings_);
  for (const std::uint32_t i : round) {
    const In s = std::as_const(shared_.dual).s(i);
    visited_work_ +=
        kWorkOfInference * static_cast<double>(s.size()) + (sharing ? sharing->score_work(i) : 0);
    if (std::exchange(seen_[i], now) == now) continue;
    visited_.push_back(i);
    shared_.conjugates[i] = {};
    scores_.insert(scores_.end(), s.begin(), s.end());
  }
  shared_.sigma = sigma_;

  marks_.clear();
  marks_.mark(shared_.problem, visited_, team_);
  places_.clear();
  touched_.clear();
  marks_.for_each([&](std::size_t k) { places_.push_back(static_cast<std::uint32_t>(k)); },
                  [&](std::size_t block) { touched_.push_back(static_cast<std::uint32_t>(block)); });
  touched_.insert(touched_.begin(), places_.size(), 0);
  std::ranges::transform(places_, touched_.begin(), [&](std::uint32_t k) { return blocks_.shared()[k]; });
  if (start_.size() < touched_.size() * blocks_.size()) {
    start_.resize(touched_.size() * blocks_.size());
    change_.resize(start_.size());
  }
  norms_.resize(touched_.size());
  share_range(team_, touched_.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k)
      std::ranges::copy(blocks_.of(shared_.w.values(), touched_[k]), start_of(k).begin());
  });
}

Communicator::Round EgRanks::meet(std::size_t trials, bool stop) {
  part_changes(sigma_);
  Totals totals = own_totals(trials, stop);
  for (const std::uint32_t i : visited_) {
    totals.conjugate += shared_.conjugates[i].value;
    totals.rounding += shared_.conjugates[i].rounding;
  }
  totals.visited = visited_work_;
  double gained = exchange(totals);
  Communicator::Round round;
  round.sigma = sigma_;
  round.rho = rho_ = totals.own_norms > 0 ? totals.norm / totals.own_norms : 0;
  while (gained < 0) {
    more_trials_ += 2 * visited_.size();
    const bool back = round.halves++ == kMostHalves;
    const EgShared::ConjugateChange conjugate = take_back(!back);
    part_changes(1);
    totals = own_totals(trials, stop);
    totals.conjugate = conjugate.value;
    totals.rounding = conjugate.rounding;
    gained = exchange(totals);
    if (back) gained = 0;
  }
  apply();
  adapt(round);
  sums_.gain += gained;
  round.gain = gained;
  return round;
}

EgRanks::Totals EgRanks::own_totals(std::size_t trials, bool stop) const {
  Totals own;
  own.trials = static_cast<double>(trials + more_trials_);
  own.stop = stop ? 1 : 0;
  for (const float proxy : shared_.priorities) own.proxies += proxy;
  if (shared_.smoothing) own.entropies = shared_.smoothing->sum_of_own_entropies();
  return own;
}

void EgRanks::take(const Totals& totals) {
  sums_.trials = static_cast<std::size_t>(totals.trials);
  sums_.proxies = totals.proxies;
  sums_.stop = totals.stop > 0;
  if (shared_.smoothing) shared_.smoothing->set_sum_of_entropies(totals.entropies);
}

void EgRanks::add_up(std::size_t trials, bool stop) {
  Totals totals = own_totals(trials, stop);
  double sums[] = {totals.trials, totals.proxies, totals.entropies, totals.stop};
  fleet_.add_up(sums);
  std::tie(totals.trials, totals.proxies, totals.entropies, totals.stop) =
      std::tuple(sums[0], sums[1], sums[2], sums[3]);
  take(totals);
}

void EgRanks::part_changes(double times) {
  const auto inverse = static_cast<float>(1 / times);
  share_range(team_, touched_.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
      const auto w = blocks_.of(shared_.w.values(), touched_[k]), start = start_of(k), change = change_of(k);
      for (std::size_t j = 0; j < w.size(); ++j) change[j] = (w[j] - start[j]) * inverse;
      norms_[k] = kernels::squared_norm(change.data(), change.size());
      if (k < places_.size()) {
        std::ranges::copy(start, w.begin());
      } else if (times != 1) {
        for (std::size_t j = 0; j < w.size(); ++j) w[j] = start[j] + change[j];
      }
    }
  });
}

// g*(w + change) - g*(w), of a block.
double EgRanks::conjugate_change(std::size_t block, std::span<const float> w,
                                 std::span<const float> change) const {
  const Regularizer& regularizer = shared_.objective.regularizer;
  if (!regularizer.sparse()) {
    return (kernels::dot(w.data(), change.data(), w.size()) +
            kernels::squared_norm(change.data(), w.size()) / 2) /
           shared_.l2;
  }
  double sum = 0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const double threshold = regularizer.l1.of_row((block * blocks_.size() + j) / shared_.w.stride());
    const double before = soft(static_cast<double>(w[j]), threshold);
    const double after = soft(static_cast<double>(w[j]) + change[j], threshold);
    sum += (after - before) * (after + before);
  }
  return sum / (2 * shared_.l2);
}

// A message is a number of blocks, which of the shared ones they are, and their changes. What did not change
// is not sent.
double EgRanks::exchange(Totals& totals) {
  const std::size_t ranks = fleet_.size();
  std::vector<std::string> parts(ranks);
  double sent = 0;
  for (std::size_t r = 0, k = 0; r < ranks; ++r) {
    std::vector<std::uint32_t> which;
    const std::size_t first = k, end = blocks_.first_shared(r + 1);
    for (; k < places_.size() && places_[k] < end; ++k) {
      if (norms_[k] > 0) which.push_back(places_[k]);
    }
    const auto count = static_cast<std::uint32_t>(which.size());
    parts[r].reserve(sizeof(count) + count * (sizeof(count) + blocks_.size() * sizeof(float)));
    append_bytes(parts[r], std::span(&count, 1));
    append_bytes(parts[r], std::span(which));
    for (std::size_t t = first; t < k; ++t) {
      if (norms_[t] > 0) append_bytes(parts[r], change_of(t));
    }
    sent += static_cast<double>(count * blocks_.size());
  }
  parts = fleet_.exchange(std::move(parts));

  for (const double norm : norms_) totals.own_norms += norm;
  totals.absolute = std::abs(totals.conjugate);
  for (std::size_t k = places_.size(); k < touched_.size(); ++k) {
    if (norms_[k] == 0) continue;
    totals.norm += norms_[k];
    totals.g += conjugate_change(touched_[k], start_of(k), change_of(k));
  }
  totals.exchanged = kWorkOfMeeting + kWorkOfSent * sent +
                     kWorkOfTouched * static_cast<double>(touched_.size() * blocks_.size());
  const std::string mine = add_up_part(parts, totals);
  parts.clear();
  summed_ = fleet_.gather(mine);
  totals = {};
  for (const std::string& of_rank : summed_) {
    const auto its = read_bytes<Totals>(of_rank, 0);
    totals.trials += its.trials, totals.proxies += its.proxies, totals.entropies += its.entropies;
    totals.stop += its.stop, totals.conjugate += its.conjugate, totals.rounding += its.rounding;
    totals.absolute += its.absolute;
    totals.own_norms += its.own_norms, totals.norm += its.norm, totals.g += its.g;
    totals.visited += its.visited, totals.exchanged += its.exchanged;
  }
  take(totals);
  visited_since_ += totals.visited;
  exchanged_since_ += totals.exchanged;
  const double gained = totals.conjugate - totals.g;
  const double noise = totals.rounding + kRoundingOfRanks * (totals.absolute + std::abs(totals.g));
  return gained < 0 && gained >= -noise ? 0 : gained;
}

// The sums of the part that this rank adds up, in the order of ranks, with the totals in front.
std::string EgRanks::add_up_part(const std::vector<std::string>& parts, Totals& totals) {
  const std::size_t first = blocks_.first_shared(fleet_.rank()), size = blocks_.size();
  const auto sum_of = [&](std::size_t k) {
    const std::size_t length = blocks_.of(shared_.w.values(), blocks_.shared()[first + k]).size();
    return std::span(sum_.data() + k * size, length);
  };
  for (const std::string& of_rank : parts) {
    const auto count = read_bytes<std::uint32_t>(of_rank, 0);
    std::size_t number = sizeof(count), place = number + count * sizeof(count);
    for (std::size_t t = 0; t < count; ++t, number += sizeof(count)) {
      const std::size_t k = read_bytes<std::uint32_t>(of_rank, number) - first;
      const auto sum = sum_of(k);
      if (std::exchange(has_sum_[k], 1) == 0) {
        copy_bytes(of_rank, place, sum);
      } else {
        add_bytes(of_rank, place, sum);
      }
      place += sum.size_bytes();
    }
  }
  std::vector<std::uint32_t> which;
  for (std::size_t k = 0; k < has_sum_.size(); ++k) {
    if (has_sum_[k] != 0) which.push_back(static_cast<std::uint32_t>(first + k));
  }
  for (const std::uint32_t k : which) {
    const auto sum = sum_of(k - first);
    const std::size_t block = blocks_.shared()[k];
    totals.norm += kernels::squared_norm(sum.data(), sum.size());
    totals.g += conjugate_change(block, blocks_.of(shared_.w.values(), block), sum);
  }
  const auto count = static_cast<std::uint32_t>(which.size());
  // It is received by all.
  totals.exchanged +=
      kWorkOfSent * static_cast<double>(count * size) * static_cast<double>(fleet_.size() - 1);
  std::string mine;
  mine.reserve(sizeof(Totals) + sizeof(count) + count * (sizeof(count) + size * sizeof(float)));
  append_bytes(mine, std::span(&totals, 1));
  append_bytes(mine, std::span(&count, 1));
  append_bytes(mine, std::span(which));
  for (const std::uint32_t k : which) {
    append_bytes(mine, sum_of(k - first));
    has_sum_[k - first] = 0;
  }
  return mine;
}

void EgRanks::apply() {
  for (const std::string& of_rank : summed_) {
    const std::size_t numbers = sizeof(Totals) + sizeof(std::uint32_t);
    const auto count = read_bytes<std::uint32_t>(of_rank, sizeof(Totals));
    const std::size_t changes = numbers + count * sizeof(count);
    share_range(team_, count, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) {
        const auto k = read_bytes<std::uint32_t>(of_rank, numbers + t * sizeof(count));
        add_bytes(of_rank, changes + t * blocks_.size() * sizeof(float),
                  blocks_.of(shared_.w.values(), blocks_.shared()[k]));
      }
    });
  }
}

EgShared::ConjugateChange EgRanks::take_back(bool half) {
  const Problem& problem = shared_.problem;
  DualState& dual = shared_.dual;
  for (std::size_t k = 0; k < touched_.size(); ++k)
    std::ranges::copy(start_of(k), blocks_.of(shared_.w.values(), touched_[k]).begin());
  EgShared::ConjugateChange sum;
  const float* before = scores_.data();
  for (const std::uint32_t i : visited_) {
    Workspace::Frame frame(ws_);
    const Out s = dual.s(i);
    const In old(before, s.size());
    before += s.size();
    if (!half) {
      std::ranges::copy(old, s.begin());
      dual.refresh(problem, i, ws_);
      continue;
    }
    // As EgWorker::conjugate_change has it, for s' = s + e with half of the way that the round went.
    const std::size_t length = s.size();
    const auto old_mu = frame.take<float>(length), delta = frame.take<float>(length);
    const auto e = frame.take<float>(length), d = frame.take<float>(length),
               score = frame.take<float>(length);
    const double old_log_z = problem.log_partition(i, old, old_mu, ws_);
    for (std::size_t k = 0; k < length; ++k) {
      e[k] = (s[k] - old[k]) / 2;
      s[k] = old[k] + e[k];
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
    sum.value += problem.weight(i) *
                 (gain.gain - kl * shared_.inverse_beta + kernels::dot(score.data(), delta.data(), length));
    sum.rounding += problem.weight(i) * kRoundingOfMarginals * gain.absolute;
    if (shared_.smoothing) {
      const double entropy = dual.log_z(i) - kernels::expected_score(s.data(), mu.data(), s.size()).value;
      shared_.smoothing->set_entropy(i, problem.weight(i) * entropy);
    }
    const auto omega = static_cast<float>(problem.weight(i));
    for (float& change : delta) change *= omega;
    problem.accumulate(i, delta, shared_.w, ws_);
  }
  return sum;
}

// Too small a sigma overshoots, and everybody corrects that at once, so that rho rises and falls over several
// rounds. It follows at once when rho rises, and slowly when it falls: 1,500 sentences of CoNLL-2000 (CRF, l2
// = 1, gap 1e-3) on 4 ranks took 20.2 passes so, 29.2 with CoCoA+'s 4 throughout, and 15.9 on one. Where it
// falls by 63 % in a pass, however many rounds that has, it is no better: 22.5 passes instead of 20.4 on 2
// ranks that meet four times a pass, 35.4 instead of 33.5 on 4.
void EgRanks::adapt(const Communicator::Round& round) {
  constexpr double kMargin = 1.1, kKept = 0.97;
  const auto ranks = static_cast<double>(fleet_.size());
  const double wanted = std::clamp(kMargin * round.rho, 1.0, ranks);
  sigma_ = round.halves > 0 ? std::min(ranks, 2 * std::max(sigma_, wanted))
                            : std::max(wanted, kKept * sigma_ + (1 - kKept) * wanted);
}

}  // namespace espalier
