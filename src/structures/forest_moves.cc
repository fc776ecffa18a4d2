#include "structures/forest_moves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "structures/contraction.h"

namespace espalier {
namespace {

constexpr double kExcluded = -std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNone = ~std::uint32_t{0};

class ForestMove {
 public:
  ForestMove(const CliqueMessages& layout, std::span<const double> node, std::span<const double> s,
             std::span<std::uint32_t> y, Workspace::Frame& frame)
      : layout_(layout),
        node_(node),
        s_(s),
        y_(y),
        order_(frame.take<std::uint32_t>(y.size())),
        sets_(frame.take<std::uint32_t>(y.size())),
        freed_(frame.take<std::uint32_t>(y.size())),
        above_(frame.take<std::uint32_t>(y.size())),
        state_(frame.take<Place>(y.size())),
        best_(frame.take<double>(layout.label_begin.back())),
        vectors_(frame.take<double>(layout.most_labels)),
        fresh_(frame.take<double>(layout.most_labels)),
        buffer_(frame.take<double>(layout.buffer)) {
    std::iota(order_.begin(), order_.end(), 0u);
  }

  // Gives a share of the variables other labels.
  void kick(Random& random, double share) {
    for (std::size_t v = 0; v < y_.size(); ++v) {
      if (random.uniform() >= share) continue;
      const std::size_t begin = layout_.label_begin[v], labels = layout_.label_begin[v + 1] - begin;
      const auto x = static_cast<std::uint32_t>(random.below(labels));
      if (node_[begin + x] > kExcluded) y_[v] = x;
    }
  }

  // Whether y changed. The first variable to change, from the roots on, has a better maximum than with its
  // old label, and so all of y is better.
  bool run(Random& random) {
    choose(random);
    arrange();
    for (std::size_t k = freed_count_; k-- > 0;) add_below(freed_[k]);
    bool changed = false;
    for (std::size_t k = 0; k < freed_count_; ++k) changed = decide(freed_[k]) || changed;
    return changed;
  }

 private:
  enum class Place : std::uint8_t { fixed, free, reached, decided };

  std::uint32_t find(std::uint32_t v) {
    while (sets_[v] != v) v = sets_[v] = sets_[sets_[v]];
    return v;
  }
  bool open(std::uint32_t v) const { return state_[v] != Place::fixed; }
  // A variable of the clique that is free, not v itself.
  std::uint32_t other_free(const CliqueMessages::Clique& clique, std::uint32_t v) const {
    for (const std::uint32_t u : clique.variables) {
      if (u != v && open(u)) return u;
    }
    return kNone;
  }

  // Frees variables in random order, each unless two of its cliques lead to the same tree. The free variables
  // of a clique are in one tree.
  void choose(Random& random) {
    random.shuffle(order_);
    std::iota(sets_.begin(), sets_.end(), 0u);
    std::ranges::fill(state_, Place::fixed);
    for (const std::uint32_t v : order_) {
      bool joins = true;
      for (std::size_t k = 0; k < layout_.ends[v].size() && joins; ++k) {
        const std::uint32_t u = other_free(layout_.cliques[layout_.ends[v][k].clique], v);
        if (u == kNone) continue;
        for (std::size_t l = 0; l < k && joins; ++l) {
          const std::uint32_t w = other_free(layout_.cliques[layout_.ends[v][l].clique], v);
          joins = w == kNone || find(u) != find(w);
        }
      }
      if (!joins) continue;
      for (const auto& end : layout_.ends[v]) {
        const std::uint32_t u = other_free(layout_.cliques[end.clique], v);
        if (u != kNone) sets_[find(u)] = find(v);
      }
      state_[v] = Place::free;
    }
  }

  // freed_: from the roots to the leaves; above_: the clique towards the root.
  void arrange() {
    freed_count_ = 0;
    for (const std::uint32_t root : order_) {
      if (state_[root] != Place::free) continue;
      reach(root, kNone);
      for (std::size_t at = freed_count_ - 1; at < freed_count_; ++at) {
        const std::uint32_t v = freed_[at];
        for (const auto& end : layout_.ends[v]) {
          if (end.clique == above_[v]) continue;
          for (const std::uint32_t u : layout_.cliques[end.clique].variables) {
            if (state_[u] == Place::free) reach(u, end.clique);
          }
        }
      }
    }
  }
  void reach(std::uint32_t v, std::uint32_t clique) {
    state_[v] = Place::reached;
    above_[v] = clique;
    freed_[freed_count_++] = v;
  }

