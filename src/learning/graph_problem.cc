#include "learning/graph_problem.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "espalier/base/error.h"
#include "learning/kept_messages.h"
#include "structures/factor_graph.h"

namespace espalier {
namespace {

class GraphFactored final : public HyperedgeCliques {
 public:
  explicit GraphFactored(const std::vector<GraphExample>& examples) : HyperedgeCliques(examples.size()) {
    for (const GraphExample& example : examples) structures_.push_back(example.structure);
  }

 private:
  Hypergraph hypergraph(std::size_t i, Workspace::Frame& frame) const override {
    return structures_[i]->hypergraph(frame);
  }

  std::vector<std::shared_ptr<const MarkovGraph>> structures_;
};

}  // namespace

GraphExamples::GraphExamples(const GraphFeatures& features, std::vector<GraphExample> examples)
    : features_(&features), examples_(std::move(examples)) {
  ESPALIER_EXPECT(features.size() == examples_.size());
  for (const GraphExample& example : examples_) {
    ESPALIER_EXPECT(example.gold.size() == example.structure->graph().num_variables());
    ESPALIER_EXPECT(example.cost.size() <= example.structure->num_statistics());
    if (example.structure->exact()) continue;
    const bool bounds = example.structure->inference() == GraphInference::trw;
    inference_ = std::max(inference_, bounds ? Inference::relaxed : Inference::approximate);
  }
  if (std::ranges::all_of(examples_, [](const auto& example) { return example.structure->has_hypergraph(); }))
    factored_ = std::make_shared<GraphFactored>(examples_);
  constexpr float kHighest = 16;  // time and memory grow with the highest cost of a labelling
  const auto small = [](float cost) { return cost >= 0 && cost <= kHighest && cost == std::floor(cost); };
  rescales_slack_ = factored_ && std::ranges::all_of(examples_, [&](const auto& example) {
                      return std::ranges::all_of(example.cost, small);
                    });
  keep_messages();
}

void GraphExamples::keep_messages() {
  for (GraphExample& example : examples_) {
    if (example.structure->inference() == GraphInference::trw)
      example.structure = std::make_shared<const MarkovGraph>(example.structure->keeping_messages());
  }
}

GraphExamples GraphExamples::with_own_messages() const {
  GraphExamples copy = *this;
  copy.keep_messages();
  return copy;
}

std::size_t GraphExamples::message_bytes() const {
  std::size_t bytes = 0;
  for (const GraphExample& example : examples_) bytes += example.structure->message_bytes();
  return bytes;
}

std::unique_ptr<const Problem> with_own_messages(const Problem& problem) {
  const auto* graphs = dynamic_cast<const GraphProblem*>(&problem);
  if (graphs == nullptr || graphs->examples().message_bytes() == 0) return nullptr;
  return std::make_unique<GraphProblem>(graphs->examples().with_own_messages());
}

std::size_t message_bytes(const Problem& problem) {
  const auto* graphs = dynamic_cast<const GraphProblem*>(&problem);
  return graphs == nullptr ? 0 : graphs->examples().message_bytes();
}

double GraphExamples::slack_argmax(std::size_t i, std::span<const double> s, double gamma,
                                   std::span<double> chi, Workspace& ws) const {
  return slack_argmax_of(*this, *factored_, i, s, gamma, chi, ws);
}

void GraphExamples::add_near_gold(std::size_t i, float kappa, std::span<float> s) const {
  const GraphExample& example = examples_[i];
  const FactorGraph& graph = example.structure->graph();
  for (std::size_t c = 0; c < graph.num_cliques() && graph.begin(c) < example.cost.size(); ++c) {
    const std::size_t right = graph.begin(c) + example.gold[graph.scope(c)[0]];
    for (std::size_t k = graph.begin(c); k < graph.begin(c) + graph.size(c); ++k)
      s[k] -= k == right ? 0.0f : kappa;
  }
}

}  // namespace espalier
