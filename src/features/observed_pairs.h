#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "features/sequences.h"

namespace espalier {

class Communicator;

// Which labels each attribute was seen with in training: the pairs that have a weight where not all have one.
// Pair e of all, in the order of attributes, then of labels, is row e of weights that are one value wide. An
// attribute of a step goes with pairs of labels rather than with labels: before * L + after stands for one.
class ObservedPairs {
 public:
  ObservedPairs() = default;
  // Attribute a has the labels from offsets[a] to offsets[a + 1] - 1. Requires offsets that rise from 0 to
  // their number, and labels that rise strictly within an attribute.
  ObservedPairs(std::vector<std::uint64_t> offsets, std::vector<std::uint32_t> labels);

  std::size_t size() const { return labels_.size(); }
  std::size_t num_attributes() const { return offsets_.size() - 1; }
  std::size_t begin(std::size_t attribute) const { return offsets_[attribute]; }
  std::span<const std::uint32_t> labels(std::size_t attribute) const {
    return {labels_.data() + offsets_[attribute], offsets_[attribute + 1] - offsets_[attribute]};
  }
  // What a model file keeps.
  std::span<const std::uint64_t> offsets() const { return offsets_; }
  std::span<const std::uint32_t> labels() const { return labels_; }

 private:
  std::vector<std::uint64_t> offsets_{0};
  std::vector<std::uint32_t> labels_;
};

// Every attribute of a token with the labels that such tokens have, if its values there add up to at least
// `min_freq`; 0: whatever they are. Of ranks that have a share of the sequences each, the pairs of all, with
// the sums that one process would have.
ObservedPairs observed_pairs(const Sequences& sequences, std::span<const std::uint32_t> labels,
                             std::size_t num_attributes, double min_freq = 0, Communicator* fleet = nullptr);
// Every attribute of a step with the pairs of labels that it leads from and to, likewise.
ObservedPairs observed_steps(const Sequences& sequences, std::span<const std::uint32_t> labels,
                             std::size_t num_labels, std::size_t num_attributes, double min_freq = 0,
                             Communicator* fleet = nullptr);
// Every attribute with every label.
ObservedPairs all_pairs(std::size_t num_attributes, std::size_t num_labels);

}  // namespace espalier
