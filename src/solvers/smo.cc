// Sequential minimal optimisation on clique marginals: the factored pairwise updates that Bartlett et al.
// 2004, section 5, compare EG with.
//
//   maximise  D(u) = sum_i omega_i gamma(p_i.mu_i + q_i) - g*(w(u))
//
// one pair of outputs of one example at a time, with u_i kept as clique marginals alpha. With theta =
// theta(u) and s = F_i'theta + gamma p_i, the optimum has all mass on outputs of highest score. A visit finds
// the pair that is furthest from that: y' of highest score, and y'' of lowest score among the outputs with
// mass, u(y'') > 0, which are those all of whose cliques have some. It moves the mass t from y'' to y',
//
//   alpha_c <- alpha_c + t [c in y'] - t [c in y''],   D changes by omega_i { t v - t^2 q/2 },
//   v = s.(chi(y') - chi(y'')),   q = omega_i |F_i(chi(y') - chi(y''))|^2 / l2,   t = min(v/q, mass).
//
// The mass that y'' has to give is a matter of which joint distribution alpha stands for. Of all that have
// these marginals the factored one, u(y) = prod of alpha_c / prod of what cliques share, has the largest
// entropy, and the update that the paper refers to is read here as taking no more than that u(y'')
// (SmoMass::factored). It falls exponentially in the length of a chain: soon no pair has anything left to
// move. But D depends on the marginals alone, and of chains, as of all trees and hypergraphs, any marginals
// that are nowhere negative and agree where cliques meet belong to some joint distribution. So y'' may give
// min_c alpha_c over the cliques that y' does not share (SmoMass::cliques), until one of them is zero; what
// is left is again read as the factored one. This is also the pairwise step of Garber and Meshi 2016, which
// needs no list of the outputs in the mixture.
//
// Where the features of one example are the same for all of its outputs (classes: |F_i delta|^2 = |x_i|^2
// |delta|^2, and the only clique is the output itself), the maximum over all of u_i is as cheap as that over
// one pair: the projection of mu_i + s/q, q = omega_i |x_i|^2 / l2, onto the simplex (Crammer and Singer
// 2001, section 6; BlockMaximisation). Then that is the visit: one score, one inference, one accumulate.
//
// Cost per visit otherwise: one score, two inferences (both counted: one for y', one for y''), a squared
// norm, one accumulate. Memory: clique marginals of every example (a chain's are L^2 floats a pair of
// neighbours, a projective tree's about half the cube of its words), its statistics, w.

#include "solvers/smo.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/solvers/eg.h"
#include "features/assign_weights.h"
#include "kernels/vectors.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "solvers/block_ascent.h"
#include "solvers/option_rows.h"

namespace espalier {
namespace {

// What rounding leaves of mass that is moved away. It would make outputs of it that a visit each moves
// nothing from.
constexpr float kDust = 1e-7f;

class Smo {
 public:
  Smo(const Objective& objective, const SmoOptions& options, CliqueState& state, Weights& theta)
      : objective_(objective),
        problem_(objective.problem),
        factored_(*problem_.factored()),
        blocks_(problem_.block_maximisation()),
        mass_(options.mass),
        state_(state),
        theta_(theta),
        w_(objective.regularizer.dual_weights<float>(problem_.weight_shape())),
        sweep_(options.threads) {
    for (std::size_t i = 0; i < problem_.size(); ++i) {
      longest_ = std::max(longest_, problem_.num_statistics(i));
      most_cliques_ = std::max(most_cliques_, factored_.num_cliques(i));
    }
  }

  Weights& weights() { return w_; }
  Team& team() { return sweep_.team(); }
  static Follower follower() { return {}; }
  std::unique_ptr<Visitor> visitor() { return std::make_unique<Visits>(*this); }

  // w(u), and the dual there.
  double start() {
    resynchronise();
    return value_.value;
  }

  Certificate certify() {
    resynchronise();
    objective_.regularizer.assign(theta_, value_.w, sweep_.team());
    return espalier::certify(objective_, theta_, value_, sweep_);
  }

  const Weights& theta() const { return theta_; }