  // out[x] = the best score of a clique with label x of its variable `position`, with best_ of variables
  // below and the labels of all others.
  void maxima(std::uint32_t c, std::size_t position, std::span<double> out) {
    const CliqueMessages::Clique& clique = layout_.cliques[c];
    std::array<const double*, CliqueMessages::kMostVariables> vector_of{};
    std::size_t at = 0;
    for (std::size_t j = 0; j < clique.variables.size(); ++j) {
      const std::uint32_t u = clique.variables[j];
      vector_of[j] = vectors_.data() + at;
      const bool below = state_[u] == Place::reached && above_[u] == c;
      for (std::size_t x = 0; x < clique.labels[j]; ++x) {
        vectors_[at + x] = below ? best_[layout_.label_begin[u] + x] : y_[u] == x ? 0 : kExcluded;
      }
      at += clique.labels[j];
    }
    contract<MaxSum>(s_.data() + clique.begin, clique.size, clique.labels, position,
                     {vector_of.data(), clique.variables.size()}, buffer_, out.data());
  }

  // best_[x] = the score of label x of v and of all below it.
  void add_below(std::uint32_t v) {
    const std::size_t begin = layout_.label_begin[v], labels = layout_.label_begin[v + 1] - begin;
    const auto best = best_.subspan(begin, labels);
    std::copy_n(node_.begin() + static_cast<std::ptrdiff_t>(begin), labels, best.begin());
    for (const auto& end : layout_.ends[v]) {
      if (end.clique == above_[v]) continue;
      const auto part = fresh_.first(labels);
      maxima(end.clique, end.position, part);
      for (std::size_t x = 0; x < labels; ++x) best[x] += part[x];
    }
  }

  // Takes the best label of v, given all above it; the old one where no other is better by more than
  // rounding.
  bool decide(std::uint32_t v) {
    const std::size_t begin = layout_.label_begin[v], labels = layout_.label_begin[v + 1] - begin;
    const auto total = best_.subspan(begin, labels);
    state_[v] = Place::decided;
    if (above_[v] != kNone) {
      const auto& clique = layout_.cliques[above_[v]];
      const auto position = std::ranges::find(clique.variables, v) - clique.variables.begin();
      const auto part = fresh_.first(labels);
      maxima(above_[v], static_cast<std::size_t>(position), part);
      for (std::size_t x = 0; x < labels; ++x) total[x] += part[x];
    }
    const auto best = static_cast<std::uint32_t>(std::ranges::max_element(total) - total.begin());
    if (!(total[best] > total[y_[v]] + 1e-12 * (1 + std::abs(total[best])))) return false;
    y_[v] = best;
    return true;
  }

  const CliqueMessages& layout_;
  std::span<const double> node_, s_;
  std::span<std::uint32_t> y_, order_, sets_, freed_, above_;
  std::span<Place> state_;
  std::span<double> best_, vectors_, fresh_, buffer_;
  std::size_t freed_count_ = 0;
};

}  // namespace

void improve_by_forests(const CliqueMessages& layout, std::span<const double> node, std::span<const double> s,
                        std::size_t most_moves, std::span<std::uint32_t> y, Workspace& ws) {
  constexpr int kPatience = 5;
  constexpr double kLargestShare = 0.4;
  Workspace::Frame frame(ws);
  const auto trial = frame.take<std::uint32_t>(y.size());
  std::copy(y.begin(), y.end(), trial.begin());
  ForestMove move(layout, node, s, trial, frame);
  Random random(1);
  double highest = layout.score(node, s, y);
  int in_vain = 0;
  for (std::size_t moves = 0; moves < most_moves; ++moves) {
    in_vain = move.run(random) ? 0 : in_vain + 1;
    if (in_vain < kPatience && moves + 1 < most_moves) continue;
    const double reached = layout.score(node, s, trial);
    if (reached > highest) {
      highest = reached;
      std::copy(trial.begin(), trial.end(), y.begin());
    }
    std::copy(y.begin(), y.end(), trial.begin());
    move.kick(random, kLargestShare * random.uniform());
    in_vain = 0;
  }
}

}  // namespace espalier
