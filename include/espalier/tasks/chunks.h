#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/tasks/evaluation.h"

namespace espalier {

// Accuracy, and precision, recall and F1 over chunks exactly as conlleval counts them.
class ChunkScores {
 public:
  // One sequence: its gold and its predicted tags.
  void add(std::span<const std::string_view> gold, std::span<const std::string_view> predicted);
  Evaluation evaluate() const;
};

}  // namespace espalier
