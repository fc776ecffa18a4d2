// A probabilistic grammar whose symbols are tags, labels and the start symbol: P(y) is the product over its
// nodes of P(unary rule, or none | top symbol) P(binary rule | bottom symbol). Inside sums and, back from the
// sentence to its parts, probabilities of symbols over spans, as in cfg.cc; but here nothing is known yet of
// what can occur, and what hardly does may be lost.
//
// Most symbols can stand over most spans, so that inside sums are dense:
//   in(A, i, j) = sum_{B, C} P(A -> B C) sum_k in(B, i, k) in(C, k, j),
// where the sum over splits k is a product of two matrices, and rules are looked at once for a span. Tags
// stand over words alone, and have their own few sums.

#include "structures/pcfg_pruner.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "espalier/base/error.h"
#include "kernels/eisner.h"

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

// Those that are right children beside many others come first, so that what each left phrase has beside it is
// in the first few places of a row.
void PcfgPruner::number_phrases() {
  std::vector<std::uint32_t> beside(num_phrases()), order(num_phrases());
  for (const Binary& rule : binaries_) {
    if (rule.left >= num_tags_ && rule.right >= num_tags_) ++beside[rule.right - num_tags_];
  }
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return beside[a] > beside[b]; });
  phrase_.resize(order.size());
  same_phrase_.resize(order.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) {
    phrase_[order[k]] = k;
    same_phrase_[k] = same_[num_tags_ + order[k]];
  }
}

void PcfgPruner::index() {
  ESPALIER_EXPECT(std::is_sorted(binaries_.begin(), binaries_.end(),
                                 [](const Binary& a, const Binary& b) { return a.parent < b.parent; }));
  same_.assign(num_coarse_, 1);
  for (const Unary& rule : unaries_) same_[rule.parent] -= rule.probability;
  for (double& p : same_) p = std::max(p, 1e-6);  // what was never seen without a unary rule

  number_phrases();
  // Lists of rules by some number of theirs, in the order of the rules.
  const auto list_by = [](auto& lists, auto& rules, std::size_t size, const auto& number) {
    std::stable_sort(rules.begin(), rules.end(),
                     [&](const auto& a, const auto& b) { return number(a) < number(b); });
    lists.first.assign(size + 1, 0);
    for (const auto& rule : rules) ++lists.first[number(rule) + 1];
    for (std::size_t k = 0; k < size; ++k) lists.first[k + 1] += lists.first[k];
    lists.all = rules;
  };
  const auto is_tag = [&](std::uint32_t symbol) { return symbol < num_tags_; };
  const auto number = [&](std::uint32_t symbol) {
    return is_tag(symbol) ? symbol : phrase_[symbol - num_tags_];
  };
  std::vector<Rule> of_phrases, after_tag, before_tag, of_tags;
  for (const Binary& rule : binaries_) {
    auto& rules = is_tag(rule.left) ? (is_tag(rule.right) ? of_tags : after_tag)
                                    : (is_tag(rule.right) ? before_tag : of_phrases);
    rules.push_back({number(rule.parent), number(rule.left), number(rule.right), rule.probability});
  }
  const auto parent = [](const auto& rule) { return rule.parent; };
  const auto left = [](const Rule& rule) { return rule.left; };
  const auto right = [](const Rule& rule) { return rule.right; };
  list_by(of_phrases_of_, of_phrases, num_phrases(), parent);
  list_by(after_tag_of_, after_tag, num_phrases(), parent);
  list_by(before_tag_of_, before_tag, num_phrases(), parent);
  list_by(by_left_phrase_, of_phrases, num_phrases(), left);
  list_by(after_tag_, after_tag, num_tags_, left);
  list_by(before_tag_, before_tag, num_tags_, right);
  list_by(of_tags_, of_tags, num_tags_, left);
  num_rights_.assign(num_phrases(), 0);
  for (const Rule& rule : of_phrases) {
    constexpr std::size_t kUnit = kernels::kContextUnit;
    num_rights_[rule.left] = std::max(num_rights_[rule.left], (rule.right / kUnit + 1) * kUnit);
  }
  largest_probability_.assign(num_phrases(), 0);
  for (const Rule& rule : of_phrases)
    largest_probability_[rule.parent] = std::max(largest_probability_[rule.parent], rule.probability);

  std::vector<UnaryRule> over_tags;
  unaries_over_phrases_.clear();
  for (const Unary& rule : unaries_) {
    (is_tag(rule.child) ? over_tags : unaries_over_phrases_)
        .push_back({number(rule.parent), number(rule.child), rule.probability});
  }
  list_by(unaries_over_tags_, over_tags, num_tags_, [](const UnaryRule& rule) { return rule.child; });
}

