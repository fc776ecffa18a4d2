// The factor of one head: its own head, g, and its modifiers (Koo et al. 2010, grandparent and sibling
// automata). Given g, both sides are independent, and a side is a chain: modifiers j = 1, ..., k outward,
// with W_j = exp(score of the arc + grandparent part) and S_ij = exp(sibling part), i = 0 for none:
//
//   a_0 = 1,  a_j = W_j sum_{i < j} a_i S_ij            all up to j, which is one of them
//   b_i = 1 + sum_{j > i} S_ij W_j b_j                  all beyond i
//   c_ij = 1 + sum_{k > j} S_ik W_k b_k                 those of b_i that leave out j
//   Z = b_0,   Z p_j = a_j b_j,   Z (1 - p_j) = sum_{i < j} a_i c_ij
//
// so that odds come without a subtraction. Time is O(contexts k^2).

#include "structures/head_factors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "structures/arc_set.h"
#include "structures/log_scores.h"

namespace espalier {
namespace {

constexpr double kInfiniteOdds = std::numeric_limits<double>::infinity();
// Logarithms of what is summed as it is stay within this.
constexpr double kPlainRange = 250;

struct HeadProbabilities {
  static constexpr double kZero = 0, kOne = 1;
  static double weight(double score) { return std::exp(score); }
  static double times(double a, double b) { return a * b; }
  static void add(double& to, double term) { to += term; }
  static double logarithm(double value) { return std::log(value); }
};

struct HeadLogarithms {
  static constexpr double kZero = kExcluded, kOne = 0;
  static double weight(double score) { return score; }
  static double times(double a, double b) { return a + b; }
  static void add(double& to, double term) {
    const double high = std::max(to, term), low = std::min(to, term);
    to = low == kExcluded ? high : high + std::log1p(std::exp(low - high));
  }
  static double logarithm(double value) { return value; }
};

}  // namespace

HeadFactors::HeadFactors(std::size_t words, const TreeParts& parts, Workspace::Frame& frame) : words_(words) {
  heads_ = frame.take<Head>(words + 1);
  std::fill(heads_.begin(), heads_.end(), Head{});
  out_end_ = frame.take<std::uint32_t>(arc_matrix_size(words));
  const auto in_end = frame.take<std::uint32_t>(arc_matrix_size(words));
  const auto for_each_arc = [&](const auto& use) {
    for (const TreePart& part : parts.siblings) {
      if (part.third == part.head) use(part.head, part.modifier);
    }
  };
  for_each_arc([&](std::size_t h, std::size_t d) {
    ++heads_[h].sides[h < d ? 1 : 0].count;
    ++heads_[d].num_contexts;
  });
  std::uint32_t ends = 0, pairs = 0, below = 0;
  for (Head& head : heads_) {
    head.contexts = ends;
    ends += head.num_contexts;
    for (Side& side : head.sides) {
      side.first = ends;
      ends += side.count;
      side.siblings = pairs;
      pairs += (side.count + 1) * (side.count + 1);
    }
    head.grandparents = below;
    below += head.num_contexts * head.modifiers();
  }
  arcs_ = frame.take<std::uint32_t>(ends);
  const auto next_context = frame.take<std::uint32_t>(words + 1),
             next = frame.take<std::uint32_t>(2 * words + 2);
  for (std::size_t h = 0; h <= words; ++h) {
    next_context[h] = heads_[h].contexts;
    // The left ones come from the farthest to the nearest.
    next[2 * h] = heads_[h].sides[0].first + heads_[h].sides[0].count;
    next[2 * h + 1] = heads_[h].sides[1].first;
  }
  for_each_arc([&](std::size_t h, std::size_t d) {
    const auto arc = static_cast<std::uint32_t>(arc_matrix_index(words, h, d));
    out_end_[arc] = h < d ? next[2 * h + 1]++ : --next[2 * h];
    in_end[arc] = next_context[d]++;
    arcs_[out_end_[arc]] = arcs_[in_end[arc]] = arc;
  });

  sibling_parts_ = frame.take<std::uint32_t>(pairs);
  grandparent_parts_ = frame.take<std::uint32_t>(below);
  std::fill(sibling_parts_.begin(), sibling_parts_.end(), kNoPart);
  std::fill(grandparent_parts_.begin(), grandparent_parts_.end(), kNoPart);
  std::uint32_t part_number = 0;
  for (const TreePart& part : parts.siblings) {
    const Side& side = heads_[part.head].sides[part.head < part.modifier ? 1 : 0];
    const auto number = [&](std::size_t d) {
      return out_end_[arc_matrix_index(words, part.head, d)] - side.first + 1;
    };
    const std::size_t before = part.third == part.head ? 0 : number(part.third);
    sibling_parts_[side.pair(before, number(part.modifier))] = part_number++;
  }
  for (const TreePart& part : parts.grandparents) {
    const Head& head = heads_[part.head];
    const std::size_t context = in_end[arc_matrix_index(words, part.third, part.head)] - head.contexts;
    const std::size_t modifier =
        out_end_[arc_matrix_index(words, part.head, part.modifier)] - head.sides[0].first;
    grandparent_parts_[head.grandparents + context * head.modifiers() + modifier] = part_number++;
  }
  siblings_ = frame.take<double>(pairs);
  exp_siblings_ = frame.take<double>(pairs);
  grandparents_ = frame.take<double>(below);
  exp_grandparents_ = frame.take<double>(below);
  highest_ = frame.take<double>(ends);
  lowest_ = frame.take<double>(ends);
}

void HeadFactors::set_scores(std::span<const double> part_s, double scale) {
  // Where there is no part, the head is its modifier's modifier.
  const auto fill = [&](std::span<const std::uint32_t> parts, std::span<double> scores,
                        std::span<double> exponentials) {
    for (std::size_t k = 0; k < parts.size(); ++k) {
      scores[k] = parts[k] == kNoPart ? kExcluded : scale * part_s[parts[k]];
      exponentials[k] = std::exp(scores[k]);
    }
  };
  fill(sibling_parts_, siblings_, exp_siblings_);
  fill(grandparent_parts_, grandparents_, exp_grandparents_);
  std::fill(highest_.begin(), highest_.end(), 0.0);
  std::fill(lowest_.begin(), lowest_.end(), 0.0);
  for (const Head& head : heads_) {
    for (const Side& side : head.sides) {
      for (std::size_t j = 1; j <= side.count; ++j) {
        const std::size_t end = side.first + j - 1;
        double high = kExcluded, low = -kExcluded;
        const auto look = [&](double x) {
          high = std::max(high, x);
          if (x > kExcluded) low = std::min(low, x);
        };
        for (std::size_t i = 0; i < j; ++i) look(siblings_[side.pair(i, j)]);
        highest_[end] = high;
        lowest_[end] = low;
        if (head.num_contexts == 0) continue;
        high = kExcluded;
        low = 0;
        for (std::size_t c = 0; c < head.num_contexts; ++c)
          look(grandparents_[head.grandparents + c * head.modifiers() + end - head.sides[0].first]);
        highest_[end] += std::max(high, 0.0);
        lowest_[end] += low;
      }
    }
  }
}

// Whether all that is summed, and all that counts in it, is a double.
bool HeadFactors::fits_probabilities(const Head& head, std::span<const double> in) const {
  double high = 0, low = 0, lowest_arc = 0;
  for (std::size_t c = 0; c < head.num_contexts; ++c) {
    const double x = in[head.contexts + c];
    if (std::isinf(x)) continue;
    high = std::max(high, x);
    lowest_arc = std::min(lowest_arc, x);
  }
  low = lowest_arc;
  lowest_arc = 0;
  for (std::size_t end = head.sides[0].first; end < head.sides[0].first + head.modifiers(); ++end) {
    const double x = in[end];
    if (x == kExcluded) {
      // What its weight of 0 is multiplied with has to be finite.
      if (highest_[end] > kPlainRange || lowest_[end] < -kPlainRange) return false;
      continue;
    }
    if (x == kInfiniteOdds) {
      high += std::max(highest_[end], 0.0);
      low += std::min(lowest_[end], 0.0);
    } else {
      high += std::max(highest_[end] + x, 0.0);
      lowest_arc = std::min(lowest_arc, lowest_[end] + x);
    }
  }
  return high < kPlainRange && low + lowest_arc > -kPlainRange;
}

// The sums of one head.
template <class Semiring>
class HeadFactors::Sum {
 public:
  Sum(const HeadFactors& of, const Head& head, std::span<const double> in, Workspace& ws)
      : frame_(ws), of_(of), head_(head), in_(in) {
    const std::size_t n = head.modifiers();
    plain_ = std::is_same_v<Semiring, HeadProbabilities>;
    s_ = (plain_ ? of.exp_siblings_ : of.siblings_).data();
    g_ = (plain_ ? of.exp_grandparents_ : of.grandparents_).data() + head.grandparents;
    x_ = frame_.template take<double>(n);
    forced_ = frame_.template take<std::uint8_t>(n);
    w_ = frame_.template take<double>(n);
    forward_ = frame_.template take<double>(n + 2);
    backward_ = frame_.template take<double>(n + 2);
    absent_ = frame_.template take<double>(n);
    has_ = frame_.template take<double>(n);
    lacks_ = frame_.template take<double>(n);
    contexts_ = frame_.template take<double>(std::max<std::size_t>(head.num_contexts, 1));
    for (std::size_t c = 0; c < head.num_contexts; ++c) {
      if (in[head.contexts + c] == kInfiniteOdds) forced_context_ = c;
    }
    for (std::size_t j = 0; j < n; ++j) {
      const double x = in[head.sides[0].first + j];
      forced_[j] = x == kInfiniteOdds;
      x_[j] = forced_[j] ? Semiring::kOne : Semiring::weight(x);
    }
  }

