// SVM-struct with a slack for each example. The dual over the outputs c that example i has been found to
// violate,
//   D(alpha) = sum_i b_i.alpha_i - |w|^2/(2 l2),   w = sum_i F_i sum_c alpha_ic r_ic (z_i - chi_ic),
//   alpha_i >= 0,  sum_c alpha_ic <= omega_i,
//                  r scale and b offset of what c demands (violated_output.h)
// is maximised one example at a time, each by its own small quadratic program: where the scores are s =
// F_i'w/l2, output c demands v_c = r_c s.(chi_c - z_i) + b_c, and alpha_i maximises v.alpha + (G
// alpha_old).alpha - alpha'G alpha/2, with G_cd = r_c r_d <F_i(chi_c - z_i), F_i(chi_d - z_i)>/l2. No
// inference there. Visits are in random order: on 10,000 images, a fixed one left a gap of 1.3e-2 after 64
// passes, a random one 8e-4 after 16. Then a pass at theta = w/l2, the same for all examples, brings P(theta)
// and the most violated output of each: a pass is a certificate, too. Far from the optimum, where outputs
// that all examples find at the same weights tell little, passes that take in each of them at once come in
// between. Cost: a pass of inferences, and some rounds of scores over the examples in between. Memory: a
// vector of doubles and two of floats as long as all weights, and for each example its outputs with their
// products.

#include "solvers/n_slack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "espalier/base/error.h"
#include "features/assign_weights.h"
#include "learning/sweep.h"
#include "solvers/bundle_qp.h"
#include "solvers/stall_detector.h"
#include "solvers/violated_output.h"
#include "solvers/visits.h"

namespace espalier {
namespace {

// Passes that may do without an output before it is forgotten.
constexpr int kMostIdle = 10;
// Rounds between two passes end once the outputs at hand leave this share of the gap, and after so many in
// any case.
constexpr double kRestShare = 0.3;
constexpr int kMostRounds = 50;
// Of those, this many consecutive ones go only to examples that have at least the mean gap.
constexpr int kPartialRounds = 9;
// An example's quadratic program is solved to this share of the gap that it had: the others move on anyway. A
// hundredth of it needed about as many passes, and for twenty sentences with dozens of outputs each three
// times the time.
constexpr double kExactness = 0.1;
// As long as the relative gap is larger than this, every other pass is made at weights that change with each
// example.
constexpr double kFarShare = 0.3;

// The outputs of one example that its loss has to be above.
class WorkingSet {
 public:
  bool empty() const { return members_.empty(); }

  // Unless it is there already, or demands nothing.
  void add(const Problem& problem, std::size_t i, double l2, DoubleIn chi, const Demand& demand,
           Workspace& ws) {
    SparseOutput output(chi);
    const bool known =
        std::any_of(members_.begin(), members_.end(), [&](const Member& m) { return m.output == output; });
    if (known || demand.scale == 0) return;
    Workspace::Frame frame(ws);
    const auto difference = frame.take<double>(chi.size());
    std::copy(chi.begin(), chi.end(), difference.begin());
    problem.add_gold(i, -1.0, difference);
    const double norm = problem.squared_norm(i, difference, ws);

    const std::size_t size = members_.size();
    std::vector<double> gram((size + 1) * (size + 1));
    for (std::size_t c = 0; c < size; ++c) {
      std::copy_n(&gram_[c * size], size, &gram[c * (size + 1)]);
      // <a, b> = (|a|^2 + |b|^2 - |a - b|^2)/2
      std::copy(chi.begin(), chi.end(), difference.begin());
      members_[c].output.add_to(-1, difference);
      const double product = (norm + members_[c].norm - problem.squared_norm(i, difference, ws)) / 2;
      gram[c * (size + 1) + size] = gram[size * (size + 1) + c] =
          demand.scale * members_[c].demand.scale * product / l2;
    }
    gram.back() = demand.scale * demand.scale * norm / l2;
    gram_ = std::move(gram);
    members_.push_back({std::move(output), demand, norm, 0});
    alpha_.push_back(0);
  }

  // Maximises over alpha_i where scores are s. Returns the gap that the example had before. What theta has to
  // move by is in `delta`: w += F_i delta; nothing if it is empty.
  double improve(const Problem& problem, std::size_t i, DoubleIn s, DoubleOut delta, bool& moved) {
    std::fill(delta.begin(), delta.end(), 0.0);
    problem.add_gold(i, 1.0, delta);
    double gold_score = 0;
    for (std::size_t k = 0; k < s.size(); ++k) gold_score += s[k] * delta[k];
    const double omega = problem.weight(i);
    const std::size_t size = members_.size();
    linear_.resize(size);
    double highest = 0, mean = 0;
    for (std::size_t c = 0; c < size; ++c) {
      const Demand& demand = members_[c].demand;
      linear_[c] = demand.scale * (members_[c].output.dot(s) - gold_score) + demand.offset;
      highest = std::max(highest, linear_[c]);
      mean += alpha_[c] * linear_[c];
    }
    const double gap = omega * highest - mean;
    moved = gap > 1e-14 * omega * highest;
    if (!moved) return std::max(gap, 0.0);

    const std::vector<double> before = alpha_;
    for (std::size_t c = 0; c < size; ++c) {
      for (std::size_t d = 0; d < size; ++d) linear_[c] += gram_[c * size + d] * before[d];
    }
    minimise({gram_.data(), size, linear_, omega, false}, kExactness * gap, alpha_);
    double of_gold = 0;
    for (std::size_t c = 0; c < size; ++c) of_gold += (alpha_[c] - before[c]) * members_[c].demand.scale;
    for (double& d : delta) d *= of_gold;
    for (std::size_t c = 0; c < size; ++c) {
      const double change = (alpha_[c] - before[c]) * members_[c].demand.scale;
      if (change != 0) members_[c].output.add_to(-change, delta);
    }
    return gap;
  }

