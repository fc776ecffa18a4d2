// Greedy elimination orders. Eliminating v joins all of its neighbours N(v); the clique {v} + N(v) is a node
// of the tree. The fill of u, the pairs in N(u) that are not joined, is kept up to date instead of counted
// again:
//   joining a and b      fill(c) -= 1 for each c in N(a) and N(b); fill(a) += |N(a) - N(b) - b|, and the same
//                        for b
//   taking v out         fill(u) -= |N(u)| - |N(v)| for each u in N(v), whose neighbours in N(v) are all
//                        joined by then
// so that an elimination costs what its new edges and their ends' neighbours do.

#include "structures/elimination.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <tuple>

#include "base/random.h"

namespace espalier {
namespace {

using Neighbours = std::vector<std::vector<std::uint32_t>>;  // of each variable, sorted

Neighbours neighbours_of(const FactorGraph& graph) {
  Neighbours adjacent(graph.num_variables());
  for (std::size_t c = 0; c < graph.num_cliques(); ++c) {
    for (const std::uint32_t v : graph.scope(c)) {
      for (const std::uint32_t u : graph.scope(c)) {
        if (u != v) adjacent[v].push_back(u);
      }
    }
  }
  for (auto& list : adjacent) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return adjacent;
}

// Breadth first from an end of the graph, those with few neighbours first (Cuthill and McKee 1969): a sweep
// over a grid.
std::vector<std::uint32_t> breadth_first(const Neighbours& adjacent) {
  std::vector<std::uint32_t> order;
  std::vector<std::uint8_t> seen(adjacent.size(), 0);
  const auto search = [&](std::uint32_t start) {
    std::vector<std::uint32_t> found{start};
    seen[start] = 1;
    for (std::size_t at = 0; at < found.size(); ++at) {
      const auto first = static_cast<std::ptrdiff_t>(found.size());
      for (const std::uint32_t u : adjacent[found[at]]) {
        if (seen[u]) continue;
        seen[u] = 1;
        found.push_back(u);
      }
      std::stable_sort(found.begin() + first, found.end(),
                       [&](auto a, auto b) { return adjacent[a].size() < adjacent[b].size(); });
    }
    return found;
  };
  for (std::uint32_t v = 0; v < adjacent.size(); ++v) {
    if (seen[v]) continue;
    const auto from_inside = search(v);
    for (const std::uint32_t u : from_inside) seen[u] = 0;
    const auto found = search(from_inside.back());  // where one search ends is an end of the graph
    order.insert(order.end(), found.begin(), found.end());
  }
  return order;
}

// The cliques of this order of elimination, each with its variable in front; none where one of them has more
// entries than `most`.
std::vector<std::vector<std::uint32_t>> cliques_of(const FactorGraph& graph, Neighbours adjacent,
                                                   std::span<const std::uint32_t> order, double most) {
  std::vector<std::vector<std::uint32_t>> cliques;
  std::vector<std::uint32_t> joined;
  for (const std::uint32_t v : order) {
    const auto& around = adjacent[v];
    cliques.push_back({v});
    cliques.back().insert(cliques.back().end(), around.begin(), around.end());
    double entries = 1;
    for (const std::uint32_t u : cliques.back()) entries *= graph.cardinality(u);
    if (entries > most) return {};
    for (const std::uint32_t u : around) {
      joined.clear();
      std::set_union(adjacent[u].begin(), adjacent[u].end(), around.begin(), around.end(),
                     std::back_inserter(joined));
      std::erase_if(joined, [&](std::uint32_t w) { return w == u || w == v; });
      adjacent[u] = joined;
    }
  }
  return cliques;
}

enum class Rule { fill, weight };

// One elimination of all variables.
class Elimination {
 public:
  Elimination(const FactorGraph& graph, Neighbours adjacent, Rule rule, Random* ties)
      : adjacent_(std::move(adjacent)),
        rule_(rule),
        fill_(adjacent_.size()),
        tie_(adjacent_.size()),
        is_touched_(adjacent_.size()) {
    for (std::size_t v = 0; v < adjacent_.size(); ++v) log_size_.push_back(std::log(graph.cardinality(v)));
    for (std::size_t v = 0; v < adjacent_.size(); ++v) {
      tie_[v] = ties ? static_cast<std::uint32_t>(ties->below(1u << 30)) : 0;
      const auto& list = adjacent_[v];
      std::size_t joined = 0;
      for (const std::uint32_t u : list) joined += common(list, adjacent_[u]).size();
      fill_[v] = static_cast<std::int64_t>(list.size() * (list.size() - 1) / 2 - joined / 2);
    }
    for (std::uint32_t v = 0; v < adjacent_.size(); ++v) queue_.insert(key(v));
  }

