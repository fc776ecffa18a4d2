#include <fmt/format.h>

#include <utility>

#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/tasks/graph.h"
#include "structures/kbest_memory.h"
#include "tasks/blocks.h"
#include "tasks/common.h"
#include "tasks/drawing.h"
#include "tasks/graph/model.h"

namespace espalier {
namespace {

// The graphs that one worker looks at together, and what comes of them.
struct GraphBatch {
  static constexpr std::size_t kFull = 64;

  std::vector<GraphRecord> records;
  std::size_t first = 0;                               // graphs of the file before them
  std::vector<std::vector<std::string>> declarations;  // in front of each record, and after the last one
  std::string text;
  GraphScores scores;

  auto results() { return std::tie(text, scores); }
  bool read(GraphReader& reader) {
    records.clear();
    declarations.clear();
    while (records.size() < kFull) {
      GraphRecord record;
      const bool more = reader.next(record);
      if (more || !reader.declarations().empty())
        declarations.emplace_back(reader.declarations().begin(), reader.declarations().end());
      if (!more) break;
      records.push_back(std::move(record));
    }
    return !records.empty() || !declarations.empty();
  }
};

class GraphPredictor final : public Predictor {
 public:
  explicit GraphPredictor(const StoredTask& stored)
      : model_(GraphModel::load(stored)),
        weights_(model_.sizes(stored.file)),
        labels_(all_labels(model_.types)),
        attributes_(all_attributes(model_.types)),
        theta_(stored.theta),
        loss_(stored.loss),
        labeller_(model_, theta_, loss_) {}

  void predict(const std::string& input, const PredictOptions& of_task,
               const std::function<void(std::string_view)>& write) const override {
    const auto options = of_task.of<GraphPredictOptions>("graph");
    check_probabilities(options.marginals, setting("marginals"), loss_);
    check_drawing(options, loss_);
    check_format(options.format);
    std::size_t nodes = 0, known = 0;
    run(
        input, Threads::of(options.threads), false,
        [&](GraphLabeller::Graph& graph, std::size_t i, GraphBatch& batch) {
          for (const std::string& line : batch.declarations[i]) batch.text += line + '\n';
          Json& json = batch.records[i].json;
          label(graph, options, seed_of_item(options.seed, batch.first + i), json);
          batch.text += json.dump() + '\n';
        },
        [&](GraphBatch& batch) {
          if (batch.declarations.size() > batch.records.size()) {
            for (const std::string& line : batch.declarations.back()) batch.text += line + '\n';
          }
          write(batch.text);
          for (const GraphRecord& record : batch.records) {
            nodes += record.nodes.size();
            known += num_features(record);
          }
        });
    check_known({known, nodes}, name_of(input), "jsonl", of_task.warning);
  }

  Evaluation evaluate(const std::string& gold, const EvaluateOptions& options) const override {
    check_format(options.format);
    std::size_t graphs = 0, known = 0;
    GraphScores scores;
    run(
        gold, Threads::of(options.threads), true,
        [&](GraphLabeller::Graph& graph, std::size_t i, GraphBatch& batch) {
          std::vector<std::uint32_t> gold;
          for (const GraphRecord::Node& node : batch.records[i].nodes) gold.push_back(node.gold);
          batch.scores.add(gold, graph.labels());
        },
        [&](GraphBatch& batch) {
          scores.add(batch.scores);
          graphs += batch.records.size();
          for (const GraphRecord& record : batch.records) known += num_features(record);
        });
    if (graphs == 0) throw Error::in(name_of(gold), "no graphs", "expected some");
    refuse_unknown({known, graphs}, name_of(gold), "jsonl", options.warning);
    return scores.evaluation();
  }

  const GraphLabeller* graph_labeller() const override { return &labeller_; }

  std::string describe() const override { return model_.describe(); }

  std::string strongest(std::size_t top) const override {
    std::string text;
    for (std::size_t t = 0; model_.kernels.empty() && t < model_.types.nodes.size(); ++t) {
      const GraphNodeType& type = model_.types.nodes[t];
      for (std::uint32_t y = 0; y < type.labels.size(); ++y) {
        text += fmt::format("{} {}\n", type.name, type.labels.name(y));
        append_heaviest(
            type.features.size(), top, [&](std::uint32_t a) { return weight(weights_.place(t, a, y)); },
            [&](std::uint32_t a) { return type.features.name(a); }, text);
      }
    }
    for (const GraphCliqueType& type : model_.types.cliques) {
      std::vector<std::pair<std::string, float>> all;
      for_each_weight([&](const WeightName& name, float value) {
        if (!name.attribute.starts_with(type.name + ':')) return;
        all.emplace_back(fmt::format("{}  {}{}{}", name.attribute.substr(type.name.size() + 1),
                                     fmt::join(name.before, " "), name.before.empty() ? "" : " ", name.label),
                         value);
      });
      text += type.name + '\n';
      append_heaviest(
          all.size(), top, [&](std::uint32_t k) { return all[k].second; },
          [&](std::uint32_t k) { return all[k].first; }, text);
    }
    return text;
  }
  void for_each_weight(
      const std::function<void(const WeightName& name, float weight)>& visit) const override {
    for_each_graph_weight(model_, weights_,
                          [&](const WeightName& name, std::size_t place) { visit(name, weight(place)); });
  }
  std::optional<float> find_weight(const WeightName& name) const override {
    const auto place = find_graph_weight(model_, weights_, name);
    if (!place) return std::nullopt;
    return weight(*place);
  }
  const Dictionary& labels() const override { return labels_; }
  const Dictionary& attributes() const override { return attributes_; }

