#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/base/workspace.h"

namespace espalier {

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

}  // namespace espalier