  // The cliques, each with its variable in front, in the order of elimination.
  std::vector<std::vector<std::uint32_t>> run() {
    std::vector<std::vector<std::uint32_t>> cliques;
    while (!queue_.empty()) {
      const std::uint32_t v = std::get<3>(*queue_.begin());
      cliques.push_back({v});
      cliques.back().insert(cliques.back().end(), adjacent_[v].begin(), adjacent_[v].end());
      take_out(v);
    }
    return cliques;
  }

 private:
  using Key = std::tuple<double, double, std::uint32_t, std::uint32_t>;

  Key key(std::uint32_t v) const {
    double weight = log_size_[v];
    for (const std::uint32_t u : adjacent_[v]) weight += log_size_[u];
    const double fill = static_cast<double>(fill_[v]);
    return rule_ == Rule::fill ? Key{fill, weight, tie_[v], v} : Key{weight, fill, tie_[v], v};
  }

  const std::vector<std::uint32_t>& common(const std::vector<std::uint32_t>& a,
                                           const std::vector<std::uint32_t>& b) {
    common_.clear();
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common_));
    return common_;
  }

  void touch(std::uint32_t v) {
    if (is_touched_[v]) return;
    is_touched_[v] = 1;
    queue_.erase(key(v));
    touched_.push_back(v);
  }

  static void insert(std::vector<std::uint32_t>& list, std::uint32_t v) {
    list.insert(std::lower_bound(list.begin(), list.end(), v), v);
  }

  void take_out(std::uint32_t v) {
    touched_.clear();
    queue_.erase(key(v));
    const std::vector<std::uint32_t> around = adjacent_[v];
    for (const std::uint32_t u : around) touch(u);
    for (std::size_t i = 0; i < around.size(); ++i) {
      for (std::size_t j = i + 1; j < around.size(); ++j) {
        auto &a = adjacent_[around[i]], &b = adjacent_[around[j]];
        if (std::binary_search(a.begin(), a.end(), around[j])) continue;
        const auto& both = common(a, b);
        for (const std::uint32_t c : both) {
          if (c == v) continue;
          touch(c);
          --fill_[c];
        }
        fill_[around[i]] += static_cast<std::int64_t>(a.size() - both.size());
        fill_[around[j]] += static_cast<std::int64_t>(b.size() - both.size());
        insert(a, around[j]);
        insert(b, around[i]);
      }
    }
    for (const std::uint32_t u : around) {
      auto& list = adjacent_[u];
      fill_[u] -= static_cast<std::int64_t>(list.size()) - static_cast<std::int64_t>(around.size());
      list.erase(std::lower_bound(list.begin(), list.end(), v));
    }
    for (const std::uint32_t u : touched_) {
      queue_.insert(key(u));
      is_touched_[u] = 0;
    }
  }

  Neighbours adjacent_;
  Rule rule_;
  std::vector<std::int64_t> fill_;
  std::vector<std::uint32_t> tie_;
  std::vector<double> log_size_;
  std::set<Key> queue_;
  std::vector<std::uint32_t> common_;
  std::vector<std::uint32_t> touched_;  // out of the queue until their keys are right again
  std::vector<std::uint8_t> is_touched_;
};