 private:
  float weight(std::size_t place) const { return theta_.values[place]; }

  static std::string name_of(const std::string& path) { return path == "-" ? "standard input" : path; }

  // Those that the model knows.
  static std::size_t num_features(const GraphRecord& record) {
    std::size_t sum = 0;
    for (const GraphRecord::Node& node : record.nodes) sum += node.features.size();
    for (const GraphRecord::Clique& clique : record.cliques) sum += clique.features.size();
    return sum;
  }

  static void check_format(const std::optional<std::string>& format) {
    if (format && *format != "jsonl")
      throw Error::in(setting("format"), in_quotes(*format), "expected jsonl");
  }

  // Calls work(graph, i, batch) for each graph of a batch, and write(batch) for each batch, in order.
  template <class Work, class Write>
  void run(const std::string& path, std::size_t threads, bool needs_labels, const Work& work,
           const Write& write) const {
    GraphReader reader(path, {needs_labels, model_.nodes_only}, model_.types);
    std::vector<GraphLabeller::Graph> workers;
    for (std::size_t k = 0; k < threads; ++k) workers.emplace_back(labeller_);
    const auto work_on = [&](GraphLabeller::Graph& graph, GraphBatch& batch) {
      batch.text.clear();
      batch.scores = {};
      for (std::size_t i = 0; i < batch.records.size(); ++i) {
        graph.set(batch.records[i], reader.name());
        work(graph, i, batch);
      }
    };
    std::size_t graphs = 0;
    const auto read = [&](GraphBatch& batch) {
      batch.first = graphs;
      const bool more = batch.read(reader);
      graphs += batch.records.size();
      return more;
    };
    run_blocks<GraphBatch>(workers, read, work_on, write);
  }

  static Json names_of(const GraphLabeller::Graph& graph, std::span<const std::uint32_t> y) {
    Json names = Json::array();
    for (std::size_t v = 0; v < y.size(); ++v) names.push_back(graph.label(v, y[v]));
    return names;
  }

  void label(GraphLabeller::Graph& graph, const GraphPredictOptions& options, std::uint64_t seed,
             Json& json) const {
    json["labels"] = names_of(graph, graph.labels());
    json.erase("marginals");
    for (const char* earlier : {"kbest", "samples", "entropy"}) json.erase(earlier);
    if (options.marginals) json["marginals"] = marginals(graph);
    const bool list = list_length(options) > 0;
    if ((list || options.entropy) && !graph.has_kbest()) {
      throw Error::in(setting(list ? std::string(list_name(options)) : "entropy"),
                      "given with approximate inference", "expected a model of exact inference");
    }
    if (options.entropy) json["entropy"] = rounded_entropy(graph.entropy());
    if (!list) return;
    Json& best = json[std::string(list_name(options))] = Json::array();
    KbestMemory memory;
    const auto listed =
        options.samples > 0 ? graph.samples(options.samples, seed) : graph.kbest(options.kbest);
    for (const auto& [y, score] : listed) {
      memory.add(y.size() * sizeof(Json));
      Json one{{"labels", names_of(graph, y)}};
      one[loss_.smooth() ? "probability" : "score"] = loss_.smooth() ? graph.probability(score) : score;
      best.push_back(std::move(one));
    }
  }

  static Json marginals(GraphLabeller::Graph& graph) {
    std::vector<Json> of_nodes(graph.size());
    for (std::size_t v = 0; v < graph.size(); ++v) {
      const auto mu = graph.marginals(v);
      for (std::uint32_t y = 0; y < mu.size(); ++y) of_nodes[v][std::string(graph.label(v, y))] = mu[y];
    }
    return of_nodes;
  }

  GraphModel model_;
  GraphWeights weights_;
  Dictionary labels_, attributes_;
  WeightsView theta_;
  Loss loss_;
  GraphLabeller labeller_;
};

}  // namespace

std::unique_ptr<Predictor> load_graph_predictor(const StoredTask& stored) {
  return std::make_unique<GraphPredictor>(stored);
}

}  // namespace espalier
