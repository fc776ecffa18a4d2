#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "espalier/learning/problem.h"
#include "espalier/structures/structure.h"

namespace espalier {

// A Problem made of examples that know their structure, features, gold output and cost. Examples provides,
// for example i, templates or overloads in both precisions:
//   size() weight_shape() weight(i) cost_offset(i) squared_diameter(i) prefetch(i, what) factored()
//   squared_change(i)                               where outputs have parts; else it is the diameter
//   overlap(i)                                      where it is not the safe 1
//   exact()  relaxed()                              where inference is not exact
//   accumulate_shared(i, delta, w, ws)              where several threads train at once, and some rows are everybody's
//   accumulate(i, delta, share, w, ws)              where several threads should add to the weights at once
//   structure(i)                                    something that satisfies Structure
//   add_gold(i, scale, out)  add_cost(i, scale, out)
//   add_near_gold(i, kappa, s)                      where costs say too little of it
//   slack_argmax(i, s, gamma, chi, ws)  rescales_slack()   where that maximum can be found
//   maximise_block(i, gamma, l2, mu, w, ws)         where the dual of one example can be maximised
//   euclidean() squared_norm(w) inner_product(a, b)   where weights may be coefficients of a kernel's expansion
//   score(i, w, scale, s, ws)  accumulate(i, delta, w, ws)  squared_norm(i, delta, ws)
// Below this line everything is inlined; above it, solvers make a handful of virtual calls per example.
template <class Examples>
class StructuredProblem final : public Problem {
 public:
  explicit StructuredProblem(Examples examples) : examples_(std::move(examples)) {}
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
  double overlap(std::size_t i) const override {
    if constexpr (requires { examples_.overlap(i); }) return examples_.overlap(i);
    return Problem::overlap(i);
  }
  void prefetch(std::size_t i, Prefetch what) const override { examples_.prefetch(i, what); }
  const Factored* factored() const override { return examples_.factored(); }
  bool exact() const override {
    if constexpr (requires { examples_.exact(); }) return examples_.exact();
    return true;
  }
  bool relaxed() const override {
    if constexpr (requires { examples_.relaxed(); }) return examples_.relaxed();
    return false;
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
  void accumulate_shared(std::size_t i, In delta, Weights& w, Workspace& ws) const override {
    if constexpr (requires { examples_.accumulate_shared(i, delta, w, ws); }) {
      examples_.accumulate_shared(i, delta, w, ws);
    } else {
      examples_.accumulate(i, delta, w, ws);
    }
  }
  void accumulate(std::size_t i, DoubleIn delta, RowShare share, DoubleWeights& w,
                  Workspace& ws) const override {
    if constexpr (requires { examples_.accumulate(i, delta, share, w, ws); }) {
      examples_.accumulate(i, delta, share, w, ws);
    } else {
      Problem::accumulate(i, delta, share, w, ws);
    }
  }
  double squared_norm(std::size_t i, In delta, Workspace& ws) const override {
    return examples_.squared_norm(i, delta, ws);
  }
  double squared_norm(std::size_t i, DoubleIn delta, Workspace& ws) const override {
    return examples_.squared_norm(i, delta, ws);
  }
  double squared_norm(const Weights& w) const override {
    if constexpr (requires { examples_.euclidean(); }) return examples_.squared_norm(w);
    return Problem::squared_norm(w);
  }
  double squared_norm(const DoubleWeights& w) const override {
    if constexpr (requires { examples_.euclidean(); }) return examples_.squared_norm(w);
    return Problem::squared_norm(w);
  }
  double inner_product(const DoubleWeights& a, const DoubleWeights& b) const override {
    if constexpr (requires { examples_.euclidean(); }) return examples_.inner_product(a, b);
    return Problem::inner_product(a, b);
  }
  bool euclidean() const override {
    if constexpr (requires { examples_.euclidean(); }) return examples_.euclidean();
    return true;
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
  std::size_t kbest(std::size_t i, DoubleIn s, std::size_t k, std::vector<double>& chis,
                    Workspace& ws) const override {
    if constexpr (requires { examples_.structure(i).kbest(s, k); }) {
      if (ranks(i)) {
        const auto& structure = examples_.structure(i);
        const auto best = structure.kbest(s, k);
        chis.resize(best.size() * s.size());
        for (std::size_t r = 0; r < best.size(); ++r) {
          structure.indicator(best[r].output, DoubleOut(chis).subspan(r * s.size(), s.size()));
        }
        return best.size();
      }
    }
    return Problem::kbest(i, s, k, chis, ws);
  }
  bool has_kbest() const override {
    for (std::size_t i = 0; i < size(); ++i) {
      if (!ranks(i)) return false;
    }
    return true;
  }
  double slack_argmax(std::size_t i, DoubleIn s, double gamma, DoubleOut chi, Workspace& ws) const override {
    if constexpr (requires { examples_.slack_argmax(i, s, gamma, chi, ws); }) {
      return examples_.slack_argmax(i, s, gamma, chi, ws);
    } else {
      return Problem::slack_argmax(i, s, gamma, chi, ws);
    }
  }
  bool rescales_slack() const override {
    if constexpr (requires { examples_.rescales_slack(); }) return examples_.rescales_slack();
    return false;
  }
  BlockMaximum maximise_block(std::size_t i, double gamma, double l2, Out mu, Weights& w,
                              Workspace& ws) const override {
    if constexpr (requires { examples_.maximise_block(i, gamma, l2, mu, w, ws); }) {
      return examples_.maximise_block(i, gamma, l2, mu, w, ws);
    } else {
      return Problem::maximise_block(i, gamma, l2, mu, w, ws);
    }
  }
  bool maximises_blocks() const override {
    return requires(Out mu, Weights & w, Workspace & ws) {
      examples_.maximise_block(std::size_t{}, 1.0, 1.0, mu, w, ws);
    };
  }

 private:
  // Whether the structure of example i has k-best outputs: some types have them in part of their shapes only.
  bool ranks(std::size_t i) const {
    if constexpr (requires { examples_.structure(i).has_kbest(); }) return examples_.structure(i).has_kbest();
    return requires(DoubleIn s) { examples_.structure(i).kbest(s, std::size_t{1}); };
  }

  Examples examples_;
};

}  // namespace espalier
