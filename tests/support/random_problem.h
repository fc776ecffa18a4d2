#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "espalier/features/sparse_rows.h"
#include "learning/multiclass_problem.h"

namespace espalier::test_support {

// Everything that a multi-class problem is made of, so that a test may change a piece before the problem is
// built.
struct MulticlassData {
  SparseRows rows;
  std::size_t attributes = 0, labels = 0;
  std::vector<std::uint32_t> gold;
  std::vector<float> costs;   // labels x labels, or empty for 0/1
  std::vector<double> omega;  // one an example, or empty for all 1
};

struct RandomDataOptions {
  std::size_t examples = 30, attributes = 10, labels = 4;
  double density = 0.4;      // the chance that a row names an attribute; rows may be empty
  double noise = 0.2;        // the share of labels that are drawn at random; the others follow a linear rule
  bool unit_values = false;  // all values 1, or any in [-1, 1)
  bool cost_matrix = true;   // costs in [0.5, 2), without symmetry; or 0/1
  bool weighted = true;      // weights in [0.5, 2); or all 1
};

// The same seed and options give the same data.
MulticlassData random_data(std::uint64_t seed, const RandomDataOptions& options = {});

// A problem with the rows that it refers to. Stays where it was built.
struct OwnedProblem {
  explicit OwnedProblem(MulticlassData from)
      : data(std::move(from)),
        problem(
            MulticlassExamples(data.rows, data.attributes, data.gold, data.labels, data.costs, data.omega)) {}
  explicit OwnedProblem(std::uint64_t seed, const RandomDataOptions& options = {})
      : OwnedProblem(random_data(seed, options)) {}
  OwnedProblem(const OwnedProblem&) = delete;
  OwnedProblem& operator=(const OwnedProblem&) = delete;

  const MulticlassData data;
  const MulticlassProblem problem;
};

// Weights drawn from [-size, size), with zero padding.
Weights random_weights(std::uint64_t seed, WeightShape shape, double size = 1);

}  // namespace espalier::test_support
