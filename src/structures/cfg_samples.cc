// Derivations drawn from their distribution, from the sentence down: what a node of the forest is made of is
// drawn in proportion to its term of the node's inside sum.

#include <vector>

#include "espalier/base/error.h"
#include "structures/cfg.h"
#include "structures/log_scores.h"

namespace espalier {

class CfgSampler {
 public:
  CfgSampler(const Cfg& cfg, std::span<const double> s)
      : cfg_(cfg), s_(s), frame_(ws_), forest_(cfg.forest(frame_)), in_(Cfg::take_inside(forest_, frame_)) {
    cfg.log_inside(forest_, s, in_, ws_);
  }

  Derivation draw(Random& random) {
    Derivation y;
    y.nodes.reserve(2 * cfg_.num_words() - 1);
    append(0, forest_.num_nodes() - 1, random, y);
    return y;
  }

 private:
  void append(std::size_t top, std::size_t c, Random& random, Derivation& to) {
    const Cfg::Node& node = forest_.nodes[c];
    const SpanKind& kind = forest_.kinds[c];
    // in(T): the bottom node itself, or a unary rule over another one.
    const auto [first, end] = kind.unaries_of(top);
    const std::uint16_t same = kind.tops[top].same;
    terms_.clear();
    for (std::size_t u = first; u < end; ++u) terms_.push_back(cfg_.unary_term(forest_, s_, in_, c, u));
    terms_.push_back(same == SpanKind::kNone ? kExcluded : in_.bottom[node.first_bottom + same]);
    const std::size_t drawn = first + draw_label(terms_, random);
    const std::size_t b = drawn == end ? same : kind.unaries[drawn].bottom;
    const std::uint32_t unary = drawn == end ? kNoRule : kind.unaries[drawn].rule;
    if (node.is_word()) {
      to.nodes.push_back({node.begin, node.begin, node.end, kind.bottoms[b].symbol, unary});
      return;
    }
    // in(B): one of the edges that lead to it.
    struct Way {
      const Cfg::Block* block;
      const Cfg::Edge* edge;
    };
    std::vector<Way> ways;
    terms_.clear();
    for (const Cfg::Block& block : forest_.blocks_of(c)) {
      for (const Cfg::Edge& edge : forest_.edges_of(block)) {
        if (edge.bottom != b) continue;
        ways.push_back({&block, &edge});
        terms_.push_back(cfg_.edge_term(forest_, s_, in_, block, kind, edge));
      }
    }
    const auto [block, edge] = ways[draw_label(terms_, random)];
    to.nodes.push_back({node.begin, block->split, node.end, cfg_.rules_[edge->rule], unary});
    append(edge->left, block->left, random, to);
    append(edge->right, block->right, random, to);
  }

  const Cfg& cfg_;
  std::span<const double> s_;
  Workspace ws_;
  Workspace::Frame frame_;
  Cfg::Forest forest_;
  Cfg::Inside in_;
  std::vector<double> terms_;
};

std::vector<Derivation> Cfg::samples(std::span<const double> s, std::size_t n, Random& random) const {
  ESPALIER_EXPECT(possible() && s.size() == num_statistics_);
  CfgSampler sampler(*this, s);
  std::vector<Derivation> drawn;
  for (std::size_t k = 0; k < n; ++k) drawn.push_back(sampler.draw(random));
  return drawn;
}

}  // namespace espalier
