// Inference on the forest of a sentence. With T and B for top and bottom nodes, w = exp s and chi for what an
// edge counts,
//   in(B) = w(label of B over the span) sum_{rule, split} w(rule) w(split) in(left T) in(right T)
//       (over one word: w(tag))
//   in(T) = [T may be B itself] in(B) + sum_{unary rules} w(rule) w(labels over the span) in(B)
//   Z = in(T of the sentence)
// (Baker 1979), in time and memory linear in the edges. Instead of outside sums the way back takes
// probabilities,
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
constexpr double kSmallest = 1e-240, kLargest = 1e240, kLightest = 1e-250, kHeaviest = 1e50;

bool in_range(double x) { return x >= kSmallest && x <= kLargest; }
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

template <class Real>
bool Cfg::scaled_marginals(std::span<const Real> s, std::span<Real> mu, double& log_z, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto w = frame.take<double>(num_statistics_ + 1), expected = frame.take<double>(num_statistics_ + 1);
  for (std::size_t k = 0; k < num_statistics_; ++k) {
    w[k] = std::exp(static_cast<double>(s[k]));
    if (!is_weight(w[k]) || (w[k] == 0 && s[k] > -std::numeric_limits<Real>::infinity())) return false;
  }
  w[num_statistics_] = 1;
  std::size_t most_factors = 0;
  for (std::size_t c = 0; c < num_cells(); ++c) {
    most_factors = std::max<std::size_t>(most_factors, cells_[c + 1].first_factor - cells_[c].first_factor);
  }
  const auto bottom = frame.take<double>(num_bottoms()), top = frame.take<double>(num_tops());
  const auto sums = frame.take<double>(num_bottoms());  // of edges alone
  const auto factor = frame.take<double>(most_factors), used = frame.take<double>(most_factors);
  // The first top nodes of the cells that a factor is between.
  const auto left = frame.take<std::uint32_t>(most_factors), right = frame.take<std::uint32_t>(most_factors);
  const auto exponents = frame.take<int>(num_cells());  // in(c) = 2^exponents[c] times what is stored

  // Sums over edges are in units of the largest 2^(left + right) of a cell.
  const auto set_factors = [&](std::size_t c) {
    const std::size_t first = cells_[c].first_factor, size = cells_[c + 1].first_factor - first;
    int unit = size > 0 ? std::numeric_limits<int>::min() : 0;
    for (std::size_t f = first; f < first + size; ++f) {
      unit = std::max(unit, exponents[factors_[f].left_cell] + exponents[factors_[f].right_cell]);
    }
    for (std::size_t f = 0; f < size; ++f) {
      const Factor& of = factors_[first + f];
      const int exponent = exponents[of.left_cell] + exponents[of.right_cell] - unit;
      factor[f] = w[of.statistic] * power_of_two(exponent);
      left[f] = cells_[of.left_cell].first_top;
      right[f] = cells_[of.right_cell].first_top;
    }
    return unit;
  };
  const auto term = [&](const Edge& edge) {
    return (w[edge.rule] * factor[edge.factor]) * top[left[edge.factor] + edge.left] *
           top[right[edge.factor] + edge.right];
  };
  // No number, so that the sum over it is out of range, where the product is no weight.
  const auto unary_weight = [&](std::size_t u) {
    double product = 1;
    for (std::size_t k = unary_edges_[u].first_statistic; k < unary_edges_[u + 1].first_statistic; ++k) {
      product *= w[unary_statistics_[k]];
      if (!is_weight(product)) return std::numeric_limits<double>::quiet_NaN();
    }
    return product;
  };

  for (std::size_t c = 0; c < num_cells(); ++c) {
    const Cell &cell = cells_[c], &after = cells_[c + 1];
    const int unit = set_factors(c);
    const bool word = cell.end - cell.begin == 1;
    for (std::size_t b = cell.first_bottom; b < after.first_bottom; ++b) {
      double sum = word ? 1 : 0;
      for (std::size_t e = bottoms_[b].first_edge; e < bottoms_[b + 1].first_edge; ++e)
        sum += term(edges_[e]);
      sums[b] = sum;
      bottom[b] = sum * w[bottoms_[b].statistic];
      if (!in_range(sum) || !in_range(bottom[b])) return false;
    }
    double largest = 0;
    for (std::size_t t = cell.first_top; t < after.first_top; ++t) {
      double sum = tops_[t].same == kNone ? 0 : bottom[tops_[t].same];
      for (std::size_t u = tops_[t].first_unary; u < tops_[t + 1].first_unary; ++u) {
        sum += unary_weight(u) * bottom[unary_edges_[u].bottom];
      }
      top[t] = sum;
      if (!in_range(sum)) return false;
      largest = std::max(largest, sum);
    }
    const int exponent = std::ilogb(largest);
    exponents[c] = unit + exponent;
    const double scale = power_of_two(-exponent);
    for (std::size_t b = cell.first_bottom; b < after.first_bottom; ++b) {
      bottom[b] *= scale;
      if (!in_range(bottom[b])) return false;
    }
    for (std::size_t t = cell.first_top; t < after.first_top; ++t) {
      top[t] *= scale;
      if (!in_range(top[t])) return false;
    }
  }
  log_z = std::log(top.back()) + exponents.back() * std::log(2.0);

  // From here on bottom and top have inside sums until their node is visited, and `p_...` their
  // probabilities.
  const auto p_bottom = frame.take<double>(num_bottoms()), p_top = frame.take<double>(num_tops());
  std::ranges::fill(p_bottom, 0.0);
  std::ranges::fill(p_top, 0.0);
  std::ranges::fill(expected, 0.0);
  p_top.back() = 1;
  for (std::size_t c = num_cells(); c-- > 0;) {
    const Cell &cell = cells_[c], &after = cells_[c + 1];
    for (std::size_t t = cell.first_top; t < after.first_top; ++t) {
      if (p_top[t] == 0) continue;
      const double share = p_top[t] / top[t];
      if (tops_[t].same != kNone) p_bottom[tops_[t].same] += share * bottom[tops_[t].same];
      for (std::size_t u = tops_[t].first_unary; u < tops_[t + 1].first_unary; ++u) {
        const double p = unary_weight(u) * bottom[unary_edges_[u].bottom] * share;
        p_bottom[unary_edges_[u].bottom] += p;
        for (std::size_t k = unary_edges_[u].first_statistic; k < unary_edges_[u + 1].first_statistic; ++k) {
          expected[unary_statistics_[k]] += p;
        }
      }
    }
    set_factors(c);
    const std::size_t num_factors = after.first_factor - cell.first_factor;
    std::fill_n(used.begin(), num_factors, 0.0);
    for (std::size_t b = cell.first_bottom; b < after.first_bottom; ++b) {
      expected[bottoms_[b].statistic] += p_bottom[b];
      if (p_bottom[b] == 0) continue;
      const double share = p_bottom[b] / sums[b];
      for (std::size_t e = bottoms_[b].first_edge; e < bottoms_[b + 1].first_edge; ++e) {
        const Edge& edge = edges_[e];
        const double p = term(edge) * share;
        expected[edge.rule] += p;
        used[edge.factor] += p;
        p_top[left[edge.factor] + edge.left] += p;
        p_top[right[edge.factor] + edge.right] += p;
      }
    }
    for (std::size_t f = 0; f < num_factors; ++f)
      expected[factors_[cell.first_factor + f].statistic] += used[f];
  }
  for (std::size_t k = 0; k < num_statistics_; ++k) mu[k] = static_cast<Real>(expected[k]);
  return true;
}

