// Grammars by what their rules have below them, and the packed forest of a sentence: a pass from short spans
// to long ones finds what can be derived, a pass back what is also part of a whole derivation, and the rest
// is laid out for inference.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/text.h"
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
  index_pairs();
  first_unary_.assign(g.num_symbols + 1, 0);
  for (const auto& rule : g.unaries) ++first_unary_[rule.child + 1];
  for (std::size_t a = 0; a < g.num_symbols; ++a) first_unary_[a + 1] += first_unary_[a];
  unaries_.resize(g.unaries.size());
  auto next_unary = first_unary_;
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

// Row displacement (Tarjan and Yao 1979): longer rows first, each as far to the left as it fits.
void GrammarIndex::index_pairs() {
  const Grammar& g = grammar_;
  std::vector<std::uint32_t> order(g.binaries.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Grammar::Binary &x = g.binaries[a], &y = g.binaries[b];
    return std::tie(x.left, x.right, a) < std::tie(y.left, y.right, b);
  });
  struct Entry {
    std::uint32_t right, first;
  };
  std::vector<std::vector<Entry>> rows(g.num_symbols);
  above_.push_back({0, kNoRule});
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Grammar::Binary& rule = g.binaries[order[k]];
    if (k == 0 || g.binaries[order[k - 1]].left != rule.left ||
        g.binaries[order[k - 1]].right != rule.right) {
      if (k > 0) above_.push_back({0, kNoRule});
      rows[rule.left].push_back({rule.right, static_cast<std::uint32_t>(above_.size())});
    }
    above_.push_back({rule.parent, order[k]});
  }
  above_.push_back({0, kNoRule});

  std::vector<std::uint32_t> lefts;
  for (std::uint32_t a = 0; a < g.num_symbols; ++a) {
    if (!rows[a].empty()) lefts.push_back(a);
  }
  std::stable_sort(lefts.begin(), lefts.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return rows[a].size() > rows[b].size(); });
  constexpr Pair kFree{kNoRule, 0};
  first_pair_.assign(g.num_symbols, 0);
  pairs_.assign(g.num_symbols, kFree);
  std::size_t first_free = 0;
  for (const std::uint32_t left : lefts) {
    while (first_free < pairs_.size() && pairs_[first_free].left != kNoRule) ++first_free;
    std::size_t base = first_free - std::min<std::size_t>(first_free, rows[left].front().right);
    const auto is_taken = [&](const Entry& entry) {
      return base + entry.right < pairs_.size() && pairs_[base + entry.right].left != kNoRule;
    };
    while (std::any_of(rows[left].begin(), rows[left].end(), is_taken)) ++base;
    pairs_.resize(std::max(pairs_.size(), base + g.num_symbols), kFree);
    first_pair_[left] = static_cast<std::uint32_t>(base);
    for (const Entry& entry : rows[left]) pairs_[base + entry.right] = {left, entry.first};
  }
}

class CfgBuilder {
 public:
  CfgBuilder(const GrammarIndex& index, const TagSets& tags, const SpanMask* mask)
      : index_(index),
        grammar_(index.grammar()),
        tags_(tags),
        mask_(mask),
        m_(tags.size()),
        wanted_(grammar_.num_symbols),
        seen_(grammar_.num_symbols) {}

  void build(Cfg& cfg, SpanKinds& kinds) {
    constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
    if (m_ > kMost) fail(m_, "words");
    if (grammar_.num_tags > kMost) fail(grammar_.num_tags, "possible tags");
    derive();
    if (!mark_live(cfg)) return;
    lay_out(cfg, kinds);
  }

 private:
  struct Node {
    std::uint32_t symbol;
    bool live = false;
  };
  struct Cell {
    std::uint32_t begin, end;
    std::size_t bottoms, tops;  // the first of each
  };
  struct Size {
    std::uint32_t edges = 0, blocks = 0;
  };
  // A thread finds them in some ten microseconds.
  static constexpr std::size_t kEdgesOfPart = 2048;

