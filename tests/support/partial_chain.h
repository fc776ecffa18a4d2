#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "learning/chain_latent_gold.h"
#include "support/all_outputs.h"
#include "support/enumeration.h"
#include "support/random_chain.h"

namespace espalier::test_support {

// Sequences whose labels are hidden here and there. Stays where it was built.
struct OwnedPartialChain {
  // Each label is hidden among others with the chance `hidden`; the first sequence stays as it is.
  OwnedPartialChain(ChainData from, double hidden, std::uint64_t seed, std::vector<float> label_costs = {})
      : data(std::move(from)),
        costs(std::move(label_costs)),
        partial(hide(data, hidden, seed, costs)),
        problem(make(*this)),
        latent(problem, partial) {}
  OwnedPartialChain(const OwnedPartialChain&) = delete;
  OwnedPartialChain& operator=(const OwnedPartialChain&) = delete;

  // All outputs that the labels of sequence i leave possible.
  std::vector<Chain::Output> allowed_outputs(std::size_t i) const {
    std::vector<Chain::Output> outputs;
    const std::size_t labels = data.shape.num_labels;
    const PartialGold::Sequence* sequence = std::as_const(*partial).find(i);
    for (const auto& y : all_outputs(problem.examples().structure(i))) {
      bool allowed = true;
      for (std::size_t t = 0; t < y.size(); ++t) {
        allowed = allowed && (sequence ? sequence->allowed[t * labels + y[t]] != 0
                                       : y[t] == data.gold[data.sequences.offsets[i] + t]);
      }
      if (allowed) outputs.push_back(y);
    }
    return outputs;
  }

  const ChainData data;
  const std::vector<float> costs;
  const std::shared_ptr<PartialGold> partial;
  const ChainProblem problem;
  ChainLatentGold latent;

 private:
  static std::shared_ptr<PartialGold> hide(const ChainData& data, double hidden, std::uint64_t seed,
                                           const std::vector<float>& costs) {
    Random random(seed);
    auto partial = std::make_shared<PartialGold>(data.sequences.size());
    const std::size_t labels = data.shape.num_labels;
    for (std::size_t i = 1; i < data.sequences.size(); ++i) {
      std::vector<std::uint8_t> allowed(data.sequences.length(i) * labels, 0);
      for (std::size_t t = 0; t < data.sequences.length(i); ++t) {
        allowed[t * labels + data.gold[data.sequences.offsets[i] + t]] = 1;
        if (random.uniform() >= hidden) continue;
        const double chance = random.uniform();
        for (std::size_t j = 0; j < labels; ++j) {
          if (random.uniform() < chance) allowed[t * labels + j] = 1;
        }
      }
      partial->add(i, std::move(allowed), labels, costs);
    }
    return partial;
  }
  static ChainExamples make(const OwnedPartialChain& of) {
    ChainExamples examples(of.data.sequences, of.data.shape, of.data.gold,
                           of.data.constraints ? &*of.data.constraints : nullptr, of.data.omega);
    examples.set_costs(of.costs);
    examples.set_partial(of.partial);
    return examples;
  }
};

}  // namespace espalier::test_support
