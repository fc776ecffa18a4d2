// What a forest holds: its edges, which follow from the symbols over spans and are found anew at every call,
// and the derivations that are made of them.

#include "structures/cfg.h"

#include <algorithm>

#include "base/helping.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

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
  forest.blocks = frame.take<Block>(num_blocks_);
  forest.edges =
      frame.take<Edge>(num_edges_ + parts_.size());  // of a part one more is written than looked at
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
  // The nodes of spans by where they end, and before each of them the last one that begins at the same word.
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
    node_at[std::size_t{end} * (end - 1) / 2 + begin] = c;
    before[c] = last[begin];
    last[begin] = c;
  }
  forest.nodes.back() = {0, 0, bottoms, tops, num_blocks_, label, num_statistics_};

  // The top nodes of each span that are left, and right, children of some rule.
  const auto lefts = frame.take<LocalRules::Child>(tops), rights = frame.take<LocalRules::Child>(tops);
  const auto left_ends = frame.take<std::uint32_t>(cells_.size()),
             right_ends = frame.take<std::uint32_t>(cells_.size());
  for (std::uint32_t c = 0; c < cells_.size(); ++c) {
    const auto of_tops = forest.kinds[c].tops;
    std::uint32_t left_end = forest.nodes[c].first_top, right_end = left_end;
    for (std::size_t t = 0; t < of_tops.size(); ++t) {
      const std::uint16_t left = rules.left_place(of_tops[t].symbol),
                          right = rules.right_place(of_tops[t].symbol);
      const auto top = static_cast<std::uint16_t>(t);
      if (left != LocalRules::kNone) lefts[left_end++] = {top, left};
      if (right != LocalRules::kNone) rights[right_end++] = {top, right};
    }
    left_ends[c] = left_end;
    right_ends[c] = right_end;
  }

  in_parts(frame.workspace(), parts_.size(), [&](std::size_t part, Workspace& own) {
    Workspace::Frame of_part(own);
    const auto pairs = of_part.take<LocalRules::Pair>(most_tops * most_tops + 1);
    const auto bottom_of = of_part.take<std::uint16_t>(grammar.num_symbols);
    std::ranges::fill(bottom_of, SpanKind::kNone);
    const Part none{static_cast<std::uint32_t>(cells_.size()), num_blocks_, num_edges_};
    const Part &first_of = parts_[part], &end_of = part + 1 < parts_.size() ? parts_[part + 1] : none;
    const auto gaps = static_cast<std::uint32_t>(part);  // the one more of each part before
    std::uint32_t blocks = first_of.block, edges = first_of.edge + gaps;
    for (std::uint32_t c = first_of.cell; c < end_of.cell; ++c) {
      Node& node = forest.nodes[c];
      node.first_block = blocks;
      if (node.is_word()) continue;
      const SpanKind& kind = forest.kinds[c];
      const std::size_t of_end = std::size_t{node.end} * (node.end - 1) / 2;
      for (std::size_t b = 0; b < kind.bottoms.size(); ++b)
        bottom_of[kind.bottoms[b].symbol] = static_cast<std::uint16_t>(b);
      for (std::uint32_t left = before[c]; left != kNone; left = before[left]) {
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
        if (edges > first) forest.blocks[blocks++] = {split, left, right, first, edges};
      }
      for (const auto& bottom : kind.bottoms) bottom_of[bottom.symbol] = SpanKind::kNone;
    }
    ESPALIER_EXPECT(blocks == end_of.block && edges == end_of.edge + gaps);
  });
  return forest;
}

const Cfg::Block& Cfg::Forest::block_of(std::size_t node, std::uint32_t edge) const {
  const auto all = blocks_of(node);
  return *(std::upper_bound(all.begin(), all.end(), edge,
                            [](std::uint32_t e, const Block& block) { return e < block.first_edge; }) -
           1);
}

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

}  // namespace espalier
