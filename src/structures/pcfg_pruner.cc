// A probabilistic grammar whose symbols are tags, labels and the start symbol: P(y) is the product over its
// nodes of P(unary rule, or none | top symbol) P(binary rule | bottom symbol). Inside sums and, back from the
// sentence to its parts, probabilities of symbols over spans, as in cfg.cc; but here nothing is known yet of
// what can occur, and what hardly does may be lost.

#include "structures/pcfg_pruner.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "espalier/base/error.h"

namespace espalier {
namespace {

// A word's share of the probability of a sentence is about 1 / kOfWord: values of spans of all lengths are
// then of about one size.
constexpr double kOfWord = 150;
// What is this much less likely than the threshold is passed on to nobody.
constexpr double kBelowThreshold = 0.03;

std::size_t cell_index(std::size_t begin, std::size_t end) { return end * (end - 1) / 2 + begin; }

}  // namespace

PcfgPruner::PcfgPruner(const Grammar& grammar, std::span<const Binary> binaries,
                       std::span<const Unary> unaries)
    : num_symbols_(grammar.num_symbols),
      num_tags_(grammar.num_tags),
      // tags, labels, the start symbol, and all others
      num_coarse_(grammar.num_tags + grammar.num_labels + 2),
      start_(num_coarse_ - 2),
      coarse_(grammar.num_symbols),
      binaries_(binaries.begin(), binaries.end()),
      unaries_(unaries.begin(), unaries.end()) {
  for (std::uint32_t a = 0; a < num_symbols_; ++a) {
    coarse_[a] = a < num_tags_                   ? a
                 : a == grammar.start            ? start_
                 : grammar.labels[a] == kNoLabel ? num_coarse_ - 1
                                                 : num_tags_ + grammar.labels[a];
  }
  index();
}

PcfgPruner::PcfgPruner(const Grammar& grammar, std::span<const Derivation> derivations)
    : PcfgPruner(grammar, std::span<const Binary>(), std::span<const Unary>()) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, double> binaries;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> unaries;
  std::vector<double> tops(num_coarse_), bottoms(num_coarse_);
  for (const Derivation& derivation : derivations) {
    for (const Derivation::Node& node : derivation.nodes) {
      const bool word = node.end - node.begin == 1;
      std::uint32_t bottom = node.rule;
      if (!word) {
        const Grammar::Binary& rule = grammar.binaries[node.rule];
        bottom = coarse_[rule.parent];
        ++binaries[{bottom, coarse_[rule.left], coarse_[rule.right]}];
        ++bottoms[bottom];
      }
      std::uint32_t top = bottom;
      if (node.unary != kNoRule) {
        top = coarse_[grammar.unaries[node.unary].parent];
        ++unaries[{top, bottom}];
      }
      ++tops[top];
    }
  }
  for (const auto& [rule, count] : binaries) {
    const auto [parent, left, right] = rule;
    binaries_.push_back({parent, left, right, count / bottoms[parent]});
  }
  for (const auto& [rule, count] : unaries)
    unaries_.push_back({rule.first, rule.second, count / tops[rule.first]});
  index();
}

void PcfgPruner::index() {
  ESPALIER_EXPECT(std::is_sorted(binaries_.begin(), binaries_.end(),
                                 [](const Binary& a, const Binary& b) { return a.parent < b.parent; }));
  same_.assign(num_coarse_, 1);
  for (const Unary& rule : unaries_) same_[rule.parent] -= rule.probability;
  for (double& p : same_) p = std::max(p, 1e-6);  // what was never seen without a unary rule
  first_binary_.assign(num_coarse_ + 1, 0);
  first_above_.assign(num_coarse_ + 1, 0);
  for (const Binary& rule : binaries_) {
    ++first_binary_[rule.parent + 1];
    ++first_above_[rule.left + 1];
  }
  for (std::size_t a = 0; a < num_coarse_; ++a) {
    first_binary_[a + 1] += first_binary_[a];
    first_above_[a + 1] += first_above_[a];
  }
  above_.resize(binaries_.size());
  auto next = first_above_;
  for (const Binary& rule : binaries_)
    above_[next[rule.left]++] = {rule.right, rule.parent, rule.probability};
  for (std::size_t a = 0; a < num_coarse_; ++a) {
    std::stable_sort(above_.begin() + first_above_[a], above_.begin() + first_above_[a + 1],
                     [](const Above& x, const Above& y) { return x.right < y.right; });
  }
}

