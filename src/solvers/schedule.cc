#include "espalier/solvers/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "espalier/base/error.h"

namespace espalier {

Sampling parse_sampling(std::string_view name) {
  if (name == "gap") return Sampling::gap;
  if (name == "random") return Sampling::random;
  if (name == "shuffled") return Sampling::shuffled;
  if (name == "cyclic") return Sampling::cyclic;
  throw Error(fmt::format("--sampling: {} is no way of sampling; expected gap, random, shuffled or cyclic",
                          in_quotes(name)));
}

Schedule::Schedule(Sampling sampling, std::size_t n, std::uint64_t seed)
    : sampling_(sampling), n_(n), random_(seed) {
  round_.reserve(n);
}

std::span<const std::uint32_t> Schedule::next_round(std::span<const float> priorities) {
  const bool fresh = std::exchange(fresh_, false);
  if (sampling_ == Sampling::gap && !fresh) {
    draw_by_priority(priorities);
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
  round_.clear();
  for (std::size_t i = 0; i < n_; ++i) {
    const double expected = by_priority * priorities[i] + uniform;
    const auto surely = static_cast<std::size_t>(expected);
    const std::size_t count = surely + (random_.uniform() < expected - static_cast<double>(surely) ? 1 : 0);
    round_.insert(round_.end(), count, static_cast<std::uint32_t>(i));
  }
  random_.shuffle(std::span(round_));
}

}  // namespace espalier
