// The best dependency tree, max over trees of sum_{(h, d) in tree} s(h, d), by Chu and Liu (1965) and Edmonds
// (1967).
//
// Every word takes its best head. Where that closes a cycle C, the tree enters C at one of its words d and
// leaves out d's arc within C, so that C becomes a single word with
//
//   s(h, C) = max_{d in C} s(h, d) - s(head(d), d),    s(C, d) = max_{h in C} s(h, d)
//
// Tarjan's order (1977) follows heads from one word until it meets a cycle or what has led to the root
// before. Each round looks at one row of scores, and a cycle of n words costs n rows and removes n - 1 words:
// O(m^2) in all.
//
// Scores are compared after the number of arcs that a tree should not have: those from the root, if it is to
// have one modifier (a tree has at least one of them), and before all others those that are excluded. The
// pair is as good an order for this algorithm as numbers are (it only adds, subtracts and compares), and
// exact, which a large penalty is not.

#include <algorithm>
#include <limits>

#include "espalier/base/error.h"
#include "structures/nonprojective.h"

namespace espalier {
namespace {

constexpr double kExcludedArc = -std::numeric_limits<double>::infinity();

// The best arc between two words, or two cycles that have become words.
struct BestArc {
  double score;
  std::int32_t unwanted;  // arcs that a tree should not have
  std::uint32_t arc;      // place in the arc matrix

  bool better_than(const BestArc& other) const {
    return unwanted != other.unwanted ? unwanted < other.unwanted : score > other.score;
  }
  BestArc less(const BestArc& other) const { return {score - other.score, unwanted - other.unwanted, arc}; }
};

// Words and cycles keep a place in 0, ..., m: a cycle takes that of one of its words. Nodes number all that
// ever have one: words first, and cycles after what they consist of.
class ChuLiuEdmonds {
 public:
  ChuLiuEdmonds(std::size_t words, bool single_root, std::span<const double> s, Workspace::Frame& frame)
      : places_(words + 1),
        arcs_(frame.take<BestArc>(places_ * places_)),
        taken_(frame.take<BestArc>(places_)),
        active_(frame.take<std::uint32_t>(places_)),
        path_(frame.take<std::uint32_t>(places_)),
        node_(frame.take<std::uint32_t>(places_)),
        state_(frame.take<State>(places_)),
        parent_(frame.take<std::uint32_t>(2 * places_)),
        entered_(frame.take<std::uint32_t>(2 * places_)),
        resolved_(frame.take<bool>(2 * places_)) {
    for (std::uint32_t d = 0; d < places_; ++d) {
      for (std::uint32_t h = 0; h < places_; ++h) {
        const std::uint32_t arc = d * static_cast<std::uint32_t>(places_) + h;
        if (s[arc] == kExcludedArc)
          arcs_[arc] = {0, static_cast<std::int32_t>(places_), arc};
        else
          arcs_[arc] = {s[arc], h == 0 && single_root ? 1 : 0, arc};
      }
      active_[d] = node_[d] = d;
      state_[d] = State::untouched;
    }
    num_active_ = num_nodes_ = places_;
    state_[0] = State::led_to_root;
  }

  void run(Heads heads) {
    for (std::uint32_t d = 1; d < places_; ++d) {
      if (state_[d] == State::untouched) follow(d);
    }
    expand(heads);
  }

 private:
  enum class State : std::uint8_t { untouched, on_path, in_cycle, absorbed, led_to_root };

  // Follows best heads from d until one of them has led to the root.
  void follow(std::uint32_t d) {
    path_length_ = 0;
    for (std::uint32_t next = d;;) {
      if (state_[next] == State::untouched) {
        state_[next] = State::on_path;
        path_[path_length_++] = next;
      } else if (state_[next] == State::on_path) {
        contract(next);
      } else {
        break;
      }
      next = take_best_head(path_[path_length_ - 1]);
    }
    for (std::size_t k = 0; k < path_length_; ++k) state_[path_[k]] = State::led_to_root;
  }

