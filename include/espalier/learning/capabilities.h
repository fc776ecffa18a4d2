#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "espalier/features/weights.h"
#include "espalier/learning/factored.h"

namespace espalier {

using In = std::span<const float>;
using Out = std::span<float>;
using DoubleIn = std::span<const double>;
using DoubleOut = std::span<double>;

// What some problems can do and others cannot, one class each. Const and thread-safe, as the problem is.

// Norms and products where weights are coefficients of a kernel's expansion, so that they are not those of
// their elements.
class KernelGeometry {
 public:
  virtual ~KernelGeometry() = default;
  virtual double squared_norm(const Weights& w) const = 0;
  virtual double squared_norm(const DoubleWeights& w) const = 0;
  // a.b, which goes with these norms.
  virtual double inner_product(const DoubleWeights& a, const DoubleWeights& b) const = 0;
};

class SlackRescaling {
 public:
  virtual ~SlackRescaling() = default;
  // The largest cost_i(y)(gamma + s.(chi(y) - z_i)) of all outputs y (slack rescaling: Zhang et al. 2011,
  // equation 42), and chi of an output that has it.
  virtual double slack_argmax(std::size_t i, DoubleIn s, double gamma, DoubleOut chi,
                              Workspace& ws) const = 0;
};

class Ranking {
 public:
  virtual ~Ranking() = default;
  // The statistics of the k best outputs, best first, K_i numbers each in `chis`; fewer where there are not
  // k. Returns how many. Allocates.
  virtual std::size_t kbest(std::size_t i, DoubleIn s, std::size_t k, std::vector<double>& chis,
                            Workspace& ws) const = 0;
};

// What maximising the dual over one example's distribution found and did.
struct BlockMaximum {
  double gap = 0;   // omega_i g_i, before
  double gain = 0;  // of the dual
};

class BlockMaximisation {
 public:
  virtual ~BlockMaximisation() = default;
  // Maximises the dual of a loss with beta = infinity over the distribution of example i, the others as they
  // are. Requires its expected statistics mu and w = w(u); leaves those of the maximum in both.
  virtual BlockMaximum maximise_block(std::size_t i, double gamma, double l2, Out mu, Weights& w,
                                      Workspace& ws) const = 0;
};

// Several threads on the same weights. Without it, whatever threads add at the same time may be lost, and one
// thread alone adds where nothing may be.
class Sharing {
 public:
  virtual ~Sharing() = default;
  // Which part of |F_i delta|^2 lies in rows of weights that another example, picked at random, changes too:
  // 0 for examples with nothing in common, 1 where each changes all. Roughly.
  virtual double overlap(std::size_t) const { return 1; }
  // w += F_i delta where other threads add to these weights, and read them, at the same time. What is added
  // may be lost in rows that few examples have, where it hardly ever happens, but not in those that many
  // have.
  virtual void accumulate_shared(std::size_t i, In delta, Weights& w, Workspace& ws) const = 0;
  // The same for the rows of a share: threads with different ones do not meet.
  virtual void accumulate(std::size_t i, DoubleIn delta, RowShare share, DoubleWeights& w,
                          Workspace& ws) const = 0;
};

// nullptr: the problem has none.
struct Capabilities {
  const Factored* factored = nullptr;  // clique marginals
  const KernelGeometry* kernel = nullptr;
  const SlackRescaling* slack_rescaling = nullptr;
  const Ranking* ranking = nullptr;
  const BlockMaximisation* block_maximisation = nullptr;
  const Sharing* sharing = nullptr;
};

}  // namespace espalier