  double run(std::span<double> out) {
    std::fill(has_.begin(), has_.end(), Semiring::kZero);
    std::fill(lacks_.begin(), lacks_.end(), Semiring::kZero);
    double z = Semiring::kZero;
    for (std::size_t c = 0; c < contexts_.size(); ++c) {
      contexts_[c] = Semiring::kZero;
      const double of_context = set_context(c);
      if (of_context == Semiring::kZero) continue;
      const double left = sum(head_.sides[0]), right = sum(head_.sides[1]);
      contexts_[c] = times(of_context, times(left, right));
      Semiring::add(z, contexts_[c]);
      collect(head_.sides[0], times(of_context, right));
      collect(head_.sides[1], times(of_context, left));
    }
    for (std::size_t j = 0; j < head_.modifiers(); ++j)
      out[head_.sides[0].first + j] = odds(has_[j], lacks_[j]);
    // One of the others, before or after
    double before = Semiring::kZero;
    for (std::size_t c = 0; c < head_.num_contexts; ++c) {
      double others = before;
      for (std::size_t k = c + 1; k < head_.num_contexts; ++k) Semiring::add(others, contexts_[k]);
      out[head_.contexts + c] = odds(contexts_[c], others);
      Semiring::add(before, contexts_[c]);
    }
    z_ = z;
    return Semiring::logarithm(z);
  }

