// Stochastic dual coordinate ascent on clique marginals (Le Priol et al. 2018), with their line search and
// their sampling by gaps.
//
//   maximise  D(u) = sum_i omega_i [ H(u_i)/beta + gamma(p_i.mu_i + q_i) ] - g*(w(u))
//
// one example at a time, with u_i kept as clique marginals alpha. With theta = theta(u) and s = F_i'theta +
// gamma p_i, a visit finds the distribution pi ~ exp(beta s.chi) that would be best if theta stayed as it is,
// and moves towards it:
//
//   alpha <- x(eta) = alpha + eta(pi - alpha),   D changes by omega_i { phi(eta) - phi(0) },
//   phi(eta) = H(x)/beta + s.mu_x - eta^2 q/2 = -KL(x|pi)/beta - eta^2 q/2 + constant,
//       q = omega_i |F_i(mu_pi - mu)|^2 / l2.
//
// phi is concave; its divergence is that of clique marginals (of chains: pairs less the nodes that two pairs
// share; of hypergraphs: edges less nodes), and takes one logarithm for each marginal and step that is tried.
// The gap of the example comes with its visit,
//
//   g = { log Z(beta s) - H(alpha) }/beta - s.mu = KL(alpha|pi)/beta.
//
// Cost per visit: one score, one inference, about two looks at the divergence, one accumulate. Memory: clique
// marginals of every example (a chain's are L^2 floats a pair of neighbours, a projective tree's about half
// the cube of its words), its statistics, w.

#include "solvers/sdca.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "espalier/base/error.h"
#include "features/assign_weights.h"
#include "kernels/divergence.h"
#include "kernels/vectors.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "solvers/block_ascent.h"
#include "solvers/line_search.h"
#include "solvers/option_rows.h"

namespace espalier {
namespace {

class Sdca {
 public:
  Sdca(const Objective& objective, const SdcaOptions& options, CliqueState& state, Weights& theta)
      : objective_(objective),
        problem_(objective.problem),
        factored_(*problem_.factored()),
        inverse_beta_(objective.loss.inverse_beta()),
        state_(state),
        theta_(theta),
        w_(objective.regularizer.dual_weights<float>(problem_.weight_shape())),
        sweep_(options.threads) {
    for (std::size_t i = 0; i < problem_.size(); ++i) {
      longest_ = std::max(longest_, problem_.num_statistics(i));
      most_cliques_ = std::max(most_cliques_, factored_.num_clique_marginals(i));
    }
  }

  Weights& weights() { return w_; }
  Team& team() { return sweep_.team(); }
  static Follower follower() { return {}; }
  std::unique_ptr<Visitor> visitor() { return std::make_unique<Visits>(*this); }

  // w(u) from the statistics as they are stored, and about what the dual is there: as exact as floats are,
  // which is enough to begin with.
  double start() {
    double value = 0;
    Workspace ws;
    AlignedVector<float> memory(longest_), of_costs(longest_);
    for (std::size_t i = 0; i < problem_.size(); ++i) {
      const Out mu = state_.mu(i);
      const Out difference{memory.data(), mu.size()};
      const double omega = problem_.weight(i);
      std::transform(mu.begin(), mu.end(), difference.begin(),
                     [omega](float m) { return static_cast<float>(-omega * m); });
      problem_.add_gold(i, static_cast<float>(omega), difference);
      problem_.accumulate(i, In(difference), w_, ws);
      double conjugate = state_.entropy(i) * inverse_beta_;
      if (objective_.loss.gamma != 0) {
        const Out cost{of_costs.data(), mu.size()};
        std::fill(cost.begin(), cost.end(), 0.0f);
        problem_.add_cost(i, 1.0f, cost);
        conjugate += objective_.loss.gamma *
                     (kernels::dot(cost.data(), mu.data(), mu.size()) + problem_.cost_offset(i));
      }
      value += omega * conjugate;
    }
    return value - objective_.regularizer.conjugate(problem_, w_);
  }

  // w(u) recomputed in double precision, so that rounding in w does not limit the gap.
  Certificate certify() {
    evaluate_dual(objective_, state_, value_, sweep_);
    assign_weights(w_, value_.w, 1, sweep_.team());
    objective_.regularizer.assign(theta_, value_.w, sweep_.team());
    return espalier::certify(objective_, theta_, value_, sweep_);
  }

  const Weights& theta() const { return theta_; }

 private:
  // What one thread does.
  class Visits : public Visitor {
   public:
    explicit Visits(Sdca& all) : all_(all) {
      for (AlignedVector<float>* memory : {&scores_, &new_mu_}) memory->resize(all.longest_);
      new_cliques_.resize(all.most_cliques_);
    }