template <class Real>
double Cfg::log_marginals(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto bottom = frame.take<double>(num_bottoms()), top = frame.take<double>(num_tops());
  const auto sums = frame.take<double>(num_bottoms()), expected = frame.take<double>(num_statistics_ + 1);
  const auto unary_term = [&](std::size_t u) {
    double sum = bottom[unary_edges_[u].bottom];
    for (std::size_t k = unary_edges_[u].first_statistic; k < unary_edges_[u + 1].first_statistic; ++k) {
      sum += score_at(s, unary_statistics_[k]);
    }
    return sum;
  };
  for (std::size_t c = 0; c < num_cells(); ++c) {
    const Cell &cell = cells_[c], &after = cells_[c + 1];
    for (std::size_t b = cell.first_bottom; b < after.first_bottom; ++b) {
      const std::size_t first = bottoms_[b].first_edge, size = bottoms_[b + 1].first_edge - first;
      sums[b] = size == 0 ? 0 : log_sum(size, [&](std::size_t k) {
        const Edge& edge = edges_[first + k];
        return score_at(s, edge.rule) + score_at(s, factors_[cell.first_factor + edge.factor].statistic) +
               top[left_of(cell, edge)] + top[right_of(cell, edge)];
      });
      bottom[b] = sums[b] + score_at(s, bottoms_[b].statistic);
    }
    for (std::size_t t = cell.first_top; t < after.first_top; ++t) {
      const std::size_t first = tops_[t].first_unary, size = tops_[t + 1].first_unary - first;
      const std::uint32_t same = tops_[t].same;
      top[t] = log_sum(size + 1, [&](std::size_t k) {
        if (k < size) return unary_term(first + k);
        return same == kNone ? kExcluded : bottom[same];
      });
    }
  }

  const auto p_bottom = frame.take<double>(num_bottoms()), p_top = frame.take<double>(num_tops());
  std::ranges::fill(p_bottom, 0.0);
  std::ranges::fill(p_top, 0.0);
  std::ranges::fill(expected, 0.0);
  p_top.back() = top.back() > kExcluded ? 1 : 0;
  for (std::size_t c = num_cells(); c-- > 0;) {
    const Cell &cell = cells_[c], &after = cells_[c + 1];
    for (std::size_t t = cell.first_top; t < after.first_top; ++t) {
      if (p_top[t] == 0) continue;
      const std::uint32_t same = tops_[t].same;
      if (same != kNone) p_bottom[same] += p_top[t] * std::exp(bottom[same] - top[t]);
      for (std::size_t u = tops_[t].first_unary; u < tops_[t + 1].first_unary; ++u) {
        const double p = p_top[t] * std::exp(unary_term(u) - top[t]);
        p_bottom[unary_edges_[u].bottom] += p;
        for (std::size_t k = unary_edges_[u].first_statistic; k < unary_edges_[u + 1].first_statistic; ++k) {
          expected[unary_statistics_[k]] += p;
        }
      }
    }
    for (std::size_t b = cell.first_bottom; b < after.first_bottom; ++b) {
      if (p_bottom[b] == 0) continue;
      expected[bottoms_[b].statistic] += p_bottom[b];
      for (std::size_t e = bottoms_[b].first_edge; e < bottoms_[b + 1].first_edge; ++e) {
        const Edge& edge = edges_[e];
        const std::size_t split = factors_[cell.first_factor + edge.factor].statistic;
        const std::size_t left = left_of(cell, edge), right = right_of(cell, edge);
        const double p = p_bottom[b] * std::exp(score_at(s, edge.rule) + score_at(s, split) + top[left] +
                                                top[right] - sums[b]);
        expected[edge.rule] += p;
        expected[split] += p;
        p_top[left] += p;
        p_top[right] += p;
      }
    }
  }
  for (std::size_t k = 0; k < num_statistics_; ++k) mu[k] = static_cast<Real>(expected[k]);
  return top.back();
}

