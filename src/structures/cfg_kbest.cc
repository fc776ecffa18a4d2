// The k best derivations: each node of the forest ranks its own derivations, and asks the nodes below it for
// their next best one only when a candidate is taken that needs it (Huang and Chiang 2005, algorithm 3).

#include <algorithm>

#include "espalier/base/error.h"
#include "structures/cfg.h"
#include "structures/kbest_memory.h"
#include "structures/log_scores.h"

namespace espalier {

class CfgRanking {
 public:
  CfgRanking(const Cfg& cfg, std::span<const double> s)
      : cfg_(cfg),
        s_(s),
        frame_(ws_),
        forest_(cfg.forest(frame_)),
        num_bottoms_(forest_.num_bottoms()),
        span_of_(num_bottoms_ + forest_.num_tops()),
        nodes_(num_bottoms_ + forest_.num_tops()) {
    for (std::uint32_t c = 0; c < forest_.num_nodes(); ++c) {
      const auto set = [&](std::size_t first, std::size_t last) {
        std::fill(span_of_.begin() + static_cast<std::ptrdiff_t>(first),
                  span_of_.begin() + static_cast<std::ptrdiff_t>(last), c);
      };
      set(forest_.nodes[c].first_bottom, forest_.nodes[c + 1].first_bottom);
      set(num_bottoms_ + forest_.nodes[c].first_top, num_bottoms_ + forest_.nodes[c + 1].first_top);
    }
  }

  std::vector<Cfg::Scored> best(std::size_t k) {
    const std::size_t root = nodes_.size() - 1;
    std::vector<Cfg::Scored> list;
    while (list.size() < k && has(root, list.size())) {
      list.push_back({{}, nodes_[root].ranked[list.size()].score});
      append(root, list.size() - 1, list.back().output);
      memory_.add(sizeof(Cfg::Scored) +
                  list.back().output.nodes.size() * sizeof(list.back().output.nodes[0]));
    }
    return list;
  }

 private:
  // An edge with the ranks of what is below it.
  struct Candidate {
    // Of a bottom node an edge of the forest, of a top node a unary rule of its span's kind; kNone: a word,
    // or the bottom node itself.
    std::uint32_t edge;
    std::uint32_t left_rank, right_rank;
    double score;
  };
  struct Node {
    bool begun = false, exhausted = false;
    std::vector<Candidate> ranked, waiting;  // waiting is a heap
  };
  static bool worse(const Candidate& a, const Candidate& b) {
    if (a.score != b.score) return a.score < b.score;
    if (a.edge != b.edge) return a.edge > b.edge;
    return a.left_rank != b.left_rank ? a.left_rank > b.left_rank : a.right_rank > b.right_rank;
  }
  bool is_top(std::size_t v) const { return v >= num_bottoms_; }
  const Cfg::Node& span_of(std::size_t v) const { return forest_.nodes[span_of_[v]]; }
  const SpanKind& kind_of(std::size_t v) const { return forest_.kinds[span_of_[v]]; }
  std::size_t top_node(std::size_t span, std::size_t top) const {
    return num_bottoms_ + forest_.nodes[span].first_top + top;
  }
  // The node that a top node is made of.
  std::size_t below(std::size_t v, std::uint32_t unary) const {
    const SpanKind& kind = kind_of(v);
    return span_of(v).first_bottom + (unary == Cfg::kNone
                                          ? kind.tops[v - num_bottoms_ - span_of(v).first_top].same
                                          : kind.unaries[unary].bottom);
  }
  double score_at(std::size_t k) const { return k < s_.size() ? s_[k] : 0; }

  void wait(std::size_t v, const Candidate& candidate) {
    if (candidate.score == kExcluded) return;
    memory_.add(2 * sizeof(Candidate));  // it waits, and is ranked later
    nodes_[v].waiting.push_back(candidate);
    std::push_heap(nodes_[v].waiting.begin(), nodes_[v].waiting.end(), worse);
  }