  // The example's part of the dual: b_i.alpha_i, and delta with w = sum_i F_i delta_i.
  double dual(const Problem& problem, std::size_t i, DoubleOut delta) const {
    double value = 0, of_gold = 0;
    std::fill(delta.begin(), delta.end(), 0.0);
    for (std::size_t c = 0; c < members_.size(); ++c) {
      if (alpha_[c] == 0) continue;
      value += alpha_[c] * members_[c].demand.offset;
      of_gold += alpha_[c] * members_[c].demand.scale;
      members_[c].output.add_to(-alpha_[c] * members_[c].demand.scale, delta);
    }
    if (of_gold > 0) problem.add_gold(i, of_gold, delta);
    return value;
  }

  void forget_idle() {
    const std::size_t size = members_.size();
    std::vector<std::size_t> kept;
    for (std::size_t c = 0; c < size; ++c) {
      members_[c].idle = alpha_[c] > 0 ? 0 : members_[c].idle + 1;
      if (members_[c].idle <= kMostIdle) kept.push_back(c);
    }
    if (kept.size() == size) return;
    std::vector<double> gram;
    gram.reserve(kept.size() * kept.size());
    for (std::size_t a = 0; a < kept.size(); ++a) {
      for (const std::size_t d : kept) gram.push_back(gram_[kept[a] * size + d]);
      if (a != kept[a]) members_[a] = std::move(members_[kept[a]]);
      alpha_[a] = alpha_[kept[a]];
    }
    gram_ = std::move(gram);
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(kept.size()), members_.end());
    alpha_.resize(kept.size());
  }

