// Grammars by what their rules have below them, and the packed forest of a sentence: a pass from short spans
// to long ones finds what can be derived, a pass back what is also part of a whole derivation, and the rest
// is laid out for inference.

#include <algorithm>
#include <limits>

#include "espalier/base/error.h"
#include "structures/cfg.h"

namespace espalier {

SpanMask::SpanMask(std::size_t num_words, std::size_t num_symbols)
    : num_words_(num_words),
      words_a_span_((num_symbols + 63) / 64),
      bits_(num_words * (num_words + 1) / 2 * words_a_span_) {}

void SpanMask::allow(const Grammar& grammar, const Derivation& derivation) {
  for (const Derivation::Node& node : derivation.nodes) {
    if (node.end - node.begin > 1) allow(grammar.binaries[node.rule].parent, node.begin, node.end);
    if (node.unary != kNoRule) allow(grammar.unaries[node.unary].parent, node.begin, node.end);
  }
}

GrammarIndex::GrammarIndex(Grammar grammar) : grammar_(std::move(grammar)) {
  const Grammar& g = grammar_;
  ESPALIER_EXPECT(g.labels.size() == g.num_symbols && g.start < g.num_symbols);
  first_pair_.assign(g.num_symbols + 1, 0);
  first_unary_.assign(g.num_symbols + 1, 0);
  for (const auto& rule : g.binaries) ++first_pair_[rule.left + 1];
  for (const auto& rule : g.unaries) ++first_unary_[rule.child + 1];
  for (std::size_t a = 0; a < g.num_symbols; ++a) {
    first_pair_[a + 1] += first_pair_[a];
    first_unary_[a + 1] += first_unary_[a];
  }
  pairs_.resize(g.binaries.size());
  unaries_.resize(g.unaries.size());
  auto next_pair = first_pair_, next_unary = first_unary_;
  for (std::uint32_t r = 0; r < g.binaries.size(); ++r) {
    pairs_[next_pair[g.binaries[r].left]++] = {g.binaries[r].right, r};
  }
  for (std::size_t a = 0; a < g.num_symbols; ++a) {
    std::stable_sort(pairs_.begin() + first_pair_[a], pairs_.begin() + first_pair_[a + 1],
                     [](const Pair& x, const Pair& y) { return x.right < y.right; });
  }
  first_unary_label_.push_back(0);
  for (std::uint32_t r = 0; r < g.unaries.size(); ++r) {
    const Grammar::Unary& rule = g.unaries[r];
    unaries_[next_unary[rule.child]++] = r;
    const auto add = [&](std::uint32_t symbol) {
      if (g.labels[symbol] != kNoLabel) unary_labels_.push_back(g.labels[symbol]);
    };
    add(rule.parent);
    for (const std::uint32_t symbol : rule.between) add(symbol);
    first_unary_label_.push_back(static_cast<std::uint32_t>(unary_labels_.size()));
  }
}

class CfgBuilder {
 public:
  CfgBuilder(const GrammarIndex& index, const TagSets& tags, const SpanMask* mask)
      : index_(index), grammar_(index.grammar()), tags_(tags), mask_(mask), m_(tags.size()) {}

  void build(Cfg& cfg) {
    derive();
    if (!mark_live()) return;
    number_statistics(cfg);
    lay_out(cfg);
  }

 private:
  static constexpr std::uint32_t kNone = Cfg::kNone;
  struct Edge {
    std::uint32_t parent, rule, left, right, split;
  };
  struct Unary {
    std::uint32_t top, rule, bottom;
  };
  struct Node {
    std::uint32_t symbol;
    std::uint32_t same = kNone;    // of a top node: the bottom one
    std::uint32_t number = kNone;  // in the forest
    bool live = false;
  };
  struct Cell {
    std::uint32_t begin, end;
    std::size_t bottoms, tops, edges, unaries;  // the first of each
    std::uint32_t number = kNone;
  };

