#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>

#include "espalier/learning/loss.h"
#include "support/random_problem.h"

namespace espalier::test_support {

// Draws for properties: each is to be called inside one.

// A preset, or any beta and gamma of ordinary size.
inline Loss any_loss() {
  const double beta = *rc::gen::inRange(1, 500) * 0.01, gamma = *rc::gen::inRange(0, 300) * 0.01;
  return *rc::gen::element(Loss::crf(), Loss::svm(), Loss::softmax_margin(), Loss::perceptron(),
                           Loss{beta, gamma}, Loss{Loss::svm().beta, gamma});
}
inline Loss any_smooth_loss() {
  const double beta = *rc::gen::inRange(1, 500) * 0.01, gamma = *rc::gen::inRange(0, 300) * 0.01;
  return *rc::gen::element(Loss::crf(), Loss::softmax_margin(), Loss{beta, gamma});
}
inline Loss any_maximum_loss() { return {Loss::svm().beta, *rc::gen::inRange(0, 300) * 0.01}; }

inline double any_l2() { return *rc::gen::element(0.01, 0.3, 1.0, 7.0, 1000.0); }

inline MulticlassData any_data() {
  RandomDataOptions options;
  options.examples = *rc::gen::inRange<std::size_t>(1, 9);
  options.attributes = *rc::gen::inRange<std::size_t>(1, 12);
  options.labels = *rc::gen::inRange<std::size_t>(1, 12);
  options.unit_values = *rc::gen::arbitrary<bool>();
  options.cost_matrix = *rc::gen::arbitrary<bool>();
  options.weighted = *rc::gen::arbitrary<bool>();
  return random_data(*rc::gen::arbitrary<std::uint64_t>(), options);
}

}  // namespace espalier::test_support
