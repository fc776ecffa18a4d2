// Graphs: what `predict` writes of them, of limited size, with labels that are given, and why a node has its
// label.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/error.h"
#include "serve/explanation.h"
#include "serve/predictions.h"

namespace espalier::serve {
namespace {

class GraphPredictions final : public Predictions {
 public:
  explicit GraphPredictions(const Model& model)
      : predictor_(model.predictor()), files_(make_file_predictions(model, {})) {
    kernel_ = model.describe().at("settings").contains("kernel");
  }

  Labelled answer(const Json& question, const Budget& budget, std::string& to) override {
    check_members(question, {"input", "format", "marginals", "kbest", "forced", "explain"});
    const Json *input = member(question, "input"), *forced = member(question, "forced"),
               *explain = member(question, "explain");
    if (input == nullptr || !input->is_string())
      throw BadQuestion("input: expected a string, a graph on each line");
    if (explain != nullptr) check_members(*explain, {"graph", "node", "label"});
    Json asked = question;
    for (const char* name : {"forced", "explain"}) {
      if (asked.contains(name)) asked.erase(name);
    }
    asked["input"] = checked(input->get<std::string>(), forced, budget);
    if (explain == nullptr) return files_->answer(asked, budget, to);
    std::string text = "{";
    const Labelled labelled = files_->answer(asked, budget, text);
    Json results = Json::parse(text + '}').at("results");
    add_reasons(*explain, results);
    to += "\"results\":" + results.dump();
    budget.check(to);
    return labelled;
  }

 private:
  // The graphs, if they are not too large, with nothing but the given labels allowed where there are some.
  // What is no graph stays as it is: whoever reads it says what is wrong with it.
  std::string checked(const std::string& input, const Json* forced, const Budget& budget) const {
    std::string lines;
    std::size_t graphs = 0, nodes = 0, labellings = 0;
    for (std::string_view rest = input; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string line(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      Json graph;
      try {
        graph = Json::parse(line);
      } catch (const JsonError&) {
      }
      if (graph.is_object() && graph.contains("nodes") && graph.at("nodes").is_array()) {
        count(graph, nodes, labellings);
        budget.check_graphs(nodes, labellings);
        if (forced != nullptr) {
          if (list_of(*forced, "forced").size() <= graphs)
            throw BadQuestion(
                fmt::format("forced: labels of {} graphs; expected one list for each", forced->size()));
          allow(graph, (*forced)[graphs]);
        }
        ++graphs;
        lines += graph.dump() + '\n';
      } else {
        lines += line + '\n';
      }
    }
    if (forced != nullptr && forced->size() != graphs)
      throw BadQuestion(fmt::format("forced: labels of {} graphs; expected {}", forced->size(), graphs));
    return lines;
  }

  // Joint labellings of cliques are what inference looks at, at the least.
  void count(const Json& graph, std::size_t& nodes, std::size_t& labellings) const {
    constexpr std::size_t kMost = std::size_t{1} << 40;
    nodes += graph.at("nodes").size();
    const std::size_t labels = std::max<std::size_t>(predictor_.labels().size(), 1);
    if (!graph.contains("cliques") || !graph.at("cliques").is_array()) return;
    for (const Json& clique : graph.at("cliques")) {
      if (!clique.is_object() || !clique.contains("nodes")) continue;
      std::size_t joint = 1;
      for (std::size_t k = 0; k < clique.at("nodes").size() && joint < kMost; ++k) joint *= labels;
      labellings = std::min(kMost, labellings + joint);
    }
  }

  void allow(Json& graph, const Json& labels) const {
    Json& nodes = graph["nodes"];
    if (list_of(labels, "forced").size() != nodes.size())
      throw BadQuestion(fmt::format("forced: {} labels for {} nodes", labels.size(), nodes.size()));
    for (std::size_t v = 0; v < nodes.size(); ++v) {
      if (labels[v].is_null() || !nodes[v].is_object()) continue;
      nodes[v]["allowed"] = labels[v].is_array() ? labels[v] : Json::array({labels[v]});
    }
  }

  // [[feature, value], ...], as docs/formats.md has them.
  static std::vector<std::pair<std::string, double>> features_of(const Json& owner) {
    if (!owner.contains("features")) return {{"constant", 1}};
    std::vector<std::pair<std::string, double>> features;
    const Json& json = owner.at("features");
    if (json.is_object()) {
      for (const Json::Member& one : json.items()) features.emplace_back(one.key, one.value.get<double>());
      return features;
    }
    for (std::size_t k = 0; k < json.size(); ++k) {
      if (json[k].is_string()) features.emplace_back(json[k].get<std::string>(), 1);
      if (json[k].is_number()) features.emplace_back(std::to_string(k), json[k].get<double>());
    }
    return features;
  }

  void add_reasons(const Json& explain, Json& results) const {
    if (kernel_) throw BadQuestion("explain: a model of a kernel, which has no weights of features");
    // Lines of types are no graphs.
    std::vector<std::size_t> graphs;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].contains("nodes")) graphs.push_back(i);
    }
    const std::size_t number = explained_number(explain, "graph").value_or(0);
    if (number >= graphs.size())
      throw BadQuestion(
          fmt::format("explain: graph {}; expected one of the {}, from 0", number, graphs.size()));
    Json& graph = results[graphs[number]];
    std::vector<std::string> labels;
    for (const Json& label : graph.at("labels")) labels.push_back(label.get<std::string>());
    const auto node = explained_number(explain, "node");
    if (!node || *node >= labels.size())
      throw BadQuestion(
          fmt::format("explain: expected the number of a node, from 0 to {}", labels.size() - 1));
    if (const Json* other = member(explain, "label")) {
      labels[*node] = other->is_string() ? other->get<std::string>() : std::string();
      if (!predictor_.labels().find(labels[*node]))
        throw BadQuestion(
            fmt::format("explain: {}; expected a label of the model", in_quotes(labels[*node])));
    }
    std::vector<Reason> reasons;
    const auto add = [&](std::string_view type, const Json& owner, std::span<const std::string_view> of) {
      for (const auto& [feature, value] : features_of(owner)) {
        std::string name = fmt::format("{}:{}", type, feature);
        const auto weight = predictor_.find_weight({name, of.first(of.size() - 1), of.back()});
        if (!weight) continue;
        if (of.size() > 1) name += fmt::format(" ({})", fmt::join(of, " "));
        reasons.push_back({std::move(name), {}, value, *weight});
      }
    };
    const Json& own = graph.at("nodes")[*node];
    add(own.value("type", std::string("node")), own, std::vector<std::string_view>{labels[*node]});
    for (std::size_t c = 0; graph.contains("cliques") && c < graph.at("cliques").size(); ++c) {
      const Json& clique = graph.at("cliques")[c];
      std::vector<std::string_view> of;
      bool has_node = false;
      for (const Json& v : clique.at("nodes")) {
        of.push_back(labels[v.get<std::size_t>()]);
        has_node = has_node || v.get<std::size_t>() == *node;
      }
      if (has_node) add(clique.value("type", std::string("clique")), clique, of);
    }
    std::string text;
    append_explanation({}, labels[*node], std::move(reasons), text);
    Json explanation = Json::parse(text);
    explanation["node"] = *node;
    graph["explanation"] = explanation;
  }

  const Predictor& predictor_;
  std::unique_ptr<Predictions> files_;
  bool kernel_ = false;
};

}  // namespace

std::unique_ptr<Predictions> make_graph_predictions(const Model& model) {
  return std::make_unique<GraphPredictions>(model);
}

}  // namespace espalier::serve
