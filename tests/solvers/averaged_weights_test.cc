#include "solvers/averaged_weights.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "support/naive_online.h"
#include "support/random_objective.h"

namespace espalier::averaged_weights_test {
namespace {

using test_support::any_data;
using test_support::any_weights;
using test_support::distance;
using test_support::naive_online;
using test_support::OwnedProblem;

RC_GTEST_PROP(AveragedWeights, AreTheMeanOfWhatVisitsMeet, ()) {
  const OwnedProblem owned(any_data());
  const Weights start = any_weights(owned.problem);
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<std::size_t> order;
  std::vector<std::vector<double>> deltas;
  AveragedWeights weights(start, true), plain(start, false);
  Workspace ws;
  const auto visits = *rc::gen::inRange(0, 30);
  for (int t = 0; t < visits; ++t) {
    order.push_back(random.below(owned.problem.size()));
    const bool idle = random.below(4) == 0;  // a visit that changes nothing counts all the same
    deltas.emplace_back();
    std::vector<float> delta;
    for (std::size_t k = 0; k < owned.problem.num_statistics(order.back()); ++k) {
      delta.push_back(idle ? 0 : static_cast<float>(2 * random.uniform() - 1));
      deltas.back().push_back(delta.back());
    }
    weights.next_visit();
    plain.next_visit();
    if (idle) continue;
    std::vector<float> copy = delta;
    weights.add(owned.problem, order.back(), delta, ws);
    plain.add(owned.problem, order.back(), copy, ws);
  }
  std::size_t t = 0;
  const auto expected = naive_online(owned.problem, order, start,
                                     [&](std::size_t, const DoubleWeights&) { return deltas[t++]; });
  Weights mean, last;
  weights.mean(mean);
  plain.mean(last);
  RC_ASSERT(distance(mean, visits == 0 ? expected.last : expected.mean) < 3e-6);
  RC_ASSERT(distance(weights.current(), expected.last) < 3e-6);
  RC_ASSERT(distance(last, weights.current()) == 0);
}

}  // namespace
}  // namespace espalier::averaged_weights_test
