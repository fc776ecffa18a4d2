#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "espalier/solvers/solver_options.h"

namespace espalier {

// What `gap` order does with examples that were found without a gap.
enum class Settled {
  watched,  // all alike, and as often as any
  left,     // the longer it has been so, the more rarely
};

// Hands out rounds of examples. In a round of `gap` order, which has a quarter of n visits or about as many,
//   c_i = n/4 [ (1 - lambda) p_i / sum_j p_j + lambda / n ]
// visits more become due to example i. It is visited as often as whole ones are, and keeps the rest; the
// visits of a round are shuffled. p_i is the caller's estimate of the example's gap; lambda = 0.2 keeps an
// eye on the rest: after five passes everyone has had a turn. The first round visits every example once,
// since nothing is known of them yet; what it leaves due is the more, the earlier an example came, as the
// weights knew the less of the others then.
//
// Rounding c_i up or down at random gives the same visits on average, but some examples wait for several
// passes and others come twice in a row, when there is nothing to gain yet. Passes of eg to 1e-3, so and as
// it is: 8.9 and 7.7 on CoNLL-2000 (CRF, l2 = 2), 20.8 and 15.2 on Spanish trees (the first 300, l2 = 1),
// 49.7 and 32.5 on 2,000 generated sentences (l2 = 0.01), 21.8 and 18.2 on MNIST (the first 10,000, l2 = 1),
// 5.4 and 5.0 on letter-scale (l2 = 1).
//
// That treats an example that never had a gap like one that lost it a moment ago, and is likely to get it
// back as the others move. Where gaps of exactly 0 are common (maxima, solved to the optimum one example at a
// time), settled examples are left:
//   c_i = 1/10 + 1/2 sqrt(p_i) / mean of sqrt(p_j) over p_j > 0     where p_i > 0, at most 2
//   c_i = max(1/4 2^-r, 1/100)
//       where p_i = 0, after r + 1 visits that all found it so
// The root is less sure than p_i itself that gaps are as they were when last seen.
// The constants were chosen on MNIST and letter-scale.
class Schedule {
 public:
  Schedule(Sampling sampling, std::size_t n, std::uint64_t seed, Settled settled = Settled::watched);

  // Requires one finite priority >= 0 for each example, for `gap` order.
  std::span<const std::uint32_t> next_round(std::span<const float> priorities);

 private:
  void draw_by_priority(std::span<const float> priorities);
  void leave_due();
  void draw_leaving_settled(std::span<const float> priorities);

  Sampling sampling_;
  Settled settled_;
  std::size_t n_;
  Random random_;
  bool fresh_ = true;
  std::vector<std::uint32_t> round_;
  std::vector<float> due_;  // visits of each example, below 1 between two rounds
  // Where settled examples are left: scratch,
  std::vector<std::uint32_t> drawn_;
  std::vector<float> roots_;
  std::vector<std::uint8_t> settled_visits_;  // and how many consecutive times a visit found nothing
};

}  // namespace espalier
