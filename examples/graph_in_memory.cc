// Trains a Markov random field on graphs that are in memory already: rows of pixels that are ink or paper,
// seen through noise. Neighbours tend to agree, so a pixel that looks wrong is set right.

#include <espalier/espalier.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace {

// A node for each pixel, dark or not, and a clique for each pair of neighbours. `labels` may be empty.
espalier::LabelledGraph row(std::string_view seen, std::string_view labels = {}) {
  espalier::LabelledGraph graph;
  for (std::size_t v = 0; v < seen.size(); ++v) {
    espalier::LabelledGraph::Node node;
    node.features = {{seen[v] == '#' ? "dark" : "bright", 1}};
    if (!labels.empty()) node.label = labels[v] == '#' ? "ink" : "paper";
    graph.nodes.push_back(node);
  }
  for (std::uint32_t v = 0; v + 1 < seen.size(); ++v)
    graph.cliques.push_back({.type = "next", .nodes = {v, v + 1}});
  return graph;
}

}  // namespace

int main() {
  espalier::GraphData data;
  data.add(row("##.###....", "######...."));
  data.add(row("...#...###", ".......###"));
  data.add(row("####....#.", "####......"));
  const auto set = espalier::make_graph_training(data);
  const espalier::Model model = espalier::train(*set, {.l2 = 0.1});

  espalier::GraphLabeller::Graph graph(model.graph_labeller());
  graph.set(row("###.##..#..."));
  std::string labels;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto best = graph.labels()[v];
    labels += graph.label(v, best) == "ink" ? '#' : '.';
    fmt::print("pixel {}: {} ({:.2f})\n", v, graph.label(v, best), graph.marginals(v)[best]);
  }
  return labels == "######......" ? 0 : 1;
}
