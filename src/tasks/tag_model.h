#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "espalier/features/chain_features.h"
#include "espalier/tasks/tag_reader.h"
#include "espalier/tasks/task.h"

namespace espalier {

// What a tagging model is besides its weights: how lines become attributes, the names of attributes and labels, and where
// their weights lie. Training fills it and prediction loads it.
struct TagModel {
  TagInput input;
  TagDictionaries dictionaries;

  ChainShape shape() const {
    return {dictionaries.attributes.size(), dictionaries.transitions.size(), dictionaries.labels.size()};
  }
  // Where its weights have the one of this name; nullopt where they do not.
  struct WeightPlace {
    std::size_t row, column;
  };
  std::optional<WeightPlace> find_weight(const WeightName& name) const;
  // "22 labels, 338,552 attributes"
  std::string describe() const;

  // What a model file keeps of it. The arrays are views of this.
  TaskSections sections() const;
  // Throws Error for what cannot be right.
  static TagModel load(const StoredTask& stored);
};

}  // namespace espalier
