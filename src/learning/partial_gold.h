#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier {

// The gold outputs of sequences whose labels are not all known for sure: the labels that each token may have,
// and in the place of chi(y_i) gold statistics z_i, a mean over the sequences that are possible.
class PartialGold {
 public:
  struct Sequence {
    std::size_t example;
    std::vector<std::uint8_t> allowed;  // length x L: 1 where token t may have label j
    std::vector<float> cost;            // length x L: p_tj, the least cost against a label that is possible
    std::vector<double> z;              // all statistics; set by a LatentGold
  };

  explicit PartialGold(std::size_t num_examples) : of_(num_examples, 0) {}

  // Requires a label or more at every token. `costs` are L x L, row = gold, or empty for 1 each.
  void add(std::size_t example, std::vector<std::uint8_t> allowed, std::size_t num_labels,
           std::span<const float> costs);

  std::span<Sequence> sequences() { return sequences_; }
  std::span<const Sequence> sequences() const { return sequences_; }
  // nullptr where all labels are known.
  const Sequence* find(std::size_t example) const {
    return of_[example] == 0 ? nullptr : &sequences_[of_[example] - 1];
  }

 private:
  std::vector<std::uint32_t> of_;  // for each example, one more than its place in sequences_
  std::vector<Sequence> sequences_;
};

}  // namespace espalier
