#include "solvers/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "espalier/base/error.h"

namespace espalier {
namespace {

// To one example in a round that leaves settled ones, rounded up.
constexpr std::size_t kMostVisits = 3;

}  // namespace

Schedule::Schedule(Sampling sampling, std::size_t n, std::uint64_t seed, Settled settled)
    : sampling_(sampling), settled_(settled), n_(n), random_(seed) {
  round_.reserve(n);
  if (settled_ == Settled::left) {
    round_.reserve(kMostVisits * n);
    drawn_.resize(kMostVisits * n);
    roots_.resize(n);
    settled_visits_.resize(n);
  }
}

std::span<const std::uint32_t> Schedule::next_round(std::span<const float> priorities) {
  const bool fresh = std::exchange(fresh_, false);
  if (sampling_ == Sampling::gap && !fresh) {
    if (settled_ == Settled::left) {
      draw_leaving_settled(priorities);
    } else {
      draw_by_priority(priorities);
    }
  } else if (sampling_ == Sampling::random) {
    round_.resize(n_);
    for (auto& i : round_) i = static_cast<std::uint32_t>(random_.below(n_));
  } else {
    round_.resize(n_);
    std::iota(round_.begin(), round_.end(), 0u);
    if (sampling_ != Sampling::cyclic) random_.shuffle(std::span(round_));
  }
  return round_;
}

void Schedule::draw_by_priority(std::span<const float> priorities) {
  constexpr double kUniformShare = 0.2, kRound = 0.25;
  const double visits = std::max(1.0, kRound * static_cast<double>(n_));
  double total = 0;
  for (const float p : priorities) {
    ESPALIER_EXPECT(p >= 0 && std::isfinite(p));
    total += p;
  }
  // Nothing left to prefer: every example is settled as far as anyone knows.
  const double by_priority = total > 0 ? (1 - kUniformShare) * visits / total : 0;
  const double uniform = (total > 0 ? kUniformShare : 1) * visits / static_cast<double>(n_);
  if (due_.empty()) leave_due();
  round_.clear();
  // Where nobody's turn has come, the round is over at once.
  while (round_.empty() && n_ > 0) {
    for (std::size_t i = 0; i < n_; ++i) {
      const double due = due_[i] + by_priority * priorities[i] + uniform;
      const auto count = static_cast<std::size_t>(due);
      due_[i] = static_cast<float>(due - static_cast<double>(count));
      round_.insert(round_.end(), count, static_cast<std::uint32_t>(i));
    }
  }
  random_.shuffle(std::span(round_));
}

// By the round that visited each example once: a half to the first one, and ever less to those that follow.
// From nothing, or up to a whole one, it takes about as many passes.
void Schedule::leave_due() {
  constexpr float kMost = 0.5f;
  due_.resize(n_);
  for (std::size_t k = 0; k < n_; ++k)
    due_[round_[k]] = kMost * (1 - static_cast<float>(k) / static_cast<float>(n_));
}

void Schedule::draw_leaving_settled(std::span<const float> priorities) {
  constexpr float kAnyway = 0.1f, kByPriority = 0.5f, kMost = kMostVisits - 1;
  // By visits that found nothing. Before the first there is nothing to go by.
  constexpr std::array<float, 7> kSettled{0.25f, 0.25f, 0.125f, 0.0625f, 0.03125f, 0.015625f, 0.01f};
  for (const std::uint32_t i : round_) {
    std::uint8_t& visits = settled_visits_[i];
    visits = priorities[i] > 0 ? std::uint8_t{0} : std::min<std::uint8_t>(visits + 1, kSettled.size() - 1);
  }
  double sum = 0;
  std::size_t unsettled = 0;
  for (std::size_t i = 0; i < n_; ++i) {
    ESPALIER_EXPECT(priorities[i] >= 0 && std::isfinite(priorities[i]));
    sum += roots_[i] = std::sqrt(priorities[i]);
    unsettled += priorities[i] > 0 ? 1 : 0;
  }
  // Every example is settled as far as anyone knows: none has been so for long.
  if (unsettled == 0) std::fill(settled_visits_.begin(), settled_visits_.end(), std::uint8_t{0});
  const float scale = sum > 0 ? static_cast<float>(kByPriority * static_cast<double>(unsettled) / sum) : 0;
  // Systematic sampling: one random number for all examples, and each is drawn as often as expected, rounded
  // up or down. Written as often as can be, and kept as often as due: a branch here would be guessed wrong
  // half of the time. In fixed point, whose sums wait for one addition and not for several conversions.
  constexpr int kPoint = 24;
  constexpr float kOne = 1 << kPoint;
  std::size_t size = 0;
  auto due = static_cast<std::uint64_t>(random_.uniform() * kOne);
  for (std::size_t i = 0; i < n_; ++i) {
    const float expected =
        roots_[i] > 0 ? std::min(kAnyway + scale * roots_[i], kMost) : kSettled[settled_visits_[i]];
    for (std::size_t k = 0; k < kMostVisits; ++k) drawn_[size + k] = static_cast<std::uint32_t>(i);
    const std::uint64_t before = due >> kPoint;
    due += static_cast<std::uint64_t>(static_cast<std::int64_t>(kOne * expected));
    size += (due >> kPoint) - before;
  }
  round_.assign(drawn_.begin(), drawn_.begin() + static_cast<std::ptrdiff_t>(size));
  random_.shuffle(std::span(round_));
}

}  // namespace espalier
