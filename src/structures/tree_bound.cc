// An upper bound of the sum over dependency trees whose scores look at siblings and grandparents.
//
//   log Z = max over distributions p of trees of E_p[ s.y + parts ] + H(p)
//
// Each arc is in TREE and in the factors of its head and of its modifier (head_factors.h). TREE has all arcs,
// so that its entropy is that of p. And where every arc is in two of the sets whose entropies are added up,
// half of their sum is at least the entropy (Shearer's lemma; Chung et al. 1986). Hence H(p) <= c_T H_TREE +
// c sum_h H_h for c_T + 2c = 1, neither negative, and with the maxima taken apart, for all r, whatever they
// are,
//
//   log Z <= B(r) = c_T log Z_TREE((s - c sum_e r_e) / c_T) + c sum_h log Z_h(r)
//
// where the two ends e of an arc lie in its two factors h, in which parts count 1/c times. B is convex in r
// and in the scores. Its gradient in s are the probabilities of TREE, and in the scores of parts those of the
// factors, in r_e it is c (p_h - p_TREE): B is least where all factors agree about all arcs, and that is
// where L-BFGS (Nocedal 1980) goes. If arcs were independent, with variances v, the Hessian would be, arc by
// arc,
//   v (c I + c^2 / c_T 1 1'),    with the inverse  1/(c v) (I - c 1 1'),
// which is what the method begins with.

#include "structures/tree_bound.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "structures/log_scores.h"
#include "structures/nonprojective.h"

