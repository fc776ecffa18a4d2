#pragma once

#include <string>

#include "espalier/base/random.h"
#include "espalier/learning/problem.h"

namespace espalier::test_support {

// Checks the feature operator of every example, with random weights, scores and differences, in both
// precisions:
//   <F'w, delta> = <w, F delta>,  |F delta|^2 = squared_norm(delta),  score() scales,  accumulate() adds,
//   |F(z - chi(y))|^2 <= squared_diameter for outputs y found by argmax, and padding that stays zero.
// Answers with what is wrong, or with nothing. For problems whose weights have the Euclidean norm.
std::string check_features(const Problem& problem, Random& random);

// Random weights in [-1, 1), with zero padding.
DoubleWeights random_double_weights(Random& random, WeightShape shape);

}  // namespace espalier::test_support
