#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "espalier/learning/problem.h"

namespace espalier {

// Some examples of another problem, as a problem: what cross-validation trains on. The weights keep their shape; those of
// attributes that no example of the subset has stay zero. Refers to the other problem, which must outlive it.
class SubsetProblem final : public Problem {
 public:
  // Requires examples of `whole`.
  SubsetProblem(const Problem& whole, std::vector<std::uint32_t> examples);
  SubsetProblem(const SubsetProblem&) = delete;
  SubsetProblem& operator=(const SubsetProblem&) = delete;

  std::size_t size() const override { return examples_.size(); }
  std::size_t num_statistics(std::size_t i) const override { return whole_.num_statistics(examples_[i]); }
  WeightShape weight_shape() const override { return whole_.weight_shape(); }
  double weight(std::size_t i) const override { return whole_.weight(examples_[i]); }
  double cost_offset(std::size_t i) const override { return whole_.cost_offset(examples_[i]); }
  double squared_diameter(std::size_t i) const override { return whole_.squared_diameter(examples_[i]); }
  double squared_change(std::size_t i) const override { return whole_.squared_change(examples_[i]); }
  double overlap(std::size_t i) const override { return whole_.overlap(examples_[i]); }

  void add_gold(std::size_t i, float scale, Out out) const override {
    whole_.add_gold(examples_[i], scale, out);
  }
  void add_gold(std::size_t i, double scale, DoubleOut out) const override {
    whole_.add_gold(examples_[i], scale, out);
  }
  void add_cost(std::size_t i, float scale, Out out) const override {
    whole_.add_cost(examples_[i], scale, out);
  }
  void add_cost(std::size_t i, double scale, DoubleOut out) const override {
    whole_.add_cost(examples_[i], scale, out);
  }

  void add_near_gold(std::size_t i, float kappa, Out s) const override {
    whole_.add_near_gold(examples_[i], kappa, s);
  }
  void score(std::size_t i, const Weights& w, float scale, Out s, Workspace& ws) const override {
    whole_.score(examples_[i], w, scale, s, ws);
  }
  void score(std::size_t i, const Weights& w, double scale, DoubleOut s, Workspace& ws) const override {
    whole_.score(examples_[i], w, scale, s, ws);
  }
  void score(std::size_t i, const DoubleWeights& w, double scale, DoubleOut s, Workspace& ws) const override {
    whole_.score(examples_[i], w, scale, s, ws);
  }
  void accumulate(std::size_t i, In delta, Weights& w, Workspace& ws) const override {
    whole_.accumulate(examples_[i], delta, w, ws);
  }
  void accumulate_shared(std::size_t i, In delta, Weights& w, Workspace& ws) const override {
    whole_.accumulate_shared(examples_[i], delta, w, ws);
  }
  void accumulate(std::size_t i, DoubleIn delta, RowShare share, DoubleWeights& w,
                  Workspace& ws) const override {
    whole_.accumulate(examples_[i], delta, share, w, ws);
  }
  void accumulate(std::size_t i, DoubleIn delta, DoubleWeights& w, Workspace& ws) const override {
    whole_.accumulate(examples_[i], delta, w, ws);
  }
  double squared_norm(std::size_t i, In delta, Workspace& ws) const override {
    return whole_.squared_norm(examples_[i], delta, ws);
  }
  double squared_norm(std::size_t i, DoubleIn delta, Workspace& ws) const override {
    return whole_.squared_norm(examples_[i], delta, ws);
  }
  bool exact() const override { return whole_.exact(); }
  bool relaxed() const override { return whole_.relaxed(); }
  double squared_norm(const Weights& w) const override { return whole_.squared_norm(w); }
  double squared_norm(const DoubleWeights& w) const override { return whole_.squared_norm(w); }
  double inner_product(const DoubleWeights& a, const DoubleWeights& b) const override {
    return whole_.inner_product(a, b);
  }
  bool euclidean() const override { return whole_.euclidean(); }

  double log_partition(std::size_t i, In s, Out mu, Workspace& ws) const override {
    return whole_.log_partition(examples_[i], s, mu, ws);
  }
  double log_partition(std::size_t i, DoubleIn s, DoubleOut mu, Workspace& ws) const override {
    return whole_.log_partition(examples_[i], s, mu, ws);
  }
  double argmax(std::size_t i, In s, Out mu, Workspace& ws) const override {
    return whole_.argmax(examples_[i], s, mu, ws);
  }
  double argmax(std::size_t i, DoubleIn s, DoubleOut mu, Workspace& ws) const override {
    return whole_.argmax(examples_[i], s, mu, ws);
  }
  std::size_t kbest(std::size_t i, DoubleIn s, std::size_t k, std::vector<double>& chis,
                    Workspace& ws) const override {
    return whole_.kbest(examples_[i], s, k, chis, ws);
  }
  bool has_kbest() const override { return whole_.has_kbest(); }

  double slack_argmax(std::size_t i, DoubleIn s, double gamma, DoubleOut chi, Workspace& ws) const override {
    return whole_.slack_argmax(examples_[i], s, gamma, chi, ws);
  }
  bool rescales_slack() const override { return whole_.rescales_slack(); }
  BlockMaximum maximise_block(std::size_t i, double gamma, double l2, Out mu, Weights& w,
                              Workspace& ws) const override {
    return whole_.maximise_block(examples_[i], gamma, l2, mu, w, ws);
  }
  bool maximises_blocks() const override { return whole_.maximises_blocks(); }

  void centre(std::size_t i, In mu, Out d) const override { whole_.centre(examples_[i], mu, d); }
  void prefetch(std::size_t i, Prefetch what) const override { whole_.prefetch(examples_[i], what); }
  const Factored* factored() const override { return factored_.get(); }

 private:
  const Problem& whole_;
  const std::vector<std::uint32_t> examples_;
  std::unique_ptr<const Factored> factored_;  // none where the whole problem has none
};

}  // namespace espalier
