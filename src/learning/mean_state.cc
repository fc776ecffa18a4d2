#include "learning/mean_state.h"

#include <algorithm>

#include "espalier/base/error.h"

namespace espalier {

MeanState::MeanState(const Problem& problem) : offsets_(problem.size() + 1) {
  for (std::size_t i = 0; i < problem.size(); ++i) offsets_[i + 1] = offsets_[i] + problem.num_statistics(i);
  marginals_ = ZeroedArray<double>(offsets_.back());
  start_at_gold(problem);
}

void MeanState::restore(DoubleIn all, double roundings) {
  ESPALIER_EXPECT(all.size() == marginals_.size());
  std::copy(all.begin(), all.end(), marginals_.begin());
  roundings_ = roundings;
}

void MeanState::start_at_gold(const Problem& problem) {
  for (std::size_t i = 0; i < size(); ++i) {
    std::fill(mu(i).begin(), mu(i).end(), 0.0);
    problem.add_gold(i, 1.0, mu(i));
  }
  roundings_ = 0;
}

void MeanState::prefetch(std::size_t i, Prefetch what) const {
  if (what == Prefetch::location) {
    __builtin_prefetch(&offsets_[i]);
    return;
  }
  constexpr std::size_t kPerLine = kCacheLine / sizeof(double);
  for (std::size_t k = offsets_[i]; k < offsets_[i + 1]; k += kPerLine)
    __builtin_prefetch(marginals_.data() + k);
}

}  // namespace espalier
