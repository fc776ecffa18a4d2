#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "structures/kbest_memory.h"
#include "structures/log_scores.h"

namespace espalier {

// The paths through a lattice, best first, one at a time (Huang and Chiang 2005, algorithm 3). Every node
// (position t, state q) ranks the ways that lead to it, and asks a node before it for one more only when a
// way was taken that needs it. The first path takes as long as Viterbi's algorithm; each further one adds at
// most one way to one node of each position, so that time and memory grow with the number of paths that were
// asked for, and not with that number times the nodes.
//
// A Lattice has
//   length(), num_states()
//   first(q)                        the score of beginning in q; kExcluded where that is impossible
//   for_each_before(t, q, call)
//                                   call(p) for every state p from which q can be reached at t >= 1, in
//                                   ascending order
//   extend(score, t, p, q)          the score of a way to p with the step to q added
// Equal paths always come in the same order.
template <class Lattice>
class LazyPaths {
 public:
  explicit LazyPaths(const Lattice& lattice)
      : lattice_(lattice),
        length_(lattice.length()),
        states_(lattice.num_states()),
        nodes_(length_ * states_) {
    for (std::uint32_t q = 0; q < states_; ++q) {
      const double score = lattice_.first(q);
      if (score == kExcluded) continue;
      nodes_[q].waiting.push_back({score, 0, 0});
      take(q);
      nodes_[q].followed = true;  // nothing else leads to a first node
    }
    // The best ways of all nodes from the left: asking for them from the right would recurse as deep as the
    // path is long.
    for (std::size_t t = 1; t < length_; ++t) {
      for (std::uint32_t q = 0; q < states_; ++q) {
        Node& here = nodes_[t * states_ + q];
        lattice_.for_each_before(t, q, [&](std::uint32_t p) { propose(t, p, 0, q, here); });
        take(t * states_ + q);
      }
    }
    for (std::uint32_t q = 0; q < states_; ++q) propose_end(q, 0);
  }

  // The states of the next best path, and its score. False where there is no other.
  bool next(std::span<std::uint32_t> states, double& score) {
    if (!end_followed_) {
      // The end that was taken last may be reached in one more way.
      end_followed_ = true;
      const std::size_t node = (length_ - 1) * states_ + end_.before;
      if (nodes_[node].ways.size() <= end_.rank + 1) grow(length_ - 1, end_.before);
      propose_end(end_.before, end_.rank + 1);
    }
    if (ends_.empty()) return false;
    end_ = pop(ends_);
    end_followed_ = false;
    Way way = end_;
    for (std::size_t t = length_; t-- > 0;) {
      states[t] = way.before;
      way = nodes_[t * states_ + way.before].ways[way.rank];
    }
    score = end_.score;
    return true;
  }

 private:
  struct Way {
    double score;
    std::uint32_t before, rank;  // the state before, and which of its ways
  };
  struct Node {
    std::vector<Way> ways;     // found so far, best first
    std::vector<Way> waiting;  // a heap with the best on top
    bool followed = true;      // what follows from the last of the ways is waiting, or does not exist
  };
  static bool worse(const Way& a, const Way& b) {
    if (a.score != b.score) return a.score < b.score;
    return a.before != b.before ? a.before > b.before : a.rank > b.rank;
  }

  void push(const Way& way, std::vector<Way>& heap) {
    memory_.add(sizeof(Way));
    heap.push_back(way);
    std::push_heap(heap.begin(), heap.end(), worse);
  }
  static Way pop(std::vector<Way>& heap) {
    std::pop_heap(heap.begin(), heap.end(), worse);
    const Way best = heap.back();
    heap.pop_back();
    return best;
  }

  // The way to q by the one of this rank to p, if there is such a way.
  void propose(std::size_t t, std::uint32_t p, std::uint32_t rank, std::uint32_t q, Node& to) {
    const std::vector<Way>& before = nodes_[(t - 1) * states_ + p].ways;
    if (rank < before.size()) push({lattice_.extend(before[rank].score, t, p, q), p, rank}, to.waiting);
  }
  void propose_end(std::uint32_t q, std::uint32_t rank) {
    const std::vector<Way>& ways = nodes_[(length_ - 1) * states_ + q].ways;
    if (rank < ways.size()) push({ways[rank].score, q, rank}, ends_);
  }

  // Moves the best of what is waiting at a node to its ways.
  void take(std::size_t node) {
    Node& here = nodes_[node];
    if (here.waiting.empty()) return;
    here.ways.push_back(pop(here.waiting));
    memory_.add(sizeof(Way));
    here.followed = false;
  }

  // Finds one more way to a node, if there is one.
  void grow(std::size_t t, std::uint32_t q) {
    // Down to where the last way taken needs no other node to grow first ...
    needed_.clear();
    for (;; --t) {
      needed_.push_back(q);
      const Node& here = nodes_[t * states_ + q];
      if (here.followed) break;
      const Way last = here.ways.back();
      if (t == 0 || nodes_[(t - 1) * states_ + last.before].ways.size() > last.rank + 1) break;
      q = last.before;
    }
    // ... and up again.
    for (; !needed_.empty(); needed_.pop_back(), ++t) {
      q = needed_.back();
      Node& here = nodes_[t * states_ + q];
      if (!here.followed) {
        const Way last = here.ways.back();
        if (t > 0) propose(t, last.before, last.rank + 1, q, here);
        here.followed = true;
      }
      take(t * states_ + q);
    }
  }

  const Lattice& lattice_;
  std::size_t length_, states_;
  KbestMemory memory_;
  std::vector<Node> nodes_;  // position t, state q: t states + q
  std::vector<Way> ends_;    // a heap of what is behind the last position
  Way end_{};                // the one that was taken last
  bool end_followed_ = true;
  std::vector<std::uint32_t> needed_;  // states, from position to position
};

}  // namespace espalier
