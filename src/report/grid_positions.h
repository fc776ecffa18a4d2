#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "espalier/tasks/graph.h"

namespace espalier {

// Places of the nodes of a graph whose edges are the steps of a grid: those of one type all go to the right,
// those of the other all go down. nullopt for other graphs.
std::optional<std::vector<std::pair<int, int>>> grid_positions(const LabelledGraph& graph);

}  // namespace espalier
