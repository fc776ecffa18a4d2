#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "espalier/tasks/task.h"
#include "features/chain_features.h"
#include "features/kernel_nodes.h"
#include "structures/chain.h"
#include "tasks/tag/layout.h"
#include "tasks/tag/reader.h"

namespace espalier {

// What a tagging model is besides its weights: how lines become attributes, the names of attributes and
// labels, and where their weights lie. Training fills it and prediction loads it.
struct TagModel {
  TagInput input;
  TagDictionaries dictionaries;
  TagLayout layout;
  std::optional<ChainConstraints> constraints;  // none: every label sequence is possible
  std::shared_ptr<const KernelNodes>
      kernel;  // what weights of tokens are coefficients of; null: of attributes

  // Observed features whose weights lie by rows (ChainShape), as in training. Models that are saved have
  // pairs.
  bool by_rows = false;

  // For chains, which refer to them.
  const ChainConstraints* chain_constraints() const { return constraints ? &*constraints : nullptr; }
  ChainShape shape() const;
  // Where its weights have the one of this name; nullopt where they do not.
  std::optional<WeightPlace> find_weight(const WeightName& name) const;
  // What the weights of n-grams go by.
  std::string_view ngram_attribute() const;
  // "22 labels, 338,552 attributes"
  std::string describe() const;

  // What a model file keeps of it. The arrays are views of this.
  TaskSections sections() const;
  // Throws Error for what cannot be right.
  static TagModel load(const StoredTask& stored);
};

// Whether weights of these observed features had better lie by rows, if those take no more than so many
// bytes: rows of labels are summed vectors at a time, pairs one by one. On CoNLL-2000, with 22 labels,
// training takes two thirds of the time.
bool rows_pay(const ChainShape& shape, std::size_t most_bytes);

}  // namespace espalier