  // After run().
  void part_marginals(std::span<double> part_mu) {
    const std::size_t n = head_.modifiers();
    for (std::size_t c = 0; c < contexts_.size(); ++c) {
      const double of_context = set_context(c);
      if (of_context == Semiring::kZero) continue;
      const double left = sum(head_.sides[0]), right = sum(head_.sides[1]);
      for (const Side& side : head_.sides) {
        const std::size_t at = offset(side);
        const double outside = times(of_context, &side == &head_.sides[0] ? right : left);
        for (std::size_t j = 1; j <= side.count; ++j) {
          for (std::size_t i = j; i-- > 0;) {
            const double both =
                times(times(forward(side, i), s_[side.pair(i, j)]), times(w_[at + j - 1], backward(side, j)));
            part_mu[of_.sibling_parts_[side.pair(i, j)]] += probability(times(outside, both));
            if (i > 0 && forced_[at + i - 1]) break;
          }
          const std::uint32_t part = head_.num_contexts > 0
                                         ? of_.grandparent_parts_[head_.grandparents + c * n + at + j - 1]
                                         : kNoPart;
          if (part == kNoPart) continue;
          part_mu[part] += probability(times(outside, times(forward(side, j), backward(side, j))));
        }
      }
    }
  }

 private:
  static double times(double a, double b) { return Semiring::times(a, b); }
  static double odds(double yes, double no) {
    if (yes == Semiring::kZero) return kExcluded;
    if (no == Semiring::kZero) return kInfiniteOdds;
    return Semiring::logarithm(yes) - Semiring::logarithm(no);
  }
  double probability(double x) const { return plain_ ? x / z_ : std::exp(x - z_); }
  std::size_t offset(const Side& side) const { return side.first - head_.sides[0].first; }
  // Of both sides, one after the other; number 0 is the head.
  double& forward(const Side& side, std::size_t j) {
    return forward_[offset(side) + (&side == &head_.sides[1] ? 1 : 0) + j];
  }
  double& backward(const Side& side, std::size_t j) {
    return backward_[offset(side) + (&side == &head_.sides[1] ? 1 : 0) + j];
  }

