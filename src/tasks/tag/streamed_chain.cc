#include "tasks/tag/streamed_chain.h"
#include "features/sequences.h"

namespace espalier {

void StreamedChain::set(const Sequences& sequence) {
  sequence_ = &sequence;
  tied_ = sequence.transition_of.empty();
  tables_.clear();
  table_of_step_.clear();
  if (!shape_.has_tables()) return;
  const std::size_t length = sequence.num_tokens();
  if (tied_) {
    if (length > 1) tables_.push_back(0);
    return;
  }
  step_tables_.append(std::span(sequence.transition_of).last(length - 1), tables_, table_of_step_);
}

Chain StreamedChain::structure() const {
  const std::size_t length = sequence_->num_tokens();
  const LabelNgrams* ngrams = shape_.ngrams.get();
  return tied_ && shape_.has_tables()
             ? Chain(length, shape_.num_labels, constraints_, ngrams)
             : Chain(length, shape_.num_labels, table_of_step_, tables_.size(), constraints_, ngrams);
}

std::span<float> StreamedChain::scores(Workspace& ws) {
  scores_.resize(structure().num_statistics());
  score_sequence(*sequence_, tables_, shape_, theta_, kernel_, std::span<float>(scores_), ws);
  return scores_;
}

std::span<double> StreamedChain::double_scores(Workspace& ws) {
  double_scores_.resize(structure().num_statistics());
  score_sequence(*sequence_, tables_, shape_, theta_, kernel_, std::span<double>(double_scores_), ws);
  return double_scores_;
}

}  // namespace espalier