  // Exact visits leave the statistics behind: they are the clique marginals.
  void finish() {
    if (!blocks_) return;
    for (std::size_t i = 0; i < state_.size(); ++i) {
      const In cliques = std::as_const(state_).cliques(i);
      std::copy(cliques.begin(), cliques.end(), state_.mu(i).begin());
    }
  }

 private:
  // Leaves the cliques that only one of the two has: those that both have stay as they are. Both ascend.
  static void take_out_shared(std::span<std::uint32_t>& up, std::span<std::uint32_t>& down) {
    std::size_t of_up = 0, of_down = 0;
    for (std::size_t u = 0, d = 0; u < up.size() || d < down.size();) {
      if (d == down.size() || (u < up.size() && up[u] < down[d])) {
        up[of_up++] = up[u++];
      } else if (u == up.size() || down[d] < up[u]) {
        down[of_down++] = down[d++];
      } else {
        ++u;
        ++d;
      }
    }
    up = up.first(of_up);
    down = down.first(of_down);
  }

  static double least(In cliques, std::span<const std::uint32_t> of) {
    float least = std::numeric_limits<float>::infinity();
    for (const std::uint32_t c : of) least = std::min(least, cliques[c]);
    return least;
  }

  static void move(Out cliques, std::span<const std::uint32_t> up, std::span<const std::uint32_t> down,
                   float step) {
    for (std::size_t c = 0; c < down.size(); ++c) {
      float& from = cliques[down[c]];
      from -= step;
      if (from < kDust) from = 0;
      cliques[up[c]] += step;
    }
  }

  // w(u) recomputed in double precision, so that rounding in w does not limit the gap, from distributions
  // that the marginals say up to their rounding (Factored::rebuild).
  void resynchronise() {
    evaluate_dual(objective_, state_, value_, sweep_);
    assign_weights(w_, value_.w, 1, sweep_.team());
  }

  // What one thread does.
  class Visits : public Visitor {
   public:
    explicit Visits(Smo& all) : all_(all), up_(all.most_cliques_), down_(all.most_cliques_) {
      for (AlignedVector<float>* memory : {&scores_, &best_}) memory->resize(all.longest_);
    }

    BlockStep visit(const BlockVisit& at, Out delta) override {
      const std::size_t i = at.example;
      if (all_.blocks_) {
        const Regularizer& regularizer = all_.objective_.regularizer;
        if (at.alone) {  // then it changes the weights itself, while it has them at hand
          const BlockMaximum step = all_.blocks_->maximise_block(
              i, all_.objective_.loss.gamma, regularizer.l2, all_.state_.cliques(i), all_.w_, ws_);
          return {step.gap, step.gain, 1, false};
        }
        const auto [gap, gain, moved] =
            all_.blocks_->propose_block(i, all_.objective_.loss.gamma, regularizer.l2, at.crowding,
                                        all_.state_.cliques(i), all_.w_, delta, ws_);
        return {gap, gain, 1, moved};
      }
      const Out mu = all_.state_.mu(i), cliques = all_.state_.cliques(i);
      const std::size_t length = mu.size();
      const Out s{scores_.data(), length}, best{best_.data(), length};
      all_.problem_.score(i, all_.w_, static_cast<float>(1 / all_.objective_.regularizer.l2), s, ws_);
      all_.problem_.add_cost(i, static_cast<float>(all_.objective_.loss.gamma), s);
      all_.problem_.argmax(i, s, best, ws_);
      const double omega = all_.problem_.weight(i);
      const double gap =
          omega * kernels::change_along(s.data(), mu.data(), best.data(), delta.data(), length).gain;
      if (!(gap > 0)) return {0, 0, 1, false};

      const std::size_t num_cliques = all_.factored_.num_cliques(i);
      std::span<std::uint32_t> up{up_.data(), num_cliques}, down{down_.data(), num_cliques};
      if (!all_.factored_.lowest(i, s, cliques, down, ws_)) return {gap, 0, 2, false};
      all_.factored_.cliques_of(i, best, up);
      // delta = chi(y'') - chi(y')
      std::transform(best.begin(), best.end(), delta.begin(), [](float x) { return -x; });
      all_.factored_.add_output(i, down, 1, delta);
      const double rise = -kernels::dot(s.data(), delta.data(), length);
      if (!(rise > 0)) return {gap, 0, 2, false};
      const double curvature =
          at.crowding * omega * all_.problem_.squared_norm(i, delta, ws_) / all_.objective_.regularizer.l2;
      // What y'' has to give to y'.
      const bool factored = all_.mass_ == SmoMass::factored;
      const double probability = factored ? all_.factored_.probability(i, cliques, down) : 0;
      take_out_shared(up, down);
      const double all = factored ? probability : least(cliques, down);
      const double step = curvature * all > rise ? rise / curvature : all;
      move(cliques, up, down, static_cast<float>(step));
      for (std::size_t k = 0; k < length; ++k) mu[k] -= static_cast<float>(step) * delta[k];
      for (float& d : delta) d *= static_cast<float>(omega * step);
      return {gap, omega * step * (rise - step * curvature / 2), 2};
    }

