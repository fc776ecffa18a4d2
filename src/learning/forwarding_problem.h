#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "espalier/learning/problem.h"

namespace espalier {

// Another problem as it is, or some of its examples: derived classes override what is to be different. A
// capability that depends on what they override has to be theirs, too. Refers to the other problem, which
// must outlive it.
class ForwardingProblem : public Problem {
 public:
  explicit ForwardingProblem(const Problem& inner);
  // Example i is examples[i] of the other problem. Requires examples that it has.
  ForwardingProblem(const Problem& inner, std::vector<std::uint32_t> examples);
  ForwardingProblem(const ForwardingProblem&) = delete;
  ForwardingProblem& operator=(const ForwardingProblem&) = delete;
  ~ForwardingProblem() override;

  std::size_t size() const override { return all_ ? inner_.size() : examples_.size(); }
  Communicator* fleet() const override { return inner_.fleet(); }
  std::size_t total_size() const override { return all_ ? inner_.total_size() : examples_.size(); }
  std::size_t num_statistics(std::size_t i) const override { return inner_.num_statistics(of(i)); }
  WeightShape weight_shape() const override { return inner_.weight_shape(); }
  double weight(std::size_t i) const override { return inner_.weight(of(i)); }
  double cost_offset(std::size_t i) const override { return inner_.cost_offset(of(i)); }
  double squared_diameter(std::size_t i) const override { return inner_.squared_diameter(of(i)); }
  double squared_change(std::size_t i) const override { return inner_.squared_change(of(i)); }

  void add_gold(std::size_t i, float scale, Out out) const override { inner_.add_gold(of(i), scale, out); }
  void add_gold(std::size_t i, double scale, DoubleOut out) const override {
    inner_.add_gold(of(i), scale, out);
  }
  void add_cost(std::size_t i, float scale, Out out) const override { inner_.add_cost(of(i), scale, out); }
  void add_cost(std::size_t i, double scale, DoubleOut out) const override {
    inner_.add_cost(of(i), scale, out);
  }
  void add_near_gold(std::size_t i, float kappa, Out s) const override {
    inner_.add_near_gold(of(i), kappa, s);
  }

  void score(std::size_t i, const Weights& w, float scale, Out s, Workspace& ws) const override {
    inner_.score(of(i), w, scale, s, ws);
  }
  void score(std::size_t i, const Weights& w, double scale, DoubleOut s, Workspace& ws) const override {
    inner_.score(of(i), w, scale, s, ws);
  }
  void score(std::size_t i, const DoubleWeights& w, double scale, DoubleOut s, Workspace& ws) const override {
    inner_.score(of(i), w, scale, s, ws);
  }
  void accumulate(std::size_t i, In delta, Weights& w, Workspace& ws) const override {
    inner_.accumulate(of(i), delta, w, ws);
  }
  void accumulate(std::size_t i, DoubleIn delta, DoubleWeights& w, Workspace& ws) const override {
    inner_.accumulate(of(i), delta, w, ws);
  }
  using Problem::squared_norm;
  double squared_norm(std::size_t i, In delta, Workspace& ws) const override {
    return inner_.squared_norm(of(i), delta, ws);
  }
  double squared_norm(std::size_t i, DoubleIn delta, Workspace& ws) const override {
    return inner_.squared_norm(of(i), delta, ws);
  }

  double log_partition(std::size_t i, In s, Out mu, Workspace& ws) const override {
    return inner_.log_partition(of(i), s, mu, ws);
  }
  double log_partition(std::size_t i, DoubleIn s, DoubleOut mu, Workspace& ws) const override {
    return inner_.log_partition(of(i), s, mu, ws);
  }
  double argmax(std::size_t i, In s, Out mu, Workspace& ws) const override {
    return inner_.argmax(of(i), s, mu, ws);
  }
  double argmax(std::size_t i, DoubleIn s, DoubleOut mu, Workspace& ws) const override {
    return inner_.argmax(of(i), s, mu, ws);
  }
  Inference inference() const override { return inner_.inference(); }

  void centre(std::size_t i, In mu, Out d) const override { inner_.centre(of(i), mu, d); }
  void prefetch(std::size_t i, Prefetch what) const override { inner_.prefetch(of(i), what); }
  Capabilities capabilities() const override;

 protected:
  const Problem& inner_;

 private:
  class Subset;

  // The example of the other problem.
  std::size_t of(std::size_t i) const { return all_ ? i : examples_[i]; }

  const std::vector<std::uint32_t> examples_;
  const bool all_;
  std::unique_ptr<const Subset> subset_;  // the capabilities, where it is not of all examples
};

}  // namespace espalier