// The tree of an elimination's cliques. The parent of a clique is that of the first of its variables to go
// after its own; a parent that is all of the clique but its own variable is part of the same node.
EliminationTree tree_of(const FactorGraph& graph, std::vector<std::vector<std::uint32_t>> cliques) {
  const std::size_t n = graph.num_variables();
  std::vector<std::uint32_t> rank(n);
  for (std::uint32_t r = 0; r < n; ++r) rank[cliques[r].front()] = r;
  EliminationTree tree;
  tree.ending_at.resize(n);
  std::vector<std::uint32_t> node_of(n, EliminationTree::kNone);  // by rank
  for (std::uint32_t r = 0; r < n; ++r) {
    if (node_of[r] != EliminationTree::kNone) continue;  // part of a node that began before
    auto& clique = cliques[r];
    std::sort(clique.begin(), clique.end(),
              [&](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });
    const auto index = static_cast<std::uint32_t>(tree.nodes.size());
    std::size_t ending = 1;
    while (ending < clique.size()) {
      const std::uint32_t next = rank[clique[ending]];
      if (node_of[next] != EliminationTree::kNone || cliques[next].size() != clique.size() - ending) break;
      node_of[next] = index;
      ++ending;
    }
    node_of[r] = index;
    for (std::size_t i = 0; i < ending; ++i) tree.ending_at[clique[i]] = index;
    tree.nodes.push_back({clique, ending, EliminationTree::kNone});
  }
  // A node that took in a later variable stands where its first variable stood, but its children may have
  // come after that: order nodes by the last of their own variables.
  std::vector<std::uint32_t> order(tree.nodes.size()), place(tree.nodes.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) order[k] = k;
  const auto last = [&](std::uint32_t k) {
    return rank[tree.nodes[k].variables[tree.nodes[k].num_ending - 1]];
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return last(a) < last(b); });
  for (std::uint32_t k = 0; k < order.size(); ++k) place[order[k]] = k;
  std::vector<EliminationTree::Node> sorted;
  sorted.reserve(order.size());
  for (const std::uint32_t k : order) sorted.push_back(std::move(tree.nodes[k]));
  tree.nodes = std::move(sorted);
  for (std::uint32_t& node : tree.ending_at) node = place[node];

  for (auto& node : tree.nodes) {
    double entries = 1, separator = 1;
    for (std::size_t i = 0; i < node.variables.size(); ++i) {
      entries *= graph.cardinality(node.variables[i]);
      if (i >= node.num_ending) separator *= graph.cardinality(node.variables[i]);
    }
    if (node.num_ending < node.variables.size())
      node.parent = tree.ending_at[node.variables[node.num_ending]];
    tree.width = std::max(tree.width, node.variables.size() - 1);
    tree.largest = std::max(tree.largest, entries);
    tree.widest = std::max(tree.widest, separator);
    tree.separators += separator;
    tree.total += entries;
  }
  return tree;
}

}  // namespace

EliminationTree eliminate(const FactorGraph& graph) {
  constexpr double kSmall = 1 << 12;  // entries of a table; less than a search would save
  constexpr int kTries = 16;
  const Neighbours adjacent = neighbours_of(graph);
  EliminationTree best = tree_of(graph, Elimination(graph, adjacent, Rule::fill, nullptr).run());
  if (best.largest <= kSmall) return best;
  const auto compare = [&](EliminationTree other) {
    if (other.total < best.total) best = std::move(other);
  };
  const auto compare_order = [&](std::span<const std::uint32_t> order) {
    auto cliques = cliques_of(graph, adjacent, order, best.total);
    if (!cliques.empty()) compare(tree_of(graph, std::move(cliques)));
  };
  std::vector<std::uint32_t> order(graph.num_variables());
  std::iota(order.begin(), order.end(), 0u);
  compare_order(order);
  compare_order(breadth_first(adjacent));
  Random random(1);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const Rule rule = attempt % 4 == 0 ? Rule::weight : Rule::fill;
    compare(tree_of(graph, Elimination(graph, adjacent, rule, &random).run()));
  }
  return best;
}

}  // namespace espalier
