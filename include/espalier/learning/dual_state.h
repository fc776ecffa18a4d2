#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "espalier/base/aligned.h"
#include "espalier/learning/problem.h"

namespace espalier {

// The dual variables of every example: a distribution u_i over its outputs, kept as scores s_i on its
// statistics, with what follows from them (mu_i and log Z_i), so that a visit does not have to compute it
// again. w(u) does not depend on l2, so one state serves a whole regularisation path.
class DualState {
 public:
  explicit DualState(const Problem& problem);

  // The uniform distribution over all outputs: s_i = 0.
  void start_uniform(const Problem& problem);
  // Near the gold outputs: s_i = -kappa p_i, which costs an output kappa nats for each unit of cost.
  void start_near_gold(const Problem& problem, float kappa);

  std::size_t size() const { return log_z_.size(); }
  Out s(std::size_t i) { return {scores_.data() + offsets_[i], lengths_(i)}; }
  In s(std::size_t i) const { return {scores_.data() + offsets_[i], lengths_(i)}; }
  Out mu(std::size_t i) { return {marginals_.data() + offsets_[i], lengths_(i)}; }
  In mu(std::size_t i) const { return {marginals_.data() + offsets_[i], lengths_(i)}; }
  double& log_z(std::size_t i) { return log_z_[i]; }
  double log_z(std::size_t i) const { return log_z_[i]; }

  // What EG learned of the curvature along its updates, |F_i delta|^2 / (eta a) in the notation of eg.cc; 0:
  // nothing yet. It does not depend on l2 either, and goes along a path with the duals.
  float& curvature(std::size_t i) { return curvature_[i]; }

  // mu_i and log Z_i from s_i.
  void refresh(const Problem& problem, std::size_t i, Workspace& ws);
  void prefetch(std::size_t i) const;

 private:
  std::size_t lengths_(std::size_t i) const { return offsets_[i + 1] - offsets_[i]; }

  std::vector<std::size_t> offsets_;
  AlignedVector<float> scores_, marginals_;
  std::vector<double> log_z_;
  std::vector<float> curvature_;
};

}  // namespace espalier
