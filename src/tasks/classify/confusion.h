#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/tasks/task.h"

namespace espalier {

// Counts of gold against predicted labels. A gold label that training never saw counts as an error of its own
// row.
class Confusion {
 public:
  // Keeps references. `costs` is L x L or empty (0/1).
  Confusion(const Dictionary& labels, std::span<const float> costs);

  void add(std::uint32_t gold, std::uint32_t predicted);
  Evaluation evaluate() const;

 private:
  std::size_t count(std::size_t gold, std::size_t predicted) const {
    return counts_[gold * size_ + predicted];
  }
  std::string table() const;
  // Precision, recall and F1 of each class, and their macro averages.
  void report_classes(Evaluation& result) const;

  const Dictionary& labels_;
  std::span<const float> costs_;
  std::size_t size_;
  std::vector<std::size_t> counts_;  // (L + 1) x L; the last row is for unknown gold labels
};

}  // namespace espalier
