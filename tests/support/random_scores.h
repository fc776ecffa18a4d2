#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <limits>
#include <vector>

namespace espalier::test_support {

// Scores on n statistics, all of them floats so that both precisions see the same ones: from a narrow range
// or a wide one, with ties, and now and then +-1000. Finite, and smaller when shrunk.
inline rc::Gen<std::vector<double>> finite_scores(std::size_t n) {
  const auto in_range = [](double range) {
    return rc::gen::map(rc::gen::inRange(-10000, 10001), [range](int step) {
      return static_cast<double>(static_cast<float>(step * 1e-4 * range));
    });
  };
  const auto vector_of = [n](const rc::Gen<double>& score) {
    return rc::gen::container<std::vector<double>>(n, score);
  };
  const rc::Gen<double> extreme = rc::gen::element(-1000.0, 0.0, 1000.0);
  const rc::Gen<double> tied = rc::gen::element(-1.0, 0.0, 1.0);
  return rc::gen::oneOf(vector_of(in_range(0.1)), vector_of(in_range(3)), vector_of(in_range(30)),
                        vector_of(in_range(1000)), vector_of(tied),
                        vector_of(rc::gen::weightedOneOf<double>({{19, in_range(10)}, {1, extreme}})));
}

// The same with some scores of -infinity: none, a few or most.
inline rc::Gen<std::vector<double>> scores(std::size_t n) {
  return rc::gen::apply(
      [](std::vector<double> s, const std::vector<int>& dice, int threshold) {
        for (std::size_t k = 0; k < s.size(); ++k) {
          if (dice[k] < threshold) s[k] = -std::numeric_limits<double>::infinity();
        }
        return s;
      },
      finite_scores(n), rc::gen::container<std::vector<int>>(n, rc::gen::inRange(0, 100)),
      rc::gen::element(0, 0, 20, 90));
}

}  // namespace espalier::test_support
