#pragma once

#include <cstddef>
#include <vector>

#include "espalier/learning/problem.h"

namespace espalier::test_support {

// Another problem, as it is: a test overrides what it wants to watch.
class ForwardingProblem : public Problem {
 public:
  explicit ForwardingProblem(const Problem& inner) : inner_(inner) {}

  std::size_t size() const override { return inner_.size(); }
  std::size_t num_statistics(std::size_t i) const override { return inner_.num_statistics(i); }
  WeightShape weight_shape() const override { return inner_.weight_shape(); }
  double weight(std::size_t i) const override { return inner_.weight(i); }
  double cost_offset(std::size_t i) const override { return inner_.cost_offset(i); }
  double squared_diameter(std::size_t i) const override { return inner_.squared_diameter(i); }
  double squared_change(std::size_t i) const override { return inner_.squared_change(i); }
  double overlap(std::size_t i) const override { return inner_.overlap(i); }
  void add_gold(std::size_t i, float scale, Out out) const override { inner_.add_gold(i, scale, out); }
  void add_gold(std::size_t i, double scale, DoubleOut out) const override { inner_.add_gold(i, scale, out); }
  void add_cost(std::size_t i, float scale, Out out) const override { inner_.add_cost(i, scale, out); }
  void add_cost(std::size_t i, double scale, DoubleOut out) const override { inner_.add_cost(i, scale, out); }
  void add_near_gold(std::size_t i, float kappa, Out s) const override { inner_.add_near_gold(i, kappa, s); }
  void score(std::size_t i, const Weights& w, float scale, Out s, Workspace& ws) const override {
    inner_.score(i, w, scale, s, ws);
  }
  void score(std::size_t i, const Weights& w, double scale, DoubleOut s, Workspace& ws) const override {
    inner_.score(i, w, scale, s, ws);
  }
  void score(std::size_t i, const DoubleWeights& w, double scale, DoubleOut s, Workspace& ws) const override {
    inner_.score(i, w, scale, s, ws);
  }
  void accumulate(std::size_t i, In delta, Weights& w, Workspace& ws) const override {
    inner_.accumulate(i, delta, w, ws);
  }
  void accumulate(std::size_t i, DoubleIn delta, DoubleWeights& w, Workspace& ws) const override {
    inner_.accumulate(i, delta, w, ws);
  }
  bool exact() const override { return inner_.exact(); }
  bool relaxed() const override { return inner_.relaxed(); }
  void accumulate_shared(std::size_t i, In delta, Weights& w, Workspace& ws) const override {
    inner_.accumulate_shared(i, delta, w, ws);
  }
  void accumulate(std::size_t i, DoubleIn delta, RowShare share, DoubleWeights& w,
                  Workspace& ws) const override {
    inner_.accumulate(i, delta, share, w, ws);
  }
  double squared_norm(std::size_t i, In delta, Workspace& ws) const override {
    return inner_.squared_norm(i, delta, ws);
  }
  double squared_norm(std::size_t i, DoubleIn delta, Workspace& ws) const override {
    return inner_.squared_norm(i, delta, ws);
  }
  double squared_norm(const Weights& w) const override { return inner_.squared_norm(w); }
  double squared_norm(const DoubleWeights& w) const override { return inner_.squared_norm(w); }
  double inner_product(const DoubleWeights& a, const DoubleWeights& b) const override {
    return inner_.inner_product(a, b);
  }
  bool euclidean() const override { return inner_.euclidean(); }
  void centre(std::size_t i, In mu, Out d) const override { inner_.centre(i, mu, d); }
  const Factored* factored() const override { return inner_.factored(); }
  double log_partition(std::size_t i, In s, Out mu, Workspace& ws) const override {
    return inner_.log_partition(i, s, mu, ws);
  }
  double log_partition(std::size_t i, DoubleIn s, DoubleOut mu, Workspace& ws) const override {
    return inner_.log_partition(i, s, mu, ws);
  }
  double argmax(std::size_t i, In s, Out mu, Workspace& ws) const override {
    return inner_.argmax(i, s, mu, ws);
  }
  double argmax(std::size_t i, DoubleIn s, DoubleOut mu, Workspace& ws) const override {
    return inner_.argmax(i, s, mu, ws);
  }
  std::size_t kbest(std::size_t i, DoubleIn s, std::size_t k, std::vector<double>& chis,
                    Workspace& ws) const override {
    return inner_.kbest(i, s, k, chis, ws);
  }
  bool has_kbest() const override { return inner_.has_kbest(); }
  double slack_argmax(std::size_t i, DoubleIn s, double gamma, DoubleOut chi, Workspace& ws) const override {
    return inner_.slack_argmax(i, s, gamma, chi, ws);
  }
  bool rescales_slack() const override { return inner_.rescales_slack(); }
  BlockMaximum maximise_block(std::size_t i, double gamma, double l2, Out mu, Weights& w,
                              Workspace& ws) const override {
    return inner_.maximise_block(i, gamma, l2, mu, w, ws);
  }
  bool maximises_blocks() const override { return inner_.maximises_blocks(); }

 protected:
  const Problem& inner_;
};

}  // namespace espalier::test_support
