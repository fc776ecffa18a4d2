// Exact inference by messages on a junction tree (Lauritzen and Spiegelhalter 1988), in logarithms
// throughout, so that scores of any range and -infinity are right. A node's table is over its variables:
// those that end here (R) and the separator (S) that the parent has, too. With the graph's tables s_c, each
// added at one node, and the messages m_k of its children:
//   up      L(r, s) = sum of s_c + sum of m_k,   m(s) = log sum_r exp L(r, s)     (max_r for the best output)
//   down    P(r, s) = exp(L(r, s) - m(s)) P(s),
//           the marginals of cliques and of the children's separators are its sums
// In the second line the conditional is at most 1 and nothing is divided: where m(s) is -infinity, P(s) is 0.
// A P(s) too small for a double would give a child marginals as small. Tables are built twice rather than
// kept: memory is that of the messages and of one table. Time: the entries of all tables, times the cliques
// and children at their nodes.

#include "structures/junction_tree.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <unordered_map>

#include "kernels/tables.h"
#include "structures/kbest_memory.h"
#include "structures/log_scores.h"

namespace espalier {
namespace {

// out[k] = max_r table[r * width + k]
void max_rows(const double* table, std::size_t rows, std::size_t width, double* out) {
  std::copy(table, table + width, out);
  for (std::size_t r = 1; r < rows; ++r) {
    const double* row = table + r * width;
    for (std::size_t k = 0; k < width; ++k) out[k] = row[k] > out[k] ? row[k] : out[k];
  }
}

}  // namespace

JunctionTree::Source JunctionTree::source(const FactorGraph& graph, std::span<const std::uint32_t> variables,
                                          std::span<const std::uint32_t> scope, std::size_t begin) {
  std::vector<Broadcast::Axis> axes;
  std::vector<std::size_t> strides(variables.size(), 0);
  std::size_t size = 1;
  for (std::size_t i = scope.size(); i-- > 0;) {
    const auto at = std::find(variables.begin(), variables.end(), scope[i]) - variables.begin();
    strides[static_cast<std::size_t>(at)] = size;
    size *= graph.cardinality(scope[i]);
  }
  for (std::size_t i = 0; i < variables.size(); ++i)
    axes.push_back({graph.cardinality(variables[i]), strides[i]});
  return {begin, size, Broadcast(axes), std::move(strides)};
}

JunctionTree::JunctionTree(const FactorGraph& graph, const EliminationTree& tree) : graph_(graph) {
  const std::size_t n = tree.nodes.size();
  std::vector<std::uint32_t> rank(graph.num_variables());
  for (std::uint32_t k = 0, next = 0; k < n; ++k) {
    for (std::size_t i = 0; i < tree.nodes[k].num_ending; ++i) rank[tree.nodes[k].variables[i]] = next++;
  }
  nodes_.resize(n);
  for (std::uint32_t k = 0; k < n; ++k) {
    const auto& from = tree.nodes[k];
    Node& node = nodes_[k];
    node.variables = from.variables;
    node.num_ending = from.num_ending;
    node.rows = node.width = 1;
    node.strides.resize(node.variables.size());
    for (std::size_t i = node.variables.size(); i-- > 0;) {
      node.strides[i] = node.rows * node.width;
      (i < node.num_ending ? node.rows : node.width) *= graph.cardinality(node.variables[i]);
    }
    node.message = num_messages_;
    num_messages_ += node.width;
    largest_ = std::max(largest_, node.rows * node.width);
    widest_ = std::max(widest_, node.width);
    if (from.parent == EliminationTree::kNone) {
      roots_.push_back(k);
    } else {
      const std::span<const std::uint32_t> separator = std::span(node.variables).subspan(node.num_ending);
      Node& parent = nodes_[from.parent];
      parent.children.push_back(source(graph, tree.nodes[from.parent].variables, separator, node.message));
      parent.child_nodes.push_back(k);
    }
  }
  // A clique goes where the first of its variables ends: all the others are still there.
  for (std::size_t c = 0; c < graph.num_cliques(); ++c) {
    const auto scope = graph.scope(c);
    const std::uint32_t first =
        *std::min_element(scope.begin(), scope.end(), [&](auto a, auto b) { return rank[a] < rank[b]; });
    Node& node = nodes_[tree.ending_at[first]];
    node.factors.push_back(source(graph, node.variables, scope, graph.begin(c)));
  }
}

void JunctionTree::add_sources(const Node& node, std::span<const double> s, std::span<const double> messages,
                               std::span<double> table) const {
  std::fill(table.begin(), table.end(), 0.0);
  for (const Source& factor : node.factors) factor.broadcast.add(s.data() + factor.begin, table.data());
  for (const Source& child : node.children) child.broadcast.add(messages.data() + child.begin, table.data());
}

// The messages of all nodes to their parents; returns the sum of the roots'.
template <class Reduce>
double JunctionTree::send_up(std::span<const double> s, std::span<double> messages, std::span<double> scratch,
                             const Reduce& reduce) const {
  for (const Node& node : nodes_) {
    const auto table = scratch.first(node.rows * node.width);
    add_sources(node, s, messages, table);
    reduce(table.data(), node.rows, node.width, messages.data() + node.message);
  }
  double total = 0;
  for (const std::uint32_t root : roots_) total += messages[nodes_[root].message];
  return total;
}

double JunctionTree::log_partition(std::span<const double> s, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto messages = frame.take<double>(num_messages_);
  return send_up(s, messages, frame.take<double>(largest_), kernels::log_sum_rows);
}

double JunctionTree::log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto messages = frame.take<double>(num_messages_);
  const auto scratch = frame.take<double>(largest_);
  const double log_z = send_up(s, messages, scratch, kernels::log_sum_rows);
  std::fill(mu.begin(), mu.end(), 0.0);
  if (log_z == kExcluded) return log_z;

