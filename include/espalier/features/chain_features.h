#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "espalier/features/sequences.h"
#include "espalier/features/weights.h"

namespace espalier {

// Where the weights of a chain lie: one row of L for each attribute of a token, then L rows (one a label before) for each
// attribute of a transition.
struct ChainShape {
  std::size_t num_attributes = 0, num_transition_attributes = 0, num_labels = 0;
  WeightShape weights() const {
    return {num_attributes + num_transition_attributes * num_labels, num_labels};
  }
};

// The scores of one sequence that is not part of a problem, sequence 0 of `sequences`: nodes, then a table for each of
// `tables`, rows of sequences.transitions.
void score_sequence(const Sequences& sequences, std::span<const std::uint32_t> tables,
                    const ChainShape& shape, WeightsView theta, std::span<float> s);
void score_sequence(const Sequences& sequences, std::span<const std::uint32_t> tables,
                    const ChainShape& shape, WeightsView theta, std::span<double> s);

}  // namespace espalier
