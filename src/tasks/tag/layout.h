#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "espalier/tasks/tag.h"
#include "espalier/tasks/task.h"
#include "features/chain_features.h"
#include "tasks/tag/reader.h"

namespace espalier {

// Which features a tagging model has weights for: every attribute with every label or only pairs that
// training saw, and how many labels interact.
class TagLayout {
 public:
  // Every attribute with every label, every pair of neighbouring labels.
  TagLayout() = default;
  // With the weights that this shape has; its counts are those of the dictionaries.
  explicit TagLayout(ChainShape shape, std::size_t order = 1);
  // As the options say, of these examples.
  TagLayout(const TagOptions& options, const TagExamples& train, const TagDictionaries& dictionaries);

  std::size_t order() const { return order_; }
  ChainShape shape(const TagDictionaries& dictionaries) const;

  // Settings and views of arrays.
  void add_to(TaskSections& sections) const;
  // Throws Error for what cannot be right.
  static TagLayout load(const StoredTask& stored, const TagDictionaries& dictionaries);

 private:
  void pack_ngrams();

  std::size_t order_ = 1;
  ChainShape shape_;                          // without its counts
  std::vector<std::uint32_t> packed_ngrams_;  // as a model file has them: the length of each, then its labels
};

// What TagOptions::features may be.
std::vector<std::string> feature_sets();
// Throws Error for options that ask for no layout.
void check_layout(const TagOptions& options);

}  // namespace espalier
