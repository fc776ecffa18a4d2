#pragma once

namespace espalier {

// What log-partitions and marginals are, and so what primal and dual bound. From better to worse: of several examples the
// worst one counts.
enum class Inference {
  exact,        // the optimum
  relaxed,      // convex upper bounds with their gradients: the optimum of a relaxed problem
  approximate,  // nothing
};

}  // namespace espalier
