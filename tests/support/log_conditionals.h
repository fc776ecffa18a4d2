#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "structures/chain.h"
#include "structures/multiclass.h"

namespace espalier::test_support {

// Scores on cliques whose distribution has these clique marginals; -infinity where there are none.

inline void log_conditionals(const Multiclass&, std::span<const double> clique_mu, std::span<double> s) {
  for (std::size_t k = 0; k < s.size(); ++k) s[k] = std::log(clique_mu[k]);
}

// log mu(y_t, y_{t+1}) - log mu(y_t), and for the first pair log mu(y_0, y_1).
inline void log_conditionals(const Chain& chain, std::span<const double> clique_mu,
                             std::span<double> clique_s) {
  const std::size_t labels = chain.num_labels();
  for (std::size_t k = 0; k < clique_mu.size(); ++k) clique_s[k] = std::log(clique_mu[k]);
  for (std::size_t t = 1; t + 1 < chain.length(); ++t) {
    for (std::size_t i = 0; i < labels; ++i) {
      const std::size_t row = (t * labels + i) * labels;
      double node = 0;
      for (std::size_t j = 0; j < labels; ++j) node += clique_mu[row + j];
      if (node == 0) continue;  // its pairs are at -infinity already
      for (std::size_t j = 0; j < labels; ++j) clique_s[row + j] -= std::log(node);
    }
  }
}

}  // namespace espalier::test_support
