#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/learning/structured_problem.h"
#include "features/span_features.h"
#include "learning/hyperedge_cliques.h"
#include "structures/cfg.h"

namespace espalier {

// A sentence with all its derivations and the right one.
struct CfgSentence {
  std::vector<SpanWord> words;
  Cfg forest;
  Derivation gold;
};

// Sentences with their derivations. The cost is the number of constituents (label, begin, end) that the gold
// derivation does not have (Bartlett et al. 2004, example 2). Requires gold derivations that are in their
// forests. Keeps references.
class CfgExamples final : public SlackRescaling, public Sharing {
 public:
  CfgExamples(std::span<const CfgSentence> sentences, const CfgFeatures& features);

  std::size_t size() const { return sentences_.size(); }
  WeightShape weight_shape() const { return features_->weight_shape(); }
  const Cfg& structure(std::size_t i) const { return sentences_[i].forest; }
  double weight(std::size_t) const { return 1; }
  double cost_offset(std::size_t) const { return 0; }
  double squared_diameter(std::size_t i) const { return squared_diameters_[i]; }
  double squared_change(std::size_t) const { return 2 * features_->typical_size(); }
  double overlap(std::size_t) const override { return features_->common_share(); }
  double score_work(std::size_t i) const override {
    return static_cast<double>(sentences_[i].forest.num_cells()) * features_->typical_size();
  }
  void prefetch(std::size_t i, Prefetch what) const;
  Capabilities capabilities() const {
    return {.factored = factored_.get(), .slack_rescaling = this, .sharing = this};
  }

  template <class Real>
  void add_gold(std::size_t i, Real scale, std::span<Real> out) const {
    for (const std::uint32_t k : gold_of(i)) out[k] += scale;
  }
  // p = 1 for constituents that the gold derivation does not have
  template <class Real>
  void add_cost(std::size_t i, Real scale, std::span<Real> out) const {
    const Cfg& forest = sentences_[i].forest;
    const std::uint32_t constituents = forest.index().grammar().num_constituents;
    const auto gold = gold_of(i);
    auto right = gold.begin();
    forest.for_each_span([&](const Cfg::Place& span) {
      for (std::uint32_t k = 0; k < span.labels.size() && span.labels[k] < constituents; ++k) {
        while (right != gold.end() && *right < span.first + k) ++right;
        if (right == gold.end() || *right != span.first + k) out[span.first + k] += scale;
      }
    });
  }
  // Derivations that differ in symbols, which costs nothing, are not near the gold one either: also what is
  // not in it.
  void add_near_gold(std::size_t i, float kappa, std::span<float> s) const;
  template <class Real, class Scale>
  void score(std::size_t i, const BasicWeights<Real>& w, Scale scale, std::span<Scale> s,
             Workspace& ws) const {
    features_->score(sentences_[i].words, sentences_[i].forest, w.row(0), scale, s, ws, w.threshold().value);
  }
  void accumulate(std::size_t i, std::span<const float> delta, Weights& w, Workspace& ws) const;
  void accumulate(std::size_t i, std::span<const double> delta, DoubleWeights& w, Workspace& ws) const;
  void list_changes(std::size_t i, std::span<const float> delta, RowChanges<float>& changes,
                    Workspace& ws) const override;
  void list_changes(std::size_t i, std::span<const double> delta, RowChanges<double>& changes,
                    Workspace& ws) const override;
  double squared_norm(std::size_t i, std::span<const float> delta, Workspace& ws) const;
  double squared_norm(std::size_t i, std::span<const double> delta, Workspace& ws) const;
  // By dynamic programming over hyperedges and cost so far.
  double slack_argmax(std::size_t i, std::span<const double> s, double gamma, std::span<double> chi,
                      Workspace& ws) const override;

 private:
  template <class Real, class Sink>
  void add_all(std::size_t i, std::span<const Real> delta, const Sink& sink, Workspace& ws) const;
  std::span<const std::uint32_t> gold_of(std::size_t i) const {
    return {gold_.data() + first_gold_[i], first_gold_[i + 1] - first_gold_[i]};
  }
  double diameter_of(const Cfg& forest, Workspace& ws) const;

  std::span<const CfgSentence> sentences_;
  const CfgFeatures* features_;
  std::vector<std::size_t> first_gold_;
  std::vector<std::uint32_t> gold_;  // statistics of the gold derivations, ascending, as often as they count
  std::vector<double> squared_diameters_;
  std::shared_ptr<const HyperedgeCliques> factored_;
};

using CfgProblem = StructuredProblem<CfgExamples>;

}  // namespace espalier
