// Inference on the forest of a sentence. With T and B for top and bottom nodes, w = exp s and chi for what an
// edge counts,
//   in(B) = w(label of B over the span) sum_{rule, split} w(rule) w(split) in(left T) in(right T)
//       (over one word: w(tag))
//   in(T) = [T may be B itself] in(B) + sum_{unary rules} w(rule) w(labels over the span) in(B)
//   Z = in(T of the sentence)
// (Baker 1979), in time and memory linear in the edges. Edges are not stored: they follow from the symbols
// over spans, and each call finds them first. Instead of outside sums the way back takes probabilities,
//   P(edge) = P(parent) (the edge's term of the parent's sum) / (the sum),
// which are never too large or, where they matter, too small for a double.
//
// Inside sums may be: in each cell (span) they are divided by a power of two, so that the largest is about 1.
// If nevertheless one of them comes near the ends of the range, logarithms take over for the sentence. So
// whatever is lost in a sum is nothing beside what is there.

#include "structures/cfg.h"

#include <algorithm>
#include <bit>
#include <cmath>

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

// The binary rules of a sentence by their children: a table of those symbols alone that are a left, or a
// right, child here.
class LocalRules {
 public:
  static constexpr std::uint16_t kNone = std::numeric_limits<std::uint16_t>::max();
  struct Child {
    std::uint16_t top, place;
  };
  struct Pair {
    std::uint16_t rule, left, right;
  };

  LocalRules(const Grammar& grammar, std::span<const std::uint32_t> rules, Workspace::Frame& frame)
      : left_(frame.take<std::uint16_t>(grammar.num_symbols)),
        right_(frame.take<std::uint16_t>(grammar.num_symbols)),
        rules_(frame.take<Rule>(rules.size())) {
    std::ranges::fill(left_, kNone);
    std::ranges::fill(right_, kNone);
    std::uint16_t lefts = 0, rights = 0;
    std::size_t binaries = 0;
    for (; binaries < rules.size() && rules[binaries] < grammar.binaries.size(); ++binaries) {
      const Grammar::Binary& rule = grammar.binaries[rules[binaries]];
      if (left_[rule.left] == kNone) left_[rule.left] = lefts++;
      if (right_[rule.right] == kNone) right_[rule.right] = rights++;
    }
    width_ = rights;
    first_ = frame.take<std::uint16_t>(std::size_t{lefts} * rights);
    std::ranges::fill(first_, kNone);
    for (std::size_t k = binaries; k-- > 0;) {
      const Grammar::Binary& rule = grammar.binaries[rules[k]];
      std::uint16_t& first = first_[left_[rule.left] * width_ + right_[rule.right]];
      rules_[k] = {rule.parent, first};
      first = static_cast<std::uint16_t>(k);
    }
  }
  // Where a symbol is as a left, and as a right, child; kNone: it is not.
  std::uint16_t left_place(std::uint32_t symbol) const { return left_[symbol]; }
  std::uint16_t right_place(std::uint32_t symbol) const { return right_[symbol]; }
  // The first rule with this left child and each right one, by their places.
  const std::uint16_t* row(const Child& left) const { return first_.data() + left.place * width_; }
  std::uint32_t parent(std::uint16_t rule) const { return rules_[rule].parent; }
  // Of the same children; kNone: there is no other.
  std::uint16_t next(std::uint16_t rule) const { return rules_[rule].next; }

 private:
  struct Rule {
    std::uint32_t parent;
    std::uint16_t next;
  };
  std::span<std::uint16_t> left_, right_, first_;
  std::span<Rule> rules_;
  std::size_t width_ = 0;
};

}  // namespace

