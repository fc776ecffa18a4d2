#include "espalier/tasks/graph.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/random.h"
#include "espalier/base/error.h"
#include "espalier/tasks/named_rows.h"
#include "structures/factor_graph.h"
#include "structures/kbest_memory.h"
#include "tasks/common.h"
#include "tasks/graph/builder.h"
#include "tasks/graph/model.h"

namespace espalier {

struct GraphLabeller::Graph::State {
  explicit State(const GraphLabeller& of)
      : labeller(of),
        model(of.model_),
        shapes(model),
        builder({false, model.nodes_only}, model.types,
                [this](const std::string& found, const std::string& expected) {
                  throw Error::at(kDataInMemory, num_built, found, expected);
                }) {}

  void forget() {
    has_best = has_marginals = false;
    record = nullptr;
  }

  void set(const GraphRecord& to, std::string_view file) {
    forget();
    // Tables for all features are made once for many graphs.
    constexpr std::size_t kFull = 64;
    if (!graphs || graphs->file != file || graphs->examples.size() >= kFull)
      graphs.emplace(model, std::string(file));
    graphs->add(to, shapes);
    s.resize(structure().num_statistics());
    graphs->score(graphs->examples.size() - 1, labeller.theta_.values, s, ws);
    record = &to;  // all went well
  }

  const MarkovGraph& structure() const { return *graphs->examples.back().structure; }
  const GraphRecord& current() const {
    if (record == nullptr) throw Error("no graph; expected one to label");
    return *record;
  }

  void find_best() {
    if (has_best) return;
    labels.resize(current().nodes.size());
    if (structure().best(s, labels, ws).value == -std::numeric_limits<double>::infinity())
      throw Error::at(graphs->file, record->line, "no labelling is allowed",
                      "expected constraints that allow at least one");
    has_best = true;
  }

  // u(y) ~ exp(beta s.chi(y))
  void find_marginals() {
    if (has_marginals) return;
    check_has_probabilities(labeller.loss_);
    find_best();  // which finds out whether there is a labelling at all
    Workspace::Frame frame(ws);
    const auto scaled = frame.take<double>(s.size());
    for (std::size_t k = 0; k < s.size(); ++k) scaled[k] = labeller.loss_.beta * s[k];
    mu.resize(s.size());
    log_z = structure().log_partition(scaled, mu, ws);
    const FactorGraph& graph = structure().graph();
    first_of.resize(record->nodes.size());
    for (std::size_t c = 0; c < record->nodes.size(); ++c)  // the first cliques are the nodes
      first_of[graph.scope(c)[0]] = graph.begin(c);
    has_marginals = true;
  }

  const Dictionary& names(std::size_t node) const {
    return model.types.nodes[current().nodes[node].type].labels;
  }