  // W of all modifiers; the weight of the context itself.
  double set_context(std::size_t c) {
    if (head_.num_contexts == 0) {
      std::copy(x_.begin(), x_.end(), w_.begin());
      return Semiring::kOne;
    }
    const double score = in_[head_.contexts + c];
    if (forced_context_ && *forced_context_ != c) return Semiring::kZero;
    const double* row = g_ + c * head_.modifiers();
    for (std::size_t j = 0; j < x_.size(); ++j) w_[j] = times(x_[j], row[j]);
    return score == kInfiniteOdds ? Semiring::kOne : Semiring::weight(score);
  }

  double sum(const Side& side) {
    const std::size_t k = side.count, at = offset(side);
    forward(side, 0) = Semiring::kOne;
    for (std::size_t j = 1; j <= k; ++j) {
      double all = Semiring::kZero;
      for (std::size_t i = j; i-- > 0;) {
        Semiring::add(all, times(forward(side, i), s_[side.pair(i, j)]));
        if (i > 0 && forced_[at + i - 1]) break;
      }
      forward(side, j) = times(all, w_[at + j - 1]);
      absent_[at + j - 1] = Semiring::kZero;
    }
    std::size_t last = k;  // what follows i is at most that
    bool may_end = true;
    for (std::size_t i = k + 1; i-- > 0;) {
      double beyond = may_end ? Semiring::kOne : Semiring::kZero;
      for (std::size_t j = last; j > i; --j) {
        if (!forced_[at + j - 1]) Semiring::add(absent_[at + j - 1], times(forward(side, i), beyond));
        Semiring::add(beyond, times(s_[side.pair(i, j)], times(w_[at + j - 1], backward(side, j))));
      }
      backward(side, i) = beyond;
      if (i > 0 && forced_[at + i - 1]) {
        last = i;
        may_end = false;
      }
    }
    return backward(side, 0);
  }

  void collect(const Side& side, double outside) {
    const std::size_t at = offset(side);
    for (std::size_t j = 1; j <= side.count; ++j) {
      Semiring::add(has_[at + j - 1], times(outside, times(forward(side, j), backward(side, j))));
      Semiring::add(lacks_[at + j - 1], times(outside, absent_[at + j - 1]));
    }
  }

