#include "espalier/learning/dual_state.h"

#include <algorithm>

namespace espalier {

DualState::DualState(const Problem& problem) {
  offsets_.reserve(problem.size() + 1);
  offsets_.push_back(0);
  for (std::size_t i = 0; i < problem.size(); ++i)
    offsets_.push_back(offsets_.back() + problem.num_statistics(i));
  scores_.resize(offsets_.back());
  marginals_.resize(offsets_.back());
  log_z_.resize(problem.size());
  curvature_.resize(problem.size());
  start_uniform(problem);
}

void DualState::start_uniform(const Problem& problem) { start_near_gold(problem, 0); }

void DualState::start_near_gold(const Problem& problem, float kappa) {
  Workspace ws;
  std::fill(scores_.begin(), scores_.end(), 0.0f);
  std::fill(curvature_.begin(), curvature_.end(), 0.0f);
  for (std::size_t i = 0; i < size(); ++i) {
    problem.add_cost(i, -kappa, s(i));
    refresh(problem, i, ws);
  }
}

void DualState::refresh(const Problem& problem, std::size_t i, Workspace& ws) {
  log_z_[i] = problem.log_partition(i, s(i), mu(i), ws);
}

void DualState::prefetch(std::size_t i) const {
  __builtin_prefetch(scores_.data() + offsets_[i]);
  __builtin_prefetch(marginals_.data() + offsets_[i]);
  __builtin_prefetch(log_z_.data() + i);
}

}  // namespace espalier
