#include "espalier/learning/dual_state.h"

#include <algorithm>

#include "espalier/base/error.h"
#include "learning/sweep.h"

namespace espalier {

DualState::DualState(const Problem& problem, bool keep_marginals)
    : examples_(problem.size() + 1), keeps_marginals_(keep_marginals) {
  for (std::size_t i = 0; i < problem.size(); ++i) {
    examples_[i + 1].offset = examples_[i].offset + problem.num_statistics(i);
  }
  scores_ = ZeroedArray<float>(examples_.back().offset);
  if (keep_marginals) marginals_ = ZeroedArray<float>(examples_.back().offset);
  start_uniform(problem);
}

void DualState::start_uniform(const Problem& problem) { start_near_gold(problem, 0); }

void DualState::start_near_gold(const Problem& problem, float kappa) {
  Sweep alone;
  start_near_gold(problem, kappa, alone);
}

void DualState::start_near_gold(const Problem& problem, float kappa, Sweep& sweep) {
  way.reset();
  sweep.sum(size(), [&](std::size_t i, Workspace& ws) {
    std::fill(s(i).begin(), s(i).end(), 0.0f);
    problem.add_near_gold(i, kappa, s(i));
    curvature(i) = 0;
    refresh(problem, i, ws);
    return 0.0;
  });
}

void DualState::start_at(const Problem& problem, const Weights& theta, double beta, double gamma) {
  way.reset();
  Workspace ws;
  for (std::size_t i = 0; i < size(); ++i) {
    problem.score(i, theta, static_cast<float>(beta), s(i), ws);
    if (gamma != 0) problem.add_cost(i, static_cast<float>(beta * gamma), s(i));
    curvature(i) = 0;
    refresh(problem, i, ws);
  }
}

void DualState::restore(const Problem& problem, In all_scores, In all_curvatures) {
  ESPALIER_EXPECT(all_scores.size() == scores_.size() && all_curvatures.size() == size());
  way.reset();
  std::copy(all_scores.begin(), all_scores.end(), scores_.begin());
  Workspace ws;
  for (std::size_t i = 0; i < size(); ++i) {
    curvature(i) = all_curvatures[i];
    refresh(problem, i, ws);
  }
}

std::vector<float> DualState::curvatures() const {
  std::vector<float> all;
  all.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) all.push_back(examples_[i].curvature);
  return all;
}

In DualState::mu(const Problem& problem, std::size_t i, Workspace::Frame& frame, Workspace& ws) const {
  if (keeps_marginals_) return mu(i);
  const auto anew = frame.take<float>(length(i));
  problem.log_partition(i, s(i), anew, ws);
  return anew;
}

void DualState::refresh(const Problem& problem, std::size_t i, Workspace& ws) {
  Workspace::Frame frame(ws);
  log_z(i) = problem.log_partition(i, s(i), keeps_marginals_ ? mu(i) : frame.take<float>(length(i)), ws);
}

void DualState::prefetch(std::size_t i, Prefetch what) const {
  if (what == Prefetch::location) {
    __builtin_prefetch(&examples_[i]);
    return;
  }
  constexpr std::size_t kPerLine = kCacheLine / sizeof(float);
  for (std::size_t k = 0; k < length(i); k += kPerLine) {
    prefetch_to_write(scores_.data() + examples_[i].offset + k);
    if (keeps_marginals_) prefetch_to_write(marginals_.data() + examples_[i].offset + k);
  }
}

}  // namespace espalier