  Workspace::Frame frame_;
  const HeadFactors& of_;
  const Head& head_;
  std::span<const double> in_;
  bool plain_;
  const double *s_, *g_;
  std::span<double> x_, w_, forward_, backward_, absent_, has_, lacks_, contexts_;
  std::span<std::uint8_t> forced_;
  std::optional<std::size_t> forced_context_;
  double z_ = 0;
};

double HeadFactors::log_partition(std::span<const double> in, std::span<double> out,
                                  std::span<double> part_mu, Workspace& ws) const {
  std::fill(part_mu.begin(), part_mu.end(), 0.0);
  double log_z = 0;
  for (const Head& head : heads_) {
    const auto run = [&](auto&& sum) {
      log_z += sum.run(out);
      if (!part_mu.empty()) sum.part_marginals(part_mu);
    };
    if (fits_probabilities(head, in)) {
      run(Sum<HeadProbabilities>(*this, head, in, ws));
    } else {
      run(Sum<HeadLogarithms>(*this, head, in, ws));
    }
  }
  return log_z;
}

double HeadFactors::best(std::span<const double> in, std::span<std::uint8_t> chosen, Workspace& ws) const {
  std::fill(chosen.begin(), chosen.end(), std::uint8_t{0});
  double total = 0;
  for (const Head& head : heads_) {
    Workspace::Frame frame(ws);
    const std::size_t n = head.modifiers();
    const auto value = frame.take<double>(n + 1);
    const auto from = frame.take<std::uint32_t>(n + 1), best_from = frame.take<std::uint32_t>(n + 1);
    double highest = kExcluded;
    std::size_t best_context = 0, best_last[2] = {0, 0};
    for (std::size_t c = 0; c < std::max<std::size_t>(head.num_contexts, 1); ++c) {
      double of_context = head.num_contexts > 0 ? in[head.contexts + c] : 0;
      if (of_context == kExcluded) continue;
      std::size_t last[2];
      for (const std::size_t k : {0u, 1u}) {
        const Side& side = head.sides[k];
        const std::size_t at = side.first - head.sides[0].first;
        double best_end = 0;
        last[k] = 0;
        for (std::size_t j = 1; j <= side.count; ++j) {
          double high = kExcluded;
          for (std::size_t i = 0; i < j; ++i) {
            const double x = (i == 0 ? 0 : value[at + i - 1]) + siblings_[side.pair(i, j)];
            if (x > high || i == 0) {
              high = x;
              from[at + j - 1] = static_cast<std::uint32_t>(i);
            }
          }
          const double below =
              head.num_contexts > 0 ? grandparents_[head.grandparents + c * n + at + j - 1] : 0;
          value[at + j - 1] = high + in[side.first + j - 1] + below;
          if (value[at + j - 1] > best_end) {
            best_end = value[at + j - 1];
            last[k] = j;
          }
        }
        of_context += best_end;
      }
      if (of_context > highest) {
        highest = of_context;
        best_context = c;
        std::copy(last, last + 2, best_last);
        std::copy(from.begin(), from.end(), best_from.begin());
      }
    }
    total += highest;
    if (highest == kExcluded) continue;
    if (head.num_contexts > 0) chosen[head.contexts + best_context] = 1;
    for (const std::size_t k : {0u, 1u}) {
      const Side& side = head.sides[k];
      for (std::size_t j = best_last[k]; j > 0; j = best_from[side.first - head.sides[0].first + j - 1])
        chosen[side.first + j - 1] = 1;
    }
  }
  return total;
}

double HeadFactors::score(std::span<const std::uint32_t> heads) const {
  double total = 0;
  for (std::size_t h = 0; h <= words_; ++h) {
    const Head& head = heads_[h];
    const std::size_t n = head.modifiers();
    std::size_t context = 0;
    while (context < head.num_contexts &&
           arcs_[head.contexts + context] != arc_matrix_index(words_, heads[h - 1], h))
      ++context;
    for (const Side& side : head.sides) {
      std::size_t before = 0;
      for (std::size_t j = 1; j <= side.count; ++j) {
        const std::size_t d = arcs_[side.first + j - 1] / (words_ + 1);
        if (heads[d - 1] != h) continue;
        total += siblings_[side.pair(before, j)];
        if (head.num_contexts > 0)
          total += grandparents_[head.grandparents + context * n + side.first - head.sides[0].first + j - 1];
        before = j;
      }
    }
  }
  return total;
}

}  // namespace espalier