template <class Real>
double Cfg::log_partition_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const {
  ESPALIER_EXPECT(possible() && s.size() == num_statistics_ && mu.size() == s.size());
  double log_z = 0;
  if (scaled_marginals(s, mu, log_z, ws)) return log_z;
  return log_marginals(s, mu, ws);
}

double Cfg::log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const {
  return log_partition_of(s, mu, ws);
}
double Cfg::log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  return log_partition_of(s, mu, ws);
}
double Cfg::log_partition_reference(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  return log_marginals(s, mu, ws);
}

Cfg::Best Cfg::take_best(Workspace::Frame& frame) const {
  return {frame.take<double>(num_bottoms()), frame.take<double>(num_tops()),
          frame.take<std::uint32_t>(num_bottoms()), frame.take<std::uint32_t>(num_tops())};
}

// The recurrences above with a maximum in place of each sum (CKY).
template <class Real>
double Cfg::best_of(std::span<const Real> s, const Best& best) const {
  ESPALIER_EXPECT(possible() && s.size() == num_statistics_);
  for (std::size_t c = 0; c < num_cells(); ++c) {
    const Cell &cell = cells_[c], &after = cells_[c + 1];
    for (std::size_t b = cell.first_bottom; b < after.first_bottom; ++b) {
      const std::size_t first = bottoms_[b].first_edge, last = bottoms_[b + 1].first_edge;
      double highest = first == last ? 0 : kExcluded;
      std::size_t taken = first;
      for (std::size_t e = first; e < last; ++e) {
        const Edge& edge = edges_[e];
        const double score = score_at(s, edge.rule) +
                             score_at(s, factors_[cell.first_factor + edge.factor].statistic) +
                             best.tops[left_of(cell, edge)] + best.tops[right_of(cell, edge)];
        if (score > highest) {
          highest = score;
          taken = e;
        }
      }
      best.bottoms[b] = highest + score_at(s, bottoms_[b].statistic);
      best.edges[b] = static_cast<std::uint32_t>(taken);
    }
    for (std::size_t t = cell.first_top; t < after.first_top; ++t) {
      const bool may_be_same = tops_[t].same != kNone;
      double highest = may_be_same ? best.bottoms[tops_[t].same] : kExcluded;
      std::uint32_t taken = may_be_same ? kNone : tops_[t].first_unary;
      for (std::uint32_t u = tops_[t].first_unary; u < tops_[t + 1].first_unary; ++u) {
        double score = best.bottoms[unary_edges_[u].bottom];
        for (std::size_t k = unary_edges_[u].first_statistic; k < unary_edges_[u + 1].first_statistic; ++k) {
          score += score_at(s, unary_statistics_[k]);
        }
        if (score > highest) {
          highest = score;
          taken = u;
        }
      }
      best.tops[t] = highest;
      best.unaries[t] = taken;
    }
  }
  return best.tops.back();
}

