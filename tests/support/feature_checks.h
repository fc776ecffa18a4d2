#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "espalier/learning/structured_problem.h"

namespace espalier::test_support {

// Checks the feature operator of every example, with random weights, scores and differences, in both
// precisions:
//   <F'w, delta> = <w, F delta>,  |F delta|^2 = squared_norm(delta),  score() scales,  accumulate() adds,
//   |F(z - chi(y))|^2 <= squared_diameter for outputs y found by argmax, and padding that stays zero.
// Answers with what is wrong, or with nothing. With a kernel, products and norms of weights are the kernel's.
std::string check_features(const Problem& problem, Random& random);

// The same in double alone, for problems that leave out what hardly moves where they are in a hurry.
std::string check_double_features(const Problem& problem, Random& random);

// Scores of weights with a threshold in these rows are those of the weights less the threshold.
// check_features() looks at thresholds of all rows.
std::string check_thresholds(const Problem& problem, const SoftThreshold& rows, Random& random);

// The gradient of the loss sum_i log Z_i(theta) - theta.F_i z_i is sum_i F_i (mu_i - z_i): along a random
// direction it is what central differences of the loss are.
std::string check_gradient(const Problem& problem, Random& random);

// What the owners of weights add from lists of changes is, to the bit, what accumulate() does, with any
// number of owners and in both precisions; and each weight has one owner.
std::string check_shares(const Problem& problem, Random& random);

// Steps in float may leave out what hardly moves, but nothing where all that moves moves by `size`.
std::string check_changes_of_one_size(const Problem& problem, float size, Random& random);

// |F(chi(a) - chi(b))|^2
template <class Examples, class Output>
double squared_distance(const StructuredProblem<Examples>& problem, std::size_t i, const Output& a,
                        const Output& b) {
  const auto structure = problem.examples().structure(i);
  std::vector<double> chi(structure.num_statistics()), difference(chi.size());
  structure.indicator(a, std::span(chi));
  structure.indicator(b, std::span(difference));
  for (std::size_t k = 0; k < chi.size(); ++k) difference[k] -= chi[k];
  Workspace ws;
  return problem.squared_norm(i, std::span<const double>(difference), ws);
}

// Random weights in [-1, 1), with zero padding.
DoubleWeights random_double_weights(Random& random, WeightShape shape);

}  // namespace espalier::test_support
