#include "report/grid_positions.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace espalier {

std::optional<std::vector<std::pair<int, int>>> grid_positions(const LabelledGraph& graph) {
  struct Step {
    std::uint32_t to;
    int right, down;
  };
  // Down is what is called so, or else the second type.
  std::vector<std::string_view> types;
  std::vector<std::vector<Step>> steps(graph.nodes.size());
  for (const LabelledGraph::Clique& clique : graph.cliques) {
    if (clique.nodes.size() == 1) continue;
    if (clique.nodes.size() != 2) return std::nullopt;
    if (std::ranges::find(types, clique.type) == types.end()) types.push_back(clique.type);
  }
  if (types.size() != 2) return std::nullopt;
  if (types[0] == "down") std::swap(types[0], types[1]);
  for (const LabelledGraph::Clique& clique : graph.cliques) {
    if (clique.nodes.size() != 2) continue;
    const int right = clique.type == types[0] ? 1 : 0;
    steps[clique.nodes[0]].push_back({clique.nodes[1], right, 1 - right});
    steps[clique.nodes[1]].push_back({clique.nodes[0], -right, right - 1});
  }
  std::vector<std::optional<std::pair<int, int>>> places(graph.nodes.size());
  std::set<std::pair<int, int>> taken;
  std::vector<std::uint32_t> open{0};
  places[0] = {0, 0};
  taken.insert({0, 0});
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    for (const Step& step : steps[node]) {
      const std::pair place{places[node]->first + step.right, places[node]->second + step.down};
      if (places[step.to]) {
        if (*places[step.to] != place) return std::nullopt;
        continue;
      }
      if (!taken.insert(place).second) return std::nullopt;
      places[step.to] = place;
      open.push_back(step.to);
    }
  }
  std::vector<std::pair<int, int>> result;
  for (const auto& place : places) {
    if (!place) return std::nullopt;  // not connected
    result.push_back(*place);
  }
  return result;
}

}  // namespace espalier
