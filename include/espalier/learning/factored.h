#pragma once

#include <cstddef>
#include <span>

#include "espalier/base/workspace.h"

namespace espalier {

// What some structures offer beyond tied statistics: marginals of their cliques, which determine an entropy.
// Solvers that mix marginals need it, and so does a hand-over from marginals to scores.
class Factored {
 public:
  virtual ~Factored() = default;
  virtual std::size_t num_clique_marginals(std::size_t i) const = 0;
  // Clique marginals of the distribution with scores s.
  virtual void clique_marginals(std::size_t i, std::span<const double> s, std::span<double> clique_mu,
                                Workspace& ws) const = 0;
  // The statistics that these clique marginals add up to.
  virtual void statistics(std::size_t i, std::span<const double> clique_mu, std::span<double> mu) const = 0;
  virtual double clique_entropy(std::size_t i, std::span<const double> clique_mu) const = 0;
  // Scores on cliques whose distribution has these marginals.
  virtual void log_conditionals(std::size_t i, std::span<const double> clique_mu,
                                std::span<double> clique_s) const = 0;
};

}  // namespace espalier
