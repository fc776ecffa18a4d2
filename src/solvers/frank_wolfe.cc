// Block-coordinate Frank-Wolfe on the dual of a maximum (Lacoste-Julien et al. 2013, Algorithm 4 with exact
// line search):
//
//   maximise  D(mu) = sum_i omega_i gamma(p_i.mu_i + q_i) - |w(mu)|^2/(2 l2),
//             w(mu) = sum_i omega_i F_i(z_i - mu_i)
//
// one example at a time. With theta = w/l2 and the scores s = F_i'theta + gamma p_i, the gradient of D in
// mu_i is omega_i s. A visit finds the output chi* that it likes best and moves mu_i towards it,
//
//   mu_i <- mu_i + eta(chi* - mu_i),   D changes by omega_i { eta g - eta^2 q/2 },
//   g = s.(chi* - mu_i),   q = omega_i |F_i(chi* - mu_i)|^2 / l2,   so the best eta in [0, 1] is min(1, g/q).
//
// g is the example's part of the duality gap, and it steers which example comes next (Osokin et al. 2016).
//
// Towards one output after the other, mu_i comes close to the best mixture of them slowly. A corrective visit
// keeps the outputs that mu_i is a mixture of, adds chi* to them, and finds nearly the best weights for all:
// again and again it moves weight from the output that s likes least to the one that it likes best (the
// pairwise step of Osokin et al. 2016),
//
//   a_k <- a_k + t, a_l <- a_l - t,   D changes by omega_i { t v - t^2 q/2 },
//   v = s.(chi_k - chi_l),   q = omega_i |F_i(chi_k - chi_l)|^2 / l2,   t = min(a_l, v/q).
//
// With the distances D_kl = |F_i(chi_k - chi_l)|^2 at hand, what that does to the scores of all of them is
// known without w: s.chi_j changes by -omega_i t/(2 l2) (D_jl - D_jk), up to what is the same for all j.
//
// Certificates want a mu that is a mixture of outputs, not one that floats came near: weights are doubles,
// and so is what becomes of outputs that are not kept (VertexSets). Only w and scores, which say where to
// move, are floats.
//
// The dual comes close to its optimum long before P(theta) does, which jumps with every output that is found.
// A mean of recent weights is better most of the time (RecentMean), and any weights may have a certificate
// with any mu: theta is the better of both.
//
// Cost per visit: one score, one argmax, two accumulates, and a squared norm; a corrective visit takes one
// for each output at hand whenever chi* is a new one. Memory: mu of every example twice, in double precision,
// and w; up to eleven outputs for each example for corrective visits, and mu once more for averaging.

#include "solvers/frank_wolfe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/learning/certificate.h"
#include "espalier/solvers/eg.h"
#include "features/assign_weights.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "solvers/block_ascent.h"
#include "solvers/option_rows.h"
#include "solvers/recent_mean.h"
#include "solvers/vertex_sets.h"

namespace espalier {
namespace {

// The weighted mean of all mu_i so far, where the one after visit k counts k times (BCFW-wavg). It is brought
// up to date where mu_i changes, so that a visit does not touch the others:
//   sum_{j <= k} j = k(k + 1)/2.
class AveragedMeans {
 public:
  explicit AveragedMeans(const MeanState& means) : means_(means), seen_(means.size(), 0) {
    roundings_.assign(means.size(), means.roundings());
  }

  // mu_i was mu, of so many roundings, from the last time until after visit k.
  void include(std::size_t i, DoubleIn mu, double roundings, std::size_t k) {
    const double before = weight_until(seen_[i]), now = weight_until(k);
    seen_[i] = k;
    if (!(now > before)) return;
    const double share = (now - before) / now, rest = before / now;
    const DoubleOut mean = means_.mu(i);
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] = rest * mean[j] + share * mu[j];
    // Of the weights, which are whole numbers until there are very many visits, quotients, products and a
    // sum.
    constexpr double kRoundings = 5;
    roundings_[i] = std::max(rest > 0 ? roundings_[i] : 0, roundings) + kRoundings;
  }
  const MeanState& means() {
    means_.set_roundings(*std::max_element(roundings_.begin(), roundings_.end()));
    return means_;
  }

 private:
  static double weight_until(std::size_t k) {
    return 0.5 * static_cast<double>(k) * static_cast<double>(k + 1);
  }