// Of each span and phrase: what is summed over binary rules, what also over unary rules, and the probability
// as a top symbol.
struct PcfgPruner::Chart {
  std::size_t words, phrases, stride;  // stride: from one span to the next
  std::span<double> bottom, top, p_top;
  std::span<double> largest_top;  // of each span
  // The top sums by where spans begin, then by phrases, then by where they end.
  std::span<double> by_begin;
  std::span<bool> begins;      // whether some span that begins here has the phrase
  std::span<double> products;  // of left and right phrases, summed over splits

  std::size_t at(std::size_t begin, std::size_t end) const { return cell_index(begin, end) * stride; }
  // The values of spans begin, ..., begin + 1 and so on.
  double* from(std::size_t begin, std::size_t phrase) const {
    const std::size_t before =
        begin * words - begin * (begin - std::size_t{1}) / 2;  // spans that begin earlier
    return by_begin.data() + before * phrases + phrase * (words - begin);
  }
};

void PcfgPruner::set_inside(const TagSets& tags, std::size_t begin, std::size_t end,
                            const Chart& chart) const {
  const std::size_t splits = end - begin - 1, phrases = chart.phrases;
  double *const sums = chart.bottom.data() + chart.at(begin, end), *const tops = chart.top.data() +
                                                                                 chart.at(begin, end);
  const double* const same = same_phrase_.data();
  const auto of_tag = [&](std::uint32_t tag) { return kOfWord * same_[tag]; };
  std::fill_n(sums, chart.stride, 0.0);
  std::fill_n(tops, chart.stride, 0.0);
  if (splits == 0) {
    for (const std::uint32_t tag : tags[begin]) {
      for (const UnaryRule& rule : unaries_over_tags_[tag]) tops[rule.parent] += rule.probability * kOfWord;
    }
  } else {
    const kernels::ContextRows rights{chart.top.data() + chart.at(begin + 1, end), chart.stride};
    for (std::size_t left = 0; left < phrases; ++left) {
      if (num_rights_[left] == 0 || !chart.begins[begin * phrases + left]) continue;
      double* const products = chart.products.data();
      std::fill_n(products, num_rights_[left], 0.0);
      kernels::add_rows(splits, chart.from(begin, left), rights, products, num_rights_[left]);
      for (const Rule& rule : by_left_phrase_[left])
        sums[rule.parent] += rule.probability * products[rule.right];
    }
    const double* const after_first = chart.top.data() + chart.at(begin + 1, end);
    for (const std::uint32_t tag : tags[begin]) {
      for (const Rule& rule : after_tag_[tag])
        sums[rule.parent] += of_tag(tag) * rule.probability * after_first[rule.right];
    }
    const double* const before_last = chart.top.data() + chart.at(begin, end - 1);
    for (const std::uint32_t tag : tags[end - 1]) {
      for (const Rule& rule : before_tag_[tag])
        sums[rule.parent] += before_last[rule.left] * rule.probability * of_tag(tag);
    }
    if (splits == 1) {
      for (const std::uint32_t tag : tags[begin]) {
        for (const Rule& rule : of_tags_[tag]) {
          if (std::binary_search(tags[begin + 1].begin(), tags[begin + 1].end(), rule.right))
            sums[rule.parent] += of_tag(tag) * rule.probability * of_tag(rule.right);
        }
      }
    }
    for (std::size_t a = 0; a < phrases; ++a) tops[a] = sums[a] * same[a];
    for (const UnaryRule& rule : unaries_over_phrases_)
      tops[rule.parent] += rule.probability * sums[rule.child];
  }
  double largest = 0;
  for (std::size_t a = 0; a < phrases; ++a) {
    chart.from(begin, a)[splits] = tops[a];
    if (tops[a] > 0) chart.begins[begin * phrases + a] = true;
    largest = std::max(largest, tops[a]);
  }
  chart.largest_top[cell_index(begin, end)] = largest;
}