Cfg::Forest Cfg::forest(Workspace::Frame& frame) const {
  const Grammar& grammar = index_->grammar();
  const std::size_t m = num_words_;
  Forest forest;
  forest.nodes = frame.take<Node>(cells_.size() + 1);
  forest.kinds = frame.take<SpanKind>(cells_.size());
  forest.blocks = frame.take<Block>(num_blocks_ + 1);
  forest.edges = frame.take<Edge>(num_edges_ + 1);  // one more is written, and not looked at
  forest.rule_statistics = frame.take<std::uint32_t>(index_->num_rules());
  for (std::uint32_t k = 0; k < rules_.size(); ++k) forest.rule_statistics[rules_[k]] = k;
  forest.split_statistics = frame.take<std::uint32_t>((m + 1) * (grammar.num_labels + 1));
  std::ranges::fill(forest.split_statistics, num_statistics_);
  for (std::size_t at = 0; at < num_splits_; ++at) {
    const Place of = split(at);
    for (std::uint32_t k = 0; k < of.labels.size(); ++k)
      forest.split_statistics[of.begin * (grammar.num_labels + 1) + of.labels[k]] = of.first + k;
  }

  const LocalRules rules(grammar, rules_, frame);
  // The nodes of spans by where they end, and of those that begin at a word the last one, before which others
  // come.
  const auto node_at = frame.take<std::uint32_t>(m * (m + 1) / 2), last = frame.take<std::uint32_t>(m),
             before = frame.take<std::uint32_t>(cells_.size());
  std::ranges::fill(node_at, kNone);
  std::ranges::fill(last, kNone);
  std::uint32_t bottoms = 0, tops = 0;
  auto label = static_cast<std::uint32_t>(rules_.size());
  std::size_t tagged = num_splits_, most_tops = 0;
  for (std::uint32_t c = 0; c < cells_.size(); ++c) {
    const std::uint32_t begin = cells_[c].begin, end = cells_[c].end;
    const SpanKind kind = forest.kinds[c] = (*kinds_)[cells_[c].kind];
    Node& node = forest.nodes[c] = {begin, end, bottoms, tops, 0, label, num_statistics_};
    bottoms += static_cast<std::uint32_t>(kind.bottoms.size());
    tops += static_cast<std::uint32_t>(kind.tops.size());
    label += static_cast<std::uint32_t>(kind.labels.size());
    most_tops = std::max(most_tops, kind.tops.size());
    if (node.is_word() && tagged + 1 < places_.size() && places_[tagged].position == begin)
      node.first_tag = places_[tagged++].first;
  }

  // The top nodes of each span that are left, and right, children of some rule.
  const auto lefts = frame.take<LocalRules::Child>(tops), rights = frame.take<LocalRules::Child>(tops);
  const auto left_ends = frame.take<std::uint32_t>(cells_.size()),
             right_ends = frame.take<std::uint32_t>(cells_.size());
  const auto pairs = frame.take<LocalRules::Pair>(most_tops * most_tops + 1);
  const auto bottom_of = frame.take<std::uint16_t>(grammar.num_symbols);
  std::ranges::fill(bottom_of, SpanKind::kNone);
  std::uint32_t blocks = 0, edges = 0;
  for (std::uint32_t c = 0; c < cells_.size(); ++c) {
    Node& node = forest.nodes[c];
    const SpanKind& kind = forest.kinds[c];
    node.first_block = blocks;
    const std::size_t of_end = std::size_t{node.end} * (node.end - 1) / 2;
    if (!node.is_word()) {
      for (std::size_t b = 0; b < kind.bottoms.size(); ++b)
        bottom_of[kind.bottoms[b].symbol] = static_cast<std::uint16_t>(b);
      for (std::uint32_t left = last[node.begin]; left != kNone; left = before[left]) {
        const std::uint32_t split = forest.nodes[left].end, right = node_at[of_end + split];
        if (right == kNone) continue;
        const std::uint32_t first = edges;
        const LocalRules::Child *const first_right = rights.data() + forest.nodes[right].first_top,
                                       *const last_right = rights.data() + right_ends[right];
        // What is hardly predictable is counted, not branched on.
        std::size_t found = 0;
        for (std::size_t l = forest.nodes[left].first_top; l < left_ends[left]; ++l) {
          const std::uint16_t* const row = rules.row(lefts[l]);
          for (const auto* r = first_right; r != last_right; ++r) {
            pairs[found] = {row[r->place], lefts[l].top, r->top};
            found += row[r->place] != LocalRules::kNone ? 1 : 0;
          }
        }
        for (const auto& pair : pairs.first(found)) {
          for (std::uint16_t k = pair.rule; k != LocalRules::kNone; k = rules.next(k)) {
            const std::uint16_t b = bottom_of[rules.parent(k)];
            forest.edges[edges] = {k, b, pair.left, pair.right};
            edges += b != SpanKind::kNone ? 1 : 0;
          }
        }
        if (edges > first) forest.blocks[blocks++] = {split, left, right, first};
      }
      for (const auto& bottom : kind.bottoms) bottom_of[bottom.symbol] = SpanKind::kNone;
    }
    std::uint32_t left_end = node.first_top, right_end = node.first_top;
    for (std::size_t t = 0; t < kind.tops.size(); ++t) {
      const std::uint16_t left = rules.left_place(kind.tops[t].symbol),
                          right = rules.right_place(kind.tops[t].symbol);
      const auto top = static_cast<std::uint16_t>(t);
      if (left != LocalRules::kNone) lefts[left_end++] = {top, left};
      if (right != LocalRules::kNone) rights[right_end++] = {top, right};
    }
    left_ends[c] = left_end;
    right_ends[c] = right_end;
    node_at[of_end + node.begin] = c;
    before[c] = last[node.begin];
    last[node.begin] = c;
  }
  ESPALIER_EXPECT(edges == num_edges_ && blocks == num_blocks_);
  forest.nodes.back() = {0, 0, bottoms, tops, blocks, label, num_statistics_};
  forest.blocks.back() = {0, 0, 0, edges};
  return forest;
}