  // On the way down, a node's message is replaced by log P(s) - m(s): P(r, s) = exp(L(r, s) + that).
  for (const std::uint32_t root : roots_) messages[nodes_[root].message] *= -1;
  const auto separator = frame.take<double>(widest_);
  for (std::size_t k = nodes_.size(); k-- > 0;) {
    const Node& node = nodes_[k];
    const auto table = scratch.first(node.rows * node.width);
    add_sources(node, s, messages, table);
    kernels::exp_rows(table.data(), node.rows, node.width, messages.data() + node.message);
    for (const Source& factor : node.factors) factor.broadcast.sum(table.data(), mu.data() + factor.begin);
    for (const Source& child : node.children) {
      const auto p = separator.first(child.size);
      std::fill(p.begin(), p.end(), 0.0);
      child.broadcast.sum(table.data(), p.data());
      double* message = messages.data() + child.begin;
      for (std::size_t i = 0; i < child.size; ++i) {
        message[i] = p[i] > 0 ? std::log(p[i]) - message[i] : kExcluded;
      }
    }
  }
  return log_z;
}

void JunctionTree::set_row(const Node& node, std::size_t row, std::span<std::uint32_t> y) const {
  for (std::size_t i = node.num_ending; i-- > 0;) {
    const std::uint32_t labels = graph_.cardinality(node.variables[i]);
    y[node.variables[i]] = static_cast<std::uint32_t>(row % labels);
    row /= labels;
  }
}

template <class Consider>
void JunctionTree::for_each_row(const Node& node, std::span<const double> s, std::span<const double> messages,
                                std::span<double> scratch, std::span<std::uint32_t> y,
                                const Consider& consider) const {
  // Of a few rows the entries are looked up one by one; of many, at a root, building the table is faster.
  constexpr std::size_t kFew = 64;
  if (node.rows <= kFew) {
    const auto entry_of = [&](const Source& from) {
      std::size_t entry = from.begin;
      for (std::size_t i = 0; i < node.variables.size(); ++i) entry += from.strides[i] * y[node.variables[i]];
      return entry;
    };
    for (std::size_t row = 0; row < node.rows; ++row) {
      set_row(node, row, y);
      double value = 0;
      for (const Source& factor : node.factors) value += s[entry_of(factor)];
      for (const Source& child : node.children) value += messages[entry_of(child)];
      consider(row, value);
    }
    return;
  }
  const auto table = scratch.first(node.rows * node.width);
  add_sources(node, s, messages, table);
  std::size_t column = 0;
  for (std::size_t i = node.num_ending; i < node.variables.size(); ++i) {
    column += node.strides[i] * y[node.variables[i]];
  }
  for (std::size_t row = 0; row < node.rows; ++row) consider(row, table[row * node.width + column]);
}

