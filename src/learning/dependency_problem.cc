#include "learning/dependency_problem.h"

#include "espalier/base/error.h"
#include "features/sinks.h"
#include "learning/negligible.h"
#include "structures/projective.h"

namespace espalier {
namespace {

class ProjectiveFactored final : public HyperedgeCliques {
 public:
  ProjectiveFactored(const DependencyCorpus& corpus, const ArcSets& arcs, const TreeShape& shape)
      : HyperedgeCliques(corpus.size()), corpus_(corpus), arcs_(arcs), shape_(shape) {}

 private:
  Hypergraph hypergraph(std::size_t i, Workspace::Frame& frame) const override {
    return projective_hypergraph(arcs_(i, corpus_.length(i)), shape_.single_root, shape_.num_labels, frame);
  }

  const DependencyCorpus& corpus_;
  const ArcSets& arcs_;
  TreeShape shape_;
};

}  // namespace

void ArcSets::append(std::span<const std::uint32_t> offsets, std::span<const std::uint16_t> heads) {
  offsets_.insert(offsets_.end(), offsets.begin(), offsets.end());
  heads_.insert(heads_.end(), heads.begin(), heads.end());
  begins_.push_back({offsets_.size(), heads_.size()});
}

DependencyExamples::DependencyExamples(const DependencyCorpus& corpus, const ArcSets& arcs,
                                       const DependencyFeatures& features, const TreeShape& shape)
    : corpus_(&corpus), arcs_(&arcs), features_(&features), shape_(shape) {
  ESPALIER_EXPECT(shape.num_labels == features.num_labels());
  ESPALIER_EXPECT(corpus.heads.size() == corpus.words.size());
  ESPALIER_EXPECT(corpus.labels.size() == corpus.words.size());
  if (shape.projective) factored_ = std::make_shared<ProjectiveFactored>(corpus, arcs, shape);
}

DependencyExamples::DependencyExamples(const DependencyCorpus& corpus, const ArcSets& arcs,
                                       const TreePartLists& parts, const DependencyFeatures& features,
                                       const TreeShape& shape, bool maxima)
    : DependencyExamples(corpus, arcs, features, shape) {
  parts_ = &parts;
  factored_ = nullptr;
  maxima_ = maxima;
}

// Two trees differ in at most m arcs of each, and all of them may share all their features.
double DependencyExamples::squared_diameter(std::size_t i) const {
  const double arcs = 2 * static_cast<double>(corpus_->length(i));
  return arcs * arcs * features_->largest_size();
}

double DependencyExamples::slack_argmax(std::size_t i, std::span<const double> s, double gamma,
                                        std::span<double> chi, Workspace& ws) const {
  return slack_argmax_of(*this, *factored_, i, s, gamma, chi, ws);
}

template <class Real, class Sink>
void DependencyExamples::add_all(std::size_t i, std::span<const Real> delta, const Sink& sink,
                                 Workspace& ws) const {
  Real least = 0;
  if constexpr (sizeof(Real) == sizeof(float)) least = negligible(delta, kNegligibleOfWeights);
  features_->accumulate(corpus_->words_of(i), arcs(i), delta, least, sink, ws, parts(i));
}

void DependencyExamples::accumulate(std::size_t i, std::span<const float> delta, Weights& w,
                                    Workspace& ws) const {
  add_all(i, delta, WeightsSink(w.row(0)), ws);
}
void DependencyExamples::accumulate(std::size_t i, std::span<const double> delta, DoubleWeights& w,
                                    Workspace& ws) const {
  add_all(i, delta, WeightsSink(w.row(0)), ws);
}
void DependencyExamples::list_changes(std::size_t i, std::span<const float> delta, RowChanges<float>& changes,
                                      Workspace& ws) const {
  add_all(i, delta, ListSink(changes), ws);
}
void DependencyExamples::list_changes(std::size_t i, std::span<const double> delta,
                                      RowChanges<double>& changes, Workspace& ws) const {
  add_all(i, delta, ListSink(changes), ws);
}

double DependencyExamples::list_with_norm(std::size_t i, std::span<const float> delta, ChangeLists& lists,
                                          Workspace& ws) const {
  return features_->list_with_norm(corpus_->words_of(i), arcs(i), delta,
                                   negligible(delta, kNegligibleOfWeights), lists, ws, parts(i));
}

double DependencyExamples::squared_norm(std::size_t i, std::span<const float> delta, Workspace& ws) const {
  return features_->squared_norm(corpus_->words_of(i), arcs(i), delta, negligible(delta, kNegligibleOfNorm),
                                 ws, parts(i));
}
double DependencyExamples::squared_norm(std::size_t i, std::span<const double> delta, Workspace& ws) const {
  return features_->squared_norm(corpus_->words_of(i), arcs(i), delta, 0.0, ws, parts(i));
}

void DependencyExamples::prefetch(std::size_t i, Prefetch what) const {
  if (what == Prefetch::location) {
    __builtin_prefetch(&corpus_->offsets[i]);
    return;
  }
  for (const WordAtoms& word : corpus_->words_of(i)) __builtin_prefetch(&word);
}

}  // namespace espalier