void Cfg::append_nodes(const Best& best, std::size_t top, std::size_t c, Derivation& to) const {
  const std::uint32_t u = best.unaries[top];
  const std::uint32_t b = u == kNone ? tops_[top].same : unary_edges_[u].bottom;
  const std::uint32_t unary = u == kNone ? kNoRule : unary_edges_[u].unary;
  const Cell& cell = cells_[c];
  if (cell.end - cell.begin == 1) {
    to.nodes.push_back({cell.begin, cell.begin, cell.end, bottoms_[b].symbol, unary});
    return;
  }
  const Edge& edge = edges_[best.edges[b]];
  const Factor& factor = factors_[cell.first_factor + edge.factor];
  to.nodes.push_back({cell.begin, cells_[factor.left_cell].end, cell.end, rules_[edge.rule], unary});
  append_nodes(best, left_of(cell, edge), factor.left_cell, to);
  append_nodes(best, right_of(cell, edge), factor.right_cell, to);
}

Derivation Cfg::derivation_of(const Best& best) const {
  Derivation y;
  y.nodes.reserve(2 * num_words_ - 1);
  append_nodes(best, num_tops() - 1, num_cells() - 1, y);
  return y;
}

template <class Real>
double Cfg::argmax_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const Best best = take_best(frame);
  const double score = best_of(s, best);
  std::ranges::fill(mu, Real{0});
  const auto count = [&](std::size_t k) {
    if (k < num_statistics_) mu[k] += 1;
  };
  struct Waiting {
    std::size_t top, cell;
  };
  const auto waiting = frame.take<Waiting>(num_words_ + 1);
  std::size_t size = 0;
  waiting[size++] = {num_tops() - 1, num_cells() - 1};
  while (size > 0) {
    const Waiting next = waiting[--size];
    const std::uint32_t u = best.unaries[next.top];
    const std::uint32_t b = u == kNone ? tops_[next.top].same : unary_edges_[u].bottom;
    if (u != kNone) {
      for (std::size_t k = unary_edges_[u].first_statistic; k < unary_edges_[u + 1].first_statistic; ++k) {
        count(unary_statistics_[k]);
      }
    }
    count(bottoms_[b].statistic);
    const Cell& cell = cells_[next.cell];
    if (cell.end - cell.begin == 1) continue;
    const Edge& edge = edges_[best.edges[b]];
    const Factor& factor = factors_[cell.first_factor + edge.factor];
    count(edge.rule);
    count(factor.statistic);
    waiting[size++] = {right_of(cell, edge), factor.right_cell};
    waiting[size++] = {left_of(cell, edge), factor.left_cell};
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
  const Best best = take_best(frame);
  best_of(s, best);
  return derivation_of(best);
}

