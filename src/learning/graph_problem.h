#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/learning/structured_problem.h"
#include "features/graph_features.h"
#include "learning/hyperedge_cliques.h"
#include "structures/markov_graph.h"

namespace espalier {

// What a graph has besides its features.
struct GraphExample {
  std::shared_ptr<const MarkovGraph> structure;  // shared by graphs of the same shape
  std::vector<std::uint32_t> gold;               // one label a node
  std::vector<float> cost;  // of the first statistics: those of nodes; zero at the gold labels
  double weight = 1;
};

// Markov random fields: features of nodes and cliques with weights tied by type, and costs of nodes. Requires
// gold labels that the structures allow, and cliques in the structures in the order of the features: by
// types, and in each type in the order of its rows. Keeps a reference to the features, which may have
// kernels.
// Where inference is by trw, examples keep messages from visit to visit (MarkovGraph::keeping_messages): what
// a problem infers depends, within the tolerance of inference, on what it was asked before.
class GraphExamples final : public KernelGeometry, public SlackRescaling, public Sharing {
 public:
  GraphExamples(const GraphFeatures& features, std::vector<GraphExample> examples);
  // The same examples, with messages of their own.
  GraphExamples with_own_messages() const;
  std::size_t message_bytes() const;  // of all examples

  std::size_t size() const { return examples_.size(); }
  WeightShape weight_shape() const { return features_->weights().shape(); }
  const MarkovGraph& structure(std::size_t i) const { return *examples_[i].structure; }
  Inference inference() const { return inference_; }
  double weight(std::size_t i) const { return examples_[i].weight; }
  double cost_offset(std::size_t) const { return 0; }
  double squared_diameter(std::size_t i) const { return features_->squared_diameter(i); }
  double squared_change(std::size_t i) const { return features_->squared_change(i); }
  void prefetch(std::size_t i, Prefetch what) const { features_->prefetch(i, what); }
  Capabilities capabilities() const {
    return {.factored = factored_.get(),
            .kernel = features_->has_kernels() ? this : nullptr,
            .slack_rescaling = rescales_slack_ ? this : nullptr,
            .sharing = this};
  }

  template <class Real>
  void add_gold(std::size_t i, Real scale, std::span<Real> out) const {
    examples_[i].structure->add_indicator(examples_[i].gold, scale, out);
  }
  template <class Real>
  void add_cost(std::size_t i, Real scale, std::span<Real> out) const {
    const std::vector<float>& cost = examples_[i].cost;
    for (std::size_t k = 0; k < cost.size(); ++k) out[k] += scale * cost[k];
  }
  // Wrong labels that are free would begin with as much mass as right ones.
  void add_near_gold(std::size_t i, float kappa, std::span<float> s) const;
  template <class Real, class Scale>
  void score(std::size_t i, const BasicWeights<Real>& w, Scale scale, std::span<Scale> s,
             Workspace& ws) const {
    features_->score(i, w.row(0), scale, s, ws, w.threshold().value);
  }
  template <class Real>
  void accumulate(std::size_t i, std::span<const Real> delta, BasicWeights<Real>& w, Workspace&) const {
    features_->accumulate(i, delta, w.row(0));
  }
  void list_changes(std::size_t i, std::span<const float> delta, RowChanges<float>& changes,
                    Workspace&) const override {
    features_->list_changes(i, delta, changes);
  }
  void list_changes(std::size_t i, std::span<const double> delta, RowChanges<double>& changes,
                    Workspace&) const override {
    features_->list_changes(i, delta, changes);
  }
  template <class Real>
  double squared_norm(std::size_t i, std::span<const Real> delta, Workspace& ws) const {
    return features_->squared_norm(i, delta, ws);
  }
  double squared_norm(const Weights& w) const override { return features_->squared_norm(w); }
  double squared_norm(const DoubleWeights& w) const override { return features_->squared_norm(w); }
  double inner_product(const DoubleWeights& a, const DoubleWeights& b) const override {
    return features_->inner_product(a, b);
  }
  // By dynamic programming over hyperedges and cost so far.
  double slack_argmax(std::size_t i, std::span<const double> s, double gamma, std::span<double> chi,
                      Workspace& ws) const override;

 private:
  void keep_messages();

  const GraphFeatures* features_;
  std::vector<GraphExample> examples_;
  Inference inference_ = Inference::exact;
  std::shared_ptr<const HyperedgeCliques> factored_;  // null where a graph has no hypergraph
  bool rescales_slack_ = false;  // there are hypergraphs, and costs are small whole numbers
};

using GraphProblem = StructuredProblem<GraphExamples>;

}  // namespace espalier
