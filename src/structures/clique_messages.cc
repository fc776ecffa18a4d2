#include "structures/clique_messages.h"

#include <algorithm>
#include <array>
#include <limits>

namespace espalier {

CliqueMessages::CliqueMessages(const FactorGraph& graph) : ends(graph.num_variables()), label_begin{0} {
  for (std::size_t v = 0; v < graph.num_variables(); ++v) {
    label_begin.push_back(label_begin.back() + graph.cardinality(v));
  }
  for (std::size_t c = 0; c < graph.num_cliques(); ++c) {
    const auto scope = graph.scope(c);
    if (scope.size() == 1) {
      unary.push_back({scope[0], graph.begin(c)});
      continue;
    }
    Clique clique{c, graph.begin(c), graph.size(c), {scope.begin(), scope.end()}, {}, {}};
    std::size_t total = 0, fewest = graph.size(c);
    for (std::size_t i = 0; i < scope.size(); ++i) {
      const std::uint32_t labels = graph.cardinality(scope[i]);
      ends[scope[i]].push_back({static_cast<std::uint32_t>(cliques.size()), static_cast<std::uint32_t>(i)});
      clique.labels.push_back(labels);
      clique.messages.push_back(num_messages);
      num_messages += labels;
      total += labels;
      fewest = std::min<std::size_t>(fewest, labels);
    }
    most_labels = std::max(most_labels, total);
    buffer = std::max(buffer, 2 * (graph.size(c) / fewest));
    cliques.push_back(std::move(clique));
  }
}

void CliqueMessages::node_scores(std::span<const double> s, std::span<double> node) const {
  std::fill(node.begin(), node.end(), 0.0);
  for (const Unary& clique : unary) {
    const std::size_t begin = label_begin[clique.variable], labels = label_begin[clique.variable + 1] - begin;
    for (std::size_t x = 0; x < labels; ++x) node[begin + x] += s[clique.begin + x];
  }
}

bool CliqueMessages::take_out_impossible(std::span<double> node, std::span<double> s, Workspace& ws) const {
  constexpr double kExcluded = -std::numeric_limits<double>::infinity();
  const auto excluded = [](double x) { return x == kExcluded; };
  bool any = std::any_of(node.begin(), node.end(), excluded);
  for (const Clique& clique : cliques) {
    const auto table = s.subspan(clique.begin, clique.size);
    any = any || std::any_of(table.begin(), table.end(), excluded);
  }
  if (!any) return true;
  Workspace::Frame frame(ws);
  const auto supported = frame.take<std::uint8_t>(most_labels);  // of the labels of a clique's variables
  for (bool changed = true; changed;) {
    changed = false;
    for (const Clique& clique : cliques) {
      const std::size_t d = clique.variables.size(), first = clique.messages[0];
      std::fill(supported.begin(), supported.end(), std::uint8_t{0});
      std::array<std::uint32_t, kMostVariables> x{};
      for (std::size_t e = 0; e < clique.size; ++e) {
        bool possible = s[clique.begin + e] > kExcluded;
        for (std::size_t i = 0; i < d; ++i) {
          possible = possible && node[label_begin[clique.variables[i]] + x[i]] > kExcluded;
        }
        if (possible) {
          for (std::size_t i = 0; i < d; ++i) supported[clique.messages[i] - first + x[i]] = 1;
        } else {
          s[clique.begin + e] = kExcluded;
        }
        for (std::size_t i = d; i-- > 0;) {
          if (++x[i] < clique.labels[i]) break;
          x[i] = 0;
        }
      }
      for (std::size_t i = 0; i < d; ++i) {
        const std::size_t begin = label_begin[clique.variables[i]];
        for (std::size_t label = 0; label < clique.labels[i]; ++label) {
          if (!supported[clique.messages[i] - first + label] && node[begin + label] > kExcluded) {
            node[begin + label] = kExcluded;
            changed = true;
          }
        }
      }
    }
  }
  for (std::size_t v = 0; v + 1 < label_begin.size(); ++v) {
    const auto labels = node.subspan(label_begin[v], label_begin[v + 1] - label_begin[v]);
    if (std::all_of(labels.begin(), labels.end(), excluded)) return false;
  }
  return true;
}

double CliqueMessages::score(std::span<const double> node, std::span<const double> s,
                             std::span<const std::uint32_t> y) const {
  double score = 0;
  for (std::size_t v = 0; v < y.size(); ++v) score += node[label_begin[v] + y[v]];
  for (const Clique& clique : cliques) {
    std::size_t entry = 0;
    for (std::size_t j = 0; j < clique.variables.size(); ++j)
      entry = entry * clique.labels[j] + y[clique.variables[j]];
    score += s[clique.begin + entry];
  }
  return score;
}

}  // namespace espalier