  const GraphLabeller& labeller;
  const GraphModel& model;
  GraphShapes shapes;
  GraphBuilder builder;
  std::size_t num_built = 0;  // graphs of programs, for messages
  GraphRecord built;
  const GraphRecord* record = nullptr;
  std::optional<GraphSet> graphs;  // the last one is the one at hand
  Workspace ws;
  std::vector<double> s, mu;
  std::vector<std::size_t> first_of;  // statistic of each node
  std::vector<std::uint32_t> labels;
  bool has_best = false, has_marginals = false;
  double log_z = 0;
};

GraphLabeller::Graph::Graph(const GraphLabeller& labeller) : state_(std::make_unique<State>(labeller)) {}
GraphLabeller::Graph::~Graph() = default;
GraphLabeller::Graph::Graph(Graph&&) noexcept = default;

void GraphLabeller::Graph::set(const LabelledGraph& graph) {
  State& state = *state_;
  ++state.num_built;
  state.forget();
  state.builder.build(graph, state.built);
  state.built.line = state.num_built;
  state.set(state.built, kDataInMemory);
}

void GraphLabeller::Graph::set(const GraphRecord& record, std::string_view file) {
  state_->set(record, file);
}

std::size_t GraphLabeller::Graph::size() const {
  return state_->record != nullptr ? state_->record->nodes.size() : 0;
}

std::size_t GraphLabeller::Graph::num_labels(std::size_t node) const { return state_->names(node).size(); }

std::string_view GraphLabeller::Graph::label(std::size_t node, std::uint32_t id) const {
  return state_->names(node).name(id);
}

std::span<const std::uint32_t> GraphLabeller::Graph::labels() {
  state_->find_best();
  return state_->labels;
}

std::span<const double> GraphLabeller::Graph::marginals(std::size_t node) {
  state_->find_marginals();
  ESPALIER_EXPECT(node < size());
  return std::span<const double>(state_->mu).subspan(state_->first_of[node], num_labels(node));
}

bool GraphLabeller::Graph::has_kbest() const {
  state_->current();
  return state_->structure().has_kbest();
}

std::vector<GraphLabeller::Graph::Scored> GraphLabeller::Graph::kbest(std::size_t k) {
  if (!has_kbest())
    throw Error("the k best labellings with approximate inference; expected a model of exact inference");
  state_->find_best();
  KbestMemory::check(state_->structure(), state_->s, k, sizeof(Scored) + size() * sizeof(std::uint32_t),
                     state_->ws);
  std::vector<Scored> best;
  for (MarkovGraph::Scored& one : state_->structure().kbest(state_->s, k)) {
    best.push_back({std::move(one.output), one.score});
  }
  return best;
}

std::vector<GraphLabeller::Graph::Scored> GraphLabeller::Graph::samples(std::size_t n, std::uint64_t seed) {
  State& state = *state_;
  if (!has_kbest())
    throw Error("labellings drawn with approximate inference; expected a model of exact inference");
  state.find_marginals();
  std::vector<double> scaled(state.s);
  for (double& x : scaled) x *= state.labeller.loss_.beta;
  Random random(seed);
  std::vector<Scored> drawn;
  const FactorGraph& graph = state.structure().graph();
  for (MarkovGraph::Output& y : state.structure().samples(scaled, n, random)) {
    double score = 0;
    for (std::size_t c = 0; c < graph.num_cliques(); ++c)
      score += state.s[graph.begin(c) + graph.entry(c, y)];
    drawn.push_back({std::move(y), score});
  }
  return drawn;
}

double GraphLabeller::Graph::entropy() {
  State& state = *state_;
  if (!has_kbest())
    throw Error("the entropy with approximate inference; expected a model of exact inference");
  state.find_marginals();
  double sum = state.log_z;
  for (std::size_t k = 0; k < state.s.size(); ++k)
    sum -= state.mu[k] > 0 ? state.mu[k] * state.labeller.loss_.beta * state.s[k] : 0;
  return sum;
}

double GraphLabeller::Graph::probability(double score) {
  state_->find_marginals();
  return std::exp(state_->labeller.loss_.beta * score - state_->log_z);
}

Evaluation GraphLabeller::evaluate(const GraphData& gold) const {
  if (gold.size() == 0) throw Error::in(kDataInMemory, "no graphs", "expected some");
  GraphScores scores;
  Graph graph(*this);
  GraphRecord record;
  std::size_t number = 0;
  const GraphTypes& types = model_.types;  // which stay as they are
  GraphBuilder builder({true, model_.nodes_only}, types,
                       [&](const std::string& found, const std::string& expected) {
                         throw Error::at(kDataInMemory, number, found, expected);
                       });
  std::vector<std::uint32_t> labels;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    record.line = number = i + 1;
    builder.build(gold.graph(i), record);
    graph.set(record, kDataInMemory);
    labels.clear();
    for (const GraphRecord::Node& node : record.nodes) labels.push_back(node.gold);
    scores.add(labels, graph.labels());
  }
  return scores.evaluation();
}

}  // namespace espalier