  MeanState means_;
  std::vector<std::size_t> seen_;
  std::vector<double> roundings_;
};

// A corrective visit ends when what is left to gain between two outputs is little against the gap that it
// began with, or after so many moves: others are worth more then. A fifth of the first and three times the
// second made no difference on CoNLL-2000.
constexpr double kEnough = 0.05;
constexpr int kMostMoves = 20;
// Certificates of which one looks at both points.
constexpr std::size_t kLookAtBoth = 3;

class FrankWolfe {
 public:
  FrankWolfe(const Objective& objective, const FrankWolfeOptions& options, MeanState& means, Weights& theta)
      : objective_(objective),
        problem_(objective.problem),
        means_(means),
        theta_(theta),
        w_(objective.regularizer.dual_weights<float>(problem_.weight_shape())),
        sets_(problem_, means, options.corrective),
        sweep_(options.threads) {
    if (options.average) averaged_.emplace(means);
    if (options.recent_mean && !options.average) recent_.emplace(problem_.weight_shape(), problem_.size());
    for (std::size_t i = 0; i < problem_.size(); ++i)
      longest_ = std::max(longest_, problem_.num_statistics(i));
    mean_.resize(longest_);
  }

  Weights& weights() { return w_; }
  Team& team() { return sweep_.team(); }
  std::unique_ptr<Visitor> visitor() { return std::make_unique<Visits>(*this); }
  // The recent mean, where several threads change the weights.
  Follower follower() {
    Follower result;
    result.end_batch = [this](std::size_t visits) {
      visits_ += visits;
      if (recent_) recent_->forget(visits);
    };
    if (!recent_) return result;
    result.weights = &recent_->lag();
    result.scale = [this] { return static_cast<float>(1 / recent_->scale()); };
    result.end_round = [this] { recent_->renormalise(); };
    return result;
  }

  // w(mu), and the dual there.
  double start() {
    if (at_gold()) return 0;
    resynchronise();
    return value_.value;
  }

  // Of theta(mu) or of the recent mean, whichever has the lower primal. The primal takes as long as a pass,
  // so most of the time it is asked only of the one that was better when both were.
  Certificate certify() {
    if (averaged_) {
      for (std::size_t i = 0; i < means_.size(); ++i) include(i, mean_of(i), visits_);
    }
    // The mean is one of w as visits knew it: parsers leave out of it what hardly moves, and when that is set
    // right, weights fit no example for a while.
    // Of theta, or where l1 makes them zeros that no mean could begin with, of w.
    const Regularizer& regularizer = objective_.regularizer;
    const double times = regularizer.sparse() ? 1 : regularizer.l2;
    if (recent_) recent_->mean(w_, 1 / times, recent_theta_);
    resynchronise();
    if (recent_) recent_->restart(w_, recent_theta_, times);
    if (recent_ && regularizer.sparse()) regularizer.assign(recent_theta_, recent_theta_, sweep_.team());
    const bool both = certificates_++ % kLookAtBoth == 0;
    if (averaged_) evaluate_dual(objective_, averaged_->means(), value_, sweep_);
    regularizer.assign(theta_, value_.w, sweep_.team());
    if (!recent_ || (!both && !mean_is_better_)) return espalier::certify(objective_, theta_, value_, sweep_);
    const Certificate of_mean = espalier::certify(objective_, recent_theta_, value_, sweep_);
    if (both) {
      const Certificate of_last = espalier::certify(objective_, theta_, value_, sweep_);
      mean_is_better_ = of_mean.primal < of_last.primal;
      if (!mean_is_better_) return of_last;
    }
    std::swap(theta_, recent_theta_);
    return of_mean;
  }

  const Weights& theta() const { return theta_; }

  // Where averages are certified, they are what stays.
  void leave_certified_means() {
    if (averaged_) means_ = averaged_->means();
  }

 private:
  bool at_gold() {
    for (std::size_t i = 0; i < means_.size(); ++i) {
      const DoubleOut difference = mean_of(i);
      std::copy_n(std::as_const(means_).mu(i).begin(), difference.size(), difference.begin());
      problem_.add_gold(i, -1.0, difference);
      if (std::any_of(difference.begin(), difference.end(), [](double d) { return d != 0; })) return false;
    }
    return true;
  }

  // Memory for mu_i.
  DoubleOut mean_of(std::size_t i) { return {mean_.data(), std::as_const(means_).mu(i).size()}; }

  // mu_i as it is now, and has been since the last time, into the averages. Uses `mu` as memory.
  void include(std::size_t i, DoubleOut mu, std::size_t visits) {
    const double roundings = sets_.mean(i, mu);
    averaged_->include(i, mu, roundings, visits);
  }

  // mu from its atoms, and w(mu) recomputed in double precision, so that rounding in w does not limit the
  // gap.
  void resynchronise() {
    double roundings = 0;
    for (std::size_t i = 0; i < means_.size(); ++i)
      roundings = std::max(roundings, sets_.mean(i, means_.mu(i)));
    means_.set_roundings(roundings);
    evaluate_dual(objective_, means_, value_, sweep_);
    assign_weights(w_, value_.w, 1, sweep_.team());
  }

