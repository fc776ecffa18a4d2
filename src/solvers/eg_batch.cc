// Batch exponentiated gradient on the dual (Collins et al. 2008, Figure 1; Bartlett et al. 2004, section 3).
//
//   maximise  D(u) = sum_i omega_i [ H(u_i)/beta + gamma(p_i.mu_i + q_i) ] - |w(u)|^2/(2 l2)
//
// With u_i(y) ~ exp s_i.chi(y) and theta = w(u)/l2, all examples move at once:
//
//   s_i <- s_i + eta( F_i'theta + gamma p_i - s_i/beta )
//
// The gradient of D in u_i has a factor omega_i, which is left out. That is mirror ascent for the divergence
// sum_i omega_i KL(u_i|v_i), and Lemmas 2 to 6 of Collins et al. hold for it as they stand: -D is (1/beta,
// tau)-bounded with
//
//   tau = 1/beta + sum_i omega_i R_i^2 / l2
//                                                   (total_squared_diameter() in moments.h; n |A|_inf where
//                                                   all are alike)
//
// so for eta <= 1/tau the dual never falls, and after T steps
//
//   D* - D(u) <= 1/(eta T) sum_i omega_i KL(u*_i|u^1_i),     and for finite beta
//                                                            exp(-eta T/beta)/eta sum_i ...
//
// Duals that start at s_i = 0 need not be stored. Every s_i stays a linear image of one vector z and one
// number c,
//
//   s_i = F_i'z + c gamma p_i,     z <- (1 - eta/beta) z + eta theta,     c <- (1 - eta/beta) c + eta
//
// Cost per pass: one inference per example, in double precision; every eta tried is a pass. Memory: two
// vectors of weights in double precision, and two DualStates or, without duals, two more vectors.

#include "solvers/eg_batch.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "solvers/batch_reports.h"
#include "solvers/moments.h"
#include "solvers/option_rows.h"

namespace espalier {
namespace {

// Of the gold output at the start, where that is asked for. On CoNLL-2000 (CRF, l2 = 2) relative gaps after
// 60 passes were 0.79 with 5, 0.96 with kGoldLogOdds, as in online EG, and 1.1 from uniform distributions,
// but small random problems took longer from gold outputs.
constexpr float kBatchLogOdds = 5;

// Where the duals are: w(u) and D(u).
struct Iterate {
  DoubleWeights w;
  double dual = 0;
};

// The duals, in either form.
class BatchDuals {
 public:
  virtual ~BatchDuals() = default;
  // The point `eta` ahead of `now`, which is where the duals are; `eta` = 0 finds that out. False if the run
  // ended before.
  virtual bool look_ahead(double eta, const Iterate& now, Iterate& next) = 0;
  // Goes there.
  virtual void move() = 0;
};

class StoredDuals final : public BatchDuals {
 public:
  StoredDuals(const Objective& objective, BatchPass& pass, DualState& dual)
      : objective_(objective), pass_(pass), dual_(dual), next_(dual) {}

  bool look_ahead(double eta, const Iterate& now, Iterate& next) override {
    const Problem& problem = objective_.problem;
    const double gamma = objective_.loss.gamma, inverse_beta = objective_.loss.inverse_beta();
    sizes_.resize(problem.size());
    const auto fill = [&](std::size_t i, DoubleOut mu, Workspace& ws) {
      Workspace::Frame frame(ws);
      const double omega = problem.weight(i);
      const auto s = frame.take<double>(mu.size()), p = frame.take<double>(mu.size());
      std::fill(p.begin(), p.end(), 0.0);
      problem.add_cost(i, 1.0, p);
      advance(i, eta, now.w, p, s, ws);
      const double log_z = problem.log_partition(i, s, mu, ws);
      next_.log_z(i) = log_z;
      if (next_.keeps_marginals()) std::copy(mu.begin(), mu.end(), next_.mu(i).begin());

      // omega_i [ H(u_i)/beta + gamma(p_i.mu_i + q_i) ] with H = log Z - s.mu
      const double entropy = log_z - std::inner_product(s.begin(), s.end(), mu.begin(), 0.0);
      const double cost = std::inner_product(p.begin(), p.end(), mu.begin(), problem.cost_offset(i));
      sizes_[i] = implied_size(log_z, s, mu);
      for (double& m : mu) m *= -omega;
      problem.add_gold(i, omega, mu);
      return omega * (entropy * inverse_beta + gamma * cost);
    };
    if (!pass_.run(next.w, fill, next.dual)) return false;
    next.dual =
        certain_dual(objective_, next.dual, next.w, implied_rounding(problem, sizes_, 1, inverse_beta));
    return true;
  }

