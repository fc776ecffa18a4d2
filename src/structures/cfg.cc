// Inference on the forest of a sentence. With T and B for top and bottom nodes, w = exp s and chi for what an
// edge counts,
//   in(B) = w(label of B over the span) sum_{rule, split} w(rule) w(split) in(left T) in(right T)
//       (over one word: w(tag))
//   in(T) = [T may be B itself] in(B) + sum_{unary rules} w(rule) w(labels over the span) in(B)
//   Z = in(T of the sentence)
// (Baker 1979), in time and memory linear in the edges. Edges are not stored: each call
// finds them first (cfg_forest.cc). Instead of outside sums the way back takes probabilities,
//   P(edge) = P(parent) (the edge's term of the parent's sum) / (the sum),
// which are never too large or, where they matter, too small for a double.
//
// Inside sums may be: in each cell (span) they are divided by a power of two, so that the largest is about 1.
// If nevertheless one of them comes near the ends of the range, logarithms take over for the sentence. So
// whatever is lost in a sum is nothing beside what is there.

#include "structures/cfg.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>

#include "base/helping.h"
#include "espalier/base/error.h"
#include "structures/log_scores.h"

namespace espalier {
namespace {

// The fast way takes sums and weights of these ranges (or 0). What underflows on the way, below 1e-308, meets
// one more weight and inside sums of at most 2, so that it stays below 1e-257: nothing beside a sum. Exact
// weights may be light, not heavy.
constexpr double kSmallestInside = 1e-240, kLargestInside = 1e240, kLightest = 1e-250, kHeaviest = 1e50;

bool in_range(double x) { return x >= kSmallestInside && x <= kLargestInside; }
bool is_weight(double x) { return x == 0 || (x >= kLightest && x <= kHeaviest); }

// 2^exponent; 0 where that is too small.
double power_of_two(int exponent) {
  if (exponent < -1022) return 0;
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// What is no score is 0, and 0 (-infinity) is 0.
template <class Real>
double score_at(std::span<const Real> s, std::size_t k) {
  return k < s.size() ? static_cast<double>(s[k]) : 0;
}

}  // namespace

Cfg::Levels Cfg::take_levels(const Forest& forest, Workspace::Frame& frame) const {
  const std::size_t n = forest.num_nodes();
  const Levels levels{frame.take<std::uint32_t>(n), frame.take<std::size_t>(num_words_ + 2),
                      frame.take<std::size_t>(n + 1)};
  const auto length = [&](std::size_t c) { return forest.nodes[c].end - forest.nodes[c].begin; };
  std::ranges::fill(levels.ends, std::size_t{0});
  for (std::size_t c = 0; c < n; ++c) ++levels.ends[length(c) + 1];
  for (std::size_t k = 1; k < levels.ends.size(); ++k) levels.ends[k] += levels.ends[k - 1];
  for (std::size_t c = 0; c < n; ++c) levels.order[levels.ends[length(c)]++] = static_cast<std::uint32_t>(c);
  levels.edges[0] = 0;
  for (std::size_t k = 0; k < n; ++k)
    levels.edges[k + 1] = levels.edges[k] + forest.num_edges_of(levels.order[k]);
  return levels;
}

// Calls use(part, spans, ws) with parts of the spans of a length that have about as many edges as each other.
template <class Use>
void Cfg::in_parts_of_level(const Levels& levels, std::size_t length, std::size_t most_parts, Workspace& ws,
                            const Use& use) {
  constexpr std::size_t kEdgesOfPart = 2048;
  const std::size_t begin = levels.ends[length - 1], end = levels.ends[length];
  const auto edges = levels.edges.subspan(begin, end - begin + 1);
  const std::size_t all = edges.back() - edges.front();
  const std::size_t parts = std::clamp<std::size_t>(all / kEdgesOfPart, 1, most_parts);
  // The first span of a part.
  const auto begin_of = [&](std::size_t part) {
    if (part == parts) return end;
    return begin + static_cast<std::size_t>(std::ranges::lower_bound(edges.first(end - begin),
                                                                     edges.front() + all * part / parts) -
                                            edges.begin());
  };
  in_parts(ws, parts, [&](std::size_t part, Workspace& own) {
    const std::size_t first = begin_of(part);
    use(part, std::span<const std::uint32_t>(levels.order).subspan(first, begin_of(part + 1) - first), own);
  });
}

template <class Real>
bool Cfg::scaled_marginals(const Forest& forest, std::span<const Real> s, std::span<Real> mu, double& log_z,
                           Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto w = frame.take<double>(num_statistics_ + 1);
  for (std::size_t k = 0; k < num_statistics_; ++k) {
    w[k] = std::exp(static_cast<double>(s[k]));
    if (!is_weight(w[k]) || (w[k] == 0 && s[k] > -std::numeric_limits<Real>::infinity())) return false;
  }
  w[num_statistics_] = 1;
  const auto of_splits = frame.take<double>(forest.split_statistics.size());  // weights, at split_place()
  for (std::size_t k = 0; k < of_splits.size(); ++k) of_splits[k] = w[forest.split_statistics[k]];
  std::size_t most_bottoms = 0;
  for (const SpanKind& kind : forest.kinds) most_bottoms = std::max(most_bottoms, kind.bottoms.size());
  const auto bottom = frame.take<double>(forest.num_bottoms()), top = frame.take<double>(forest.num_tops());
  const auto sums = frame.take<double>(forest.num_bottoms());  // of edges alone
  const auto exponents = frame.take<int>(forest.num_nodes());  // in(c) = 2^exponents[c] times what is stored

  // Sums over edges are in units of the largest 2^(left + right) of a span.
  const auto unit_of = [&](std::size_t c) {
    int unit = forest.nodes[c].is_word() ? 0 : std::numeric_limits<int>::min();
    for (const Block& block : forest.blocks_of(c))
      unit = std::max(unit, exponents[block.left] + exponents[block.right]);
    return unit;
  };
  const auto scale_of = [&](const Block& block, int unit) {
    return power_of_two(exponents[block.left] + exponents[block.right] - unit);
  };
  // No number, so that the sum over it is out of range, where the product is no weight.
  const auto unary_weight = [&](std::size_t c, std::size_t u) {
    double product = 1;
    for_each_of_unary(forest, forest.nodes[c], forest.kinds[c], u, [&](std::uint32_t k) {
      product *= w[k];
      if (!is_weight(product)) product = std::numeric_limits<double>::quiet_NaN();
    });
    return product;
  };

  // False where a sum is out of range.
  const auto set_inside = [&](std::size_t c, std::span<double> of_edges) {
    const Node& node = forest.nodes[c];
    const SpanKind& kind = forest.kinds[c];
    const std::size_t num_bottoms = kind.bottoms.size();
    double *const of_bottom = bottom.data() + node.first_bottom, *const of_top = top.data() + node.first_top,
                  *const sum = sums.data() + node.first_bottom;
    const int unit = unit_of(c);
    std::fill_n(sum, num_bottoms, node.is_word() ? 1.0 : 0.0);
    for (const Block& block : forest.blocks_of(c)) {
      const double *const left = top.data() + forest.nodes[block.left].first_top,
                          *const right = top.data() + forest.nodes[block.right].first_top;
      const double scale = scale_of(block, unit);
      std::fill_n(of_edges.data(), num_bottoms, 0.0);
      for (const Edge& edge : forest.edges_of(block))
        of_edges[edge.bottom] += w[edge.rule] * left[edge.left] * right[edge.right];
      for (std::size_t b = 0; b < num_bottoms; ++b)
        sum[b] += of_edges[b] * (of_splits[split_place(block.split, kind.bottoms[b])] * scale);
    }
    for (std::size_t b = 0; b < num_bottoms; ++b) {
      of_bottom[b] = sum[b] * w[bottom_statistic(node, kind, b)];
      if (!in_range(sum[b]) || !in_range(of_bottom[b])) return false;
    }
    double largest = 0;
    for (std::size_t t = 0; t < kind.tops.size(); ++t) {
      double total = kind.tops[t].same == SpanKind::kNone ? 0 : of_bottom[kind.tops[t].same];
      const auto [first, end] = kind.unaries_of(t);
      for (std::size_t u = first; u < end; ++u)
        total += unary_weight(c, u) * of_bottom[kind.unaries[u].bottom];
      of_top[t] = total;
      if (!in_range(total)) return false;
      largest = std::max(largest, total);
    }
    const int exponent = std::ilogb(largest);
    exponents[c] = unit + exponent;
    const double scale = power_of_two(-exponent);
    for (std::size_t b = 0; b < num_bottoms; ++b) {
      of_bottom[b] *= scale;
      if (!in_range(of_bottom[b])) return false;
    }
    for (std::size_t t = 0; t < kind.tops.size(); ++t) {
      of_top[t] *= scale;
      if (!in_range(of_top[t])) return false;
    }
    return true;
  };
  // Where others may help, spans that are equally long go in parts.
  constexpr std::size_t kWorthHelp = 8192, kMostParts = 64;  // edges, and parts of a length
  const bool shared = ws.shared_work() && num_edges_ >= kWorthHelp;
  const Levels levels = shared ? take_levels(forest, frame) : Levels{};
  if (shared) {
    std::atomic<bool> in_range{true};
    for (std::size_t length = 1; length <= num_words_ && in_range; ++length) {
      in_parts_of_level(levels, length, kMostParts, ws,
                        [&](std::size_t, std::span<const std::uint32_t> spans, Workspace& own) {
                          Workspace::Frame of_part(own);
                          const auto of_edges = of_part.take<double>(most_bottoms);
                          for (const std::uint32_t c : spans) {
                            if (!set_inside(c, of_edges)) in_range = false;
                          }
                        });
    }
    if (!in_range) return false;
  } else {
    const auto of_edges = frame.take<double>(most_bottoms);
    for (std::size_t c = 0; c < forest.num_nodes(); ++c) {
      if (!set_inside(c, of_edges)) return false;
    }
  }
  log_z = std::log(top.back()) + exponents.back() * std::log(2.0);

  // Spans of a part have sums of their own, which are added up where they are needed.
  struct Outside {
    std::span<double> p_top, expected, splits;  // the latter at split_place()
  };
  constexpr std::size_t kHands = 4;
  std::array<Outside, kHands> memory;
  const auto hands = std::span(memory).first(shared ? kHands : 1);
  for (Outside& hand : hands) {
    hand = {frame.take<double>(forest.num_tops()), frame.take<double>(num_statistics_ + 1),
            frame.take<double>(of_splits.size())};
    for (const auto values : {hand.p_top, hand.expected, hand.splits}) std::ranges::fill(values, 0.0);
  }
  memory.front().p_top.back() = 1;
  const auto pass_down = [&](std::size_t c, const Outside& to, Workspace& own) {
    Workspace::Frame of_span(own);
    const auto p_bottom = of_span.take<double>(most_bottoms), of_block = of_span.take<double>(most_bottoms),
               factor = of_span.take<double>(most_bottoms);
    const Node& node = forest.nodes[c];
    const SpanKind& kind = forest.kinds[c];
    const std::size_t num_bottoms = kind.bottoms.size();
    const double *const of_bottom = bottom.data() + node.first_bottom, *const sum =
                                                                           sums.data() + node.first_bottom;
    std::fill_n(p_bottom.data(), num_bottoms, 0.0);
    for (std::size_t t = 0; t < kind.tops.size(); ++t) {
      double p = 0;
      for (const Outside& hand : hands) p += hand.p_top[node.first_top + t];
      if (p == 0) continue;
      const double share = p / top[node.first_top + t];
      if (kind.tops[t].same != SpanKind::kNone)
        p_bottom[kind.tops[t].same] += share * of_bottom[kind.tops[t].same];
      const auto [first, end] = kind.unaries_of(t);
      for (std::size_t u = first; u < end; ++u) {
        const double p_unary = unary_weight(c, u) * of_bottom[kind.unaries[u].bottom] * share;
        p_bottom[kind.unaries[u].bottom] += p_unary;
        for_each_of_unary(forest, node, kind, u, [&](std::uint32_t k) { to.expected[k] += p_unary; });
      }
    }
    for (std::size_t b = 0; b < num_bottoms; ++b) to.expected[bottom_statistic(node, kind, b)] += p_bottom[b];
    const int unit = unit_of(c);
    for (const Block& block : forest.blocks_of(c)) {
      const std::size_t first_left = forest.nodes[block.left].first_top,
                        first_right = forest.nodes[block.right].first_top;
      const double *const left = top.data() + first_left, *const right = top.data() + first_right;
      double *const p_left = to.p_top.data() + first_left, *const p_right = to.p_top.data() + first_right,
                    *const expected = to.expected.data();
      const double scale = scale_of(block, unit);
      for (std::size_t b = 0; b < num_bottoms; ++b) {
        factor[b] = p_bottom[b] / sum[b] * (of_splits[split_place(block.split, kind.bottoms[b])] * scale);
        of_block[b] = 0;
      }
      for (const Edge& edge : forest.edges_of(block)) {
        const double p = w[edge.rule] * left[edge.left] * right[edge.right] * factor[edge.bottom];
        expected[edge.rule] += p;
        of_block[edge.bottom] += p;
        p_left[edge.left] += p;
        p_right[edge.right] += p;
      }
      for (std::size_t b = 0; b < num_bottoms; ++b)
        to.splits[split_place(block.split, kind.bottoms[b])] += of_block[b];
    }
  };
  if (shared) {
    for (std::size_t length = num_words_; length > 0; --length) {
      in_parts_of_level(levels, length, kHands, ws,
                        [&](std::size_t part, std::span<const std::uint32_t> spans, Workspace& own) {
                          for (const std::uint32_t c : spans) pass_down(c, hands[part], own);
                        });
    }
  } else {
    for (std::size_t c = forest.num_nodes(); c-- > 0;) pass_down(c, memory.front(), ws);
  }
  const auto& [p_top, expected, splits] = memory.front();
  for (const Outside& hand : hands.subspan(1)) {
    for (std::size_t k = 0; k < expected.size(); ++k) expected[k] += hand.expected[k];
    for (std::size_t k = 0; k < splits.size(); ++k) splits[k] += hand.splits[k];
  }
  for (std::size_t k = 0; k < splits.size(); ++k) expected[forest.split_statistics[k]] += splits[k];
  for (std::size_t k = 0; k < num_statistics_; ++k) mu[k] = static_cast<Real>(expected[k]);
  return true;
}

Cfg::Inside Cfg::take_inside(const Forest& forest, Workspace::Frame& frame) {
  return {frame.take<double>(forest.num_bottoms()), frame.take<double>(forest.num_tops()),
          frame.take<double>(forest.num_bottoms())};
}

template <class Real>
double Cfg::unary_term(const Forest& forest, std::span<const Real> s, const Inside& in, std::size_t c,
                       std::size_t u) const {
  double sum = in.bottom[forest.nodes[c].first_bottom + forest.kinds[c].unaries[u].bottom];
  for_each_of_unary(forest, forest.nodes[c], forest.kinds[c], u,
                    [&](std::uint32_t k) { sum += score_at(s, k); });
  return sum;
}
template double Cfg::unary_term(const Forest&, std::span<const double>, const Inside&, std::size_t,
                                std::size_t) const;

template <class Real>
double Cfg::edge_term(const Forest& forest, std::span<const Real> s, const Inside& in, const Block& block,
                      const SpanKind& kind, const Edge& edge) const {
  return score_at(s, edge.rule) +
         score_at(s, forest.split_statistics[split_place(block.split, kind.bottoms[edge.bottom])]) +
         in.top[forest.nodes[block.left].first_top + edge.left] +
         in.top[forest.nodes[block.right].first_top + edge.right];
}
template double Cfg::edge_term(const Forest&, std::span<const double>, const Inside&, const Block&,
                               const SpanKind&, const Edge&) const;

template <class Real>
void Cfg::log_inside(const Forest& forest, std::span<const Real> s, const Inside& in, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto &bottom = in.bottom, &top = in.top, &sums = in.sums;
  const auto highest = frame.take<double>(forest.num_bottoms());
  const auto term = [&](const Block& block, const SpanKind& kind, const Edge& edge) {
    return edge_term(forest, s, in, block, kind, edge);
  };
  for (std::size_t c = 0; c < forest.num_nodes(); ++c) {
    const Node& node = forest.nodes[c];
    const SpanKind& kind = forest.kinds[c];
    const auto of_node = [&](std::span<double> values) {
      return values.subspan(node.first_bottom, kind.bottoms.size());
    };
    const auto sum = of_node(sums), most = of_node(highest);
    std::ranges::fill(sum, 0.0);
    std::ranges::fill(most, node.is_word() ? 0.0 : kExcluded);
    for (const Block& block : forest.blocks_of(c)) {
      for (const Edge& edge : forest.edges_of(block))
        most[edge.bottom] = std::max(most[edge.bottom], term(block, kind, edge));
    }
    for (const Block& block : forest.blocks_of(c)) {
      for (const Edge& edge : forest.edges_of(block)) {
        if (most[edge.bottom] > kExcluded)
          sum[edge.bottom] += std::exp(term(block, kind, edge) - most[edge.bottom]);
      }
    }
    for (std::size_t b = 0; b < kind.bottoms.size(); ++b) {
      if (!node.is_word()) sum[b] = most[b] > kExcluded ? most[b] + std::log(sum[b]) : kExcluded;
      bottom[node.first_bottom + b] = sum[b] + score_at(s, bottom_statistic(node, kind, b));
    }
    for (std::size_t t = 0; t < kind.tops.size(); ++t) {
      const auto unaries = kind.unaries_of(t);
      const std::size_t size = unaries.end - unaries.begin;
      const std::uint16_t same = kind.tops[t].same;
      top[node.first_top + t] = log_sum(size + 1, [&](std::size_t k) {
        if (k < size) return unary_term(forest, s, in, c, unaries.begin + k);
        return same == SpanKind::kNone ? kExcluded : bottom[node.first_bottom + same];
      });
    }
  }
}
template void Cfg::log_inside(const Forest&, std::span<const double>, const Inside&, Workspace&) const;

template <class Real>
double Cfg::log_marginals(const Forest& forest, std::span<const Real> s, std::span<Real> mu,
                          Workspace& ws) const {
  Workspace::Frame frame(ws);
  const Inside in = take_inside(forest, frame);
  log_inside(forest, s, in, ws);
  const auto &bottom = in.bottom, &top = in.top, &sums = in.sums;
  const auto expected = frame.take<double>(num_statistics_ + 1);
  const auto p_bottom = frame.take<double>(forest.num_bottoms()),
             p_top = frame.take<double>(forest.num_tops());
  std::ranges::fill(p_bottom, 0.0);
  std::ranges::fill(p_top, 0.0);
  std::ranges::fill(expected, 0.0);
  p_top.back() = top.back() > kExcluded ? 1 : 0;
  for (std::size_t c = forest.num_nodes(); c-- > 0;) {
    const Node& node = forest.nodes[c];
    const SpanKind& kind = forest.kinds[c];
    for (std::size_t t = 0; t < kind.tops.size(); ++t) {
      const double p = p_top[node.first_top + t], of_top = top[node.first_top + t];
      if (p == 0) continue;
      const std::uint16_t same = kind.tops[t].same;
      if (same != SpanKind::kNone)
        p_bottom[node.first_bottom + same] += p * std::exp(bottom[node.first_bottom + same] - of_top);
      const auto [first, end] = kind.unaries_of(t);
      for (std::size_t u = first; u < end; ++u) {
        const double p_unary = p * std::exp(unary_term(forest, s, in, c, u) - of_top);
        p_bottom[node.first_bottom + kind.unaries[u].bottom] += p_unary;
        for_each_of_unary(forest, node, kind, u, [&](std::uint32_t k) { expected[k] += p_unary; });
      }
    }
    for (std::size_t b = 0; b < kind.bottoms.size(); ++b)
      expected[bottom_statistic(node, kind, b)] += p_bottom[node.first_bottom + b];
    for (const Block& block : forest.blocks_of(c)) {
      for (const Edge& edge : forest.edges_of(block)) {
        const std::size_t b = node.first_bottom + edge.bottom;
        if (p_bottom[b] == 0) continue;
        const double p = p_bottom[b] * std::exp(edge_term(forest, s, in, block, kind, edge) - sums[b]);
        expected[edge.rule] += p;
        expected[forest.split_statistics[split_place(block.split, kind.bottoms[edge.bottom])]] += p;
        p_top[forest.nodes[block.left].first_top + edge.left] += p;
        p_top[forest.nodes[block.right].first_top + edge.right] += p;
      }
    }
  }
  for (std::size_t k = 0; k < num_statistics_; ++k) mu[k] = static_cast<Real>(expected[k]);
  return top.back();
}

template <class Real>
double Cfg::log_partition_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const {
  ESPALIER_EXPECT(possible() && s.size() == num_statistics_ && mu.size() == s.size());
  Workspace::Frame frame(ws);
  const Forest edges = forest(frame);
  double log_z = 0;
  if (scaled_marginals(edges, s, mu, log_z, ws)) return log_z;
  return log_marginals(edges, s, mu, ws);
}

double Cfg::log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const {
  return log_partition_of(s, mu, ws);
}
double Cfg::log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  return log_partition_of(s, mu, ws);
}
double Cfg::log_partition_reference(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  Workspace::Frame frame(ws);
  return log_marginals(forest(frame), s, mu, ws);
}

double Cfg::entropy(std::span<const double> s, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto mu = frame.take<double>(num_statistics_);
  double sum = log_partition(s, mu, ws);
  for (std::size_t k = 0; k < mu.size(); ++k) sum -= mu[k] > 0 ? mu[k] * s[k] : 0;
  return sum;
}

Cfg::Best Cfg::take_best(const Forest& forest, Workspace::Frame& frame) {
  return {frame.take<double>(forest.num_bottoms()), frame.take<double>(forest.num_tops()),
          frame.take<std::uint32_t>(forest.num_bottoms()), frame.take<std::uint32_t>(forest.num_tops())};
}

// The recurrences above with a maximum in place of each sum (CKY).
template <class Real>
double Cfg::best_of(const Forest& forest, std::span<const Real> s, const Best& best) const {
  ESPALIER_EXPECT(possible() && s.size() == num_statistics_);
  for (std::size_t c = 0; c < forest.num_nodes(); ++c) {
    const Node& node = forest.nodes[c];
    const SpanKind& kind = forest.kinds[c];
    const auto bottoms = best.bottoms.subspan(node.first_bottom, kind.bottoms.size());
    const auto taken = best.edges.subspan(node.first_bottom, kind.bottoms.size());
    std::ranges::fill(bottoms, node.is_word() ? 0.0 : kExcluded);
    std::ranges::fill(taken, kNone);
    for (const Block& block : forest.blocks_of(c)) {
      const double *const left = best.tops.data() + forest.nodes[block.left].first_top,
                          *const right = best.tops.data() + forest.nodes[block.right].first_top;
      for (const Edge& edge : forest.edges_of(block)) {
        const std::size_t split = split_place(block.split, kind.bottoms[edge.bottom]);
        const double score = score_at(s, edge.rule) + score_at(s, forest.split_statistics[split]) +
                             left[edge.left] + right[edge.right];
        if (score > bottoms[edge.bottom] || taken[edge.bottom] == kNone) {
          bottoms[edge.bottom] = score;
          taken[edge.bottom] = static_cast<std::uint32_t>(&edge - forest.edges.data());
        }
      }
    }
    for (std::size_t b = 0; b < kind.bottoms.size(); ++b)
      bottoms[b] += score_at(s, bottom_statistic(node, kind, b));
    for (std::size_t t = 0; t < kind.tops.size(); ++t) {
      const bool may_be_same = kind.tops[t].same != SpanKind::kNone;
      const auto [first, end] = kind.unaries_of(t);
      double highest = may_be_same ? bottoms[kind.tops[t].same] : kExcluded;
      std::uint32_t unary = may_be_same ? kNone : static_cast<std::uint32_t>(first);
      for (std::size_t u = first; u < end; ++u) {
        double score = bottoms[kind.unaries[u].bottom];
        for_each_of_unary(forest, node, kind, u, [&](std::uint32_t k) { score += score_at(s, k); });
        if (score > highest) {
          highest = score;
          unary = static_cast<std::uint32_t>(u);
        }
      }
      best.tops[node.first_top + t] = highest;
      best.unaries[node.first_top + t] = unary;
    }
  }
  return best.tops.back();
}

void Cfg::append_nodes(const Forest& forest, const Best& best, std::size_t top, std::size_t c,
                       Derivation& to) const {
  const Node& node = forest.nodes[c];
  const SpanKind& kind = forest.kinds[c];
  const std::uint32_t u = best.unaries[node.first_top + top];
  const std::size_t b = u == kNone ? kind.tops[top].same : kind.unaries[u].bottom;
  const std::uint32_t unary = u == kNone ? kNoRule : kind.unaries[u].rule;
  if (node.is_word()) {
    to.nodes.push_back({node.begin, node.begin, node.end, kind.bottoms[b].symbol, unary});
    return;
  }
  const std::uint32_t e = best.edges[node.first_bottom + b];
  const Edge& edge = forest.edges[e];
  const Block& block = forest.block_of(c, e);
  to.nodes.push_back({node.begin, block.split, node.end, rules_[edge.rule], unary});
  append_nodes(forest, best, edge.left, block.left, to);
  append_nodes(forest, best, edge.right, block.right, to);
}

template <class Real>
double Cfg::argmax_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const Forest edges = forest(frame);
  const Best best = take_best(edges, frame);
  const double score = best_of(edges, s, best);
  std::ranges::fill(mu, Real{0});
  const auto count = [&](std::size_t k) {
    if (k < num_statistics_) mu[k] += 1;
  };
  struct Waiting {
    std::size_t top, node;
  };
  const auto waiting = frame.take<Waiting>(num_words_ + 1);
  std::size_t size = 0;
  waiting[size++] = {0, edges.num_nodes() - 1};
  while (size > 0) {
    const Waiting next = waiting[--size];
    const Node& node = edges.nodes[next.node];
    const SpanKind& kind = edges.kinds[next.node];
    const std::uint32_t u = best.unaries[node.first_top + next.top];
    const std::size_t b = u == kNone ? kind.tops[next.top].same : kind.unaries[u].bottom;
    if (u != kNone) for_each_of_unary(edges, node, kind, u, count);
    count(bottom_statistic(node, kind, b));
    if (node.is_word()) continue;
    const std::uint32_t e = best.edges[node.first_bottom + b];
    const Edge& edge = edges.edges[e];
    const Block& block = edges.block_of(next.node, e);
    count(edge.rule);
    count(edges.split_statistics[split_place(block.split, kind.bottoms[b])]);
    waiting[size++] = {edge.right, block.right};
    waiting[size++] = {edge.left, block.left};
  }
  return score;
}