// Adds to the probabilities of what is below a phrase: `share` is its own, divided by its sum.
void PcfgPruner::pass_on(const TagSets& tags, std::size_t begin, std::size_t end, std::uint32_t phrase,
                         double share, double least, const Chart& chart) const {
  const auto add = [&](const Rule& rule, const double* left, const double* right) {
    const double value = share * rule.probability * left[rule.left] * right[rule.right];
    if (value <= least) return;
    chart.p_top[static_cast<std::size_t>(left - chart.top.data()) + rule.left] += value;
    chart.p_top[static_cast<std::size_t>(right - chart.top.data()) + rule.right] += value;
  };
  constexpr double kSurely = 1 + 1e-9;  // also after rounding
  const double bound = kSurely * share * largest_probability_[phrase];
  const auto rules = of_phrases_of_[phrase];
  for (std::size_t split = begin + 1; split < end; ++split) {
    // Nothing can be more than that.
    if (bound * chart.largest_top[cell_index(begin, split)] * chart.largest_top[cell_index(split, end)] <=
        least)
      continue;
    const double *const left = chart.top.data() + chart.at(begin, split), *const right = chart.top.data() +
                                                                                         chart.at(split, end);
    for (const Rule& rule : rules) add(rule, left, right);
  }
  const auto has = [&](std::size_t word, std::uint32_t tag) {
    return std::binary_search(tags[word].begin(), tags[word].end(), tag);
  };
  const std::size_t after_first = chart.at(begin + 1, end), before_last = chart.at(begin, end - 1);
  for (const Rule& rule : after_tag_of_[phrase]) {
    const double right = chart.top[after_first + rule.right];
    const double value = share * rule.probability * kOfWord * same_[rule.left] * right;
    if (value > least && has(begin, rule.left)) chart.p_top[after_first + rule.right] += value;
  }
  for (const Rule& rule : before_tag_of_[phrase]) {
    const double left = chart.top[before_last + rule.left];
    const double value = share * rule.probability * left * kOfWord * same_[rule.right];
    if (value > least && has(end - 1, rule.right)) chart.p_top[before_last + rule.left] += value;
  }
}

SpanMask PcfgPruner::mask(const TagSets& tags, double threshold, Workspace& ws) const {
  const std::size_t m = tags.size(), num_cells = m * (m + 1) / 2, phrases = num_phrases();
  const std::uint32_t start = phrase_[start_ - num_tags_];
  SpanMask allowed(m, num_symbols_);
  if (m == 0) return allowed;
  Workspace::Frame frame(ws);
  constexpr std::size_t kUnit = kCacheLine / sizeof(double);
  const std::size_t stride = (phrases + kUnit - 1) / kUnit * kUnit;
  const Chart chart{m,
                    phrases,
                    stride,
                    frame.take<double>(num_cells * stride),
                    frame.take<double>(num_cells * stride),
                    frame.take<double>(num_cells * stride),
                    frame.take<double>(num_cells),
                    frame.take<double>(num_cells * phrases),
                    frame.take<bool>(m * phrases),
                    frame.take<double>(stride)};
  std::ranges::fill(chart.begins, false);
  for (std::size_t end = 1; end <= m; ++end) {
    for (std::size_t begin = end; begin-- > 0;) set_inside(tags, begin, end, chart);
  }
  const std::size_t root = chart.at(0, m) + start;
  if (!(chart.top[root] > 0)) return allowed;

  const auto p_bottom = frame.take<double>(phrases);
  const auto likely = frame.take<bool>(phrases);
  std::ranges::fill(chart.p_top, 0.0);
  chart.p_top[root] = 1;
  const double least = threshold * kBelowThreshold;
  const double* const same = same_phrase_.data();
  for (std::size_t end = m; end > 0; --end) {
    for (std::size_t begin = 0; begin < end; ++begin) {
      const double *const sums = chart.bottom.data() + chart.at(begin, end),
                          *const tops = chart.top.data() + chart.at(begin, end),
                          *const p = chart.p_top.data() + chart.at(begin, end);
      std::ranges::fill(p_bottom, 0.0);
      bool any = false;
      for (std::size_t a = 0; a < phrases; ++a) {
        if (p[a] <= least) continue;
        p_bottom[a] = p[a] * sums[a] * same[a] / tops[a];
        any = true;
      }
      if (!any) continue;
      for (const UnaryRule& rule : unaries_over_phrases_) {
        if (p[rule.parent] > least)
          p_bottom[rule.child] += p[rule.parent] * rule.probability * sums[rule.child] / tops[rule.parent];
      }
      for (std::uint32_t a = 0; a < phrases; ++a) likely[a] = std::max(p[a], p_bottom[a]) >= threshold;
      for (std::uint32_t symbol = num_tags_; symbol < num_symbols_; ++symbol) {
        if (likely[phrase_[coarse_[symbol] - num_tags_]]) allowed.allow(symbol, begin, end);
      }
      if (end - begin == 1) continue;
      for (std::uint32_t a = 0; a < phrases; ++a) {
        if (p_bottom[a] > least) pass_on(tags, begin, end, a, p_bottom[a] / sums[a], least, chart);
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
