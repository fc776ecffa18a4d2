#include "tasks/streamed_chain.h"

namespace espalier {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

}  // namespace

void StreamedChain::set(const Sequences& sequence) {
  sequence_ = &sequence;
  tied_ = sequence.transition_of.empty();
  tables_.clear();
  table_of_step_.clear();
  const std::size_t length = sequence.num_tokens();
  if (tied_) {
    if (length > 1) tables_.push_back(0);
    return;
  }
  if (table_of_row_.size() < sequence.transitions.size()) {
    table_of_row_.resize(sequence.transitions.size(), kNone);
  }
  for (std::size_t t = 1; t < length; ++t) {
    const std::uint32_t row = sequence.transition_of[t];
    if (table_of_row_[row] == kNone) {
      table_of_row_[row] = static_cast<std::uint32_t>(tables_.size());
      tables_.push_back(row);
    }
    table_of_step_.push_back(table_of_row_[row]);
  }
  for (const std::uint32_t row : tables_) table_of_row_[row] = kNone;
}

Chain StreamedChain::structure() const {
  const std::size_t length = sequence_->num_tokens();
  return tied_ ? Chain(length, shape_.num_labels)
               : Chain(length, shape_.num_labels, table_of_step_, tables_.size());
}

std::span<const float> StreamedChain::scores(Workspace& ws) {
  scores_.resize(structure().num_statistics());
  score_sequence(*sequence_, tables_, shape_, theta_, std::span<float>(scores_), ws);
  return scores_;
}

std::span<const double> StreamedChain::double_scores(Workspace& ws) {
  double_scores_.resize(structure().num_statistics());
  score_sequence(*sequence_, tables_, shape_, theta_, std::span<double>(double_scores_), ws);
  return double_scores_;
}

}  // namespace espalier