  void move() override { std::swap(dual_, next_); }

 private:
  // The next state's s_i, as it is stored.
  void advance(std::size_t i, double eta, const DoubleWeights& w, DoubleIn p, DoubleOut s, Workspace& ws) {
    Workspace::Frame frame(ws);
    const In before = std::as_const(dual_).s(i);
    const Out after = next_.s(i);
    problem().score(i, w, 1 / objective_.regularizer.l2, s, ws);
    const auto d = frame.take<float>(s.size());
    for (std::size_t k = 0; k < s.size(); ++k) {
      d[k] = static_cast<float>(s[k] + objective_.loss.gamma * p[k] -
                                objective_.loss.inverse_beta() * before[k]);
    }
    // For beta = infinity, scores would grow with every step until floats could no longer tell outputs in
    // balance apart.
    if (dual_.keeps_marginals()) problem().centre(i, std::as_const(dual_).mu(i), d);
    for (std::size_t k = 0; k < s.size(); ++k) after[k] = static_cast<float>(before[k] + eta * d[k]);
    std::copy(after.begin(), after.end(), s.begin());
  }

  const Problem& problem() const { return objective_.problem; }

  const Objective& objective_;
  BatchPass& pass_;
  DualState& dual_;
  DualState next_;
  std::vector<double> sizes_;
};

class ImpliedDuals final : public BatchDuals {
 public:
  ImpliedDuals(const Objective& objective, BatchPass& pass)
      : objective_(objective),
        pass_(pass),
        z_(objective.problem.weight_shape()),
        next_z_(objective.problem.weight_shape()) {}

  bool look_ahead(double eta, const Iterate& now, Iterate& next) override {
    const double gamma = objective_.loss.gamma, inverse_beta = objective_.loss.inverse_beta();
    const double keep = 1 - eta * inverse_beta;
    objective_.regularizer.assign(theta_, now.w, pass_.team());
    const auto z = z_.values(), next_z = next_z_.values(), theta = theta_.values();
    for (std::size_t j = 0; j < z.size(); ++j) next_z[j] = keep * z[j] + eta * theta[j];
    next_c_ = keep * c_ + eta;

    std::swap(moments_.w, next.w);
    double loss;
    const bool complete = pass_.gibbs({1, next_c_ * gamma}, next_z_, moments_, loss);
    std::swap(moments_.w, next.w);
    if (!complete) return false;
    // `loss` is sum_i omega_i [ log Z_i + c gamma q_i - z.F_i z_i ], so sum_i omega_i H(u_i) = loss + z.w - c
    // gamma cost
    const double product = objective_.problem.inner_product(next_z_, next.w),
                 cost = next_c_ * gamma * moments_.cost;
    const double entropy = loss + product - cost;
    const double size = (std::abs(loss) + std::abs(product) + cost) * inverse_beta;
    const DualRounding rounding{
        moments_.error, std::sqrt(squared_rounding(objective_.problem.total_size(), size, moments_.error))};
    next.dual = certain_dual(objective_, entropy * inverse_beta + gamma * moments_.cost, next.w, rounding);
    return true;
  }

  void move() override {
    std::swap(z_, next_z_);
    c_ = next_c_;
  }

