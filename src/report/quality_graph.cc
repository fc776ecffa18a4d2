// Where the labels of graphs are wrong.

#include <algorithm>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/tasks/graph.h"
#include "report/grid_positions.h"
#include "report/quality.h"
#include "report/tallies.h"
#include "tasks/graph/reader.h"

namespace espalier {
namespace {

// A place for each node: those of the file ("positions"), those of a grid, or null.
Json positions_of(const LabelledGraph& graph, const Json& json) {
  if (json.contains("positions")) {
    const Json& given = json.at("positions");
    const auto is_place = [](const Json& place) {
      return place.is_array() && place.size() == 2 && place[0].is_number() && place[1].is_number();
    };
    if (!given.is_array() || given.size() != graph.nodes.size() ||
        !std::all_of(given.begin(), given.end(), is_place))
      return nullptr;
    return given;
  }
  const auto grid = grid_positions(graph);
  if (!grid) return nullptr;
  Json list = Json::array();
  for (const auto& [x, y] : *grid) list.push_back(Json::array({x, y}));
  return list;
}

// The pairs of nodes that are in a clique of two, or next to one another in a larger one.
Json edges_of(const LabelledGraph& graph) {
  Json list = Json::array();
  for (const LabelledGraph::Clique& clique : graph.cliques) {
    for (std::size_t k = 1; k < clique.nodes.size(); ++k)
      list.push_back(Json::array({clique.nodes[k - 1], clique.nodes[k]}));
  }
  return list;
}

class GraphQuality {
 public:
  explicit GraphQuality(const GraphLabeller& labeller) : labeller_(labeller), graph_(labeller) {}

  void add(const LabelledGraph& gold, const Json& json) {
    constexpr std::size_t kLargest = 900;  // nodes that a page can draw
    graph_.set(gold);
    const auto best = graph_.labels();
    const std::vector<std::uint32_t> predicted(best.begin(), best.end());
    Json golds = Json::array(), predictions = Json::array(), likely = Json::object();
    std::vector<std::string> kinds;
    double sureness = 0;
    for (std::size_t v = 0; v < predicted.size(); ++v) {
      const std::string& right = *gold.nodes[v].label;
      const std::string_view found = graph_.label(v, predicted[v]);
      pairs_.add(right, found);
      golds.push_back(labels_.add(right));
      predictions.push_back(labels_.add(found));
      const bool wrong = right != found;
      if (wrong) kinds.push_back(right + '\t' + std::string(found));
      if (!labeller_.has_probabilities()) continue;
      const auto mu = graph_.marginals(v);
      calibration_.add(mu[predicted[v]], !wrong);
      if (!wrong) continue;
      sureness = std::max(sureness, mu[predicted[v]]);
      Json& list = likely[std::to_string(v)] = Json::array();
      for (const Json& one : most_likely(mu))
        list.push_back(Json::array({labels_.add(graph_.label(v, one[0].get<std::uint32_t>())), one[1]}));
    }
    const std::size_t number = ++graphs_;
    if (kinds.empty()) return;
    if (predicted.size() > kLargest) return errors_.add(0, {}, Json());
    if (!labeller_.has_probabilities()) sureness = static_cast<double>(kinds.size());
    Json content{
        {"number", number}, {"gold", golds}, {"predicted", predictions}, {"sure", short_json(sureness)}};
    if (!likely.empty()) content["likely"] = likely;
    const Json positions = positions_of(gold, json);
    if (!positions.is_null()) {
      content["positions"] = positions;
      content["edges"] = edges_of(gold);
    }
    errors_.add(sureness, std::move(kinds), std::move(content));
  }

  void write(Json& quality) {
    quality["confusion"] = pairs_.json();
    if (!calibration_.empty()) quality["calibration"] = calibration_.json();
    quality["errors"] = errors_.json();
    quality["errors"]["measure"] = labeller_.has_probabilities() ? "probability" : "errors";
    Json& names = quality["labels"] = Json::array();
    for (std::uint32_t y = 0; y < labels_.size(); ++y) names.push_back(labels_.name(y));
  }

 private:
  const GraphLabeller& labeller_;
  GraphLabeller::Graph graph_;
  std::size_t graphs_ = 0;
  LabelPairs pairs_;
  Calibration calibration_;
  ErrorList errors_;
  Dictionary labels_;
};

}  // namespace

void add_graph_quality(const Model& model, const std::string& data, Json& quality) {
  GraphTypes types;
  GraphReader reader(data, {true, false}, types);
  GraphQuality graphs(model.graph_labeller());
  for (GraphRecord record; reader.next(record);) graphs.add(reader.graph(), record.json);
  graphs.write(quality);
}

}  // namespace espalier