SpanMask PcfgPruner::mask(const TagSets& tags, double threshold, Workspace& ws) const {
  const std::size_t m = tags.size(), num_cells = m * (m + 1) / 2, num = num_coarse_;
  SpanMask allowed(m, num_symbols_);
  Workspace::Frame frame(ws);
  // Of each cell: what is summed over binary rules (or the tags), and with unary rules.
  const auto bottom = frame.take<double>(num_cells * num), top = frame.take<double>(num_cells * num);
  // The symbols that a cell has.
  const auto present = frame.take<std::uint32_t>(num_cells * num);
  const auto num_present = frame.take<std::uint32_t>(num_cells);
  std::ranges::fill(bottom, 0.0);
  std::ranges::fill(top, 0.0);

  for (std::size_t end = 1; end <= m; ++end) {
    for (std::size_t begin = end; begin-- > 0;) {
      const std::size_t cell = cell_index(begin, end);
      double* sums = bottom.data() + cell * num;
      if (end - begin == 1) {
        for (const std::uint32_t tag : tags[begin]) sums[tag] = kOfWord;
      }
      for (std::size_t split = begin + 1; split < end; ++split) {
        const std::size_t left_cell = cell_index(begin, split), right_cell = cell_index(split, end);
        const double *left = top.data() + left_cell * num, *right = top.data() + right_cell * num;
        const std::uint32_t* symbols = present.data() + left_cell * num;
        for (std::uint32_t k = 0; k < num_present[left_cell]; ++k) {
          const std::uint32_t symbol = symbols[k];
          const double value = left[symbol];
          const Above *rule = above_.data() + first_above_[symbol],
                      *last = above_.data() + first_above_[symbol + 1];
          // Tags stand over one word; they come first.
          if (end - split > 1) {
            while (rule != last && rule->right < num_tags_) ++rule;
          }
          for (; rule != last; ++rule) sums[rule->parent] += value * rule->probability * right[rule->right];
        }
      }
      double* tops = top.data() + cell * num;
      for (std::size_t a = 0; a < num; ++a) tops[a] = sums[a] * same_[a];
      for (const Unary& rule : unaries_) tops[rule.parent] += rule.probability * sums[rule.child];
      std::uint32_t size = 0;
      for (std::uint32_t a = 0; a < num; ++a) {
        if (tops[a] > 0) present[cell * num + size++] = a;
      }
      num_present[cell] = size;
    }
  }
  if (m == 0 || !(top[cell_index(0, m) * num + start_] > 0)) return allowed;

  const auto p_bottom = frame.take<double>(num), p_top = frame.take<double>(num_cells * num);
  const auto likely = frame.take<bool>(num);
  std::ranges::fill(p_top, 0.0);
  p_top[cell_index(0, m) * num + start_] = 1;
  const double least = threshold * kBelowThreshold;
  for (std::size_t end = m; end > 0; --end) {
    for (std::size_t begin = 0; begin < end; ++begin) {
      const std::size_t cell = cell_index(begin, end);
      const double *sums = bottom.data() + cell * num, *tops = top.data() + cell * num,
                   *p = p_top.data() + cell * num;
      std::ranges::fill(p_bottom, 0.0);
      bool any = false;
      for (std::size_t a = 0; a < num; ++a) {
        if (p[a] <= least) continue;
        p_bottom[a] = p[a] * sums[a] * same_[a] / tops[a];
        any = true;
      }
      if (!any) continue;
      for (const Unary& rule : unaries_) {
        if (p[rule.parent] > least)
          p_bottom[rule.child] += p[rule.parent] * rule.probability * sums[rule.child] / tops[rule.parent];
      }
      for (std::uint32_t a = 0; a < num; ++a) likely[a] = std::max(p[a], p_bottom[a]) >= threshold;
      for (std::uint32_t symbol = num_tags_; symbol < num_symbols_; ++symbol) {
        if (likely[coarse_[symbol]]) allowed.allow(symbol, begin, end);
      }
      for (std::uint32_t a = num_tags_; a < num; ++a) {
        if (p_bottom[a] <= least || end - begin == 1) continue;
        const double share = p_bottom[a] / sums[a];
        for (std::size_t split = begin + 1; split < end; ++split) {
          const std::size_t left_cell = cell_index(begin, split) * num,
                            right_cell = cell_index(split, end) * num;
          const double *left = top.data() + left_cell, *right = top.data() + right_cell;
          for (std::size_t r = first_binary_[a]; r < first_binary_[a + 1]; ++r) {
            const Binary& rule = binaries_[r];
            const double value = share * rule.probability * left[rule.left] * right[rule.right];
            if (value <= least) continue;
            p_top[left_cell + rule.left] += value;
            p_top[right_cell + rule.right] += value;
          }
        }
      }
    }
  }
  return allowed;
}

void PruningReport::note(const Grammar& grammar, const SpanMask& mask, const Derivation& gold) {
  const auto count = [&](std::uint32_t symbol, const Derivation::Node& node) {
    ++needed;
    kept += mask.allows(symbol, node.begin, node.end) ? 1 : 0;
  };
  for (const Derivation::Node& node : gold.nodes) {
    if (node.end - node.begin > 1) count(grammar.binaries[node.rule].parent, node);
    if (node.unary != kNoRule) count(grammar.unaries[node.unary].parent, node);
  }
}

}  // namespace espalier