// Given the labels of the separator: the first best of what ends here, L(r, s) over r.
void JunctionTree::choose(const Node& node, std::span<const double> s, std::span<const double> messages,
                          std::span<double> scratch, std::span<std::uint32_t> y) const {
  std::size_t chosen = 0;
  double highest = kExcluded;
  for_each_row(node, s, messages, scratch, y, [&](std::size_t row, double value) {
    if (value > highest) {
      highest = value;
      chosen = row;
    }
  });
  set_row(node, chosen, y);
}

// From the roots down, what ends at each node given the labels of its separator: u(r | s) = exp(L(r, s) -
// m(s)).
std::vector<MarkovGraph::Output> JunctionTree::samples(std::span<const double> s, std::size_t n,
                                                       Random& random) const {
  Workspace ws;
  Workspace::Frame frame(ws);
  const auto messages = frame.take<double>(num_messages_);
  const auto scratch = frame.take<double>(largest_);
  send_up(s, messages, scratch, kernels::log_sum_rows);
  std::vector<MarkovGraph::Output> drawn(n, MarkovGraph::Output(graph_.num_variables()));
  std::vector<double> terms;
  for (MarkovGraph::Output& y : drawn) {
    for (std::size_t k = nodes_.size(); k-- > 0;) {
      terms.resize(nodes_[k].rows);
      for_each_row(nodes_[k], s, messages, scratch, y,
                   [&](std::size_t row, double value) { terms[row] = value; });
      set_row(nodes_[k], draw_label(terms, random), y);
    }
  }
  return drawn;
}

double JunctionTree::best(std::span<const double> s, std::span<std::uint32_t> y, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto messages = frame.take<double>(num_messages_);
  const auto scratch = frame.take<double>(largest_);
  const double value = send_up(s, messages, scratch, max_rows);
  std::fill(y.begin(), y.end(), 0u);
  for (std::size_t k = nodes_.size(); k-- > 0;) choose(nodes_[k], s, messages, scratch, y);
  return value;
}

// The k best by lazy lists (algorithm 3 of Huang and Chiang 2005). A place is a node with labels of its
// separator; its list has the best labellings of all that ends at or below the node, the best first, as far
// as somebody asked. A labelling is a row of the node's table with a rank in each child's list; the next ones
// after it have one of the ranks one higher. Raising only ranks from the last raised one on, every
// combination has one way to it.
class JunctionTree::KBest {
 public:
  KBest(const JunctionTree& tree, std::span<const double> s, std::span<const double> messages)
      : tree_(tree), s_(s), messages_(messages), places_(tree.nodes_.size() + 1) {}

  // The top: a place whose children are the roots, with one row.
  bool labelling(std::size_t rank, std::span<std::uint32_t> y) {
    if (!reach(top(), 0, rank)) return false;
    write(top(), 0, rank, y);
    return true;
  }

 private:
  struct Candidate {
    double value;
    std::size_t row;
    std::vector<std::size_t> ranks;  // one a child
    std::size_t raised;              // the child whose rank was raised last

    bool operator<(const Candidate& other) const {
      if (value != other.value) return value < other.value;
      if (row != other.row) return row > other.row;
      return ranks > other.ranks;
    }
  };
  struct Place {
    std::vector<Candidate> list;
    std::priority_queue<Candidate> waiting;
    bool begun = false;
  };

  std::size_t top() const { return tree_.nodes_.size(); }
  std::span<const std::uint32_t> children(std::size_t node) const {
    return node == top() ? std::span(tree_.roots_) : std::span(tree_.nodes_[node].child_nodes);
  }
  // Where in the table of the node an entry of the child's separator is.
  std::size_t child_separator(std::size_t node, std::size_t child, std::size_t separator,
                              std::size_t row) const {
    if (node == top()) return 0;
    return entry(tree_.nodes_[node], tree_.nodes_[node].children[child], separator, row);
  }
  std::size_t entry(const Node& node, const Source& source, std::size_t separator, std::size_t row) const {
    const std::size_t at = row * node.width + separator;
    std::size_t entry = 0;
    for (std::size_t i = 0; i < node.variables.size(); ++i) {
      entry += at / node.strides[i] % tree_.graph_.cardinality(node.variables[i]) * source.strides[i];
    }
    return entry;
  }