  static std::size_t cell_index(std::size_t begin, std::size_t end) {
    return end * (end - 1) / 2 + (end - 1 - begin);
  }
  static std::uint16_t small(std::uint32_t number) {
    if (number > std::numeric_limits<std::uint16_t>::max())
      throw Error(
          "a sentence has too many rules, or too many symbols over one span; expected at most 65,536");
    return static_cast<std::uint16_t>(number);
  }
  std::uint32_t& top_at(std::size_t cell, std::uint32_t symbol) {
    return top_at_[cell * grammar_.num_symbols + symbol];
  }
  bool allowed(std::uint32_t symbol, std::size_t begin, std::size_t end) const {
    return !mask_ || mask_->allows(symbol, begin, end);
  }
  void push_cell(std::size_t begin, std::size_t end) {
    cells_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), bottoms_.size(),
                      tops_.size(), edges_.size(), unaries_.size()});
  }

  void derive() {
    top_at_.assign(m_ * (m_ + 1) / 2 * grammar_.num_symbols, kNone);
    bottom_at_.assign(grammar_.num_symbols, kNone);
    for (std::size_t end = 1; end <= m_; ++end) {
      for (std::size_t begin = end; begin-- > 0;) {
        push_cell(begin, end);
        if (end - begin == 1) {
          for (const std::uint32_t tag : tags_[begin]) bottoms_.push_back({tag});
        } else {
          for (std::size_t split = begin + 1; split < end; ++split) join(begin, split, end);
        }
        add_tops(begin, end);
      }
    }
    push_cell(0, 0);
  }

  void join(std::size_t begin, std::size_t split, std::size_t end) {
    const Cell& left = cells_[cell_index(begin, split)];
    const std::size_t left_end = cells_[cell_index(begin, split) + 1].tops;
    const std::uint32_t* right = &top_at(cell_index(split, end), 0);
    for (std::size_t l = left.tops; l < left_end; ++l) {
      for (const GrammarIndex::Pair& pair : index_.with_left(tops_[l].symbol)) {
        if (right[pair.right] == kNone) continue;
        const std::uint32_t parent = grammar_.binaries[pair.rule].parent;
        if (!allowed(parent, begin, end)) continue;
        std::uint32_t& bottom = bottom_at_[parent];
        if (bottom == kNone) {
          bottom = static_cast<std::uint32_t>(bottoms_.size());
          bottoms_.push_back({parent});
        }
        edges_.push_back({bottom, pair.rule, static_cast<std::uint32_t>(l), right[pair.right],
                          static_cast<std::uint32_t>(split)});
      }
    }
  }

  void add_tops(std::size_t begin, std::size_t end) {
    const std::size_t cell = cell_index(begin, end);
    const auto top_of = [&](std::uint32_t symbol) {
      std::uint32_t& top = top_at(cell, symbol);
      if (top == kNone) {
        top = static_cast<std::uint32_t>(tops_.size());
        tops_.push_back({symbol});
      }
      return top;
    };
    for (std::size_t b = cells_[cell].bottoms; b < bottoms_.size(); ++b) {
      const std::uint32_t symbol = bottoms_[b].symbol;
      bottom_at_[symbol] = kNone;
      tops_[top_of(symbol)].same = static_cast<std::uint32_t>(b);
      for (const std::uint32_t rule : index_.above(symbol)) {
        const std::uint32_t parent = grammar_.unaries[rule].parent;
        if (allowed(parent, begin, end))
          unaries_.push_back({top_of(parent), rule, static_cast<std::uint32_t>(b)});
      }
    }
  }

  // Marks what is part of a derivation of the whole sentence. False if there is none.
  bool mark_live() {
    const std::uint32_t root = m_ > 0 ? top_at(cell_index(0, m_), grammar_.start) : kNone;
    if (root == kNone) return false;
    tops_[root].live = true;
    for (std::size_t c = cells_.size() - 1; c-- > 0;) {
      for (std::size_t t = cells_[c].tops; t < cells_[c + 1].tops; ++t) {
        if (tops_[t].live && tops_[t].same != kNone) bottoms_[tops_[t].same].live = true;
      }
      for (std::size_t u = cells_[c].unaries; u < cells_[c + 1].unaries; ++u) {
        if (tops_[unaries_[u].top].live) bottoms_[unaries_[u].bottom].live = true;
      }
      for (std::size_t e = cells_[c].edges; e < cells_[c + 1].edges; ++e) {
        if (bottoms_[edges_[e].parent].live) tops_[edges_[e].left].live = tops_[edges_[e].right].live = true;
      }
    }
    return true;
  }

  void number_statistics(Cfg& cfg) {
    const std::size_t num_binaries = grammar_.binaries.size(), num_labels = grammar_.num_labels;
    std::vector<bool> rules(index_.num_rules());
    std::vector<bool> splits((m_ + 1) * num_labels);
    std::vector<bool> spans((cells_.size() - 1) * num_labels);
    for (std::size_t c = 0; c + 1 < cells_.size(); ++c) {
      const auto add_label = [&](std::uint32_t label) {
        if (label != kNoLabel) spans[c * num_labels + label] = true;
      };
      for (std::size_t b = cells_[c].bottoms; b < cells_[c + 1].bottoms; ++b) {
        if (bottoms_[b].live) add_label(grammar_.labels[bottoms_[b].symbol]);
      }
      for (std::size_t u = cells_[c].unaries; u < cells_[c + 1].unaries; ++u) {
        if (!tops_[unaries_[u].top].live) continue;
        rules[num_binaries + unaries_[u].rule] = true;
        for (const std::uint32_t label : index_.unary_labels(unaries_[u].rule)) add_label(label);
      }
    }
    for (const Edge& edge : edges_) {
      if (!bottoms_[edge.parent].live) continue;
      rules[edge.rule] = true;
      const std::uint32_t label = grammar_.labels[bottoms_[edge.parent].symbol];
      if (label != kNoLabel) splits[edge.split * num_labels + label] = true;
    }

    rule_statistic_.assign(rules.size(), kNone);
    for (std::uint32_t r = 0; r < rules.size(); ++r) {
      if (!rules[r]) continue;
      rule_statistic_[r] = static_cast<std::uint32_t>(cfg.rules_.size());
      cfg.rules_.push_back(r);
    }
    std::uint32_t next = static_cast<std::uint32_t>(cfg.rules_.size());
    const auto add_place = [&](std::uint32_t begin, std::uint32_t end, std::size_t row,
                               std::vector<bool>& used, std::vector<std::uint32_t>& statistic) {
      const std::uint32_t first = next;
      for (std::uint32_t label = 0; label < num_labels; ++label) {
        if (!used[row * num_labels + label]) continue;
        statistic[row * num_labels + label] = next++;
        cfg.labels_.push_back(label);
      }
      if (next > first) cfg.places_.push_back({begin, end, first});
    };
    span_statistic_.assign(spans.size(), kNone);
    for (std::size_t c = 0; c + 1 < cells_.size(); ++c)
      add_place(cells_[c].begin, cells_[c].end, c, spans, span_statistic_);
    cfg.num_spans_ = cfg.places_.size();
    split_statistic_.assign(splits.size(), kNone);
    for (std::uint32_t split = 0; split <= m_; ++split)
      add_place(split, split, split, splits, split_statistic_);
    cfg.num_splits_ = cfg.places_.size() - cfg.num_spans_;
    tag_statistic_.assign(bottoms_.size(), kNone);
    for (std::uint32_t t = 0; t < m_; ++t) {
      const std::size_t c = cell_index(t, t + 1), first = cells_[c].bottoms, last = cells_[c + 1].bottoms;
      if (std::count_if(bottoms_.begin() + static_cast<std::ptrdiff_t>(first),
                        bottoms_.begin() + static_cast<std::ptrdiff_t>(last),
                        [](const Node& node) { return node.live; }) < 2)
        continue;
      cfg.places_.push_back({t, t, next});
      for (std::size_t b = first; b < last; ++b) {
        if (!bottoms_[b].live) continue;
        tag_statistic_[b] = next++;
        cfg.labels_.push_back(bottoms_[b].symbol);
      }
    }
    cfg.places_.push_back({0, 0, next});
    cfg.num_statistics_ = next;
  }

  void lay_out(Cfg& cfg) {
    const std::size_t num_binaries = grammar_.binaries.size(), num_labels = grammar_.num_labels;
    const std::uint32_t none = static_cast<std::uint32_t>(cfg.num_statistics_);
    cfg.num_words_ = m_;
    const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    std::size_t live_edges = 0, live_bottoms = 0, live_tops = 0;
    for (const Edge& edge : edges_) live_edges += bottoms_[edge.parent].live ? 1 : 0;
    for (const Node& node : bottoms_) live_bottoms += node.live ? 1 : 0;
    for (const Node& node : tops_) live_tops += node.live ? 1 : 0;
    cfg.edges_.reserve(live_edges);
    cfg.bottoms_.reserve(live_bottoms + 1);
    cfg.tops_.reserve(live_tops + 1);
    std::vector<std::uint32_t> next_edge;  // by bottom nodes of a cell
    std::vector<std::uint32_t> factor_at(num_labels + 1);
    std::vector<std::vector<std::uint32_t>> unaries_of;

    for (std::size_t c = 0; c + 1 < cells_.size(); ++c) {
      Cell& cell = cells_[c];
      const Cell& after = cells_[c + 1];
      const bool live = std::any_of(tops_.begin() + static_cast<std::ptrdiff_t>(cell.tops),
                                    tops_.begin() + static_cast<std::ptrdiff_t>(after.tops),
                                    [](const Node& node) { return node.live; });
      if (!live) continue;
      cell.number = count(cfg.cells_);
      cfg.cells_.push_back(
          {cell.begin, cell.end, count(cfg.bottoms_), count(cfg.tops_), count(cfg.factors_)});

      // Bottom nodes, and the edges below each of them.
      std::uint32_t first_edge = count(cfg.edges_);
      next_edge.assign(after.bottoms - cell.bottoms, 0);
      for (std::size_t e = cell.edges; e < after.edges; ++e) ++next_edge[edges_[e].parent - cell.bottoms];
      for (std::size_t b = cell.bottoms; b < after.bottoms; ++b) {
        Node& bottom = bottoms_[b];
        if (!bottom.live) continue;
        bottom.number = count(cfg.bottoms_);
        const std::uint32_t label = grammar_.labels[bottom.symbol];
        const std::uint32_t statistic =
            cell.end - cell.begin == 1
                ? tag_statistic_[b]
                : (label == kNoLabel ? kNone : span_statistic_[c * num_labels + label]);
        cfg.bottoms_.push_back({bottom.symbol, statistic == kNone ? none : statistic, first_edge});
        const std::uint32_t edges = next_edge[b - cell.bottoms];
        next_edge[b - cell.bottoms] = first_edge;
        first_edge += edges;
      }
      cfg.edges_.resize(first_edge);
      std::uint32_t split = 0;
      for (std::size_t e = cell.edges; e < after.edges; ++e) {
        const Edge& edge = edges_[e];
        if (!bottoms_[edge.parent].live) continue;
        if (edge.split != split) factor_at.assign(num_labels + 1, kNone);
        split = edge.split;
        const std::uint32_t label = grammar_.labels[bottoms_[edge.parent].symbol];
        std::uint32_t& factor = factor_at[label == kNoLabel ? num_labels : label];
        if (factor == kNone) {
          factor = count(cfg.factors_) - cfg.cells_.back().first_factor;
          cfg.factors_.push_back({label == kNoLabel ? none : split_statistic_[split * num_labels + label],
                                  cells_[cell_index(cell.begin, split)].number,
                                  cells_[cell_index(split, cell.end)].number});
        }
        const Cfg::Factor& between = cfg.factors_[cfg.cells_.back().first_factor + factor];
        cfg.edges_[next_edge[edge.parent - cell.bottoms]++] = {
            small(rule_statistic_[edge.rule]), small(factor),
            small(tops_[edge.left].number - cfg.cells_[between.left_cell].first_top),
            small(tops_[edge.right].number - cfg.cells_[between.right_cell].first_top)};
      }

      // Top nodes, and the unary rules below each of them.
      unaries_of.resize(std::max(unaries_of.size(), after.tops - cell.tops));
      for (auto& list : unaries_of) list.clear();
      for (std::size_t u = cell.unaries; u < after.unaries; ++u) {
        unaries_of[unaries_[u].top - cell.tops].push_back(static_cast<std::uint32_t>(u));
      }
      for (std::size_t t = cell.tops; t < after.tops; ++t) {
        if (!tops_[t].live) continue;
        tops_[t].number = count(cfg.tops_);
        cfg.tops_.push_back({tops_[t].symbol, tops_[t].same == kNone ? kNone : bottoms_[tops_[t].same].number,
                             count(cfg.unary_edges_)});
        for (const std::uint32_t u : unaries_of[t - cell.tops]) {
          const Unary& unary = unaries_[u];
          cfg.unary_edges_.push_back(
              {unary.rule, bottoms_[unary.bottom].number, count(cfg.unary_statistics_)});
          cfg.unary_statistics_.push_back(rule_statistic_[num_binaries + unary.rule]);
          for (const std::uint32_t label : index_.unary_labels(unary.rule)) {
            cfg.unary_statistics_.push_back(span_statistic_[c * num_labels + label]);
          }
        }
      }
    }
    cfg.cells_.push_back({0, 0, count(cfg.bottoms_), count(cfg.tops_), count(cfg.factors_)});
    cfg.bottoms_.push_back({0, none, count(cfg.edges_)});
    cfg.tops_.push_back({0, kNone, count(cfg.unary_edges_)});
    cfg.unary_edges_.push_back({0, kNone, count(cfg.unary_statistics_)});
    cfg.factors_.shrink_to_fit();
    cfg.unary_edges_.shrink_to_fit();
    cfg.unary_statistics_.shrink_to_fit();
    cfg.labels_.shrink_to_fit();
  }

  const GrammarIndex& index_;
  const Grammar& grammar_;
  const TagSets& tags_;
  const SpanMask* mask_;
  std::size_t m_;
  std::vector<Cell> cells_;  // all of them, by cell_index, and one more
  std::vector<Node> bottoms_, tops_;
  std::vector<Edge> edges_;
  std::vector<Unary> unaries_;
  std::vector<std::uint32_t> top_at_, bottom_at_;
  std::vector<std::uint32_t> rule_statistic_, span_statistic_, split_statistic_, tag_statistic_;
};

Cfg::Cfg(const GrammarIndex& index, const TagSets& tags, const SpanMask* mask) : index_(&index) {
  CfgBuilder(index, tags, mask).build(*this);
}

}  // namespace espalier