  // What one thread does.
  class Visits : public Visitor {
   public:
    explicit Visits(FrankWolfe& all) : all_(all), mean_(all.longest_) {
      for (AlignedVector<float>* memory : {&scores_, &best_}) memory->resize(all.longest_);
      output_.reserve(all.longest_);
    }

    BlockStep visit(const BlockVisit& at, Out delta) override {
      const std::size_t i = at.example;
      const Out s{scores_.data(), delta.size()}, best{best_.data(), delta.size()};
      const Problem& problem = all_.problem_;
      problem.score(i, all_.w_, static_cast<float>(1 / all_.objective_.regularizer.l2), s, ws_);
      problem.add_cost(i, static_cast<float>(all_.objective_.loss.gamma), s);
      problem.argmax(i, s, best, ws_);
      if (all_.averaged_) all_.include(i, {mean_.data(), delta.size()}, at.number);
      return move_weights(i, at.crowding, s, best, delta);
    }
    void after_change(std::size_t i, Out delta) override {
      ++all_.visits_;
      if (!all_.recent_) return;
      if (!delta.empty()) all_.recent_->add(all_.problem_, i, delta, ws_);
      all_.recent_->end_visit();
    }
    void prefetch(std::size_t i, Prefetch what) const override {
      all_.problem_.prefetch(i, what);
      all_.sets_.prefetch(i, what);
    }

   private:
    // mu_i <- mu_i + eta(chi* - mu_i), with the best eta, for an output chi* that becomes part of the rest. g
    // = s.(chi* - mu_i).
    BlockStep move_towards(std::size_t i, double crowding, double gap, In best, Out delta) {
      // delta = mu - chi*
      const DoubleOut mu{mean_.data(), best.size()};
      all_.sets_.mean(i, mu);
      for (std::size_t k = 0; k < mu.size(); ++k) delta[k] = static_cast<float>(mu[k] - best[k]);
      const double omega = all_.problem_.weight(i);
      const double curvature =
          crowding * omega * all_.problem_.squared_norm(i, delta, ws_) / all_.objective_.regularizer.l2;
      const double eta = curvature > gap ? gap / curvature : 1;
      all_.sets_.mix_into_rest(i, output_, eta);
      for (float& d : delta) d *= static_cast<float>(eta);
      scale_by_weight(delta, omega);
      measure(i, 0);
      return {omega * gap, omega * eta * (gap - eta * curvature / 2)};
    }

    // chi* becomes one of the atoms, and weight moves between all of them.
    BlockStep move_weights(std::size_t i, double crowding, In s, In best, Out delta) {
      VertexSets::Example& e = all_.sets_[i];
      std::array<double, VertexSets::kAtoms> v{}, before{};
      double mean = 0, highest = 0;
      for (std::size_t k = 0; k < VertexSets::kAtoms; ++k) {
        if (e.weights[k] > 0) v[k] = all_.sets_.score(i, k, s);
        mean += e.weights[k] * v[k];
      }
      output_.clear();
      for (std::size_t k = 0; k < best.size(); ++k) {
        if (best[k] == 0) continue;
        output_.push_back({static_cast<std::uint32_t>(k), best[k]});
        highest += static_cast<double>(best[k]) * s[k];
      }
      const double gap = highest - mean, omega = all_.problem_.weight(i);
      if (!(gap > 0)) return {0, 0, 1, false};
      if (!all_.sets_.fits(i, output_)) return move_towards(i, crowding, gap, best, delta);
      std::size_t newest = all_.sets_.find(i, output_);
      if (newest == 0) {
        newest = all_.sets_.free_place(i);
        if (newest == 0) {
          newest = static_cast<std::size_t>(std::min_element(e.weights + 1, std::end(e.weights)) - e.weights);
          all_.sets_.merge(i, newest);
          v[0] = all_.sets_.score(i, 0, s);
        }
        all_.sets_.set(i, newest, output_);
        v[newest] = highest;
        measure(i, newest);
      }
      std::copy(std::begin(e.weights), std::end(e.weights), before.begin());
      const double gain =
          balance(e, v, newest, crowding * omega / all_.objective_.regularizer.l2, kEnough * gap);
      if (gain == 0) return {omega * gap, 0, 1, false};
      std::fill(delta.begin(), delta.end(), 0.0f);
      for (std::size_t k = 0; k < VertexSets::kAtoms; ++k) {
        if (before[k] != e.weights[k])
          all_.sets_.add(i, k, static_cast<float>(before[k] - e.weights[k]), delta);
      }
      scale_by_weight(delta, omega);
      return {omega * gap, omega * gain};
    }