  void begin(std::size_t node, std::size_t separator, Place& place) {
    place.begun = true;
    const std::vector<std::size_t> first(children(node).size(), 0);
    if (node == top()) {
      double value = 0;
      for (const std::uint32_t root : tree_.roots_) value += messages_[tree_.nodes_[root].message];
      if (value > kExcluded) place.waiting.push({value, 0, first, 0});
      return;
    }
    const Node& at = tree_.nodes_[node];
    for (std::size_t row = 0; row < at.rows; ++row) {
      double value = 0;
      for (const Source& factor : at.factors) value += s_[factor.begin + entry(at, factor, separator, row)];
      for (const Source& child : at.children)
        value += messages_[child.begin + entry(at, child, separator, row)];
      if (value > kExcluded) place.waiting.push({value, row, first, 0});
    }
  }

  // Makes the list of the place go up to this rank; false where there are not so many.
  bool reach(std::size_t node, std::size_t separator, std::size_t rank) {
    Place& place = places_[node][separator];  // the map never moves its values
    if (!place.begun) begin(node, separator, place);
    while (place.list.size() <= rank && !place.waiting.empty()) {
      const Candidate next = place.waiting.top();
      place.waiting.pop();
      for (std::size_t c = next.raised; c < next.ranks.size(); ++c) {
        const std::size_t child = children(node)[c];
        const std::size_t below = child_separator(node, c, separator, next.row);
        if (!reach(child, below, next.ranks[c] + 1)) continue;
        const auto& list = places_[child][below].list;
        Candidate raised = next;
        raised.value += list[next.ranks[c] + 1].value - list[next.ranks[c]].value;
        ++raised.ranks[c];
        raised.raised = c;
        // Twice: it waits, and is listed later.
        memory_.add(2 * (sizeof(Candidate) + raised.ranks.size() * sizeof(raised.ranks[0])));
        place.waiting.push(std::move(raised));
      }
      place.list.push_back(next);
    }
    return place.list.size() > rank;
  }

  void write(std::size_t node, std::size_t separator, std::size_t rank, std::span<std::uint32_t> y) {
    const Candidate& chosen = places_[node][separator].list[rank];
    if (node != top()) {
      const Node& at = tree_.nodes_[node];
      const std::size_t entry = chosen.row * at.width;
      for (std::size_t i = 0; i < at.num_ending; ++i) {
        y[at.variables[i]] =
            static_cast<std::uint32_t>(entry / at.strides[i] % tree_.graph_.cardinality(at.variables[i]));
      }
    }
    for (std::size_t c = 0; c < chosen.ranks.size(); ++c) {
      const std::size_t below = child_separator(node, c, separator, chosen.row), child = children(node)[c];
      reach(child, below, chosen.ranks[c]);  // a list that nobody asked for is empty yet
      write(child, below, chosen.ranks[c], y);
    }
  }

  const JunctionTree& tree_;
  std::span<const double> s_, messages_;
  KbestMemory memory_;
  std::vector<std::unordered_map<std::size_t, Place>> places_;  // of each node, by the separator's entry
};

std::vector<MarkovGraph::Scored> JunctionTree::kbest(std::span<const double> s, std::size_t k) const {
  Workspace ws;
  Workspace::Frame frame(ws);
  const auto messages = frame.take<double>(num_messages_);
  send_up(s, messages, frame.take<double>(largest_), max_rows);
  KBest lists(*this, s, messages);
  std::vector<MarkovGraph::Scored> best;
  MarkovGraph::Output y(graph_.num_variables());
  KbestMemory memory;
  while (best.size() < k && lists.labelling(best.size(), y)) {
    double score = 0;
    for (std::size_t c = 0; c < graph_.num_cliques(); ++c) score += s[graph_.begin(c) + graph_.entry(c, y)];
    memory.add(sizeof(MarkovGraph::Scored) + y.size() * sizeof(y[0]));
    best.push_back({y, score});
  }
  // Sums in another order may differ in the last digit.
  std::stable_sort(best.begin(), best.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  return best;
}

}  // namespace espalier