 private:
  const Objective& objective_;
  BatchPass& pass_;
  DoubleWeights z_, next_z_, theta_;
  double c_ = 0, next_c_ = 0;
  Moments moments_;
};

class EgBatch {
 public:
  EgBatch(const Objective& objective, const EgBatchOptions& options, Weights& theta, const Observer& observer)
      : objective_(objective),
        options_(options),
        run_(objective, options.stopping, observer),
        visits_(options.stopping, run_, objective.problem.total_size()),
        sweep_(options.threads, objective.problem.fleet()),
        pass_(objective, sweep_, visits_),
        reports_(objective, options.report_every, run_, visits_, sweep_, theta),
        now_{objective.regularizer.dual_weights<double>(objective.problem.weight_shape())},
        next_{objective.regularizer.dual_weights<double>(objective.problem.weight_shape())} {
    const double tau =
        objective.loss.inverse_beta() + total_squared_diameter(objective.problem) / objective.regularizer.l2;
    safe_eta_ = tau > 0 ? 1 / tau : 1;
    eta_ = safe_eta_;
  }

  BatchPass& pass() { return pass_; }
  Sweep& sweep() { return sweep_; }

  Summary solve(BatchDuals& duals) {
    go(duals, 0);
    while (!reports_.due() || !report()) {
      if (step(duals)) continue;
      if (!report()) run_.stall("no step improves the dual");
      break;
    }
    return run_.finish();
  }

 private:
  bool go(BatchDuals& duals, double eta) {
    if (!duals.look_ahead(eta, now_, next_)) return false;
    duals.move();
    std::swap(now_, next_);
    return true;
  }

  // One step, or a first part of it. False if steps have become too small to matter.
  bool step(BatchDuals& duals) {
    if (options_.step == EgBatchStep::safe) {
      go(duals, eta_);
      return true;
    }
    if (!duals.look_ahead(eta_, now_, next_)) return true;
    if (next_.dual < now_.dual - kRounding * std::abs(now_.dual)) {
      eta_ /= 2;
      growth_ = kLaterGrowth;
      return eta_ > kLeast * safe_eta_;
    }
    duals.move();
    std::swap(now_, next_);
    // eta = beta lands on pi_i(theta): nothing is to be gained beyond.
    eta_ = std::min(growth_ * eta_, objective_.loss.beta);
    return true;
  }

  bool report() { return reports_.report_dual(now_.w, now_.dual); }

  // The safe step is about n times too small where examples have little in common, so it doubles until that
  // is too much, and then grows as the paper's online steps do: on random problems, faster growth took more
  // passes.
  static constexpr double kFirstGrowth = 2, kLaterGrowth = 1.05;
  static constexpr double kRounding = 1e-13, kLeast = 1e-6;

  const Objective& objective_;
  const EgBatchOptions& options_;
  Run run_;
  Visits visits_;
  Sweep sweep_;
  BatchPass pass_;
  BatchReports reports_;
  Iterate now_, next_;
  double safe_eta_ = 0, eta_ = 0, growth_ = kFirstGrowth;
};

void check(const Objective& objective) {
  check_eg_loss(objective.loss);
  ESPALIER_EXPECT(objective.problem.total_size() > 0 && objective.regularizer.l2 > 0);
}

}  // namespace

const OptionTable& eg_batch_options() {
  static const OptionTable table{
      step_row(&EgBatchTuning::step, {{"auto", EgBatchStep::automatic}, {"safe", EgBatchStep::safe}}),
      start_row<EgBatchTuning>(), recompute_row<EgBatchTuning>("no memory for duals")};
  return table;
}

Summary eg_batch(const Objective& objective, const EgBatchOptions& options, DualState& dual, Weights& theta,
                 const Observer& observer) {
  check(objective);
  EgBatch batch(objective, options, theta, observer);
  if (options.start != EgStart::warm) {
    dual.start_near_gold(objective.problem, options.start == EgStart::gold ? kBatchLogOdds : 0,
                         batch.sweep());
  }
  dual.way.reset();
  StoredDuals duals(objective, batch.pass(), dual);
  return batch.solve(duals);
}

Summary eg_batch(const Objective& objective, const EgBatchOptions& options, Weights& theta,
                 const Observer& observer) {
  check(objective);
  EgBatch batch(objective, options, theta, observer);
  ImpliedDuals duals(objective, batch.pass());
  return batch.solve(duals);
}

}  // namespace espalier
