#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "features/sequences.h"
#include "learning/chain_problem.h"

namespace espalier::test_support {

// Everything that a problem of label sequences is made of, so that a test may change a piece before the
// problem is built.
struct ChainData {
  Sequences sequences;
  ChainShape shape;
  std::vector<std::uint32_t> gold;
  std::optional<ChainConstraints> constraints;
  std::vector<double> omega;  // one a sequence, or empty for all 1
};

enum class Transitions {
  tied,       // one set of attributes for every step
  few,        // three of them, the first one empty
  different,  // one for each step
};

struct RandomChainOptions {
  std::size_t sequences = 12, longest = 5, labels = 3;  // lengths from 1 to longest
  std::size_t attributes = 10, transition_attributes = 3;
  double density = 0.4;  // the chance that a token or a step names an attribute; rows may be empty
  Transitions transitions = Transitions::tied;
  bool unit_values = false;  // all values 1, or any in [-1, 1)
  bool constrained = false;  // some labels and steps are not allowed; label 0 throughout always is
  bool weighted = true;      // weights in [0.5, 2); or all 1
  bool observed = false;     // only features seen have weights
  std::size_t order = 1;
};

// Gold sequences are drawn from a random model of the same shape. The same seed and options give the same
// data.
ChainData random_chain_data(std::uint64_t seed, const RandomChainOptions& options = {});

// A problem with the data that it refers to. Stays where it was built.
struct OwnedChainProblem {
  explicit OwnedChainProblem(ChainData from)
      : data(std::move(from)),
        problem(ChainExamples(data.sequences, data.shape, data.gold,
                              data.constraints ? &*data.constraints : nullptr, data.omega)) {}
  explicit OwnedChainProblem(std::uint64_t seed, const RandomChainOptions& options = {})
      : OwnedChainProblem(random_chain_data(seed, options)) {}
  OwnedChainProblem(const OwnedChainProblem&) = delete;
  OwnedChainProblem& operator=(const OwnedChainProblem&) = delete;

  // The gold labels of sequence i.
  Chain::Output gold(std::size_t i) const {
    const auto begin = data.gold.begin() + static_cast<std::ptrdiff_t>(data.sequences.offsets[i]);
    return {begin, begin + static_cast<std::ptrdiff_t>(data.sequences.length(i))};
  }

  const ChainData data;
  const ChainProblem problem;
};

}  // namespace espalier::test_support