Derivation Cfg::decode(std::span<const float> s, Workspace& ws) const { return decode_of(s, ws); }
Derivation Cfg::decode(std::span<const double> s, Workspace& ws) const { return decode_of(s, ws); }

// Calls use(k) for each statistic; false where y is no derivation of this forest.
template <class Use>
bool Cfg::walk(const Derivation& y, const Use& use) const {
  const Grammar& grammar = index_->grammar();
  if (y.nodes.size() + 1 != 2 * num_words_) return false;
  struct Waiting {
    std::size_t top, cell;
  };
  std::vector<Waiting> waiting{{num_tops() - 1, num_cells() - 1}};
  for (const Derivation::Node& node : y.nodes) {
    if (waiting.empty()) return false;
    const Waiting at = waiting.back();
    waiting.pop_back();
    const Cell& cell = cells_[at.cell];
    if (node.begin != cell.begin || node.end != cell.end) return false;
    const bool word = cell.end - cell.begin == 1;
    if (!word && node.rule >= grammar.binaries.size()) return false;

    std::uint32_t b = tops_[at.top].same;
    if (node.unary != kNoRule) {
      const auto first = unary_edges_.begin() + tops_[at.top].first_unary,
                 last = unary_edges_.begin() + tops_[at.top + 1].first_unary;
      const auto found =
          std::find_if(first, last, [&](const UnaryEdge& edge) { return edge.unary == node.unary; });
      if (found == last) return false;
      b = found->bottom;
      for (std::size_t k = found->first_statistic; k < (found + 1)->first_statistic; ++k)
        use(unary_statistics_[k]);
    }
    const std::uint32_t symbol = word ? node.rule : grammar.binaries[node.rule].parent;
    if (b == kNone || bottoms_[b].symbol != symbol) return false;
    if (bottoms_[b].statistic < num_statistics_) use(bottoms_[b].statistic);
    if (word) continue;
    const auto first = edges_.begin() + bottoms_[b].first_edge,
               last = edges_.begin() + bottoms_[b + 1].first_edge;
    const auto found = std::find_if(first, last, [&](const Edge& edge) {
      return rules_[edge.rule] == node.rule &&
             cells_[factors_[cell.first_factor + edge.factor].left_cell].end == node.split;
    });
    if (found == last) return false;
    const Factor& factor = factors_[cell.first_factor + found->factor];
    use(found->rule);
    if (factor.statistic < num_statistics_) use(factor.statistic);
    waiting.push_back({right_of(cell, *found), factor.right_cell});
    waiting.push_back({left_of(cell, *found), factor.left_cell});
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