const Cfg::Block& Cfg::Forest::block_of(std::size_t node, std::uint32_t edge) const {
  const auto all = blocks_of(node);
  return *(std::upper_bound(all.begin(), all.end(), edge,
                            [](std::uint32_t e, const Block& block) { return e < block.first_edge; }) -
           1);
}

template <class Real>
bool Cfg::scaled_marginals(const Forest& forest, std::span<const Real> s, std::span<Real> mu, double& log_z,
                           Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto w = frame.take<double>(num_statistics_ + 1), expected = frame.take<double>(num_statistics_ + 1);
  for (std::size_t k = 0; k < num_statistics_; ++k) {
    w[k] = std::exp(static_cast<double>(s[k]));
    if (!is_weight(w[k]) || (w[k] == 0 && s[k] > -std::numeric_limits<Real>::infinity())) return false;
  }
  w[num_statistics_] = 1;
  // Weights of splits, and their expected counts, at split_place().
  const auto of_splits = frame.take<double>(forest.split_statistics.size()),
             expected_splits = frame.take<double>(of_splits.size());
  for (std::size_t k = 0; k < of_splits.size(); ++k) of_splits[k] = w[forest.split_statistics[k]];
  std::size_t most_bottoms = 0;
  for (const SpanKind& kind : forest.kinds) most_bottoms = std::max(most_bottoms, kind.bottoms.size());
  const auto bottom = frame.take<double>(forest.num_bottoms()), top = frame.take<double>(forest.num_tops());
  const auto sums = frame.take<double>(forest.num_bottoms());  // of edges alone
  const auto of_block = frame.take<double>(most_bottoms), factor = frame.take<double>(most_bottoms);
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

  for (std::size_t c = 0; c < forest.num_nodes(); ++c) {
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
      std::fill_n(of_block.data(), num_bottoms, 0.0);
      for (const Edge& edge : forest.edges_of(block))
        of_block[edge.bottom] += w[edge.rule] * left[edge.left] * right[edge.right];
      for (std::size_t b = 0; b < num_bottoms; ++b)
        sum[b] += of_block[b] * (of_splits[split_place(block.split, kind.bottoms[b])] * scale);
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
  }
  log_z = std::log(top.back()) + exponents.back() * std::log(2.0);

  const auto p_bottom = frame.take<double>(most_bottoms), p_top = frame.take<double>(forest.num_tops());
  std::ranges::fill(p_top, 0.0);
  std::ranges::fill(expected, 0.0);
  std::ranges::fill(expected_splits, 0.0);
  p_top.back() = 1;
  for (std::size_t c = forest.num_nodes(); c-- > 0;) {
    const Node& node = forest.nodes[c];
    const SpanKind& kind = forest.kinds[c];
    const std::size_t num_bottoms = kind.bottoms.size();
    const double *const of_bottom = bottom.data() + node.first_bottom, *const sum =
                                                                           sums.data() + node.first_bottom;
    std::fill_n(p_bottom.data(), num_bottoms, 0.0);
    for (std::size_t t = 0; t < kind.tops.size(); ++t) {
      const double p = p_top[node.first_top + t];
      if (p == 0) continue;
      const double share = p / top[node.first_top + t];
      if (kind.tops[t].same != SpanKind::kNone)
        p_bottom[kind.tops[t].same] += share * of_bottom[kind.tops[t].same];
      const auto [first, end] = kind.unaries_of(t);
      for (std::size_t u = first; u < end; ++u) {
        const double p_unary = unary_weight(c, u) * of_bottom[kind.unaries[u].bottom] * share;
        p_bottom[kind.unaries[u].bottom] += p_unary;
        for_each_of_unary(forest, node, kind, u, [&](std::uint32_t k) { expected[k] += p_unary; });
      }
    }
    for (std::size_t b = 0; b < num_bottoms; ++b) expected[bottom_statistic(node, kind, b)] += p_bottom[b];
    const int unit = unit_of(c);
    for (const Block& block : forest.blocks_of(c)) {
      const std::size_t first_left = forest.nodes[block.left].first_top,
                        first_right = forest.nodes[block.right].first_top;
      const double *const left = top.data() + first_left, *const right = top.data() + first_right;
      double *const p_left = p_top.data() + first_left, *const p_right = p_top.data() + first_right;
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
        expected_splits[split_place(block.split, kind.bottoms[b])] += of_block[b];
    }
  }
  for (std::size_t k = 0; k < expected_splits.size(); ++k)
    expected[forest.split_statistics[k]] += expected_splits[k];
  for (std::size_t k = 0; k < num_statistics_; ++k) mu[k] = static_cast<Real>(expected[k]);
  return true;
}

