#pragma once

#include <cstddef>

namespace espalier {

// Those that this process may use.
std::size_t processors();

// How many threads a run has. What they read, sum up and label is the same for any number of them; but
// solvers that visit one example after the other take other steps where several threads visit at the same
// time.
struct Threads {
  std::size_t number = 1;
  bool share_visits = true;  // false: one of them makes all visits, so that the steps are those of one thread

  // For who asks for 0: one for each processor. They share visits where they are at least kWorthSharing: two
  // visit hardly faster than one.
  static Threads of(std::size_t asked);
  static constexpr std::size_t kWorthSharing = 4;

  constexpr Threads(std::size_t count = 1, bool share = true) : number(count), share_visits(share) {}
  constexpr operator std::size_t() const { return number; }
};

}  // namespace espalier
