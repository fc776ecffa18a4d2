#include "support/random_chain.h"

#include "base/random.h"
#include "features/sequences.h"
#include "structures/chain.h"

namespace espalier::test_support {
namespace {

double between(Random& random, double low, double high) { return low + (high - low) * random.uniform(); }

void add_row(Random& random, const RandomChainOptions& options, std::size_t attributes, SparseRows& rows) {
  for (std::size_t a = 0; a < attributes; ++a) {
    if (random.uniform() >= options.density) continue;
    const auto value = options.unit_values ? 1.0f : static_cast<float>(between(random, -1, 1));
    rows.add(static_cast<std::uint32_t>(a), value);
  }
  rows.finish_row();
}

Sequences random_sequences(Random& random, const RandomChainOptions& options) {
  Sequences sequences;
  for (std::size_t i = 0; i < options.sequences; ++i) {
    sequences.offsets.push_back(sequences.num_tokens() + 1 + random.below(options.longest));
  }
  for (std::size_t t = 0; t < sequences.num_tokens(); ++t) {
    add_row(random, options, options.attributes, sequences.tokens);
  }
  if (options.transitions == Transitions::tied) {
    add_row(random, options, options.transition_attributes, sequences.transitions);
    return sequences;
  }
  const bool few = options.transitions == Transitions::few;
  const std::size_t rows = few ? 3 : sequences.num_tokens();
  if (few) sequences.transitions.finish_row();
  while (sequences.transitions.size() < rows) {
    add_row(random, options, options.transition_attributes, sequences.transitions);
  }
  for (std::size_t t = 0; t < sequences.num_tokens(); ++t) {
    sequences.transition_of.push_back(static_cast<std::uint32_t>(few ? random.below(rows) : t));
  }
  return sequences;
}

ChainConstraints random_constraints(Random& random, std::size_t labels) {
  const auto mask = [&](std::size_t n) {
    std::vector<std::uint8_t> allowed(n);
    for (auto& a : allowed) a = random.uniform() < 0.75 ? 1 : 0;
    allowed[0] = 1;
    return allowed;
  };
  ChainConstraints constraints;
  constraints.first = mask(labels);
  constraints.last = mask(labels);
  constraints.step = mask(labels * labels);
  return constraints;
}

}  // namespace

ChainData random_chain_data(std::uint64_t seed, const RandomChainOptions& options) {
  Random random(seed);
  ChainData data;
  data.shape = {options.attributes, options.transition_attributes, options.labels};
  data.sequences = random_sequences(random, options);
  if (options.constrained) data.constraints = random_constraints(random, options.labels);

  // Weights that leave little doubt about most labels.
  DoubleWeights model(data.shape.weights());
  for (std::size_t r = 0; r < model.shape().rows; ++r) {
    for (std::size_t k = 0; k < options.labels; ++k) model.row(r)[k] = between(random, -4, 4);
  }
  const ChainFeatures features(data.sequences, data.shape);
  Workspace ws;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const Chain chain = chain_of(features, i, data.constraints ? &*data.constraints : nullptr);
    std::vector<double> s(chain.num_statistics());
    features.score(i, model, 1.0, s, ws);
    const Chain::Output y = chain.sample(s, random, ws);
    data.gold.insert(data.gold.end(), y.begin(), y.end());
  }
  data.shape =
      chain_shape(data.shape, {options.observed, options.observed}, options.order, data.sequences, data.gold);
  if (options.weighted) {
    for (std::size_t i = 0; i < options.sequences; ++i) data.omega.push_back(between(random, 0.5, 2));
  }
  return data;
}

}  // namespace espalier::test_support