template <class Real>
double Cfg::log_marginals(const Forest& forest, std::span<const Real> s, std::span<Real> mu,
                          Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto bottom = frame.take<double>(forest.num_bottoms()), top = frame.take<double>(forest.num_tops());
  const auto sums = frame.take<double>(forest.num_bottoms()),
             expected = frame.take<double>(num_statistics_ + 1);
  const auto highest = frame.take<double>(forest.num_bottoms());
  const auto unary_term = [&](std::size_t c, std::size_t u) {
    double sum = bottom[forest.nodes[c].first_bottom + forest.kinds[c].unaries[u].bottom];
    for_each_of_unary(forest, forest.nodes[c], forest.kinds[c], u,
                      [&](std::uint32_t k) { sum += score_at(s, k); });
    return sum;
  };
  const auto term = [&](const Block& block, const SpanKind& kind, const Edge& edge) {
    return score_at(s, edge.rule) +
           score_at(s, forest.split_statistics[split_place(block.split, kind.bottoms[edge.bottom])]) +
           top[forest.nodes[block.left].first_top + edge.left] +
           top[forest.nodes[block.right].first_top + edge.right];
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
        if (k < size) return unary_term(c, unaries.begin + k);
        return same == SpanKind::kNone ? kExcluded : bottom[node.first_bottom + same];
      });
    }
  }

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
        const double p_unary = p * std::exp(unary_term(c, u) - of_top);
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
        const double p = p_bottom[b] * std::exp(term(block, kind, edge) - sums[b]);
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

// Of each span the most that its own symbols have, whatever is below it: an edge more than there is does no
// harm here.
Cfg::Counts Cfg::most_counts(Workspace& ws) const {
  const GrammarIndex& index = *index_;
  Workspace::Frame frame(ws);
  const std::size_t m = num_words_;
  const auto node_at = frame.take<std::uint32_t>(m * (m + 1) / 2), last = frame.take<std::uint32_t>(m),
             before = frame.take<std::uint32_t>(cells_.size());
  const auto most = frame.take<Counts>(cells_.size());
  std::ranges::fill(node_at, kNone);
  std::ranges::fill(last, kNone);
  for (std::uint32_t c = 0; c < cells_.size(); ++c) {
    const std::uint32_t begin = cells_[c].begin, end = cells_[c].end;
    const SpanKind kind = (*kinds_)[cells_[c].kind];
    Counts own;
    for (const auto& bottom : kind.bottoms)
      own.labels = std::max<std::size_t>(own.labels, bottom.label == SpanKind::kNone ? 0 : 1);
    for (const auto& unary : kind.unaries) {
      const std::size_t labels = kind.bottoms[unary.bottom].label == SpanKind::kNone ? 0 : 1;
      own.labels = std::max(own.labels, labels + index.unary_labels(unary.rule).size());
      own.rules = 1;
    }
    Counts below;
    const std::uint32_t* with_end = node_at.data() + std::size_t{end} * (end - 1) / 2;
    for (std::uint32_t left = last[begin]; left != kNone; left = before[left]) {
      const std::uint32_t right = with_end[cells_[left].end];
      if (right == kNone) continue;
      below.rules = std::max(below.rules, most[left].rules + most[right].rules + 1);
      below.labels = std::max(below.labels, most[left].labels + most[right].labels);
    }
    most[c] = {own.rules + below.rules, own.labels + below.labels};
    node_at[std::size_t{end} * (end - 1) / 2 + begin] = c;
    before[c] = last[begin];
    last[begin] = c;
  }
  return most.back();
}