    // Moves weight between the atoms, `newest` among them, until no two of them differ by more than `enough`.
    // Returns what that adds to the dual, divided by omega_i. v are their scores, quadratic = omega_i/l2.
    static double balance(VertexSets::Example& e, std::array<double, VertexSets::kAtoms>& v,
                          std::size_t newest, double quadratic, double enough) {
      double gain = 0;
      for (int move = 0; move < kMostMoves; ++move) {
        std::size_t up = newest, down = VertexSets::kAtoms;
        for (std::size_t k = 0; k < VertexSets::kAtoms; ++k) {
          if (e.weights[k] == 0) continue;
          if (v[k] > v[up]) up = k;
          if (down == VertexSets::kAtoms || v[k] < v[down]) down = k;
        }
        const double rise = v[up] - v[down], curvature = quadratic * e.distances[up][down];
        if (!(rise > enough)) break;
        const double all = e.weights[down];
        const double step = curvature * all > rise ? rise / curvature : all;
        e.weights[up] += step;
        e.weights[down] = step < all ? all - step : 0;
        gain += step * (rise - step * curvature / 2);
        for (std::size_t k = 0; k < VertexSets::kAtoms; ++k)
          v[k] -= quadratic * step / 2 * (static_cast<double>(e.distances[k][down]) - e.distances[k][up]);
      }
      return gain;
    }

    // The distances of atom k to all others that have weight.
    void measure(std::size_t i, std::size_t k) {
      VertexSets::Example& e = all_.sets_[i];
      Workspace::Frame frame(ws_);
      const std::size_t length = all_.problem_.num_statistics(i);
      const auto difference = frame.take<float>(length), chi = frame.take<float>(length);
      std::fill(chi.begin(), chi.end(), 0.0f);
      all_.sets_.add(i, k, 1.0f, chi);
      e.distances[k][k] = 0;
      for (std::size_t l = 0; l < VertexSets::kAtoms; ++l) {
        if (l == k || e.weights[l] == 0) continue;
        std::copy(chi.begin(), chi.end(), difference.begin());
        all_.sets_.add(i, l, -1.0f, difference);
        e.distances[k][l] = e.distances[l][k] =
            static_cast<float>(all_.problem_.squared_norm(i, difference, ws_));
      }
    }

    // w of mu_i - delta
    static void scale_by_weight(Out delta, double omega) {
      if (omega == 1) return;
      for (float& d : delta) d *= static_cast<float>(omega);
    }

    FrankWolfe& all_;
    AlignedVector<float> scores_, best_;
    std::vector<double> mean_;
    std::vector<VertexSets::Entry> output_;  // the best one
  };

  const Objective& objective_;
  const Problem& problem_;
  MeanState& means_;
  Weights& theta_;
  Weights w_;        // w(mu), not divided by l2
  VertexSets sets_;  // what mu is during the run; means_ says it at reports
  std::optional<AveragedMeans> averaged_;
  std::optional<RecentMean> recent_;
  Weights recent_theta_;
  bool mean_is_better_ = true;
  std::size_t certificates_ = 0;
  std::size_t longest_ = 0, visits_ = 0;
  std::vector<double> mean_;
  DualValue value_;
  Sweep sweep_;
};

}  // namespace

const OptionTable& frank_wolfe_options() {
  using Row = OptionOf<FrankWolfeTuning>;
  static const OptionTable table{sampling_row<FrankWolfeTuning>(),
                                 Row("average", &FrankWolfeTuning::average,
                                     "average the weights of all steps, later ones with larger shares")
                                     .logged_if_changed()};
  return table;
}

void check_frank_wolfe_loss(const Loss& loss) {
  if (loss.smooth()) {
    throw Error::in(
        "frank-wolfe", fmt::format("the loss {} has a finite beta", loss.name()),
        "expected svm, or another loss with infinite beta; sdca takes the same steps for finite ones");
  }
  check_eg_loss(loss);
}

Summary frank_wolfe(const Objective& objective, const FrankWolfeOptions& options, MeanState& means,
                    Weights& theta, const Observer& observer) {
  check_frank_wolfe_loss(objective.loss);
  ESPALIER_EXPECT(means.size() == objective.problem.size() && objective.regularizer.l2 > 0);
  FrankWolfe solver(objective, options, means, theta);
  const BlockAscentRule rule{options.stopping, options.sampling, options.seed, options.report_every,
                             options.threads.share_visits};
  BlockAscent ascent(solver, objective, rule, observer);
  Summary summary = ascent.ascend(solver.start());
  solver.leave_certified_means();
  return summary;
}

}  // namespace espalier
