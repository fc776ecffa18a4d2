#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/prefetch.h"
#include "espalier/base/workspace.h"
#include "espalier/features/weights.h"
#include "espalier/learning/factored.h"

namespace espalier {

using In = std::span<const float>;
using Out = std::span<float>;
using DoubleIn = std::span<const double>;
using DoubleOut = std::span<double>;

// What maximising the dual over one example's distribution found and did.
struct BlockMaximum {
  double gap = 0;   // omega_i g_i, before
  double gain = 0;  // of the dual
};

// All that a solver may know of a learning problem: n examples, each with K_i statistics, a gold output z_i,
// a cost p_i.chi(y) + q_i (zero at the gold output), a weight omega_i and a linear feature operator F_i.
// Const and thread-safe, with one Workspace a thread. Float for the hot path, double for certificates, L-BFGS
// and tests.
class Problem {
 public:
  virtual ~Problem() = default;

  virtual std::size_t size() const = 0;                         // n
  virtual std::size_t num_statistics(std::size_t i) const = 0;  // K_i
  virtual WeightShape weight_shape() const = 0;
  virtual double weight(std::size_t) const { return 1; }       // omega_i > 0
  virtual double cost_offset(std::size_t) const { return 0; }  // q_i
  // An upper bound on |F_i(z_i - chi(y))|^2 over all outputs y.
  virtual double squared_diameter(std::size_t i) const = 0;
  // |F_i(chi(y) - chi(y'))|^2 for two outputs that differ in one part, a label of a sequence say: what steps on this
  // example typically move. Roughly: solvers scale their first steps by it.
  virtual double squared_change(std::size_t i) const { return squared_diameter(i); }

  // Which part of |F_i delta|^2 lies in rows of weights that another example, picked at random, changes too: 0 for examples
  // with nothing in common, 1 where each changes all. Roughly: solvers with several threads count on it.
  virtual double overlap(std::size_t) const { return 1; }

  virtual void add_gold(std::size_t i, float scale, Out out) const = 0;  // += scale z_i
  virtual void add_gold(std::size_t i, double scale, DoubleOut out) const = 0;
  virtual void add_cost(std::size_t i, float scale, Out out) const = 0;  // += scale p_i
  virtual void add_cost(std::size_t i, double scale, DoubleOut out) const = 0;
  // s += scores of a distribution near z_i, which has other outputs kappa nats behind for each part that differs. By its
  // cost: right where a part that differs costs about 1.
  virtual void add_near_gold(std::size_t i, float kappa, Out s) const { add_cost(i, -kappa, s); }

  virtual void score(std::size_t i, const Weights& w, float scale, Out s,
                     Workspace&) const = 0;  // s = scale F_i' w
  virtual void score(std::size_t i, const Weights& w, double scale, DoubleOut s, Workspace&) const = 0;
  virtual void score(std::size_t i, const DoubleWeights& w, double scale, DoubleOut s, Workspace&) const = 0;
  virtual void accumulate(std::size_t i, In delta, Weights& w, Workspace&) const = 0;  // w += F_i delta
  virtual void accumulate(std::size_t i, DoubleIn delta, DoubleWeights& w, Workspace&) const = 0;
  // The same where other threads add to these weights, and read them, at the same time. What is added may be lost in rows that
  // few examples have, where it hardly ever happens, but not in those that many have.
  virtual void accumulate_shared(std::size_t i, In delta, Weights& w, Workspace& ws) const {
    accumulate(i, delta, w, ws);
  }
  // The same for the rows of a share: threads with different ones do not meet. A problem that cannot tell leaves all rows to
  // the first share.
  virtual void accumulate(std::size_t i, DoubleIn delta, RowShare share, DoubleWeights& w,
                          Workspace& ws) const {
    if (share.part == 0) accumulate(i, delta, w, ws);
  }
  virtual double squared_norm(std::size_t i, In delta, Workspace&) const = 0;  // |F_i delta|^2
  virtual double squared_norm(std::size_t i, DoubleIn delta, Workspace&) const = 0;
  virtual double squared_norm(const Weights& w) const {
    return euclidean_squared_norm(w);
  }  // a kernel's is another
  virtual double squared_norm(const DoubleWeights& w) const { return euclidean_squared_norm(w); }
  // a.b, which goes with these norms.
  virtual double inner_product(const DoubleWeights& a, const DoubleWeights& b) const {
    return euclidean_inner_product(a, b);
  }
  // False where weights are coefficients of a kernel's expansion: then norms and products are not those of their elements.
  virtual bool euclidean() const { return true; }

  virtual double log_partition(std::size_t i, In s, Out mu, Workspace&) const = 0;
  virtual double log_partition(std::size_t i, DoubleIn s, DoubleOut mu, Workspace&) const = 0;
  virtual double argmax(std::size_t i, In s, Out mu, Workspace&) const = 0;
  virtual double argmax(std::size_t i, DoubleIn s, DoubleOut mu, Workspace&) const = 0;
  // The statistics of the k best outputs, best first, K_i numbers each in `chis`; fewer where there are not k. Returns how many.
  // Allocates. A problem without has_kbest() knows the best one alone.
  virtual std::size_t kbest(std::size_t i, DoubleIn s, std::size_t /*k*/, std::vector<double>& chis,
                            Workspace& ws) const {
    chis.resize(s.size());
    argmax(i, s, chis, ws);
    return 1;
  }
  virtual bool has_kbest() const { return false; }

  // The largest cost_i(y)(gamma + s.(chi(y) - z_i)) of all outputs y (slack rescaling: Zhang et al. 2011, equation 42), and
  // chi of an output that has it. Requires rescales_slack().
  virtual double slack_argmax(std::size_t, DoubleIn /*s*/, double /*gamma*/, DoubleOut /*chi*/,
                              Workspace&) const {
    ESPALIER_EXPECT(rescales_slack());
    return 0;
  }
  virtual bool rescales_slack() const { return false; }

  // Maximises the dual of a loss with beta = infinity over the distribution of example i, the others as they are. Requires its
  // expected statistics mu and w = w(u); leaves those of the maximum in both. Requires maximises_blocks().
  virtual BlockMaximum maximise_block(std::size_t, double /*gamma*/, double /*l2*/, Out /*mu*/,
                                      Weights& /*w*/, Workspace&) const {
    ESPALIER_EXPECT(maximises_blocks());
    return {};
  }
  virtual bool maximises_blocks() const { return false; }

  // Shifts a direction of scores by what is the same for every output, so that its mean under mu is zero and scores that
  // are moved along it many times stay small.
  virtual void centre(std::size_t, In /*mu*/, Out /*d*/) const {}
  // A hint that example i is visited soon.
  virtual void prefetch(std::size_t, Prefetch) const {}
  virtual const Factored* factored() const { return nullptr; }
  // False where log_partition and its marginals are approximations: then primal and dual are, too, and bound nothing.
  virtual bool exact() const { return true; }
  // True where log_partition is a convex upper bound and its marginals are the gradient of that: then primal and dual are those of
  // a relaxed problem, whose optimum the gap is one to.
  virtual bool relaxed() const { return false; }
};

}  // namespace espalier
