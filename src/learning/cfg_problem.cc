#include "learning/cfg_problem.h"

#include <algorithm>

#include "espalier/base/error.h"
#include "features/sinks.h"
#include "learning/negligible.h"

namespace espalier {
namespace {

class CfgFactored final : public HyperedgeCliques {
 public:
  explicit CfgFactored(std::span<const CfgSentence> sentences)
      : HyperedgeCliques(sentences.size()), sentences_(sentences) {}

 private:
  Hypergraph hypergraph(std::size_t i, Workspace::Frame& frame) const override {
    return sentences_[i].forest.hypergraph(frame);
  }

  std::span<const CfgSentence> sentences_;
};

}  // namespace

CfgExamples::CfgExamples(std::span<const CfgSentence> sentences, const CfgFeatures& features)
    : sentences_(sentences),
      features_(&features),
      first_gold_{0},
      factored_(std::make_shared<CfgFactored>(sentences)) {
  Workspace ws;
  for (const CfgSentence& sentence : sentences) {
    const auto first = static_cast<std::ptrdiff_t>(gold_.size());
    sentence.forest.for_each_statistic(
        sentence.gold, [&](std::size_t k) { gold_.push_back(static_cast<std::uint32_t>(k)); });
    std::sort(gold_.begin() + first, gold_.end());
    first_gold_.push_back(gold_.size());
    squared_diameters_.push_back(diameter_of(sentence.forest, ws));
  }
}

// |chi(a) - chi(b)| sums up to no more than the counts of both, whichever two derivations they are.
double CfgExamples::diameter_of(const Cfg& forest, Workspace& ws) const {
  const auto words = static_cast<double>(forest.num_words());
  const Cfg::Counts most = forest.most_counts(ws);
  return features_->largest_norm({.rules = 2 * static_cast<double>(most.rules),
                                  .labels = 2 * static_cast<double>(most.labels),
                                  .splits = 2 * (words - 1),
                                  .tags = 2 * words});
}

void CfgExamples::add_near_gold(std::size_t i, float kappa, std::span<float> s) const {
  // -kappa for all, and +kappa for those that the gold derivation has. It may have one several times.
  for (float& x : s) x -= kappa;
  const auto gold = gold_of(i);
  for (std::size_t k = 0; k < gold.size(); ++k) {
    if (k == 0 || gold[k] != gold[k - 1]) s[gold[k]] += kappa;
  }
}

double CfgExamples::slack_argmax(std::size_t i, std::span<const double> s, double gamma,
                                 std::span<double> chi, Workspace& ws) const {
  return slack_argmax_of(*this, *factored_, i, s, gamma, chi, ws);
}

template <class Real, class Sink>
void CfgExamples::add_all(std::size_t i, std::span<const Real> delta, const Sink& sink, Workspace& ws) const {
  Real least = 0;
  if constexpr (sizeof(Real) == sizeof(float)) least = negligible(delta, kNegligibleOfWeights);
  features_->accumulate(sentences_[i].words, sentences_[i].forest, delta, least, sink, ws);
}

void CfgExamples::accumulate(std::size_t i, std::span<const float> delta, Weights& w, Workspace& ws) const {
  add_all(i, delta, WeightsSink(w.row(0)), ws);
}
void CfgExamples::accumulate(std::size_t i, std::span<const double> delta, DoubleWeights& w,
                             Workspace& ws) const {
  add_all(i, delta, WeightsSink(w.row(0)), ws);
}
void CfgExamples::list_changes(std::size_t i, std::span<const float> delta, RowChanges<float>& changes,
                               Workspace& ws) const {
  add_all(i, delta, ListSink(changes), ws);
}
void CfgExamples::list_changes(std::size_t i, std::span<const double> delta, RowChanges<double>& changes,
                               Workspace& ws) const {
  add_all(i, delta, ListSink(changes), ws);
}

double CfgExamples::squared_norm(std::size_t i, std::span<const float> delta, Workspace& ws) const {
  return features_->squared_norm(sentences_[i].words, sentences_[i].forest, delta,
                                 negligible(delta, kNegligibleOfNorm), ws);
}
double CfgExamples::squared_norm(std::size_t i, std::span<const double> delta, Workspace& ws) const {
  return features_->squared_norm(sentences_[i].words, sentences_[i].forest, delta, 0.0, ws);
}

void CfgExamples::prefetch(std::size_t i, Prefetch what) const {
  if (what == Prefetch::location) {
    __builtin_prefetch(&sentences_[i]);
    __builtin_prefetch(&first_gold_[i]);
    return;
  }
  for (const SpanWord& word : sentences_[i].words) __builtin_prefetch(&word);
}

}  // namespace espalier
