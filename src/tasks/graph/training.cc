#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "base/fingerprint.h"
#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/tasks/graph.h"
#include "espalier/tasks/named_rows.h"
#include "structures/factor_graph.h"
#include "tasks/common.h"
#include "tasks/graph/builder.h"
#include "tasks/graph/kernels.h"
#include "tasks/graph/model.h"

namespace espalier {
namespace {

Evaluation evaluate(const GraphSet& set, std::span<const std::uint32_t> chosen, const Weights& theta) {
  GraphScores scores;
  std::vector<double> s;
  Workspace ws;
  for (const std::uint32_t i : chosen) {
    const GraphExample& example = set.examples[i];
    s.resize(example.structure->num_statistics());
    set.score(i, theta.row(0), s, ws);
    scores.add(example.gold, example.structure->decode(std::span<const double>(s), ws));
  }
  return scores.evaluation();
}

// Where graphs come from, one after the other: files, or memory. Types grow with them unless they are const.
struct GraphSource {
  std::string name;  // for messages
  std::function<bool(GraphRecord&)> next;
};

template <class Types>
GraphSource source_of(const InputFiles& files, const GraphReadOptions& options, Types& types) {
  struct Reading {
    std::vector<std::string> paths;
    std::size_t next = 0;
    std::unique_ptr<GraphReader> reader{};
  };
  const auto reading = std::make_shared<Reading>(Reading{files.paths()});
  return {files.name(), [reading, options, &types](GraphRecord& record) {
            while (!reading->reader || !reading->reader->next(record)) {
              if (reading->next == reading->paths.size()) return false;
              reading->reader =
                  std::make_unique<GraphReader>(reading->paths[reading->next++], options, types);
            }
            return true;
          }};
}

// Requires `data` to stay where it is.
template <class Types>
GraphSource source_of(const GraphData& data, const GraphReadOptions& options, Types& types) {
  const auto number = std::make_shared<std::size_t>(0);
  const auto builder = std::make_shared<GraphBuilder>(
      options, types, [number](const std::string& found, const std::string& expected) {
        if (*number == 0) throw Error::in(kDataInMemory, found, expected);  // where types are declared
        throw Error::at(kDataInMemory, *number, found, expected);
      });
  for (const GraphData::NodeType& type : data.node_types()) {
    if (builder->grows()) builder->declare_nodes(type.name, type.labels);
  }
  for (const GraphData::CliqueType& type : data.clique_types()) {
    if (builder->grows()) builder->declare_cliques(type.name, type.nodes, type.forbidden);
  }
  return {kDataInMemory, [&data, number, builder](GraphRecord& record) {
            if (*number == data.size()) return false;
            builder->build(data.graph((*number)++), record);
            record.line = *number;
            return true;
          }};
}

class GraphTrainingSet final : public TrainingSet {
 public:
  // Of files, or of data in memory.
  template <class From>
  GraphTrainingSet(const From& from, const GraphOptions& options) {
    set_reading(reading_of("graph", options));
    if (!options.kernel.empty()) Kernel::parse(options.kernel);
    model_.inference = graph_inference(options.inference);
    model_.memory = options.memory;
    model_.nodes_only = options.nodes_only;
    read(source_of(from, {true, model_.nodes_only}, model_.types), options);
    if (!options.kernel.empty()) use_kernel(options);
    labels_ = all_labels(model_.types);
    attributes_ = all_attributes(model_.types);
    problem_ = std::make_unique<GraphProblem>(GraphExamples(train_->features, train_->examples));
  }

  std::string_view task() const override { return "graph"; }
  int version() const override { return model_.kernels.empty() ? kLinearGraphVersion : kGraphVersion; }
  const Problem& problem() const override { return *problem_; }
  std::string describe() const override {
    return fmt::format("{} of {} and {} ({}), {}", counted(train_->examples.size(), "graph"),
                       counted(num_nodes_, "node"), counted(num_cliques_, "clique"), model_.describe(),
                       describe_inference());
  }
  TaskSections sections() const override { return model_.sections(); }
  std::optional<ModelContents> model_contents(const Weights& theta) const override {
    if (model_.kernels.empty()) return std::nullopt;
    return keep_graph_support(model_, train_->features.weights(), theta);
  }

  void replace_dev(const std::string& path) override { take_dev_from(InputFiles(path)); }
  void take_dev(const GraphData& dev) {
    take_dev_from(dev);
    name_dev(kDataInMemory);
  }
  Evaluation evaluate_dev(const Weights& theta) const override {
    std::vector<std::uint32_t> all(dev_->examples.size());
    std::iota(all.begin(), all.end(), 0u);
    return evaluate(*dev_, all, theta);
  }
  Evaluation evaluate_examples(const Weights& theta, std::span<const std::uint32_t> examples) const override {
    return evaluate(*train_, examples, theta);
  }

