#include "learning/graph_problem.h"

#include <algorithm>
#include <utility>

#include "espalier/base/error.h"
#include "learning/kept_messages.h"
#include "structures/factor_graph.h"

namespace espalier {

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
