#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "espalier/base/memory.h"
#include "espalier/base/workspace.h"
#include "espalier/learning/dual_state.h"
#include "espalier/learning/objective.h"
#include "espalier/solvers/eg.h"
#include "solvers/crew.h"
#include "solvers/eg_smoothing.h"

namespace espalier {

// What is assumed before anything has been measured, in units of R_i^2 = Problem::squared_change(i): the l2
// at which annealing begins, and the curvature of an example. Their ratio decides how far the first step
// goes.
struct FirstSteps {
  double l2, curvature;
  // Mass off the gold output is small, and 5/6 of the way to pi_i is hardly ever too far. Twice as much of
  // both takes more passes (to 1e-3: CoNLL-2000, l2 = 2: 10.1 instead of 8.9; names, l2 = 1: 15.9 instead of
  // 13.5). So does half as much at small l2, where examples saturate early (letter-scale, l2 = 0.1: 17
  // instead of 15.7).
  static constexpr FirstSteps from_gold() { return {0.25, 0.05}; }
  // A tenth of the bound is about right for ten equally likely outputs.
  static constexpr FirstSteps from_anywhere() { return {0.5, 0.1}; }
};

// Where the size of a step comes from: what it does to the dual, the paper's rule, or it is the same for all.
enum class EgStepRule { automatic, paper, same };

// What the workers of one run share. Each example is in the hands of one worker at a time; the weights are
// everybody's.
struct EgShared {
  EgShared(const Objective& of, DualState& duals, const EgOptions& options);

  const Objective& objective;
  const Problem& problem;
  DualState& dual;
  EgStepRule rule;
  FirstSteps first;
  double inverse_beta;                   // the loss's, or that of the smoothing
  std::optional<EgSmoothing> smoothing;  // of a maximum, with automatic steps
  double l2;                             // the objective's, but for the first passes of a cold start
  Weights w;                             // w(u), not divided by l2
  double sigma = 1;                      // how often a rank counts its own changes of w (eg_ranks.h)
  double eta = 0;                        // of EgStepRule::same
  std::vector<float> priorities;         // omega_i times a proxy of g_i
  std::vector<std::uint8_t> stuck;       // the proxy has lost sight of this example's gap
  std::vector<float> etas;               // of EgStep::paper
  // Of ranks: what visits since they last met have done to omega_i times what an example adds to the dual but
  // for g* (eg_ranks.h), and how much of it may be rounding.
  struct ConjugateChange {
    double value = 0, rounding = 0;
  };
  std::vector<ConjugateChange> conjugates;

  // A proxy below this part of the exact gap sees nothing of it: an order of magnitude more or less is within
  // the noise (letter-scale, l2 = 0.01, from uniform duals and not annealed, which is where examples get
  // stuck: 293 to 312 passes to 1e-3; never steering by exact gaps takes 414).
  static constexpr double kStuckShare = 1e-3;
  // Of an example's step sizes, each at most half the one before: 2^-40 of a step moves no float.
  static constexpr int kMostTrials = 40;
};

// Relative, of floats.
inline constexpr double kRoundingOfMarginals = 0x1p-23;

// KL(u'|u) of the distributions with scores s + e and s, given e.(mu' - mu), e.mu' and log Z' - log Z.
//   KL(u'|u) = e.mu' - log Z' + log Z,     KL(u'|u) + KL(u|u') = e.(mu' - mu),
// and for close distributions the two are equal: then half of it is more exact than the difference of
// logarithms. They differ by a share of about its root, so by 1 % where it is kClose, and floats have
// roundings of 1e-7, a share of 1e-3 there.
struct Divergence {
  static constexpr double kClose = 1e-4;
  double kl;
  bool exact;  // not half of the sum
  Divergence(double both, double mean, double log_z_change)
      : kl(both > kClose ? mean - log_z_change : both / 2), exact(both > kClose) {}
};

// Visits examples, one at a time.
class alignas(64) EgWorker : public Visitor {
 public:
  explicit EgWorker(EgShared& shared);

  // Looks at example i, chooses eta by what it does to the dual, and takes the step.
  BlockStep visit(const BlockVisit& at, Out delta) override;
  void prefetch(std::size_t i, Prefetch what) const override {
    problem_.prefetch(i, what);
    shared_.dual.prefetch(i, what);
  }

  // Takes a step with an eta that is given, and changes the weights: whether it improved the dual.
  bool step_by(std::size_t i, double eta, Out delta);

 private:
  struct Trial;
  void look(std::size_t i);
  Trial try_step(std::size_t i, double eta);
  Trial automatic_step(std::size_t i);
  Trial paper_step(std::size_t i);
  double gap_proxy(const Trial& trial) const;
  double conjugate_change(std::size_t i, const Trial& trial);
  void move(std::size_t i, const Trial& trial);
  In mu(std::size_t i) const;
  Out direction(std::size_t i) { return {direction_.data(), problem_.num_statistics(i)}; }

  EgShared& shared_;
  const Problem& problem_;
  int most_trials_;
  AlignedVector<float> direction_, new_s_, new_mu_;
  AlignedVector<float> score_;  // on ranks: F_i'theta, as it was looked at
  AlignedVector<float>
      old_mu_;  // where the duals do not keep marginals: those of the example that is looked at
  // Of the visit at hand: mu - mu' goes here, and how many times its quadratic term counts.
  Out delta_;
  ChangeLists* lists_ = nullptr;  // of it, where they are wanted and tell |F_i(mu - mu')|^2
  double crowding_ = 1;
  std::size_t trials_ = 0;
};

}  // namespace espalier
