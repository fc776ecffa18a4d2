#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "espalier/base/memory.h"
#include "espalier/learning/problem.h"

namespace espalier {

class Sweep;

// The dual variables of every example: a distribution u_i over its outputs, kept as scores s_i on its
// statistics, with what follows from them (mu_i and log Z_i), so that a visit does not have to compute it
// again. w(u) does not depend on l2, so one state serves a whole regularisation path.
class DualState {
 public:
  // Without marginals it takes half the memory, and whoever needs mu_i has to compute it anew.
  explicit DualState(const Problem& problem, bool keep_marginals = true);
  bool keeps_marginals() const { return keeps_marginals_; }

  // The uniform distribution over all outputs: s_i = 0.
  void start_uniform(const Problem& problem);
  // Near the gold outputs: kappa nats behind them for each part that differs (Problem::add_near_gold).
  void start_near_gold(const Problem& problem, float kappa);
  void start_near_gold(const Problem& problem, float kappa, Sweep& sweep);

  // The distributions that weights imply: s_i = beta(F_i'theta + gamma p_i), of a finite beta.
  void start_at(const Problem& problem, const Weights& theta, double beta, double gamma);
  // What scores() and curvatures() of another state of this problem said. Requires as many of them.
  void restore(const Problem& problem, In all_scores, In all_curvatures);

  std::size_t size() const { return examples_.size() - 1; }
  In scores() const { return {scores_.data(), scores_.size()}; }  // of all examples, one after the other
  std::vector<float> curvatures() const;
  Out s(std::size_t i) { return {scores_.data() + examples_[i].offset, length(i)}; }
  In s(std::size_t i) const { return {scores_.data() + examples_[i].offset, length(i)}; }
  // These two require marginals that are kept.
  Out mu(std::size_t i) { return {marginals_.data() + examples_[i].offset, length(i)}; }
  In mu(std::size_t i) const { return {marginals_.data() + examples_[i].offset, length(i)}; }
  double& log_z(std::size_t i) { return examples_[i].log_z; }
  double log_z(std::size_t i) const { return examples_[i].log_z; }

  // What EG learned of the curvature along its updates, |F_i delta|^2 / (eta a) in the notation of eg.cc; 0:
  // nothing yet. It does not depend on l2 either, and goes along a path with the duals.
  float& curvature(std::size_t i) { return examples_[i].curvature; }

  // mu_i as it is kept, or else computed anew in memory of `frame`.
  In mu(const Problem& problem, std::size_t i, Workspace::Frame& frame, Workspace& ws) const;

  // mu_i and log Z_i from s_i.
  void refresh(const Problem& problem, std::size_t i, Workspace& ws);
  void prefetch(std::size_t i, Prefetch what) const;

 private:
  // Together, so that a visit waits for one cache line and not for three.
  struct Example {
    std::size_t offset = 0;  // of its scores and marginals
    double log_z = 0;
    float curvature = 0;
  };
  std::size_t length(std::size_t i) const { return examples_[i + 1].offset - examples_[i].offset; }

  AlignedVector<Example> examples_;  // and one more, for the last one's end
  bool keeps_marginals_;
  ZeroedArray<float> scores_, marginals_;
};

}  // namespace espalier