namespace espalier {
namespace {

// c and c_T. On 500 Danish sentences L-BFGS took 92, 70, 39 and 37 rounds on average for c = 0.05, 0.1, 0.2
// and 0.3, and 23 %, 86 %, all and all of them were done after 100.
constexpr double kHeadCount = 0.2, kTreeCount = 1 - 2 * kHeadCount;
constexpr int kMostBoundRounds = 100;
constexpr double kAgreement = 1e-6;  // of probabilities of an arc
constexpr double kLargestFirstOdds = 30;
constexpr std::size_t kMemory = 8;

double probability_of(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }
double variance_of(double log_odds) {
  const double p = probability_of(-std::abs(log_odds));
  return p * (1 - p);
}
double inner(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

class TreeBound {
 public:
  TreeBound(const SecondOrderArcs& of, HeadFactors& heads, std::span<double> beliefs, Workspace& ws)
      : frame_(ws), of_(of), heads_(heads), arcs_(heads.arcs()), beliefs_(beliefs), ws_(ws) {
    const std::size_t ends = heads.num_ends();
    for (auto* memory : {&r_, &trial_, &direction_, &odds_, &gradient_, &old_gradient_})
      *memory = frame_.take<double>(ends);
    for (Update& update : memory_) {
      update.move = frame_.take<double>(ends);
      update.change = frame_.take<double>(ends);
    }
    for (auto* memory : {&q_, &variance_, &sums_}) *memory = frame_.take<double>(of.s.size());
    heads.set_scores(of.part_s, 1 / kHeadCount);
  }

  BoundOfTrees minimise() {
    // Factors of heads begin with what TREE thinks by itself. What all trees have or lack stays so.
    if (nonprojective_log_odds(of_.words, of_.single_root, of_.s, beliefs_, ws_) == kExcluded)
      return {kExcluded, true, 0};
    for (std::size_t e = 0; e < r_.size(); ++e) {
      const double b = beliefs_[arcs_[e]];
      r_[e] = std::isinf(b) ? b : std::clamp(b, -kLargestFirstOdds, kLargestFirstOdds);
    }
    BoundOfTrees result{evaluate(r_), false, 1};
    double disagreement = find_gradient();
    for (;;) {
      result.converged = disagreement < kAgreement;
      if (result.converged || result.rounds >= kMostBoundRounds) return result;
      find_direction();
      double slope = inner(gradient_, direction_);
      if (!(slope < 0)) {
        updates_ = 0;
        find_direction();
        slope = inner(gradient_, direction_);
        if (!(slope < 0)) return result;
      }
      double farthest = 0;
      for (const double x : direction_) farthest = std::max(farthest, std::abs(x));
      double step = std::min(1.0, 2 * kFarthest / farthest), value = 0;
      for (;; step /= 2) {
        for (std::size_t e = 0; e < r_.size(); ++e)
          trial_[e] = std::isinf(r_[e]) ? r_[e] : r_[e] + step * direction_[e];
        value = evaluate(trial_);
        ++result.rounds;
        if (value <= result.log_z + kSufficient * step * slope) break;
        if (step < kSmallestStep || result.rounds >= kMostBoundRounds) {
          // Rounding, or out of rounds: what was there before is left.
          evaluate(r_);
          return result;
        }
      }
      std::swap(r_, trial_);
      result.log_z = value;
      std::swap(gradient_, old_gradient_);
      disagreement = find_gradient();
      remember(step);
    }
  }

  void part_marginals(std::span<double> part_mu) { heads_.log_partition(r_, odds_, part_mu, ws_); }

 private:
  static constexpr double kSmallestStep = 1e-4, kSufficient = 1e-4;

  struct Update {
    std::span<double> move, change;  // of r, of the gradient
    double curvature;                // their product
  };

  // B(r); beliefs_ and odds_ are what factors think there.
  double evaluate(std::span<const double> r) {
    for (std::size_t a = 0; a < q_.size(); ++a) q_[a] = of_.s[a] / kTreeCount;
    for (std::size_t e = 0; e < r.size(); ++e) {
      if (!std::isinf(r[e])) q_[arcs_[e]] -= kHeadCount / kTreeCount * r[e];
    }
    return kTreeCount * nonprojective_log_odds(of_.words, of_.single_root, q_, beliefs_, ws_) +
           kHeadCount * heads_.log_partition(r, odds_, {}, ws_);
  }

  // Returns how far factors disagree.
  double find_gradient() {
    double worst = 0;
    for (std::size_t e = 0; e < r_.size(); ++e) {
      gradient_[e] = 0;
      if (std::isinf(r_[e])) continue;
      const double difference = probability_of(odds_[e]) - probability_of(beliefs_[arcs_[e]]);
      gradient_[e] = kHeadCount * difference;
      worst = std::max(worst, std::abs(difference));
    }
    return worst;
  }

  void find_direction() {
    for (std::size_t e = 0; e < r_.size(); ++e) direction_[e] = -gradient_[e];
    std::array<double, kMemory> along;
    for (std::size_t k = updates_; k-- > first();) {
      const Update& update = memory_[k % kMemory];
      along[k % kMemory] = inner(update.move, direction_) / update.curvature;
      for (std::size_t e = 0; e < r_.size(); ++e) direction_[e] -= along[k % kMemory] * update.change[e];
    }
    precondition();
    for (std::size_t k = first(); k < updates_; ++k) {
      const Update& update = memory_[k % kMemory];
      const double back = inner(update.change, direction_) / update.curvature;
      for (std::size_t e = 0; e < r_.size(); ++e)
        direction_[e] += (along[k % kMemory] - back) * update.move[e];
    }
  }

  // Odds may change by a factor of e^kFarthest in a step.
  static constexpr double kFarthest = 4;

  void precondition() {
    constexpr double kLeastVariance = 1e-6;
    for (std::size_t a = 0; a < variance_.size(); ++a) variance_[a] = sums_[a] = 0;
    for (std::size_t e = 0; e < r_.size(); ++e) {
      double& v = variance_[arcs_[e]];
      v = std::max({v, kLeastVariance, variance_of(odds_[e]), variance_of(beliefs_[arcs_[e]]),
                    std::abs(gradient_[e]) / (kHeadCount * kFarthest)});
      sums_[arcs_[e]] += direction_[e];
    }
    for (std::size_t e = 0; e < r_.size(); ++e) {
      direction_[e] = (direction_[e] - kHeadCount * sums_[arcs_[e]]) / (kHeadCount * variance_[arcs_[e]]);
    }
  }

  void remember(double step) {
    Update& update = memory_[updates_ % kMemory];
    for (std::size_t e = 0; e < r_.size(); ++e) {
      update.move[e] = step * direction_[e];
      update.change[e] = gradient_[e] - old_gradient_[e];
    }
    update.curvature = inner(update.move, update.change);
    if (update.curvature > 0) ++updates_;
  }
  std::size_t first() const { return updates_ > kMemory ? updates_ - kMemory : 0; }

  Workspace::Frame frame_;
  const SecondOrderArcs& of_;
  HeadFactors& heads_;
  std::span<const std::uint32_t> arcs_;
  std::span<double> beliefs_;
  Workspace& ws_;
  std::span<double> r_, trial_, direction_, odds_, gradient_, old_gradient_, q_, variance_, sums_;
  std::array<Update, kMemory> memory_;
  std::size_t updates_ = 0;
};

}  // namespace

BoundOfTrees tree_bound(const SecondOrderArcs& of, std::span<double> mu, std::span<double> part_mu,
                        Workspace& ws) {
  Workspace::Frame frame(ws);
  HeadFactors heads(of.words, of.parts, frame);
  const auto beliefs = frame.take<double>(of.s.size());
  TreeBound bound(of, heads, beliefs, ws);
  const BoundOfTrees result = bound.minimise();
  if (result.log_z == kExcluded) {
    std::fill(mu.begin(), mu.end(), 0.0);
    std::fill(part_mu.begin(), part_mu.end(), 0.0);
  } else {
    std::transform(beliefs.begin(), beliefs.end(), mu.begin(), probability_of);
    bound.part_marginals(part_mu);
  }
  return result;
}

}  // namespace espalier
