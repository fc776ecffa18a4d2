#pragma once

#include <span>

#include "espalier/base/workspace.h"
#include "structures/head_factors.h"

namespace espalier {

struct BoundOfTrees {
  double log_z;    // an upper bound, converged or not
  bool converged;  // all factors agree about the probability of every arc, within 1e-6
  int rounds;      // at most 100
};

// An upper bound of the sum over all trees with scores of parts, siblings adjacent, and its gradient: mu has
// the probability of each arc, as an arc matrix, part_mu that of each part. mu is always that of a
// distribution over trees; parts agree with it where the bound has converged. -infinity and zeros, if no tree
// is left.
BoundOfTrees tree_bound(const SecondOrderArcs& of, std::span<double> mu, std::span<double> part_mu,
                        Workspace& ws);

}  // namespace espalier
