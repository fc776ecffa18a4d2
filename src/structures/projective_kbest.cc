// The k best projective trees, lazily (Huang and Chiang 2005, algorithm 3) on the spans of kernels/eisner.cc:
//
//   S(i, j) = max_k R(i, k) + L(k + 1, j)              i <= k < j
//   R(i, j) = max_k S(i, k) + s(i -> k) + R(k, j)      i < k <= j
//   L(i, j) = max_k L(i, k) + s(j -> k) + S(k, j)      i <= k < j
//   root    = R(0, m), or max_k L(1, k) + s(0 -> k) + R(k, m) if it has one modifier
//
// A span's ways are a split k and the ranks of its two parts among their own ways; each is looked for only
// when somebody asks for it. Every tree comes about in one way, so none comes twice. Time O(m^3 + k m log(k
// m)), as at most one more way of each span within a tree is looked for to find the next tree.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "espalier/base/error.h"
#include "structures/projective.h"

namespace espalier {
namespace {

class LazyForest {
 public:
  LazyForest(std::size_t words, bool single_root, std::span<const double> s)
      : words_(words), single_root_(single_root), s_(s), nodes_(4 * arc_matrix_size(words)) {}

  // Whether there is a tree of that rank; heads <- its heads. Trees of smaller ranks have been asked for
  // before.
  bool tree(std::size_t rank, Heads heads) {
    const Span root = single_root_ ? Span{Kind::root, 1, words_} : Span{Kind::right, 0, words_};
    if (!way(root, rank)) return false;
    read(root, rank, heads);
    return true;
  }

 private:
  enum class Kind : std::size_t { sum, right, left, root };
  struct Span {
    Kind kind;
    std::size_t begin, end;
  };
  struct Way {
    double score;
    std::size_t split, first_rank, second_rank;
  };
  struct Node {
    std::vector<Way> best;  // found so far, best first
    std::vector<Way>
        candidates;  // a heap with the best on top; the next way is one of them or follows from best.back()
    bool started = false;
    bool followed = true;  // what follows from best.back() is among the candidates
  };
  // What a split makes of a span: two parts, and an arc unless the modifier is 0.
  struct Parts {
    Span first, second;
    std::size_t head, modifier;
  };

  Parts parts(const Span& span, std::size_t k) const {
    const auto [kind, i, j] = span;
    switch (kind) {
      case Kind::sum:
        return {{Kind::right, i, k}, {Kind::left, k + 1, j}, 0, 0};
      case Kind::right:
        return {{Kind::sum, i, k}, {Kind::right, k, j}, i, k};
      case Kind::left:
        return {{Kind::left, i, k}, {Kind::sum, k, j}, j, k};
      default:
        return {{Kind::left, i, k}, {Kind::right, k, j}, 0, k};
    }
  }
  Node& node(const Span& span) {
    return nodes_[static_cast<std::size_t>(span.kind) * arc_matrix_size(words_) + span.begin * (words_ + 1) +
                  span.end];
  }
  // The order of the heap: better ones come last, of equal ones the one with the first split.
  static bool worse(const Way& a, const Way& b) {
    if (a.score != b.score) return a.score < b.score;
    if (a.split != b.split) return a.split > b.split;
    return a.first_rank != b.first_rank ? a.first_rank > b.first_rank : a.second_rank > b.second_rank;
  }

  void add_candidate(const Span& span, std::size_t split, std::size_t first_rank, std::size_t second_rank) {
    const Parts p = parts(span, split);
    const double arc = p.modifier == 0 ? 0 : s_[arc_matrix_index(words_, p.head, p.modifier)];
    if (arc == -std::numeric_limits<double>::infinity()) return;
    const Way* first = way(p.first, first_rank);
    if (!first) return;
    const double so_far = first->score + arc;
    const Way* second = way(p.second, second_rank);
    if (!second) return;
    auto& candidates = node(span).candidates;
    candidates.push_back({so_far + second->score, split, first_rank, second_rank});
    std::push_heap(candidates.begin(), candidates.end(), worse);
  }

  // The way of that rank, or none.
  const Way* way(const Span& span, std::size_t rank) {
    Node& here = node(span);
    if (!here.started) {
      here.started = true;
      if (span.kind != Kind::root && span.begin == span.end) {
        here.best.push_back({0, 0, 0, 0});
      } else {
        const std::size_t begin = span.begin + (span.kind == Kind::right ? 1 : 0);
        const std::size_t end = span.end + (span.kind == Kind::right || span.kind == Kind::root ? 1 : 0);
        for (std::size_t k = begin; k < end; ++k) add_candidate(span, k, 0, 0);
      }
    }
    while (here.best.size() <= rank) {
      if (!here.followed) {
        here.followed = true;
        const Way last = here.best.back();
        add_candidate(span, last.split, last.first_rank, last.second_rank + 1);
        // Each pair of ranks follows from one other.
        if (last.second_rank == 0) add_candidate(span, last.split, last.first_rank + 1, 0);
      }
      if (here.candidates.empty()) return nullptr;
      std::pop_heap(here.candidates.begin(), here.candidates.end(), worse);
      here.best.push_back(here.candidates.back());
      here.candidates.pop_back();
      here.followed = false;
    }
    return &here.best[rank];
  }

  void read(const Span& span, std::size_t rank, Heads heads) {
    if (span.kind != Kind::root && span.begin == span.end) return;
    const Way found = node(span).best[rank];
    const Parts p = parts(span, found.split);
    if (p.modifier != 0) heads[p.modifier - 1] = static_cast<std::uint32_t>(p.head);
    read(p.first, found.first_rank, heads);
    read(p.second, found.second_rank, heads);
  }

  std::size_t words_;
  bool single_root_;
  std::span<const double> s_;
  std::vector<Node> nodes_;
};

}  // namespace

std::vector<ScoredTree> projective_kbest(std::size_t words, bool single_root, std::span<const double> s,
                                         std::size_t k) {
  ESPALIER_EXPECT(words > 0 && s.size() == arc_matrix_size(words));
  LazyForest forest(words, single_root, s);
  std::vector<ScoredTree> trees;
  std::vector<std::uint32_t> heads(words);
  while (trees.size() < k && forest.tree(trees.size(), heads)) {
    double score = 0;
    for (std::size_t d = 1; d <= words; ++d) score += s[arc_matrix_index(words, heads[d - 1], d)];
    trees.push_back({heads, score});
  }
  // The forest adds scores in another order: equal ones may differ in their last digit.
  std::stable_sort(trees.begin(), trees.end(),
                   [](const ScoredTree& a, const ScoredTree& b) { return a.score > b.score; });
  return trees;
}

}  // namespace espalier