  [[noreturn]] static void fail(std::size_t number, std::string_view what) {
    throw Error(fmt::format("a sentence of {} {}; expected at most {}", grouped(number), what,
                            grouped(std::numeric_limits<std::uint16_t>::max())));
  }
  static std::size_t cell_index(std::size_t begin, std::size_t end) {
    return end * (end - 1) / 2 + (end - 1 - begin);
  }
  std::span<Node> bottoms_of(std::size_t c) {
    return {bottoms_.data() + cells_[c].bottoms, cells_[c + 1].bottoms - cells_[c].bottoms};
  }
  std::span<Node> tops_of(std::size_t c) {
    return {tops_.data() + cells_[c].tops, cells_[c + 1].tops - cells_[c].tops};
  }
  void push_cell(std::size_t begin, std::size_t end) {
    cells_.push_back(
        {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), bottoms_.size(), tops_.size()});
  }

  // use(symbol) for those that are no tags and may stand over a span.
  template <class Use>
  void for_each_allowed(std::size_t begin, std::size_t end, const Use& use) const {
    if (!mask_) {
      for (std::uint32_t symbol = grammar_.num_tags; symbol < grammar_.num_symbols; ++symbol) use(symbol);
      return;
    }
    const auto row = mask_->row(begin, end);
    for (std::uint32_t k = 0; k < row.size(); ++k) {
      for (std::uint64_t bits = row[k]; bits != 0; bits &= bits - 1)
        use(64 * k + static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
  }

  // use(left, right, rule) for each rule whose parent is wanted.
  template <class Use>
  void join(std::size_t begin, std::size_t split, std::size_t end, const Use& use) {
    const auto rights = tops_of(cell_index(split, end));
    if (rights.empty()) return;
    for (Node& left : tops_of(cell_index(begin, split))) {
      for (Node& right : rights) {
        for (const auto* rule = index_.above(left.symbol, right.symbol); rule->rule != kNoRule; ++rule) {
          if (wanted_[rule->parent]) use(left, right, *rule);
        }
      }
    }
  }

  // From short spans to long ones: the symbols that can be derived.
  void derive() {
    for (std::size_t end = 1; end <= m_; ++end) {
      for (std::size_t begin = end; begin-- > 0;) {
        push_cell(begin, end);
        if (end - begin == 1) {
          for (const std::uint32_t tag : tags_[begin]) bottoms_.push_back({tag});
        } else {
          derive_bottoms(begin, end);
        }
        derive_tops(begin, end);
      }
    }
    push_cell(0, 0);
  }

  void derive_bottoms(std::size_t begin, std::size_t end) {
    std::size_t left = 0;  // to be found
    for_each_allowed(begin, end, [&](std::uint32_t symbol) {
      wanted_[symbol] = true;
      ++left;
    });
    if (left == 0) return;
    for (std::size_t split = begin + 1; split < end && left > 0; ++split) {
      join(begin, split, end, [&](const Node&, const Node&, const GrammarIndex::Above& rule) {
        wanted_[rule.parent] = false;
        bottoms_.push_back({rule.parent});
        --left;
      });
    }
    for_each_allowed(begin, end, [&](std::uint32_t symbol) { wanted_[symbol] = false; });
  }

  void derive_tops(std::size_t begin, std::size_t end) {
    const std::size_t first = cells_.back().bottoms;
    if (first == bottoms_.size()) return;
    for_each_allowed(begin, end, [&](std::uint32_t symbol) { wanted_[symbol] = true; });
    const std::size_t first_top = tops_.size();
    const auto add = [&](std::uint32_t symbol) {
      if (seen_[symbol]) return;
      seen_[symbol] = true;
      tops_.push_back({symbol});
    };
    for (std::size_t b = first; b < bottoms_.size(); ++b) {
      add(bottoms_[b].symbol);
      for (const std::uint32_t rule : index_.above(bottoms_[b].symbol)) {
        if (wanted_[grammar_.unaries[rule].parent]) add(grammar_.unaries[rule].parent);
      }
    }
    for (std::size_t t = first_top; t < tops_.size(); ++t) seen_[tops_[t].symbol] = false;
    for_each_allowed(begin, end, [&](std::uint32_t symbol) { wanted_[symbol] = false; });
  }

  // And back: marks what is part of a derivation of the whole sentence. False if there is none.
  bool mark_live(Cfg& cfg) {
    if (m_ == 0) return false;
    const auto roots = tops_of(cell_index(0, m_));
    const auto root = std::find_if(roots.begin(), roots.end(),
                                   [&](const Node& node) { return node.symbol == grammar_.start; });
    if (root == roots.end()) return false;
    root->live = true;
    used_rules_.assign(index_.num_rules(), false);
    used_splits_.assign((m_ + 1) * grammar_.num_labels, false);
    sizes_.assign(cells_.size(), {});
    for (std::size_t c = cells_.size() - 1; c-- > 0;) {
      const auto is_live = [](const Node& node) { return node.live; };
      if (std::none_of(tops_of(c).begin(), tops_of(c).end(), is_live)) continue;
      for (const Node& top : tops_of(c)) seen_[top.symbol] = top.live;
      for (Node& bottom : bottoms_of(c)) {
        bottom.live = seen_[bottom.symbol];
        for (const std::uint32_t rule : index_.above(bottom.symbol)) {
          if (!seen_[grammar_.unaries[rule].parent]) continue;
          bottom.live = true;
          used_rules_[grammar_.binaries.size() + rule] = true;
        }
        wanted_[bottom.symbol] = bottom.live;
      }
      for (const Node& top : tops_of(c)) seen_[top.symbol] = false;
      for (std::size_t split = cells_[c].begin + 1; split < cells_[c].end; ++split) {
        const std::size_t before = cfg.num_edges_;
        join(cells_[c].begin, split, cells_[c].end,
             [&](Node& left, Node& right, const GrammarIndex::Above& rule) {
               left.live = right.live = true;
               used_rules_[rule.rule] = true;
               const std::uint32_t label = grammar_.labels[rule.parent];
               if (label != kNoLabel) used_splits_[split * grammar_.num_labels + label] = true;
               ++cfg.num_edges_;
             });
        const std::size_t found = cfg.num_edges_ - before;
        sizes_[c].edges += static_cast<std::uint32_t>(found);
        sizes_[c].blocks += found > 0 ? 1 : 0;
      }
      cfg.num_blocks_ += sizes_[c].blocks;
      for (const Node& bottom : bottoms_of(c)) wanted_[bottom.symbol] = false;
    }
    return true;
  }

  void lay_out(Cfg& cfg, SpanKinds& kinds) {
    cfg.num_words_ = static_cast<std::uint32_t>(m_);
    for (std::uint32_t r = 0; r < used_rules_.size(); ++r) {
      if (used_rules_[r]) cfg.rules_.push_back(r);
    }
    if (cfg.rules_.size() > std::numeric_limits<std::uint16_t>::max()) fail(cfg.rules_.size(), "rules");
    std::uint32_t next = static_cast<std::uint32_t>(cfg.rules_.size());
    const auto live_of = [](std::span<const Node> nodes, std::vector<std::uint32_t>& symbols) {
      symbols.clear();
      for (const Node& node : nodes) {
        if (node.live) symbols.push_back(node.symbol);
      }
      std::sort(symbols.begin(), symbols.end());
    };
    std::vector<std::uint32_t> bottoms, tops;
    std::vector<std::vector<std::uint32_t>> choices;  // of tags, where there are several
    std::vector<std::uint32_t> chosen;                // words that have them
    Cfg::Part part{};                                 // that would begin here
    for (std::size_t c = 0; c + 1 < cells_.size(); ++c) {
      live_of(tops_of(c), tops);
      if (tops.empty()) continue;
      live_of(bottoms_of(c), bottoms);
      if (cfg.parts_.empty() || part.edge - cfg.parts_.back().edge >= kEdgesOfPart)
        cfg.parts_.push_back(part);
      part.cell += 1;
      part.block += sizes_[c].blocks;
      part.edge += sizes_[c].edges;
      const auto [kind, labels] = kinds.add(bottoms, tops);
      cfg.cells_.push_back(
          {static_cast<std::uint16_t>(cells_[c].begin), static_cast<std::uint16_t>(cells_[c].end), kind});
      next += labels;
      if (cells_[c].end - cells_[c].begin == 1 && bottoms.size() > 1) {
        choices.push_back(bottoms);
        chosen.push_back(cells_[c].begin);
      }
    }
    const auto add_place = [&](std::uint32_t position, std::size_t first_label) {
      if (cfg.labels_.size() == first_label) return;
      cfg.places_.push_back({position, next, static_cast<std::uint32_t>(first_label)});
      next += static_cast<std::uint32_t>(cfg.labels_.size() - first_label);
    };
    for (std::uint32_t split = 0; split <= m_; ++split) {
      const std::size_t first = cfg.labels_.size();
      for (std::uint32_t label = 0; label < grammar_.num_labels; ++label) {
        if (used_splits_[split * grammar_.num_labels + label])
          cfg.labels_.push_back(static_cast<std::uint16_t>(label));
      }
      add_place(split, first);
    }
    cfg.num_splits_ = static_cast<std::uint32_t>(cfg.places_.size());
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      const std::size_t first = cfg.labels_.size();
      for (const std::uint32_t tag : choices[k]) cfg.labels_.push_back(static_cast<std::uint16_t>(tag));
      add_place(chosen[k], first);
    }
    cfg.places_.push_back({0, next, static_cast<std::uint32_t>(cfg.labels_.size())});
    cfg.num_statistics_ = next;
    cfg.rules_.shrink_to_fit();
    cfg.cells_.shrink_to_fit();
    cfg.parts_.shrink_to_fit();
    cfg.places_.shrink_to_fit();
    cfg.labels_.shrink_to_fit();
  }

  const GrammarIndex& index_;
  const Grammar& grammar_;
  const TagSets& tags_;
  const SpanMask* mask_;
  std::size_t m_;
  std::vector<Cell> cells_;  // all of them, by cell_index, and one more
  std::vector<Size> sizes_;  // of each cell: what is live
  std::vector<Node> bottoms_, tops_;
  std::vector<std::uint8_t> wanted_, seen_;  // symbols
  std::vector<bool> used_rules_, used_splits_;
};

Cfg::Cfg(const GrammarIndex& index, const TagSets& tags, const SpanMask* mask,
         std::shared_ptr<SpanKinds> kinds)
    : index_(&index) {
  if (!kinds) kinds = std::make_shared<SpanKinds>(index);
  CfgBuilder(index, tags, mask).build(*this, *kinds);
  kinds_ = std::move(kinds);
}

}  // namespace espalier
