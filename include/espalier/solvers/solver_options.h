#pragma once

#include <cstddef>
#include <optional>

#include "espalier/learning/problem.h"

namespace espalier {

class OptionTable;

// In which order an online solver visits the examples.
enum class Sampling {
  gap,       // often where an example's gap is large, rarely where it is settled
  random,    // uniformly with replacement, as the theorems have it
  shuffled,  // a new permutation each round
  cyclic,    // as in the file
};

enum class EgStep {
  automatic,  // by slope and curvature along the update
  paper,      // Collins et al. 2008, section 7: eta_ini on 10 % of the data, halved on failure, grown by 1.05
  safe,       // the theorem's eta, from a bound on the features: never a failure, rarely fast
};
enum class EgStart {
  gold,     // near the gold outputs, s_i = -kappa p_i, kappa being EgTuning::log_odds
  uniform,  // s_i = 0
  warm,     // where the state is: another l2's optimum, a resumed run
};
// Whether the first passes of a cold start are made at a larger l2, where a small one would be slow (the
// same, 7.1.1).
enum class EgAnneal {
  automatic,  // from an l2 by the size of the features, halved with every pass; with automatic steps only
  none,
  paper,  // 10 l2 for 5 passes, then l2(1 + 9 0.7^(t - 5)) in pass t, as in Figure 8; with any steps
};

// What is eg's own to choose.
struct EgTuning {
  Sampling sampling = Sampling::gap;
  EgStep step = EgStep::automatic;
  // Positive: steps of this size, whatever they do to the dual, instead of `step` (Bartlett et al. 2004,
  // section 5).
  std::optional<double> eta{};
  EgStart start = EgStart::gold;
  double log_odds = kGoldLogOdds;
  EgAnneal anneal = EgAnneal::automatic;
  // Where a run makes its DualState: without the marginals of every example. It halves the memory, and adds
  // an inference to each visit.
  bool recompute = false;
};
const OptionTable& eg_options();  // of EgTuning

enum class EgBatchStep {
  automatic,  // one eta that halves where the dual would fall and grows where it does not
  safe,       // the theorem's eta, from a bound on the features: the dual never falls
};

// What is eg-batch's own to choose.
struct EgBatchTuning {
  EgBatchStep step = EgBatchStep::automatic;
  EgStart start = EgStart::gold;  // of stored duals
  bool recompute = false;         // where a run has the choice: the form without stored duals
};
const OptionTable& eg_batch_options();  // of EgBatchTuning

// What is sdca's own to choose.
struct SdcaTuning {
  Sampling sampling = Sampling::gap;
};
const OptionTable& sdca_options();  // of SdcaTuning

// What is frank-wolfe's own to choose.
struct FrankWolfeTuning {
  Sampling sampling = Sampling::gap;
  // Each visit also finds nearly the best weights for the outputs that the example's duals are a mixture of;
  // or else it is the paper's, which only moves towards one more.
  bool corrective = true;
  // Weights and duals are means over all visits, the k-th with weight k: a smoother primal early on, a worse
  // dual later.
  bool average = false;
  // Weights are a mean over about the last pass where that has a lower primal. The duals stay what they are.
  // Not with `average`.
  bool recent_mean = true;
};
const OptionTable& frank_wolfe_options();  // of FrankWolfeTuning

// How much mass an output has to give.
enum class SmoMass {
  cliques,   // until the first of its clique marginals is zero
  factored,  // its probability in the distribution that the clique marginals imply, which is never more
};

// What is smo's own to choose.
struct SmoTuning {
  Sampling sampling = Sampling::gap;
  SmoMass mass = SmoMass::cliques;
};
const OptionTable& smo_options();  // of SmoTuning

// How fast the maximum's smoothing goes to zero.
enum class Smoothing {
  adaptive,  // as fast as the excessive gap condition, looked at in every step, allows
  paper,     // mu_k = 6 L/((k + 1)(k + 2)), which allows it whatever the data
};

// What is excessive-gap's own to choose.
struct ExcessiveGapTuning {
  Smoothing smoothing = Smoothing::adaptive;
};
const OptionTable& excessive_gap_options();  // of ExcessiveGapTuning

enum class ExtragradientStep {
  automatic,  // as large as the inequality behind the bound, looked at in every step, allows
  safe,       // from a bound on the features, where it holds whatever the data
};

// What is extragradient's own to choose.
struct ExtragradientTuning {
  ExtragradientStep step = ExtragradientStep::automatic;
};
const OptionTable& extragradient_options();  // of ExtragradientTuning

enum class Slacks {
  one,  // a plane below the sum of all losses
  n,    // planes below the loss of each example
};
enum class Rescaling {
  margin,  // max_y gamma cost(y) + theta.F_i(chi(y) - z_i): the loss of the family
  slack,   // max_y cost(y)(gamma + theta.F_i(chi(y) - z_i))
};

// What is cutting-plane's own to choose.
struct CuttingPlaneTuning {
  Slacks slacks = Slacks::n;
  Rescaling rescaling = Rescaling::margin;
  // Slacks::one: outputs of each example that are remembered, so that planes can be made of them without
  // inference. It takes fewer passes (on 10,000 images, 39 instead of 162 to a gap of 1e-2 with 5 of them),
  // but more time where scores cost as much as inference, as they do for images, chains and trees of first
  // order.
  std::size_t cache = 0;
};
const OptionTable& cutting_plane_options();  // of CuttingPlaneTuning

// Which outputs a visit sets against the gold one.
enum class MiraUpdate {
  max_loss,    // the best ones with their costs added: those that the hinge loss is made of
  prediction,  // the best ones under the weights as they are; costs enter the margins alone
};

// What is mira's own to choose.
struct MiraTuning {
  MiraUpdate update = MiraUpdate::max_loss;
  std::size_t k = 1;  // how many outputs
};
const OptionTable& mira_options();  // of MiraTuning

// What single solvers may be told, each its own: options.eg.step, options.mira.k. Those without a member have
// nothing to choose.
struct SolverOptions {
  EgTuning eg{};
  EgBatchTuning eg_batch{};
  SdcaTuning sdca{};
  FrankWolfeTuning frank_wolfe{};
  SmoTuning smo{};
  ExcessiveGapTuning excessive_gap{};
  ExtragradientTuning extragradient{};
  CuttingPlaneTuning cutting_plane{};
  MiraTuning mira{};

  // In duals that are made for whoever continues from them.
  bool keep_marginals() const { return !eg.recompute && !eg_batch.recompute; }
};

}  // namespace espalier