double Cfg::argmax(std::span<const float> s, std::span<float> mu, Workspace& ws) const {
  return argmax_of(s, mu, ws);
}
double Cfg::argmax(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  return argmax_of(s, mu, ws);
}

template <class Real>
Derivation Cfg::decode_of(std::span<const Real> s, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const Forest edges = forest(frame);
  const Best best = take_best(edges, frame);
  best_of(edges, s, best);
  Derivation y;
  y.nodes.reserve(2 * num_words_ - 1);
  append_nodes(edges, best, 0, edges.num_nodes() - 1, y);
  return y;
}

Derivation Cfg::decode(std::span<const float> s, Workspace& ws) const { return decode_of(s, ws); }
Derivation Cfg::decode(std::span<const double> s, Workspace& ws) const { return decode_of(s, ws); }

void Cfg::centre(std::span<const float> mu, std::span<float> d) const {
  double mean = 0;
  for (std::size_t k = 0; k < d.size(); ++k) mean += static_cast<double>(mu[k]) * d[k];
  if (num_words_ == 1) {
    for (std::size_t k = 0; k < num_tagged(); ++k) {
      const Place word = tagged(k);
      for (std::size_t a = 0; a < word.labels.size(); ++a) d[word.first + a] -= static_cast<float>(mean);
    }
    return;
  }
  const auto shift = static_cast<float>(mean / static_cast<double>(num_words_ - 1));
  const std::size_t num_binaries = index_->grammar().binaries.size();
  for (std::size_t k = 0; k < rules_.size() && rules_[k] < num_binaries; ++k) d[k] -= shift;
}

}  // namespace espalier
