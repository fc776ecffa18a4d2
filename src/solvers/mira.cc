// MIRA (Crammer et al. 2006; Martins et al. 2010, section 4) for the hinge loss with margins gamma cost:
//   P(theta) = l2/2 |theta|^2 + sum_i omega_i max_y [ theta.F_i(chi(y) - z_i) + gamma cost_i(y) ].
// A visit takes the k best outputs y_1, ..., y_k of theta.F_i chi(y) + gamma cost_i(y) (max-loss) or of
// theta.F_i chi(y) (prediction-based), and goes to
//   argmin_theta' l2/2 |theta' - theta|^2 + omega_i xi   such that   xi >= 0 and, for r = 1, ..., k,
//     theta'.F_i(z_i - chi(y_r)) >= gamma cost_i(y_r) - xi                                          (17)
// With a_r = F_i(z_i - chi(y_r)), b_r = gamma cost_i(y_r) - theta.a_r and alpha from hildreth.h, whose cap is
// omega_i/l2,
//   theta <- theta + sum_r alpha_r a_r.
// For k = 1, alpha = min{ omega_i/l2, b_1/|a_1|^2 } (15). The result is the mean of the weights that the
// visits met. The max-loss update with k = 1 is dca's for this loss; none of them converges. As there, first
// visits have a dual: at most omega_i/l2 of all alpha_r makes them the parts of a mixture of outputs, rho_r =
// l2 alpha_r/omega_i.
//
// A visit costs one inference, a gather and two scatters, and a third in the first pass; for k > 1, k(k +
// 1)/2 squared norms more. Memory: three vectors of weights, and one in double precision in the first pass.

#include "solvers/mira.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "espalier/base/error.h"
#include "solvers/aggressive_step.h"
#include "solvers/first_pass_dual.h"
#include "solvers/hildreth.h"
#include "solvers/maximum_loss.h"
#include "solvers/online_passes.h"
#include "solvers/option_rows.h"