 private:
  struct Member {
    SparseOutput output;
    Demand demand;
    double norm;  // |F_i(chi - z_i)|^2
    int idle;
  };
  std::vector<Member> members_;
  std::vector<double> gram_, alpha_, linear_;
};

class NSlack {
 public:
  NSlack(const Objective& objective, const CuttingPlaneOptions& options, Weights& theta,
         const Observer& observer)
      : objective_(objective),
        problem_(objective.problem),
        options_(options),
        theta_(theta),
        run_(objective, options.stopping, observer),
        visits_(options.stopping, run_, problem_.size()),
        sweep_(options.threads),
        random_(options.seed),
        order_(problem_.size()),
        sets_(problem_.size()),
        losses_(problem_.size()),
        gaps_(problem_.size()),
        query_(theta),
        point_(problem_.weight_shape()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  Summary solve() {
    for (;;) {
      double primal = 0;
      if (!separate(primal)) {
        if (!std::isfinite(best_)) certify_start();
        report();
        break;
      }
      const double gap_before = best_ - bound_;
      if (primal < best_) {
        best_ = primal;
        assign_weights(theta_, query_, 1, sweep_.team());
      }
      optimise();
      evaluate_dual();
      if (report()) break;
      if (stall_detector_.stalled(gap_before, best_ - bound_)) {
        run_.stall("no output is violated by more than rounding");
        break;
      }
      for (WorkingSet& set : sets_) set.forget_idle();
      if (best_ - bound_ > kFarShare * best_ && !separate_online()) {
        report();
        break;
      }
      assign_weights(query_, point_, 1, sweep_.team());
    }
    Summary summary = run_.finish();
    summary.message += fmt::format("; the last quadratic program solved to about {:.2g}", rest_);
    return summary;
  }

 private:
  // P at the query, and the most violated output of each example there. False if the run ended before the
  // last example.
  bool separate(double& primal) {
    const std::size_t n = problem_.size(),
                      together = sweep_.team().size() == 1 ? 1 : 64 * sweep_.team().size();
    for (std::size_t begin = 0; begin < n; begin += together) {
      if (visits_.exhausted()) return false;
      const std::size_t count = std::min(together, n - begin);
      sweep_.sum(count, [&](std::size_t k, Workspace& ws) {
        const std::size_t i = begin + k;
        Workspace::Frame frame(ws);
        const auto s = frame.take<double>(problem_.num_statistics(i)), chi = frame.take<double>(s.size());
        const ViolatedOutput violated = most_violated(objective_, options_.rescaling, i, query_, s, chi, ws);
        losses_[i] = violated.loss;
        sets_[i].add(problem_, i, objective_.regularizer.l2, chi, violated.demand, ws);
        return 0.0;
      });
      visits_.count(count);
    }
    double risk = 0;
    for (std::size_t i = 0; i < n; ++i) risk += problem_.weight(i) * losses_[i];
    primal = objective_.regularizer.l2 / 2 * problem_.squared_norm(query_) + risk;
    return true;
  }

  // The same at weights that take in each output as it is found, so that nothing is learned of P. False if
  // the run ended before the last example.
  bool separate_online() {
    random_.shuffle(std::span(order_));
    for (const std::size_t i : order_) {
      if (visits_.exhausted()) return false;
      Workspace::Frame frame(ws_);
      const auto s = frame.take<double>(problem_.num_statistics(i)), chi = frame.take<double>(s.size());
      const ViolatedOutput violated = most_violated(objective_, options_.rescaling, i, point_, s, chi, ws_);
      visits_.count();
      sets_[i].add(problem_, i, objective_.regularizer.l2, chi, violated.demand, ws_);
      if (!sets_[i].empty()) improve(i, s);
    }
    return true;
  }

  // Rounds over the examples, without inference.
  void optimise() {
    double mean = 0;
    for (int round = 0; round < kMostRounds; ++round) {
      const bool full = round % (1 + kPartialRounds) == 0;
      double sum = 0;
      random_.shuffle(std::span(order_));
      for (const std::size_t i : order_) {
        if (sets_[i].empty() || (!full && gaps_[i] < mean)) continue;
        gaps_[i] = improve(i);
        sum += gaps_[i];
        if (options_.stopping.interrupted()) return;
      }
      if (full) {
        rest_ = sum;
        mean = sum / static_cast<double>(sets_.size());
        if (!(rest_ > kRestShare * (best_ - bound_))) return;
      }
      if (run_.exhausted(visits_.passes())) return;
    }
  }

  double improve(std::size_t i) {
    Workspace::Frame frame(ws_);
    const auto s = frame.take<double>(problem_.num_statistics(i));
    problem_.score(i, point_, 1.0, s, ws_);
    return improve(i, s);
  }
  double improve(std::size_t i, DoubleIn s) {
    Workspace::Frame frame(ws_);
    const auto delta = frame.take<double>(s.size());
    bool moved = false;
    const double gap = sets_[i].improve(problem_, i, s, delta, moved);
    if (!moved) return gap;
    for (double& d : delta) d /= objective_.regularizer.l2;
    problem_.accumulate(i, delta, point_, ws_);
    return gap;
  }

  // The dual of the multipliers as they are stored, and theta(alpha) recomputed from them.
  void evaluate_dual() {
    std::fill(point_.values().begin(), point_.values().end(), 0.0);
    const double linear =
        sweep_.accumulate(problem_, point_, [&](std::size_t i, DoubleOut delta, Workspace&) {
          const double value = sets_[i].dual(problem_, i, delta);
          for (double& d : delta) d /= objective_.regularizer.l2;
          return value;
        });
    bound_ = std::max(bound_, linear - objective_.regularizer.l2 / 2 * problem_.squared_norm(point_));
  }

  // A run that ends within its first pass has seen nothing of the weights that it leaves.
  void certify_start() {
    run_.pause();
    const double risk = sweep_.sum(problem_.size(), [&](std::size_t i, Workspace& ws) {
      Workspace::Frame frame(ws);
      const auto s = frame.take<double>(problem_.num_statistics(i)), chi = frame.take<double>(s.size());
      return problem_.weight(i) * most_violated(objective_, options_.rescaling, i, theta_, s, chi, ws).loss;
    });
    best_ = objective_.regularizer.l2 / 2 * problem_.squared_norm(theta_) + risk;
    run_.resume();
  }

  bool report() {
    run_.pause();
    const bool over = run_.report({best_, bound_, visits_.passes(), problem_.inference()}, theta_);
    run_.resume();
    return over;
  }

  const Objective& objective_;
  const Problem& problem_;
  const CuttingPlaneOptions& options_;
  Weights& theta_;  // the best so far
  Run run_;
  Visits visits_;
  Sweep sweep_;
  Random random_;
  std::vector<std::size_t> order_;
  std::vector<WorkingSet> sets_;
  std::vector<double> losses_, gaps_;
  Weights query_;
  DoubleWeights point_;  // theta(alpha) = w/l2
  Workspace ws_;
  double best_ = std::numeric_limits<double>::infinity(), bound_ = 0;
  double rest_ = 0;  // the gap that the last full round found in the working sets
  StallDetector stall_detector_;
};

}  // namespace

Summary n_slack(const Objective& objective, const CuttingPlaneOptions& options, Weights& theta,
                const Observer& observer) {
  ESPALIER_EXPECT(objective.problem.size() > 0 && objective.regularizer.l2 > 0);
  ESPALIER_EXPECT(theta.shape() == objective.problem.weight_shape());
  return NSlack(objective, options, theta, observer).solve();
}

}  // namespace espalier
