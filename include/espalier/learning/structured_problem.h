#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/learning/problem.h"
#include "espalier/structures/structure.h"

namespace espalier {

// A Problem made of examples that know their structure, features, gold output and cost. Examples provides,
// for example i, templates or overloads in both precisions:
//   size() weight_shape() weight(i) cost_offset(i) squared_diameter(i)
//   structure(i)                                    something that satisfies Structure
//   add_gold(i, scale, out)  add_cost(i, scale, out)
//   score(i, w, scale, s, ws)  accumulate(i, delta, w, ws)  squared_norm(i, delta, ws)
// and what of these it has more to say about than a Problem by default:
//   squared_change(i)  add_near_gold(i, kappa, s)  prefetch(i, what)  inference()
//   capabilities()                                  itself, where it implements one; ranking comes from the
//                                                   structure
// Below this line everything is inlined; above it, solvers make a handful of virtual calls per example.
template <class Examples>
class StructuredProblem final : public Problem, private Ranking {
 public:
  explicit StructuredProblem(Examples examples) : examples_(std::move(examples)), ranks_(ranks()) {}
  const Examples& examples() const { return examples_; }

  std::size_t size() const override { return examples_.size(); }
  std::size_t num_statistics(std::size_t i) const override { return examples_.structure(i).num_statistics(); }
  WeightShape weight_shape() const override { return examples_.weight_shape(); }
  double weight(std::size_t i) const override { return examples_.weight(i); }
  double cost_offset(std::size_t i) const override { return examples_.cost_offset(i); }
  double squared_diameter(std::size_t i) const override { return examples_.squared_diameter(i); }
  double squared_change(std::size_t i) const override {
    if constexpr (requires { examples_.squared_change(i); }) return examples_.squared_change(i);
    return examples_.squared_diameter(i);
  }
  void prefetch(std::size_t i, Prefetch what) const override {
    if constexpr (requires { examples_.prefetch(i, what); }) examples_.prefetch(i, what);
  }
  Inference inference() const override {
    if constexpr (requires { examples_.inference(); }) return examples_.inference();
    return Inference::exact;
  }
  Capabilities capabilities() const override {
    Capabilities result;
    if constexpr (requires { examples_.capabilities(); }) result = examples_.capabilities();
    if (ranks_) result.ranking = this;
    return result;
  }

  void add_gold(std::size_t i, float scale, Out out) const override { examples_.add_gold(i, scale, out); }
  void add_gold(std::size_t i, double scale, DoubleOut out) const override {
    examples_.add_gold(i, scale, out);
  }
  void add_cost(std::size_t i, float scale, Out out) const override { examples_.add_cost(i, scale, out); }
  void add_cost(std::size_t i, double scale, DoubleOut out) const override {
    examples_.add_cost(i, scale, out);
  }
  void add_near_gold(std::size_t i, float kappa, Out s) const override {
    if constexpr (requires { examples_.add_near_gold(i, kappa, s); }) {
      examples_.add_near_gold(i, kappa, s);
    } else {
      add_cost(i, -kappa, s);
    }
  }

  void score(std::size_t i, const Weights& w, float scale, Out s, Workspace& ws) const override {
    examples_.score(i, w, scale, s, ws);
  }
  void score(std::size_t i, const Weights& w, double scale, DoubleOut s, Workspace& ws) const override {
    examples_.score(i, w, scale, s, ws);
  }
  void score(std::size_t i, const DoubleWeights& w, double scale, DoubleOut s, Workspace& ws) const override {
    examples_.score(i, w, scale, s, ws);
  }
  void accumulate(std::size_t i, In delta, Weights& w, Workspace& ws) const override {
    examples_.accumulate(i, delta, w, ws);
  }
  void accumulate(std::size_t i, DoubleIn delta, DoubleWeights& w, Workspace& ws) const override {
    examples_.accumulate(i, delta, w, ws);
  }
  using Problem::squared_norm;
  double squared_norm(std::size_t i, In delta, Workspace& ws) const override {
    return examples_.squared_norm(i, delta, ws);
  }
  double squared_norm(std::size_t i, DoubleIn delta, Workspace& ws) const override {
    return examples_.squared_norm(i, delta, ws);
  }

  void centre(std::size_t i, In mu, Out d) const override {
    if constexpr (requires { examples_.structure(i).centre(mu, d); }) examples_.structure(i).centre(mu, d);
  }
  double log_partition(std::size_t i, In s, Out mu, Workspace& ws) const override {
    return examples_.structure(i).log_partition(s, mu, ws);
  }
  double log_partition(std::size_t i, DoubleIn s, DoubleOut mu, Workspace& ws) const override {
    return examples_.structure(i).log_partition(s, mu, ws);
  }
  double argmax(std::size_t i, In s, Out mu, Workspace& ws) const override {
    return examples_.structure(i).argmax(s, mu, ws);
  }
  double argmax(std::size_t i, DoubleIn s, DoubleOut mu, Workspace& ws) const override {
    return examples_.structure(i).argmax(s, mu, ws);
  }

 private:
  static constexpr bool kRanks = requires(const Examples& e, DoubleIn s) {
    e.structure(std::size_t{}).kbest(s, std::size_t{});
  };

  std::size_t kbest([[maybe_unused]] std::size_t i, [[maybe_unused]] DoubleIn s,
                    [[maybe_unused]] std::size_t k, [[maybe_unused]] std::vector<double>& chis,
                    Workspace&) const override {
    if constexpr (kRanks) {
      const auto& structure = examples_.structure(i);
      const auto best = structure.kbest(s, k);
      chis.resize(best.size() * s.size());
      for (std::size_t r = 0; r < best.size(); ++r) {
        structure.indicator(best[r].output, DoubleOut(chis).subspan(r * s.size(), s.size()));
      }
      return best.size();
    } else {
      expectation_failed("kRanks", __FILE__, __LINE__);  // ranking() has said so
    }
  }

  // Some structures have k best outputs in part of their shapes only.
  bool ranks() const {
    if constexpr (kRanks && requires(std::size_t i) { examples_.structure(i).has_kbest(); }) {
      for (std::size_t i = 0; i < size(); ++i) {
        if (!examples_.structure(i).has_kbest()) return false;
      }
    }
    return kRanks;
  }

  Examples examples_;
  bool ranks_;
};

}  // namespace espalier
