#pragma once

#include <cstddef>
#include <vector>

#include "learning/forwarding_problem.h"

namespace espalier::test_support {

// Another problem with all its features times a factor, for one thread. It offers those capabilities alone
// that know nothing of features.
class ScaledProblem final : public ForwardingProblem {
 public:
  ScaledProblem(const Problem& inner, double factor) : ForwardingProblem(inner), factor_(factor) {}

  double squared_diameter(std::size_t i) const override { return square() * inner_.squared_diameter(i); }
  double squared_change(std::size_t i) const override { return square() * inner_.squared_change(i); }
  void score(std::size_t i, const Weights& w, float scale, Out s, Workspace& ws) const override {
    inner_.score(i, w, scale * static_cast<float>(factor_), s, ws);
  }
  void score(std::size_t i, const Weights& w, double scale, DoubleOut s, Workspace& ws) const override {
    inner_.score(i, w, scale * factor_, s, ws);
  }
  void score(std::size_t i, const DoubleWeights& w, double scale, DoubleOut s, Workspace& ws) const override {
    inner_.score(i, w, scale * factor_, s, ws);
  }
  void accumulate(std::size_t i, In delta, Weights& w, Workspace& ws) const override {
    inner_.accumulate(i, scaled(delta), w, ws);
  }
  void accumulate(std::size_t i, DoubleIn delta, DoubleWeights& w, Workspace& ws) const override {
    inner_.accumulate(i, scaled(delta), w, ws);
  }
  double squared_norm(std::size_t i, In delta, Workspace& ws) const override {
    return square() * inner_.squared_norm(i, delta, ws);
  }
  double squared_norm(std::size_t i, DoubleIn delta, Workspace& ws) const override {
    return square() * inner_.squared_norm(i, delta, ws);
  }
  using ForwardingProblem::squared_norm;

  Capabilities capabilities() const override {
    const Capabilities inner = inner_.capabilities();
    return {.factored = inner.factored, .slack_rescaling = inner.slack_rescaling, .ranking = inner.ranking};
  }

 private:
  double square() const { return factor_ * factor_; }
  template <class Real>
  std::vector<Real> scaled(std::span<const Real> delta) const {
    std::vector<Real> result(delta.begin(), delta.end());
    for (Real& d : result) d *= static_cast<Real>(factor_);
    return result;
  }

  double factor_;
};

}  // namespace espalier::test_support
