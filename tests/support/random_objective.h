#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>

#include "base/random.h"
#include "espalier/learning/dual_state.h"
#include "espalier/learning/loss.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
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

// Sequences whose outputs can be enumerated.
inline RandomChainOptions any_chain_options() {
  RandomChainOptions options;
  options.sequences = *rc::gen::inRange<std::size_t>(1, 7);
  options.longest = *rc::gen::inRange<std::size_t>(1, 6);
  options.labels = *rc::gen::inRange<std::size_t>(1, options.longest > 4 ? 4 : 6);
  options.attributes = *rc::gen::inRange<std::size_t>(1, 12);
  options.transition_attributes = *rc::gen::inRange<std::size_t>(1, 5);
  options.density = *rc::gen::element(0.0, 0.3, 0.7, 1.0);
  options.transitions = *rc::gen::element(Transitions::tied, Transitions::few, Transitions::different);
  options.unit_values = *rc::gen::arbitrary<bool>();
  options.constrained = *rc::gen::arbitrary<bool>();
  options.weighted = *rc::gen::arbitrary<bool>();
  return options;
}
// Of order 1, with weights for all features.
inline ChainData any_chain_data() {
  const RandomChainOptions options = any_chain_options();
  return random_chain_data(*rc::gen::arbitrary<std::uint64_t>(), options);
}
// Of any order, with weights for all features or those that were observed.
inline ChainData any_chain_data_of_any_shape() {
  RandomChainOptions options = any_chain_options();
  options.observed = *rc::gen::arbitrary<bool>();
  options.order = *rc::gen::inRange<std::size_t>(1, 5);
  return random_chain_data(*rc::gen::arbitrary<std::uint64_t>(), options);
}

// Sentences whose trees can be enumerated.
inline DependencyData any_dependencies() {
  RandomDependencyOptions options;
  options.sentences = *rc::gen::inRange<std::size_t>(1, 6);
  options.longest = *rc::gen::inRange<std::size_t>(1, 5);
  options.vocabulary = *rc::gen::element<std::size_t>(1, 4, 30);
  options.shape.projective = *rc::gen::arbitrary<bool>();
  options.shape.single_root = *rc::gen::arbitrary<bool>();
  options.shape.num_labels = *rc::gen::inRange<std::size_t>(1, options.longest > 3 ? 3 : 4);
  options.pruned = *rc::gen::arbitrary<bool>();
  options.second_order = options.shape.projective && *rc::gen::arbitrary<bool>();  // where that is exact
  options.bits = *rc::gen::element(8u, 11u);
  options.relation_bits = *rc::gen::element(4u, 8u);
  return random_dependencies(*rc::gen::arbitrary<std::uint64_t>(), options);
}

inline Weights any_weights(const Problem& problem) {
  const double size = *rc::gen::element(0.0, 0.1, 1.0, 10.0);
  return random_weights(*rc::gen::arbitrary<std::uint64_t>(), problem.weight_shape(), size);
}

// Scores from nearly uniform to saturated.
inline DualState any_dual(const Problem& problem) {
  DualState dual(problem);
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const double size = *rc::gen::element(0.1, 3.0, 100.0);
  Workspace ws;
  for (std::size_t i = 0; i < dual.size(); ++i) {
    for (float& s : dual.s(i)) s = static_cast<float>(size * (2 * random.uniform() - 1));
    dual.refresh(problem, i, ws);
  }
  return dual;
}

}  // namespace espalier::test_support