    void prefetch(std::size_t i, Prefetch what) const override {
      all_.problem_.prefetch(i, what);
      if (!all_.blocks_ || what == Prefetch::location) return all_.state_.prefetch(i, what);
      // Nothing else is touched. It does not begin with a line, so the end may be on one more.
      const In mu = std::as_const(all_.state_).cliques(i);
      for (std::size_t k = 0; k < mu.size(); k += kCacheLine / sizeof(float)) __builtin_prefetch(&mu[k]);
      __builtin_prefetch(&mu.back());
    }

   private:
    Smo& all_;
    AlignedVector<float> scores_, best_;
    std::vector<std::uint32_t> up_, down_;  // cliques of y' and y''
  };

  const Objective& objective_;
  const Problem& problem_;
  const Factored& factored_;
  const BlockMaximisation* blocks_;  // where a visit is not one pair's move but the maximum over all
  SmoMass mass_;
  CliqueState& state_;
  Weights& theta_;
  Weights w_;  // w(u), not divided by l2
  std::size_t longest_ = 0, most_cliques_ = 0;
  DualValue value_;
  Sweep sweep_;
};

}  // namespace

const OptionTable& smo_options() {
  using Row = OptionOf<SmoTuning>;
  static const OptionTable table{
      sampling_row<SmoTuning>(),
      Row("smo_mass", &SmoTuning::mass,
          Words<SmoMass>{{"cliques", SmoMass::cliques}, {"factored", SmoMass::factored}},
          "how much mass an output may give away: cliques (until the first clique has none) or factored (its "
          "probability)")};
  return table;
}

void check_smo(const Problem& problem, const Loss& loss) {
  if (loss.smooth()) {
    throw Error::in("smo", fmt::format("the loss {} has a finite beta", loss.name()),
                    "expected svm, or another loss with infinite beta");
  }
  check_eg_loss(loss);
  if (!problem.factored()) {
    throw Error(
        "smo: this structure has no clique marginals (Factored); expected classes, chains whose labels "
        "interact in pairs, first-order projective trees, grammars or graphs with exact inference, or "
        "frank-wolfe, which makes similar moves on every structure");
  }
}

Summary smo(const Objective& objective, const SmoOptions& options, CliqueState& state, Weights& theta,
            const Observer& observer) {
  check_smo(objective.problem, objective.loss);
  ESPALIER_EXPECT(state.size() == objective.problem.size() && objective.regularizer.l2 > 0);
  Smo solver(objective, options, state, theta);
  // A move of one pair rarely leaves an example without a gap; on chains, leaving those that have none took
  // 10 to 20 % more passes.
  const Settled settled = objective.problem.block_maximisation() ? Settled::left : Settled::watched;
  const BlockAscentRule rule{
      options.stopping, options.sampling, options.seed, options.report_every, options.threads.share_visits,
      settled};
  BlockAscent ascent(solver, objective, rule, observer);
  Summary summary = ascent.ascend(solver.start());
  solver.finish();
  return summary;
}

}  // namespace espalier
