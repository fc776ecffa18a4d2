#pragma once

#include <cstddef>
#include <vector>

#include "espalier/base/memory.h"
#include "espalier/learning/certificate.h"
#include "espalier/learning/problem.h"
#include "learning/certify.h"
#include "learning/sweep.h"

namespace espalier {

// The dual variables of every example as the marginals of its cliques, untied, with the statistics that they
// add up to: for solvers that mix distributions and need their entropy. It is for problems with
// Problem::factored(), and takes a float for every clique marginal: of a chain, L^2 for every pair of
// neighbours.
class CliqueState {
 public:
  // Near the gold outputs. Requires problem.factored().
  explicit CliqueState(const Problem& problem);
  // Other outputs are kappa nats behind the gold one for each part that differs (Problem::add_near_gold).
  void start_near_gold(const Problem& problem, float kappa);
  // All mass of each example on one output: the gold one, or one of those where they are several.
  void start_at_gold(const Problem& problem);

  // The marginals and the entropy of the distribution with scores s.
  void set_scores(const Problem& problem, std::size_t i, In s, Workspace& ws);

  std::size_t size() const { return examples_.size() - 1; }
  Out cliques(std::size_t i) { return {cliques_.data() + examples_[i].cliques, num_cliques(i)}; }
  In cliques(std::size_t i) const { return {cliques_.data() + examples_[i].cliques, num_cliques(i)}; }
  Out mu(std::size_t i) { return {marginals_.data() + examples_[i].mu, num_statistics(i)}; }
  In mu(std::size_t i) const { return {marginals_.data() + examples_[i].mu, num_statistics(i)}; }
  CliqueMeans means(std::size_t i) const { return {cliques(i), mu(i)}; }
  double& entropy(std::size_t i) { return examples_[i].entropy; }
  double entropy(std::size_t i) const { return examples_[i].entropy; }

  In all() const { return {cliques_.data(), cliques_.size()}; }  // of all examples, one after the other
  // What all() of another state of this problem said. Requires as many.
  void restore(const Problem& problem, In all);
  void prefetch(std::size_t i, Prefetch what) const;

 private:
  struct Example {
    std::size_t cliques = 0, mu = 0;  // where its marginals begin
    double entropy = 0;
  };
  std::size_t num_cliques(std::size_t i) const { return examples_[i + 1].cliques - examples_[i].cliques; }
  std::size_t num_statistics(std::size_t i) const { return examples_[i + 1].mu - examples_[i].mu; }

  std::vector<Example> examples_;  // and one more, for the last one's end
  ZeroedArray<float> cliques_, marginals_;
};

// The dual in double precision, of the distributions that the marginals say up to their rounding
// (Factored::rebuild).
void evaluate_dual(const Objective& objective, const CliqueState& state, DualValue& result, Sweep& sweep);

}  // namespace espalier
