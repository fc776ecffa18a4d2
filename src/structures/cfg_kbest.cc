// The k best derivations: each node of the forest ranks its own derivations, and asks the nodes below it for
// their next best one only when a candidate is taken that needs it (Huang and Chiang 2005, algorithm 3).

#include <algorithm>

#include "espalier/base/error.h"
#include "structures/cfg.h"
#include "structures/log_scores.h"

namespace espalier {

class CfgRanking {
 public:
  CfgRanking(const Cfg& cfg, std::span<const double> s)
      : cfg_(cfg), s_(s), cell_of_(cfg.num_bottoms()), nodes_(cfg.num_bottoms() + cfg.num_tops()) {
    for (std::uint32_t c = 0; c < cfg.num_cells(); ++c) {
      for (std::size_t b = cfg.cells_[c].first_bottom; b < cfg.cells_[c + 1].first_bottom; ++b)
        cell_of_[b] = c;
    }
  }

  std::vector<Cfg::Scored> best(std::size_t k) {
    const std::size_t root = cfg_.num_tops() - 1;
    std::vector<Cfg::Scored> list;
    while (list.size() < k && has(top_node(root), list.size())) {
      list.push_back({{}, nodes_[top_node(root)].ranked[list.size()].score});
      append(root, list.size() - 1, list.back().output);
    }
    return list;
  }

 private:
  // An edge with the ranks of what is below it.
  struct Candidate {
    // Of a bottom node in edges_, of a top node in unary_edges_; kNone: a word, or the bottom node itself.
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
  std::size_t top_node(std::size_t t) const { return cfg_.num_bottoms() + t; }
  double score_at(std::size_t k) const { return k < s_.size() ? s_[k] : 0; }

  void wait(std::size_t v, const Candidate& candidate) {
    if (candidate.score == kExcluded) return;
    nodes_[v].waiting.push_back(candidate);
    std::push_heap(nodes_[v].waiting.begin(), nodes_[v].waiting.end(), worse);
  }

  // The candidate, if there are such derivations below it.
  void propose(std::size_t v, std::uint32_t edge, std::uint32_t left_rank, std::uint32_t right_rank) {
    if (v >= cfg_.num_bottoms()) {
      const std::uint32_t b =
          edge == Cfg::kNone ? cfg_.tops_[v - cfg_.num_bottoms()].same : cfg_.unary_edges_[edge].bottom;
      if (!has(b, left_rank)) return;
      double score = nodes_[b].ranked[left_rank].score;
      if (edge != Cfg::kNone) {
        for (std::size_t k = cfg_.unary_edges_[edge].first_statistic;
             k < cfg_.unary_edges_[edge + 1].first_statistic; ++k) {
          score += score_at(cfg_.unary_statistics_[k]);
        }
      }
      wait(v, {edge, left_rank, 0, score});
      return;
    }
    double score = score_at(cfg_.bottoms_[v].statistic);
    if (edge != Cfg::kNone) {
      const Cfg::Edge& of = cfg_.edges_[edge];
      const Cfg::Cell& cell = cfg_.cells_[cell_of_[v]];
      const std::size_t left = top_node(cfg_.left_of(cell, of)), right = top_node(cfg_.right_of(cell, of));
      if (!has(left, left_rank) || !has(right, right_rank)) return;
      const std::size_t factor = cell.first_factor + of.factor;
      score += score_at(of.rule) + score_at(cfg_.factors_[factor].statistic) +
               nodes_[left].ranked[left_rank].score + nodes_[right].ranked[right_rank].score;
    }
    wait(v, {edge, left_rank, right_rank, score});
  }

  void begin(std::size_t v) {
    nodes_[v].begun = true;
    if (v >= cfg_.num_bottoms()) {
      const std::size_t t = v - cfg_.num_bottoms();
      if (cfg_.tops_[t].same != Cfg::kNone) propose(v, Cfg::kNone, 0, 0);
      for (std::uint32_t u = cfg_.tops_[t].first_unary; u < cfg_.tops_[t + 1].first_unary; ++u)
        propose(v, u, 0, 0);
      return;
    }
    const std::uint32_t first = cfg_.bottoms_[v].first_edge, last = cfg_.bottoms_[v + 1].first_edge;
    if (first == last) propose(v, Cfg::kNone, 0, 0);
    for (std::uint32_t e = first; e < last; ++e) propose(v, e, 0, 0);
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
        const bool word = v < cfg_.num_bottoms() && last.edge == Cfg::kNone;
        if (!word && last.right_rank == 0) propose(v, last.edge, last.left_rank + 1, 0);
        if (!word && v < cfg_.num_bottoms()) propose(v, last.edge, last.left_rank, last.right_rank + 1);
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

  void append(std::size_t t, std::size_t rank, Derivation& to) const {
    const Candidate& top = nodes_[top_node(t)].ranked[rank];
    const bool same = top.edge == Cfg::kNone;
    const std::uint32_t b = same ? cfg_.tops_[t].same : cfg_.unary_edges_[top.edge].bottom;
    const std::uint32_t unary = same ? kNoRule : cfg_.unary_edges_[top.edge].unary;
    const Cfg::Cell& cell = cfg_.cells_[cell_of_[b]];
    const Candidate& bottom = nodes_[b].ranked[top.left_rank];
    if (bottom.edge == Cfg::kNone) {
      to.nodes.push_back({cell.begin, cell.begin, cell.end, cfg_.bottoms_[b].symbol, unary});
      return;
    }
    const Cfg::Edge& edge = cfg_.edges_[bottom.edge];
    const Cfg::Factor& factor = cfg_.factors_[cell.first_factor + edge.factor];
    to.nodes.push_back(
        {cell.begin, cfg_.cells_[factor.left_cell].end, cell.end, cfg_.rules_[edge.rule], unary});
    append(cfg_.left_of(cell, edge), bottom.left_rank, to);
    append(cfg_.right_of(cell, edge), bottom.right_rank, to);
  }

  const Cfg& cfg_;
  std::span<const double> s_;
  std::vector<std::uint32_t> cell_of_;  // of bottom nodes
  std::vector<Node> nodes_;             // bottom nodes, then top nodes
};

std::vector<Cfg::Scored> Cfg::kbest(std::span<const double> s, std::size_t k) const {
  ESPALIER_EXPECT(possible() && s.size() == num_statistics_);
  return CfgRanking(*this, s).best(k);
}

}  // namespace espalier
