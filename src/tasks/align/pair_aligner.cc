#include "tasks/align/pair_aligner.h"

#include <cmath>

#include "structures/kbest_memory.h"

namespace espalier {

void PairAligner::set(const SentencePair& pair) {
  rows_.clear();
  attributes_.append(pair, false, rows_);
  s_.resize(pair.num_pairs());
  score_pairs_of_words(rows_, 0, theta_, s_);
  matching_ = model_->structure(pair);
  mu_.clear();
}

std::vector<Matching::Scored> PairAligner::kbest(std::size_t k) {
  KbestMemory::check(matching_, s_, k, sizeof(Matching::Scored) + s_.size(), ws_);
  return matching_.kbest(s_, k);
}

double PairAligner::probability(double score) {
  find_marginals();
  return std::exp(loss_.beta * score - bound_);
}

double PairAligner::marginal(std::size_t pair) {
  find_marginals();
  return mu_[pair];
}

void PairAligner::find_marginals() {
  if (!mu_.empty()) return;
  mu_.resize(s_.size());
  std::vector<double> scaled;
  for (const double score : s_) scaled.push_back(loss_.beta * score);
  bound_ = matching_.log_partition(std::span<const double>(scaled), std::span(mu_), ws_);
}

}  // namespace espalier
