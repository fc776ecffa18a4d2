#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "espalier/features/weights.h"

namespace espalier {

template <class Real>
class RowChanges;   // features/row_changes.h
class ChangeLists;  // features/change_lists.h
class OwnedRows;    // features/owned_rows.h
class Team;         // base/team.h

using In = std::span<const float>;
using Out = std::span<float>;
using DoubleIn = std::span<const double>;
using DoubleOut = std::span<double>;

// What some problems can do and others cannot, one class each. Const and thread-safe, as the problem is.

// Clique marginals and the statistics that they add up to.
struct CliqueMeans {
  std::span<const float> cliques, mu;
};

// KL(x|to) at x = from + step(to - from), and its derivatives in the step.
struct DivergenceAlong {
  double value = 0, first = 0, second = 0;
};

// What some structures offer beyond tied statistics: marginals of their cliques, which determine an entropy.
// Solvers that mix marginals need it, and so does a hand-over from marginals to scores.
class Factored {
 public:
  virtual ~Factored() = default;
  virtual std::size_t num_clique_marginals(std::size_t i) const = 0;
  // Clique marginals of the distribution with scores s, with the statistics that they add up to; returns log
  // Z(s).
  virtual double clique_marginals(std::size_t i, std::span<const float> s, std::span<float> clique_mu,
                                  std::span<float> mu, Workspace& ws) const = 0;
  // How far it still is to the other on the way from one distribution to another: the Markov distribution x
  // with the mixed clique marginals.
  virtual DivergenceAlong divergence_along(std::size_t i, const CliqueMeans& from, const CliqueMeans& to,
                                           float step) const = 0;
  // A distribution whose clique marginals these are, up to their rounding: its statistics, and its entropy or
  // a little less.
  virtual double rebuild(std::size_t i, std::span<const float> clique_mu, std::span<double> mu) const = 0;

  // An output by its cliques: which of the clique marginals are 1 where all mass is on it. Every output has
  // num_cliques.
  virtual std::size_t num_cliques(std::size_t i) const = 0;
  virtual void cliques_of(std::size_t i, std::span<const float> chi,
                          std::span<std::uint32_t> cliques) const = 0;
  // The cliques of an output of lowest score among those all of whose cliques have mass. False: there is
  // none, which only rounding can bring about.
  virtual bool lowest(std::size_t i, std::span<const float> s, std::span<const float> clique_mu,
                      std::span<std::uint32_t> cliques, Workspace& ws) const = 0;
  // out += scale chi, of the output with these cliques.
  virtual void add_output(std::size_t i, std::span<const std::uint32_t> cliques, float scale,
                          std::span<float> out) const = 0;
  // u(y) of the distribution that clique marginals imply: their product over that of the marginals that
  // cliques share.
  virtual double probability(std::size_t i, std::span<const float> clique_mu,
                             std::span<const std::uint32_t> cliques) const = 0;
};

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
  double gap = 0;     // omega_i g_i, before
  double gain = 0;    // of the dual
  bool moved = true;  // false: mu is what it was
};

class BlockMaximisation {
 public:
  virtual ~BlockMaximisation() = default;
  // Maximises the dual of a loss with beta = infinity over the distribution of example i, the others as they
  // are. Requires its expected statistics mu and w = w(u); leaves those of the maximum in both.
  virtual BlockMaximum maximise_block(std::size_t i, double gamma, double l2, Out mu, Weights& w,
                                      Workspace& ws) const = 0;
  // The same where the quadratic term counts `crowding` times, and the weights are left to others: w += F_i
  // delta.
  virtual BlockMaximum propose_block(std::size_t i, double gamma, double l2, double crowding, Out mu,
                                     const Weights& w, Out delta, Workspace& ws) const = 0;
};

// Several threads on the same weights: each lists what its examples change, and then each makes the changes
// of the weights that it owns, without locks. Without it, one thread alone adds.
class Sharing {
 public:
  virtual ~Sharing() = default;
  // Which part of |F_i delta|^2 lies in rows of weights that another example, picked at random, changes too:
  // 0 for examples with nothing in common, 1 where each changes all. Roughly.
  virtual double overlap(std::size_t) const { return 1; }
  // Multiplications of one score of the example, roughly.
  virtual double score_work(std::size_t) const { return 0; }
  // Which rows of weights examples change, by so many owners, if that is always the same: found once, instead
  // of listed at every visit by the list_changes() of lists that were started with it.
  virtual std::shared_ptr<const OwnedRows> owned_rows(std::size_t /*shares*/, Team& /*team*/) const {
    return nullptr;
  }
  // Appends to lists what w += F_i delta adds. Making the changes of all examples in order, whoever makes
  // which, gives the bits of Problem::accumulate() (but for the sign of zeros).
  virtual void list_changes(std::size_t i, In delta, RowChanges<float>& changes, Workspace& ws) const = 0;
  virtual void list_changes(std::size_t i, DoubleIn delta, RowChanges<double>& changes,
                            Workspace& ws) const = 0;
  // Where whoever lists changes knows |F_i delta|^2 for little more: lists them anew, and returns it.
  virtual bool lists_with_norm() const { return false; }
  virtual double list_with_norm(std::size_t /*i*/, In /*delta*/, ChangeLists& /*lists*/,
                                Workspace& /*ws*/) const {
    return 0;
  }
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