// Calls use(k) for each statistic; false where y is no derivation of this forest.
template <class Use>
bool Cfg::walk(const Derivation& y, const Use& use) const {
  const Grammar& grammar = index_->grammar();
  if (y.nodes.size() + 1 != 2 * num_words_) return false;
  std::vector<std::uint32_t> first_label{static_cast<std::uint32_t>(rules_.size())};
  for (const Cell& cell : cells_) {
    const auto labels = static_cast<std::uint32_t>((*kinds_)[cell.kind].labels.size());
    first_label.push_back(first_label.back() + labels);
  }
  // Finds a symbol, a label or a rule in a list that ascends.
  const auto find = [](const auto& list, const auto& value, const auto& of) {
    const auto place = std::lower_bound(list.begin(), list.end(), value,
                                        [&](const auto& one, const auto& other) { return of(one) < other; });
    return place != list.end() && of(*place) == value ? static_cast<std::size_t>(place - list.begin())
                                                      : std::size_t{kNone};
  };
  const auto itself = [](const auto& value) { return std::uint32_t{value}; };
  const auto symbol_of = [](const auto& node) { return node.symbol; };
  const auto use_rule = [&](std::uint32_t rule) {
    const std::size_t k = find(rules_, rule, itself);
    if (k == kNone) return false;
    use(k);
    return true;
  };
  const auto use_place = [&](std::size_t first, std::size_t last, std::uint32_t position,
                             std::uint32_t label) {
    for (std::size_t k = first; k < last; ++k) {
      if (places_[k].position != position) continue;
      const std::size_t slot = find(place(k).labels, label, itself);
      if (slot != kNone) use(places_[k].first + slot);
    }
  };

  std::vector<std::uint32_t> waiting{grammar.start};  // top symbols
  for (const Derivation::Node& node : y.nodes) {
    if (waiting.empty()) return false;
    const std::uint32_t top = waiting.back();
    waiting.pop_back();
    const auto cell = std::lower_bound(cells_.begin(), cells_.end(), node, [](const Cell& a, const auto& b) {
      return a.end != b.end ? a.end < b.end : a.begin > b.begin;
    });
    if (cell == cells_.end() || cell->begin != node.begin || cell->end != node.end) return false;
    const SpanKind kind = (*kinds_)[cell->kind];
    const std::uint32_t label = first_label[static_cast<std::size_t>(cell - cells_.begin())];
    const bool word = node.end - node.begin == 1;
    if (!word && (node.rule >= grammar.binaries.size() || node.split <= node.begin || node.split >= node.end))
      return false;
    const std::uint32_t symbol = word ? node.rule : grammar.binaries[node.rule].parent;
    const std::size_t b = find(kind.bottoms, symbol, symbol_of);
    if (b == kNone || find(kind.tops, top, symbol_of) == kNone) return false;
    if (node.unary == kNoRule) {
      if (symbol != top) return false;
    } else {
      if (node.unary >= grammar.unaries.size()) return false;
      const Grammar::Unary& unary = grammar.unaries[node.unary];
      if (unary.parent != top || unary.child != symbol) return false;
      if (!use_rule(static_cast<std::uint32_t>(grammar.binaries.size()) + node.unary)) return false;
      for (const std::uint32_t above : index_->unary_labels(node.unary))
        use(label + find(kind.labels, above, itself));
    }
    if (word) {
      use_place(num_splits_, places_.size() - 1, node.begin, symbol);
      continue;
    }
    if (kind.bottoms[b].slot != SpanKind::kNone) use(label + kind.bottoms[b].slot);
    if (!use_rule(node.rule)) return false;
    if (grammar.labels[symbol] != kNoLabel) use_place(0, num_splits_, node.split, grammar.labels[symbol]);
    waiting.push_back(grammar.binaries[node.rule].right);
    waiting.push_back(grammar.binaries[node.rule].left);
  }
  return waiting.empty();
}

bool Cfg::contains(const Derivation& y) const {
  return possible() && walk(y, [](std::size_t) {});
}

void Cfg::for_each_statistic(const Derivation& y, const std::function<void(std::size_t)>& use) const {
  const bool ours = walk(y, use);
  ESPALIER_EXPECT(ours);
  static_cast<void>(ours);
}

void Cfg::indicator(const Derivation& y, std::span<float> mu) const {
  std::ranges::fill(mu, 0.0f);
  for_each_statistic(y, [&](std::size_t k) { mu[k] += 1; });
}
void Cfg::indicator(const Derivation& y, std::span<double> mu) const {
  std::ranges::fill(mu, 0.0);
  for_each_statistic(y, [&](std::size_t k) { mu[k] += 1; });
}

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