  std::uint32_t take_best_head(std::uint32_t d) {
    const BestArc* row = &arcs_[d * places_];
    std::uint32_t best = active_[0] == d ? active_[1] : active_[0];
    for (std::size_t k = 0; k < num_active_; ++k) {
      if (active_[k] != d && row[active_[k]].better_than(row[best])) best = active_[k];
    }
    taken_[d] = row[best];
    entered_[node_[d]] = row[best].arc;
    return best;
  }

  // The path from `first` on is a cycle.
  void contract(std::uint32_t first) {
    const auto cycle_node = static_cast<std::uint32_t>(num_nodes_++);
    std::size_t begin = path_length_;
    do {
      const std::uint32_t c = path_[--begin];
      state_[c] = State::in_cycle;
      parent_[node_[c]] = cycle_node;
    } while (path_[begin] != first);

    const auto end_active =
        std::remove_if(active_.begin(), active_.begin() + static_cast<std::ptrdiff_t>(num_active_),
                       [&](std::uint32_t x) { return state_[x] == State::in_cycle; });
    num_active_ = static_cast<std::size_t>(end_active - active_.begin());
    BestArc* row = &arcs_[first * places_];
    for (std::size_t k = 0; k < num_active_; ++k) row[active_[k]] = row[active_[k]].less(taken_[first]);
    for (std::size_t j = begin + 1; j < path_length_; ++j) {
      const std::uint32_t c = path_[j];
      state_[c] = State::absorbed;
      for (std::size_t k = 0; k < num_active_; ++k) {
        const std::uint32_t x = active_[k];
        // s(x, C) = max_{c in C} s(x, c) - s(head(c), c)
        const BestArc in = arcs_[c * places_ + x].less(taken_[c]);
        if (in.better_than(row[x])) row[x] = in;
        // s(C, x) = max_{c in C} s(c, x)
        BestArc& out = arcs_[x * places_ + first];
        if (arcs_[x * places_ + c].better_than(out)) out = arcs_[x * places_ + c];
      }
    }
    active_[num_active_++] = first;
    node_[first] = cycle_node;
    state_[first] = State::on_path;
    path_length_ = begin + 1;
  }

  // Cycles before what they consist of: the word where a cycle is entered keeps the arc from outside, and so
  // do the cycles around it; all others keep the one that they took.
  void expand(Heads heads) {
    std::fill(resolved_.begin(), resolved_.end(), false);
    for (std::size_t node = num_nodes_; --node > 0;) {
      if (resolved_[node]) continue;
      const std::size_t d = entered_[node] / places_;
      heads[d - 1] = static_cast<std::uint32_t>(entered_[node] % places_);
      std::size_t inside = d;
      for (; inside != node; inside = parent_[inside]) resolved_[inside] = true;
    }
  }

  std::size_t places_;
  std::span<BestArc> arcs_;          // rows are modifiers
  std::span<BestArc> taken_;         // the arc to the best head of a place on the path
  std::span<std::uint32_t> active_;  // places
  std::span<std::uint32_t> path_;    // places, each the best head of the one before
  std::span<std::uint32_t> node_;    // of a place
  std::span<State> state_;
  std::span<std::uint32_t> parent_, entered_;  // of a node: the cycle that it is part of, the arc taken
  std::span<bool> resolved_;
  std::size_t num_active_ = 0, path_length_ = 0, num_nodes_ = 0;
};

}  // namespace

double nonprojective_best(std::size_t words, bool single_root, std::span<const double> s, Heads heads,
                          Workspace& ws) {
  ESPALIER_EXPECT(words > 0);
  Workspace::Frame frame(ws);
  ChuLiuEdmonds(words, single_root, s, frame).run(heads);
  double score = 0;
  std::size_t roots = 0;
  for (std::size_t d = 1; d <= words; ++d) {
    score += s[arc_matrix_index(words, heads[d - 1], d)];
    roots += heads[d - 1] == 0 ? 1 : 0;
  }
  return single_root && roots > 1 ? kExcludedArc : score;
}

}  // namespace espalier
