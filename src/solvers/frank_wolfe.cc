// Block-coordinate Frank-Wolfe on the dual of a maximum (Lacoste-Julien et al. 2013, Algorithm 4 with exact line search):
//
//   maximise  D(mu) = sum_i omega_i gamma(p_i.mu_i + q_i) - |w(mu)|^2/(2 l2),   w(mu) = sum_i omega_i F_i(z_i - mu_i)
//
// one example at a time. With theta = w/l2 and the scores s = F_i'theta + gamma p_i, the gradient of D in mu_i is omega_i s. A
// visit finds the output chi* that it likes best and moves mu_i towards it,
//
//   mu_i <- mu_i + eta(chi* - mu_i),   D changes by omega_i { eta g - eta^2 q/2 },
//   g = s.(chi* - mu_i),   q = omega_i |F_i(chi* - mu_i)|^2 / l2,   so the best eta in [0, 1] is min(1, g/q).
//
// g is the example's part of the duality gap, and it steers which example comes next (Osokin et al. 2016, section 3.1).
//
// Cost per visit: one score, one argmax, one squared norm, one accumulate. Memory: mu of every example, twice with averaging,
// and w.

#include "espalier/solvers/frank_wolfe.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/learning/certificate.h"
#include "espalier/solvers/eg.h"
#include "kernels/vectors.h"
#include "solvers/block_ascent.h"

namespace espalier {
namespace {

// The weighted mean of all mu_i so far, where the one after visit k counts k times (BCFW-wavg). It is brought up to date where
// mu_i changes, so that a visit does not touch the others:
//   sum_{j <= k} j = k(k + 1)/2.
class AveragedMeans {
 public:
  explicit AveragedMeans(const MeanState& means) : means_(means), seen_(means.size(), 0) {}

  // mu_i was mu from the last time until after visit k.
  void include(std::size_t i, In mu, std::size_t k) {
    const double before = weight_until(seen_[i]), now = weight_until(k);
    seen_[i] = k;
    if (!(now > before)) return;
    const auto share = static_cast<float>((now - before) / now);
    const Out mean = means_.mu(i);
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += share * (mu[j] - mean[j]);
  }
  const MeanState& means() const { return means_; }

 private:
  static double weight_until(std::size_t k) {
    return 0.5 * static_cast<double>(k) * static_cast<double>(k + 1);
  }

  MeanState means_;
  std::vector<std::size_t> seen_;
};

class FrankWolfe {
 public:
  FrankWolfe(const Objective& objective, const FrankWolfeOptions& options, MeanState& means, Weights& theta)
      : objective_(objective),
        problem_(objective.problem),
        means_(means),
        theta_(theta),
        w_(problem_.weight_shape()),
        sweep_(options.threads) {
    if (options.average) averaged_.emplace(means);
    std::size_t longest = 0;
    for (std::size_t i = 0; i < problem_.size(); ++i) longest = std::max(longest, problem_.num_statistics(i));
    for (AlignedVector<float>* memory : {&scores_, &best_, &delta_}) memory->resize(longest);
  }

  // w(mu), and the dual there.
  double start() {
    if (at_gold()) return 0;
    resynchronise();
    return value_.value;
  }

  BlockStep visit(std::size_t i) {
    const Out mu = means_.mu(i);
    const std::size_t length = mu.size();
    const Out s{scores_.data(), length}, best{best_.data(), length}, delta{delta_.data(), length};
    problem_.score(i, w_, static_cast<float>(1 / objective_.l2), s, ws_);
    problem_.add_cost(i, static_cast<float>(objective_.loss.gamma), s);
    problem_.argmax(i, s, best, ws_);
    ++visits_;

    // delta = mu - chi*
    const double omega = problem_.weight(i);
    const double gap = kernels::change_along(s.data(), mu.data(), best.data(), delta.data(), length).gain;
    if (!(gap > 0)) return {};
    const double curvature = omega * problem_.squared_norm(i, delta, ws_) / objective_.l2;
    const double eta = curvature > gap ? gap / curvature : 1;

    if (averaged_) averaged_->include(i, mu, visits_ - 1);
    const auto step = static_cast<float>(eta), change = static_cast<float>(omega * eta);
    if (eta == 1) {
      std::copy(best.begin(), best.end(), mu.begin());
    } else {
      for (std::size_t k = 0; k < length; ++k) mu[k] -= step * delta[k];
    }
    for (float& d : delta) d *= change;
    problem_.accumulate(i, delta, w_, ws_);
    return {omega * gap, omega * eta * (gap - eta * curvature / 2)};
  }

  void prefetch(std::size_t i, Prefetch what) const {
    problem_.prefetch(i, what);
    means_.prefetch(i, what);
  }

  Certificate certify() {
    if (averaged_) {
      for (std::size_t i = 0; i < means_.size(); ++i) averaged_->include(i, means_.mu(i), visits_);
    }
    resynchronise();
    if (averaged_) evaluate_dual(objective_, averaged_->means(), value_, sweep_);
    theta_.assign(value_.w, 1 / objective_.l2, sweep_.team());
    Certificate certificate = espalier::certify(objective_, theta_, value_, sweep_);
    // Rounding takes mu a little out of what outputs can mix to (MeanState). Where that shows, at the very optimum, the bound
    // is no better than the primal.
    if (!certificate.approximate) certificate.dual = std::min(certificate.dual, certificate.primal);
    return certificate;
  }

  const Weights& theta() const { return theta_; }

  void leave_certified_means() {
    if (averaged_) means_ = averaged_->means();
  }

 private:
  bool at_gold() {
    for (std::size_t i = 0; i < means_.size(); ++i) {
      const Out difference{delta_.data(), means_.mu(i).size()};
      std::copy_n(std::as_const(means_).mu(i).begin(), difference.size(), difference.begin());
      problem_.add_gold(i, -1.0f, difference);
      if (std::any_of(difference.begin(), difference.end(), [](float d) { return d != 0; })) return false;
    }
    return true;
  }

  // w(mu) anew in double precision, so that rounding in w does not limit the gap.
  void resynchronise() {
    evaluate_dual(objective_, means_, value_, sweep_);
    w_.assign(value_.w, 1, sweep_.team());
  }

  const Objective& objective_;
  const Problem& problem_;
  MeanState& means_;
  Weights& theta_;
  Weights w_;  // w(mu), not divided by l2
  std::optional<AveragedMeans> averaged_;
  std::size_t visits_ = 0;
  AlignedVector<float> scores_, best_, delta_;
  DualValue value_;
  Workspace ws_;
  Sweep sweep_;
};

}  // namespace

void check_frank_wolfe_loss(const Loss& loss) {
  if (loss.smooth()) {
    throw Error::in(
        "frank-wolfe", fmt::format("the loss {} has a finite beta", loss.name()),
        "expected svm, or another loss with infinite beta; sdca makes the same moves for finite ones");
  }
  check_eg_loss(loss);
}

Summary frank_wolfe(const Objective& objective, const FrankWolfeOptions& options, MeanState& means,
                    Weights& theta, const Observer& observer) {
  check_frank_wolfe_loss(objective.loss);
  ESPALIER_EXPECT(means.size() == objective.problem.size() && objective.l2 > 0);
  FrankWolfe solver(objective, options, means, theta);
  const BlockAscentRule rule{options.stopping, options.sampling, options.seed, options.report_every};
  BlockAscent ascent(solver, means.size(), rule, observer);
  const Summary summary = ascent.ascend(solver.start());
  solver.leave_certified_means();
  return summary;
}

}  // namespace espalier