  // The candidate, if there are such derivations below it.
  void propose(std::size_t v, std::uint32_t edge, std::uint32_t left_rank, std::uint32_t right_rank) {
    if (is_top(v)) {
      const std::size_t b = below(v, edge);
      if (!has(b, left_rank)) return;
      double score = nodes_[b].ranked[left_rank].score;
      if (edge != Cfg::kNone)
        cfg_.for_each_of_unary(forest_, span_of(v), kind_of(v), edge,
                               [&](std::uint32_t k) { score += score_at(k); });
      wait(v, {edge, left_rank, 0, score});
      return;
    }
    const std::size_t b = v - span_of(v).first_bottom;
    double score = score_at(cfg_.bottom_statistic(span_of(v), kind_of(v), b));
    if (edge != Cfg::kNone) {
      const Cfg::Edge& of = forest_.edges[edge];
      const Cfg::Block& block = forest_.block_of(span_of_[v], edge);
      const std::size_t left = top_node(block.left, of.left), right = top_node(block.right, of.right);
      if (!has(left, left_rank) || !has(right, right_rank)) return;
      const std::size_t split = cfg_.split_place(block.split, kind_of(v).bottoms[b]);
      score += score_at(of.rule) + score_at(forest_.split_statistics[split]) +
               nodes_[left].ranked[left_rank].score + nodes_[right].ranked[right_rank].score;
    }
    wait(v, {edge, left_rank, right_rank, score});
  }

  void begin(std::size_t v) {
    nodes_[v].begun = true;
    if (is_top(v)) {
      const std::size_t t = v - num_bottoms_ - span_of(v).first_top;
      if (kind_of(v).tops[t].same != SpanKind::kNone) propose(v, Cfg::kNone, 0, 0);
      const auto [first, end] = kind_of(v).unaries_of(t);
      for (std::size_t u = first; u < end; ++u) propose(v, static_cast<std::uint32_t>(u), 0, 0);
      return;
    }
    if (span_of(v).is_word()) return propose(v, Cfg::kNone, 0, 0);
    const auto blocks = forest_.blocks_of(span_of_[v]);
    const std::uint32_t first = blocks.front().first_edge, last = blocks.back().last_edge;
    for (std::uint32_t e = first; e < last; ++e) {
      if (span_of(v).first_bottom + forest_.edges[e].bottom == v) propose(v, e, 0, 0);
    }
  }

  // Whether node v has a derivation of this rank. Ranks are asked for one after the other.
  bool has(std::size_t v, std::size_t rank) {
    if (!nodes_[v].begun) begin(v);
    if (nodes_[v].exhausted) return rank < nodes_[v].ranked.size();
    while (nodes_[v].ranked.size() <= rank) {
      if (!nodes_[v].ranked.empty()) {
        // What comes next after the last one taken. Each pair of ranks has one predecessor, so that none
        // comes twice.
        const Candidate last = nodes_[v].ranked.back();
        const bool word = !is_top(v) && last.edge == Cfg::kNone;
        if (!word && last.right_rank == 0) propose(v, last.edge, last.left_rank + 1, 0);
        if (!word && !is_top(v)) propose(v, last.edge, last.left_rank, last.right_rank + 1);
      }
      auto& waiting = nodes_[v].waiting;
      if (waiting.empty()) {
        nodes_[v].exhausted = true;
        return false;
      }
      std::pop_heap(waiting.begin(), waiting.end(), worse);
      nodes_[v].ranked.push_back(waiting.back());
      waiting.pop_back();
    }
    return true;
  }

  void append(std::size_t v, std::size_t rank, Derivation& to) const {
    const Candidate& top = nodes_[v].ranked[rank];
    const std::size_t b = below(v, top.edge);
    const std::uint32_t unary = top.edge == Cfg::kNone ? kNoRule : kind_of(v).unaries[top.edge].rule;
    const Cfg::Node& span = span_of(v);
    const Candidate& bottom = nodes_[b].ranked[top.left_rank];
    if (bottom.edge == Cfg::kNone) {
      to.nodes.push_back(
          {span.begin, span.begin, span.end, kind_of(v).bottoms[b - span.first_bottom].symbol, unary});
      return;
    }
    const Cfg::Edge& edge = forest_.edges[bottom.edge];
    const Cfg::Block& block = forest_.block_of(span_of_[b], bottom.edge);
    to.nodes.push_back({span.begin, block.split, span.end, cfg_.rules_[edge.rule], unary});
    append(top_node(block.left, edge.left), bottom.left_rank, to);
    append(top_node(block.right, edge.right), bottom.right_rank, to);
  }

  const Cfg& cfg_;
  std::span<const double> s_;
  Workspace ws_;
  Workspace::Frame frame_;
  Cfg::Forest forest_;
  std::size_t num_bottoms_;
  std::vector<std::uint32_t> span_of_;  // of nodes
  std::vector<Node> nodes_;             // bottom nodes, then top nodes
  KbestMemory memory_;
};

std::vector<Cfg::Scored> Cfg::kbest(std::span<const double> s, std::size_t k) const {
  ESPALIER_EXPECT(possible() && s.size() == num_statistics_);
  return CfgRanking(*this, s).best(k);
}

}  // namespace espalier
