#include "learning/dependency_problem.h"

#include <mutex>

#include "espalier/base/error.h"
#include "learning/negligible.h"

namespace espalier {

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
}

DependencyExamples::DependencyExamples(const DependencyCorpus& corpus, const ArcSets& arcs,
                                       const TreePartLists& parts, const DependencyFeatures& features,
                                       const TreeShape& shape)
    : DependencyExamples(corpus, arcs, features, shape) {
  parts_ = &parts;
}

// Two trees differ in at most m arcs of each, and all of them may share all their features.
double DependencyExamples::squared_diameter(std::size_t i) const {
  const double arcs = 2 * static_cast<double>(corpus_->length(i));
  return arcs * arcs * features_->largest_size();
}

void DependencyExamples::accumulate(std::size_t i, std::span<const float> delta, Weights& w,
                                    Workspace& ws) const {
  features_->accumulate(corpus_->words_of(i), arcs(i), delta, negligible(delta, kNegligibleOfWeights),
                        kWholeSpace, w.row(0), ws, parts(i));
}

void DependencyExamples::accumulate_shared(std::size_t i, std::span<const float> delta, Weights& w,
                                           Workspace& ws) const {
  const std::lock_guard lock(*writing_);
  accumulate(i, delta, w, ws);
}

void DependencyExamples::accumulate(std::size_t i, std::span<const double> delta, RowShare share,
                                    DoubleWeights& w, Workspace& ws) const {
  features_->accumulate(corpus_->words_of(i), arcs(i), delta, 0.0, share, w.row(0), ws, parts(i));
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
