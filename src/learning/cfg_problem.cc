#include "learning/cfg_problem.h"

#include <algorithm>
#include <mutex>

#include "espalier/base/error.h"
#include "learning/negligible.h"

namespace espalier {
namespace {

// The largest sum of the counts of statistics first, ..., last - 1 in any derivation.
double most(const Cfg& forest, std::size_t first, std::size_t last, Workspace& ws) {
  std::vector<float> s(forest.num_statistics(), 0.0f), chi(s.size());
  std::fill(s.begin() + static_cast<std::ptrdiff_t>(first), s.begin() + static_cast<std::ptrdiff_t>(last),
            1.0f);
  return forest.argmax(std::span<const float>(s), std::span(chi), ws);
}

}  // namespace

CfgExamples::CfgExamples(std::span<const CfgSentence> sentences, const CfgFeatures& features)
    : sentences_(sentences), features_(&features), first_{{0, 0}} {
  std::vector<bool> right;
  for (const CfgSentence& sentence : sentences) {
    const Cfg& forest = sentence.forest;
    right.assign(forest.num_statistics(), false);
    forest.for_each_statistic(sentence.gold, [&](std::size_t k) {
      gold_.push_back(static_cast<std::uint32_t>(k));
      right[k] = true;
    });
    for (std::size_t place = 0; place < forest.num_spans(); ++place) {
      const Cfg::Place span = forest.span(place);
      for (std::uint32_t k = 0; k < span.labels.size(); ++k) {
        const bool counts = span.labels[k] < forest.index().grammar().num_constituents;
        if (counts && !right[span.first + k]) wrong_.push_back(span.first + k);
      }
    }
    first_.push_back({gold_.size(), wrong_.size()});
  }
  Workspace ws;
  for (std::size_t i = 0; i < size(); ++i) squared_diameters_.push_back(diameter_of(i, ws));
}

// |z - chi(y)| sums up to no more than the counts of both.
double CfgExamples::diameter_of(std::size_t i, Workspace& ws) const {
  const Cfg& forest = sentences_[i].forest;
  const auto words = static_cast<double>(forest.num_words());
  const std::size_t rules = forest.rules().size();
  const std::size_t labels_end = forest.num_splits() > 0   ? forest.split(0).first
                                 : forest.num_tagged() > 0 ? forest.tagged(0).first
                                                           : forest.num_statistics();
  CfgFeatures::Counts both{.splits = 2 * (words - 1), .tags = 2 * words};
  for (const std::uint32_t k : gold_of(i)) {
    both.rules += k < rules ? 1 : 0;
    both.labels += k >= rules && k < labels_end ? 1 : 0;
  }
  both.rules += most(forest, 0, rules, ws);
  both.labels += most(forest, rules, labels_end, ws);
  return features_->largest_norm(both);
}

void CfgExamples::add_near_gold(std::size_t i, float kappa, std::span<float> s) const {
  // -kappa for all, and +kappa for those that the gold derivation has. It may have one several times.
  for (float& x : s) x -= kappa;
  const auto gold = gold_of(i);
  for (std::size_t k = 0; k < gold.size(); ++k) {
    if (std::find(gold.begin(), gold.begin() + static_cast<std::ptrdiff_t>(k), gold[k]) ==
        gold.begin() + static_cast<std::ptrdiff_t>(k))
      s[gold[k]] += kappa;
  }
}

void CfgExamples::accumulate(std::size_t i, std::span<const float> delta, Weights& w, Workspace& ws) const {
  features_->accumulate(sentences_[i].words, sentences_[i].forest, delta,
                        negligible(delta, kNegligibleOfWeights), {0, 1}, w.row(0), ws);
}

void CfgExamples::accumulate_shared(std::size_t i, std::span<const float> delta, Weights& w,
                                    Workspace& ws) const {
  const std::lock_guard lock(*writing_);
  accumulate(i, delta, w, ws);
}

void CfgExamples::accumulate(std::size_t i, std::span<const double> delta, RowShare share, DoubleWeights& w,
                             Workspace& ws) const {
  features_->accumulate(sentences_[i].words, sentences_[i].forest, delta, 0.0, share, w.row(0), ws);
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
    __builtin_prefetch(&first_[i]);
    return;
  }
  for (const SpanWord& word : sentences_[i].words) __builtin_prefetch(&word);
}

}  // namespace espalier