namespace espalier {
namespace {

template <class Real>
double dot(std::span<const Real> a, std::span<const Real> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

class Mira {
 public:
  Mira(const Objective& objective, const MiraOptions& options, const Weights& start)
      : objective_(objective), options_(options), weights_(start, options.average), dual_(objective) {}

  Summary run(Weights& theta, const Observer& observer) {
    const auto visit = [this](std::size_t i, Workspace& ws) {
      first_pass_ = dual_.next_visit();
      return options_.k == 1 ? visit_best(i, ws) : visit_kbest(i, ws);
    };
    return online_passes(objective_, options_, {visit, [this] { return dual_.value(); }}, weights_, theta,
                         observer);
  }

 private:
  bool visit_best(std::size_t i, Workspace& ws);
  bool visit_kbest(std::size_t i, Workspace& ws);
  template <class Real>
  double become_difference(std::size_t i, std::span<Real> chi, Workspace& ws) const;
  void move_dual(std::size_t i, double costs, DoubleIn delta, Workspace& ws);

  const Objective& objective_;
  const MiraOptions& options_;
  AveragedWeights weights_;
  FirstPassDual dual_;
  bool first_pass_ = true;
  Hildreth hildreth_;
  std::vector<double> chis_, costs_, losses_, gram_;
};

// chi(y) becomes z_i - chi(y). Returns gamma cost_i(y).
template <class Real>
double Mira::become_difference(std::size_t i, std::span<Real> chi, Workspace& ws) const {
  const Problem& problem = objective_.problem;
  Workspace::Frame frame(ws);
  const auto cost = frame.take<Real>(chi.size());
  std::fill(cost.begin(), cost.end(), Real{0});
  problem.add_cost(i, Real{1}, cost);
  const double costs = dot<Real>(cost, chi) + problem.cost_offset(i);
  for (Real& c : chi) c = -c;
  problem.add_gold(i, Real{1}, chi);
  return objective_.loss.gamma * costs;
}

// `costs` sum_r alpha_r gamma cost_i(y_r).
void Mira::move_dual(std::size_t i, double costs, DoubleIn delta, Workspace& ws) {
  dual_.move(i, objective_.regularizer.l2 / objective_.problem.weight(i) * costs, delta, ws);
}

bool Mira::visit_best(std::size_t i, Workspace& ws) {
  const Problem& problem = objective_.problem;
  Workspace::Frame frame(ws);
  const auto s = frame.take<float>(problem.num_statistics(i)), ranked = frame.take<float>(s.size()),
             delta = frame.take<float>(s.size());
  problem.score(i, weights_.current(), 1.0f, s, ws);
  std::copy(s.begin(), s.end(), ranked.begin());
  if (options_.update == MiraUpdate::max_loss)
    problem.add_cost(i, static_cast<float>(objective_.loss.gamma), ranked);
  problem.argmax(i, ranked, delta, ws);
  const double cost = become_difference<float>(i, delta, ws);
  const double loss = cost - dot<float>(s, delta);
  if (!std::isfinite(loss)) return false;

  const double eta = aggressive_step(problem.weight(i) / objective_.regularizer.l2, loss,
                                     problem.squared_norm(i, delta, ws));
  if (eta == 0) return true;
  if (first_pass_) {
    const auto exact = frame.take<double>(delta.size());
    for (std::size_t j = 0; j < exact.size(); ++j) exact[j] = eta * delta[j];
    move_dual(i, eta * cost, exact, ws);
  }
  for (float& d : delta) d = static_cast<float>(eta * d);
  weights_.add(problem, i, delta, ws);
  return true;
}

bool Mira::visit_kbest(std::size_t i, Workspace& ws) {
  const Problem& problem = objective_.problem;
  Workspace::Frame frame(ws);
  const auto s = frame.take<double>(problem.num_statistics(i)), ranked = frame.take<double>(s.size());
  problem.score(i, weights_.current(), 1.0, s, ws);
  std::copy(s.begin(), s.end(), ranked.begin());
  if (options_.update == MiraUpdate::max_loss) problem.add_cost(i, objective_.loss.gamma, ranked);
  const std::size_t k = problem.ranking()->kbest(i, ranked, options_.k, chis_, ws);

  costs_.resize(k);
  losses_.resize(k);
  const auto difference = [&](std::size_t r) { return DoubleOut(chis_).subspan(r * s.size(), s.size()); };
  for (std::size_t r = 0; r < k; ++r) {
    costs_[r] = become_difference<double>(i, difference(r), ws);
    losses_[r] = costs_[r] - dot<double>(s, difference(r));
  }
  if (!std::all_of(losses_.begin(), losses_.end(), [](double loss) { return std::isfinite(loss); }))
    return false;

  // a_r.a_t = ( |a_r|^2 + |a_t|^2 - |a_r - a_t|^2 ) / 2
  gram_.resize(k * k);
  for (std::size_t r = 0; r < k; ++r) gram_[r * k + r] = problem.squared_norm(i, difference(r), ws);
  for (std::size_t r = 0; r < k; ++r) {
    for (std::size_t t = 0; t < r; ++t) {
      const auto a = difference(r), b = difference(t);
      std::transform(a.begin(), a.end(), b.begin(), ranked.begin(), std::minus<>());
      gram_[r * k + t] = gram_[t * k + r] =
          (gram_[r * k + r] + gram_[t * k + t] - problem.squared_norm(i, ranked, ws)) / 2;
    }
  }
  const auto alpha = hildreth_.solve(gram_, losses_, problem.weight(i) / objective_.regularizer.l2);
  if (std::all_of(alpha.begin(), alpha.end(), [](double a) { return a == 0; })) return true;

  const auto exact = frame.take<double>(s.size());
  const auto delta = frame.take<float>(s.size());
  for (std::size_t j = 0; j < delta.size(); ++j) {
    exact[j] = 0;
    for (std::size_t r = 0; r < k; ++r) exact[j] += alpha[r] * difference(r)[j];
    delta[j] = static_cast<float>(exact[j]);
  }
  if (first_pass_) move_dual(i, dot<double>(alpha, costs_), exact, ws);
  weights_.add(problem, i, delta, ws);
  return true;
}

}  // namespace

const OptionTable& mira_options() {
  using Row = OptionOf<MiraTuning>;
  static const OptionTable table{
      Row("mira_update", &MiraTuning::update,
          Words<MiraUpdate>{{"max-loss", MiraUpdate::max_loss}, {"prediction", MiraUpdate::prediction}},
          "what to compare the gold output with: max-loss, or the model's prediction")
          .logged_as("update"),
      Row("kbest", &MiraTuning::k, "number of outputs that a visit compares the gold one with").from(1)};
  return table;
}

Summary mira(const Objective& objective, const MiraOptions& options, Weights& theta,
             const Observer& observer) {
  ESPALIER_EXPECT(options.k > 0);
  check_maximum_loss("mira", objective.loss, "expected one with infinite beta, or dca");
  if (options.k > 1 && !objective.problem.ranking()) {
    throw Error::in("mira",
                    fmt::format("the {} best outputs of a problem that has none but the best", options.k),
                    "expected k = 1");
  }
  return Mira(objective, options, theta).run(theta, observer);
}

}  // namespace espalier
