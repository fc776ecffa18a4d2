#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <rapidcheck.h>

#include "structures/chain.h"

namespace espalier::test_support {

// Inference in probabilities is that in logarithms.
inline void check_fast_way(const Chain& chain, const std::vector<double>& s) {
  std::vector<double> fast(s.size()), exact(s.size());
  Workspace ws;
  const double log_z = chain.log_partition(std::span<const double>(s), std::span(fast), ws);
  const double exact_log_z = chain.log_partition_reference(s, exact, ws);
  if (exact_log_z == -std::numeric_limits<double>::infinity()) {
    RC_ASSERT(log_z == exact_log_z);
    RC_ASSERT(fast == exact);
    return;
  }
  RC_ASSERT(std::abs(log_z - exact_log_z) <= 1e-12 * (1 + std::abs(exact_log_z)));
  for (std::size_t k = 0; k < s.size(); ++k) RC_ASSERT(std::abs(fast[k] - exact[k]) <= 1e-11);
}

}  // namespace espalier::test_support
