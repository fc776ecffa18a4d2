#include "support/random_problem.h"

#include <algorithm>

#include "base/random.h"

namespace espalier::test_support {
namespace {

double between(Random& random, double low, double high) { return low + (high - low) * random.uniform(); }

}  // namespace

MulticlassData random_data(std::uint64_t seed, const RandomDataOptions& options) {
  Random random(seed);
  MulticlassData data;
  data.attributes = options.attributes;
  data.labels = options.labels;

  // The rule that most labels follow.
  std::vector<double> rule(options.attributes * options.labels);
  for (double& r : rule) r = between(random, -1, 1);

  for (std::size_t i = 0; i < options.examples; ++i) {
    std::vector<double> scores(options.labels);
    for (std::size_t a = 0; a < options.attributes; ++a) {
      if (random.uniform() >= options.density) continue;
      const auto value = options.unit_values ? 1.0f : static_cast<float>(between(random, -1, 1));
      data.rows.add(static_cast<std::uint32_t>(a), value);
      for (std::size_t k = 0; k < options.labels; ++k) scores[k] += value * rule[a * options.labels + k];
    }
    data.rows.finish_row();
    const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    const bool noisy = random.uniform() < options.noise;
    data.gold.push_back(static_cast<std::uint32_t>(noisy ? random.below(options.labels) : best));
  }

  if (options.cost_matrix) {
    data.costs.resize(options.labels * options.labels);
    for (std::size_t gold = 0; gold < options.labels; ++gold) {
      for (std::size_t k = 0; k < options.labels; ++k) {
        const double cost = between(random, 0.5, 2);
        data.costs[gold * options.labels + k] = gold == k ? 0 : static_cast<float>(cost);
      }
    }
  }
  if (options.weighted) {
    for (std::size_t i = 0; i < options.examples; ++i) data.omega.push_back(between(random, 0.5, 2));
  }
  return data;
}

Weights random_weights(std::uint64_t seed, WeightShape shape, double size) {
  Random random(seed);
  Weights weights(shape);
  for (std::size_t r = 0; r < shape.rows; ++r) {
    for (std::size_t k = 0; k < shape.width; ++k)
      weights.row(r)[k] = static_cast<float>(between(random, -size, size));
  }
  return weights;
}

}  // namespace espalier::test_support
