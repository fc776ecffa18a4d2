#pragma once

#include <cstddef>

#include "espalier/base/memory.h"
#include "espalier/base/progress.h"
#include "espalier/base/workspace.h"
#include "espalier/features/weights.h"
#include "espalier/learning/capabilities.h"

namespace espalier {

class Communicator;

// Nats that a wrong part is behind the right one in duals that start near the gold outputs
// (Problem::add_near_gold). Much less than 10 leaves so much mass on wrong outputs that |w(u)|^2 of thousands
// of examples swamps the dual; much more only takes longer to come back from, and every mass has to be a
// float.
inline constexpr float kGoldLogOdds = 12;

// All that a solver may know of a learning problem: n examples, each with K_i statistics, a gold output z_i,
// a cost p_i.chi(y) + q_i (zero at the gold output), a weight omega_i and a linear feature operator F_i.
// Const and thread-safe, with one Workspace a thread. Float for the hot path, double for certificates, L-BFGS
// and tests. What not every solver needs, nor every problem has, are its capabilities.
class Problem {
 public:
  virtual ~Problem() = default;

  virtual std::size_t size() const = 0;  // n
  // Where these examples are the share of one rank of several: who adds up over all of them. nullptr: they
  // are all that there are.
  virtual Communicator* fleet() const { return nullptr; }
  virtual std::size_t total_size() const { return size(); }     // of all ranks
  virtual std::size_t num_statistics(std::size_t i) const = 0;  // K_i
  virtual WeightShape weight_shape() const = 0;
  virtual double weight(std::size_t) const { return 1; }       // omega_i > 0
  virtual double cost_offset(std::size_t) const { return 0; }  // q_i
  // An upper bound on |F_i(z_i - chi(y))|^2 over all outputs y.
  virtual double squared_diameter(std::size_t i) const = 0;
  // |F_i(chi(y) - chi(y'))|^2 for two outputs that differ in one part, a label of a sequence say: what steps
  // on this example typically move. Roughly: solvers scale their first steps by it.
  virtual double squared_change(std::size_t i) const { return squared_diameter(i); }

  virtual void add_gold(std::size_t i, float scale, Out out) const = 0;  // += scale z_i
  virtual void add_gold(std::size_t i, double scale, DoubleOut out) const = 0;
  virtual void add_cost(std::size_t i, float scale, Out out) const = 0;  // += scale p_i
  virtual void add_cost(std::size_t i, double scale, DoubleOut out) const = 0;
  // s += scores of a distribution near z_i, which has other outputs kappa nats behind for each part that
  // differs. By its cost: right where a part that differs costs about 1.
  virtual void add_near_gold(std::size_t i, float kappa, Out s) const { add_cost(i, -kappa, s); }

  virtual void score(std::size_t i, const Weights& w, float scale, Out s,
                     Workspace&) const = 0;  // s = scale F_i' w
  virtual void score(std::size_t i, const Weights& w, double scale, DoubleOut s, Workspace&) const = 0;
  virtual void score(std::size_t i, const DoubleWeights& w, double scale, DoubleOut s, Workspace&) const = 0;
  virtual void accumulate(std::size_t i, In delta, Weights& w, Workspace&) const = 0;  // w += F_i delta
  virtual void accumulate(std::size_t i, DoubleIn delta, DoubleWeights& w, Workspace&) const = 0;
  virtual double squared_norm(std::size_t i, In delta, Workspace&) const = 0;  // |F_i delta|^2
  virtual double squared_norm(std::size_t i, DoubleIn delta, Workspace&) const = 0;

  // In double, mu may be empty: log Z alone.
  virtual double log_partition(std::size_t i, In s, Out mu, Workspace&) const = 0;
  virtual double log_partition(std::size_t i, DoubleIn s, DoubleOut mu, Workspace&) const = 0;
  virtual double argmax(std::size_t i, In s, Out mu, Workspace&) const = 0;
  virtual double argmax(std::size_t i, DoubleIn s, DoubleOut mu, Workspace&) const = 0;
  // Of log-partitions and their marginals.
  virtual Inference inference() const { return Inference::exact; }

  // Shifts a direction of scores by what is the same for every output, so that its mean under mu is zero and
  // scores that are moved along it many times stay small.
  virtual void centre(std::size_t, In /*mu*/, Out /*d*/) const {}
  // A hint that example i is visited soon.
  virtual void prefetch(std::size_t, Prefetch) const {}

  virtual Capabilities capabilities() const { return {}; }
  const Factored* factored() const { return capabilities().factored; }
  const KernelGeometry* kernel() const { return capabilities().kernel; }
  const SlackRescaling* slack_rescaling() const { return capabilities().slack_rescaling; }
  const Ranking* ranking() const { return capabilities().ranking; }
  const BlockMaximisation* block_maximisation() const { return capabilities().block_maximisation; }
  const Sharing* sharing() const { return capabilities().sharing; }

  // |w|^2 and a.b: the kernel's, where there is one.
  template <class Real>
  double squared_norm(const BasicWeights<Real>& w) const {
    const KernelGeometry* geometry = kernel();
    return geometry ? geometry->squared_norm(w) : euclidean_squared_norm(w);
  }
  double inner_product(const DoubleWeights& a, const DoubleWeights& b) const {
    const KernelGeometry* geometry = kernel();
    return geometry ? geometry->inner_product(a, b) : euclidean_inner_product(a, b);
  }
};

}  // namespace espalier
