#pragma once

#include <cstddef>
#include <cstdint>

#include "support/random_problem.h"

namespace espalier::test_support {

// The same objective from different data: the first example has the weight 2 in one, and occurs twice in the
// other.
struct WeightedTwice {
  explicit WeightedTwice(std::uint64_t seed)
      : weighted(random_data(seed, {.weighted = false})), repeated(weighted) {
    const SparseRows::Row first = weighted.rows.row(0);
    for (std::size_t j = 0; j < first.ids.size(); ++j) repeated.rows.add(first.ids[j], first.value(j));
    repeated.rows.finish_row();
    repeated.gold.push_back(weighted.gold[0]);
    weighted.omega.assign(weighted.gold.size(), 1.0);
    weighted.omega[0] = 2;
  }
  MulticlassData weighted, repeated;
};

}  // namespace espalier::test_support