  float* find_weight(const WeightName& name, Weights& theta) const override {
    const auto place = find_graph_weight(model_, train_->features.weights(), name);
    return place ? theta.row(0) + *place : nullptr;
  }
  const Dictionary& labels() const override { return labels_; }
  const Dictionary& attributes() const override { return attributes_; }
  std::uint64_t fingerprint() const override {
    Fingerprint fingerprint;
    for (std::size_t t = 0; t < train_->features.weights().num_types(); ++t) {
      add_rows(train_->features.rows(t), fingerprint);
      if (const KernelMatrix* kernel = train_->features.kernel(t))
        add_rows(kernel->nodes().rows(), fingerprint);
    }
    for (const GraphExample& example : train_->examples) {
      const FactorGraph& graph = example.structure->graph();
      fingerprint.add_list(graph.cardinalities());
      for (std::size_t c = 0; c < graph.num_cliques(); ++c) fingerprint.add_list(graph.scope(c));
      fingerprint.add_list(graph.forbidden());
      fingerprint.add_list(std::span<const std::uint32_t>(example.gold));
      fingerprint.add_list(std::span<const float>(example.cost));
      fingerprint.add_list(std::span<const double>(&example.weight, 1));
    }
    return fingerprint.value();
  }

 private:
  template <class From>
  void take_dev_from(const From& from) {
    const GraphTypes& types = model_.types;
    const GraphSource source = source_of(from, {true, model_.nodes_only}, types);
    dev_ = std::make_unique<GraphSet>(model_, source.name);
    GraphShapes shapes(model_);
    for (GraphRecord record; source.next(record);) dev_->add(record, shapes);
    if (dev_->examples.empty()) throw Error::in(source.name, "no graphs", "expected at least one");
  }

  // Types are known, and with them the sizes of tables, when all has been read.
  void read(const GraphSource& source, const GraphOptions& options) {
    std::vector<GraphRecord> records;
    for (GraphRecord record; (!options.first || records.size() < *options.first) && source.next(record);) {
      record.json = nullptr;
      num_nodes_ += record.nodes.size();
      num_cliques_ += record.cliques.size();
      records.push_back(std::move(record));
    }
    if (records.empty()) throw Error::in(source.name, "no graphs", "expected at least one");
    for (const GraphNodeType& type : model_.types.nodes) {
      if (type.labels.size() == 0)
        throw Error::in(source.name, fmt::format("no labels of the type {}", in_quotes(type.name)),
                        "expected nodes of it, or \"labels\" where it is declared");
    }
    train_ = std::make_unique<GraphSet>(model_, source.name);
    GraphShapes shapes(model_);
    for (const GraphRecord& record : records) train_->add(record, shapes);
  }

  // What was read as features of nodes are the inputs of kernels from here on.
  void use_kernel(const GraphOptions& options) {
    const auto kernels =
        make_graph_kernels(options.kernel, options.kernel_memory, model_.types, train_->features);
    train_->features = GraphFeatures(std::move(train_->features), kernels);
    for (const auto& kernel : kernels)
      model_.kernels.push_back(std::shared_ptr<const KernelNodes>(kernel, &kernel->nodes()));
  }

  std::string describe_inference() const {
    std::size_t widest = 0, exact = 0;
    const char* otherwise = "";
    for (const GraphExample& example : train_->examples) {
      widest = std::max(widest, example.structure->width());
      exact += example.structure->exact() ? 1 : 0;
      if (!example.structure->exact())
        otherwise = example.structure->inference() == GraphInference::bp ? "bp" : "trw";
    }
    if (exact == train_->examples.size()) return fmt::format("exact inference, tree-width up to {}", widest);
    if (exact == 0) return fmt::format("inference by {}", otherwise);
    return fmt::format("exact inference for {} of them, {} for the others", grouped(exact), otherwise);
  }

  GraphModel model_;
  Dictionary labels_, attributes_;
  std::size_t num_nodes_ = 0, num_cliques_ = 0;
  std::unique_ptr<GraphSet> train_, dev_;
  std::unique_ptr<GraphProblem> problem_;
};

}  // namespace

std::unique_ptr<TrainingSet> read_graph_training(const InputFiles& files, const GraphOptions& options) {
  return std::make_unique<GraphTrainingSet>(files, options);
}

std::unique_ptr<TrainingSet> make_graph_training(const GraphData& data, const GraphOptions& options,
                                                 const GraphData* dev) {
  auto set = std::make_unique<GraphTrainingSet>(data, options);
  if (dev != nullptr) set->take_dev(*dev);
  return set;
}

}  // namespace espalier
