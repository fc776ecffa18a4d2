#include "learning/graph_problem.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "espalier/base/error.h"
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

GraphExamples::GraphExamples(const GraphFeatures& features, std::vector<GraphExample> examples, bool maxima)
    : features_(&features), examples_(std::move(examples)) {
  ESPALIER_EXPECT(features.size() == examples_.size());
  for (const GraphExample& example : examples_) {
    ESPALIER_EXPECT(example.gold.size() == example.structure->graph().num_variables());
    ESPALIER_EXPECT(example.cost.size() <= example.structure->num_statistics());
    if (example.structure->exact()) continue;
    const bool bounds = example.structure->inference() == GraphInference::trw && !maxima;
    inference_ = std::max(inference_, bounds ? Inference::relaxed : Inference::approximate);
  }
  if (std::ranges::all_of(examples_, [](const auto& example) { return example.structure->has_hypergraph(); }))
    factored_ = std::make_shared<GraphFactored>(examples_);
  constexpr float kHighest = 16;  // time and memory grow with the highest cost of a labelling
  const auto small = [](float cost) { return cost >= 0 && cost <= kHighest && cost == std::floor(cost); };
  rescales_slack_ = factored_ && std::ranges::all_of(examples_, [&](const auto& example) {
                      return std::ranges::all_of(example.cost, small);
                    });
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