    BlockStep visit(const BlockVisit& at, Out delta) override {
      const std::size_t i = at.example;
      const Out mu = all_.state_.mu(i), cliques = all_.state_.cliques(i);
      const std::size_t length = mu.size();
      const Out s{scores_.data(), length}, pi{new_mu_.data(), length};
      const Out pi_cliques{new_cliques_.data(), cliques.size()};
      const double beta = all_.objective_.loss.beta, omega = all_.problem_.weight(i);
      // beta s
      all_.problem_.score(i, all_.w_, static_cast<float>(beta / all_.objective_.regularizer.l2), s, ws_);
      if (all_.objective_.loss.gamma != 0)
        all_.problem_.add_cost(i, static_cast<float>(beta * all_.objective_.loss.gamma), s);
      // Centred, so that what rounding does to the mass of marginals is not multiplied by the size of scores.
      all_.problem_.centre(i, mu, s);
      const double log_z = all_.factored_.clique_marginals(i, s, pi_cliques, pi, ws_);

      // delta = mu - mu_pi
      const auto change = kernels::change_along(s.data(), mu.data(), pi.data(), delta.data(), length);
      const double score = change.mean - change.gain;  // beta s.mu
      const double curvature =
          at.crowding * omega * all_.problem_.squared_norm(i, delta, ws_) / all_.objective_.regularizer.l2;
      double gap = (log_z - all_.state_.entropy(i) - score) * all_.inverse_beta_;

      const CliqueMeans from{cliques, mu}, to{pi_cliques, pi};
      DivergenceAlong along;
      double tried = 0;
      // With both divergences between the two equal to the gap, phi would be a parabola with its top here.
      const double likely = std::max(gap, 0.0);
      const double eta = best_step(
          [&](double step) {
            along = all_.factored_.divergence_along(i, from, to, static_cast<float>(step));
            tried = step;
            return Slope{-along.first * all_.inverse_beta_ - step * curvature,
                         -along.second * all_.inverse_beta_ - curvature};
          },
          likely > 0 ? 2 * likely / (2 * likely + curvature) : 0.5);

      // Of close distributions the gap is lost in the rounding of large logarithms. Both divergences together
      // are the slope at 0, which is as exact as the distributions are, and each is half of it.
      const double both = (tried * along.second - along.first) * all_.inverse_beta_;
      constexpr double kClose = 1e-3;
      if (gap < kClose || both < kClose) gap = std::max(both, 0.0) / 2;

      const double behind = eta - tried;
      const double left = along.value + behind * (along.first + behind * along.second / 2);
      const double gain = gap - left * all_.inverse_beta_ - eta * eta * curvature / 2;
      all_.state_.entropy(i) = log_z - score - eta * change.gain - left;
      kernels::mix(cliques.data(), pi_cliques.data(), static_cast<float>(eta), cliques.size());
      kernels::mix(mu.data(), pi.data(), static_cast<float>(eta), length);
      const auto scale = static_cast<float>(omega * eta);
      for (float& d : delta) d *= scale;
      return {omega * gap, omega * gain};
    }

    void prefetch(std::size_t i, Prefetch what) const override {
      all_.problem_.prefetch(i, what);
      all_.state_.prefetch(i, what);
    }

   private:
    Sdca& all_;
    AlignedVector<float> scores_, new_mu_, new_cliques_;
  };

  const Objective& objective_;
  const Problem& problem_;
  const Factored& factored_;
  double inverse_beta_;
  CliqueState& state_;
  Weights& theta_;
  Weights w_;  // w(u), not divided by l2
  std::size_t longest_ = 0, most_cliques_ = 0;
  DualValue value_;
  Sweep sweep_;
};

}  // namespace

const OptionTable& sdca_options() {
  static const OptionTable table{sampling_row<SdcaTuning>()};
  return table;
}

void check_sdca(const Problem& problem, const Loss& loss) {
  if (!loss.smooth()) {
    throw Error::in("sdca", fmt::format("the loss {} has an infinite beta", loss.name()),
                    "expected a finite one; frank-wolfe takes the same steps for infinite ones");
  }
  if (!problem.factored()) {
    throw Error(
        "sdca: this structure has no clique marginals and entropies (Factored); expected classes, chains "
        "whose labels interact in pairs, first-order projective trees, grammars or graphs with exact "
        "inference, or eg, which trains every structure");
  }
}

Summary sdca(const Objective& objective, const SdcaOptions& options, CliqueState& state, Weights& theta,
             const Observer& observer) {
  check_sdca(objective.problem, objective.loss);
  ESPALIER_EXPECT(state.size() == objective.problem.size() && objective.regularizer.l2 > 0);
  Sdca solver(objective, options, state, theta);
  const BlockAscentRule rule{options.stopping, options.sampling, options.seed, options.report_every,
                             options.threads.share_visits};
  BlockAscent ascent(solver, objective, rule, observer);
  return ascent.ascend(solver.start());
}

}  // namespace espalier
