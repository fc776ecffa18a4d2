#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/base/memory.h"
#include "espalier/features/dictionary.h"
#include "espalier/tasks/task.h"
#include "features/dependency_features.h"
#include "structures/dependency_tree.h"
#include "tasks/parse/dependency_reader.h"

namespace espalier {

void append_atoms(const DependencySentence& sentence, std::vector<WordAtoms>& words);

// Chooses the arcs that a first-order model without labels finds possible.
struct ArcPruner {
  TreeShape shape;  // without labels
  DependencyFeatures features;
  const float* w;
  double below;      // part of the best head's probability
  std::size_t most;  // heads of a word

  // The arcs of a sentence, as ArcSet has them. Those of the model's best tree and of `gold` (empty: not
  // known) are always among them. Returns how many gold arcs would not have been.
  // They are all of `possible`, which has a tree, where that is given.
  std::size_t choose(std::span<const WordAtoms> words, std::span<const std::uint32_t> gold,
                     std::vector<std::uint32_t>& offsets, std::vector<std::uint16_t>& heads, Workspace& ws,
                     const ArcSet* possible = nullptr) const;
};

// What a parser needs besides its weights, as training makes it and a model file has it.
struct ParseModel {
  TreeShape shape;
  bool second_order = false;
  std::size_t longest = 0;  // words of a sentence that is parsed as one
  unsigned bits = 0, relation_bits = 0;
  Dictionary relations;  // empty: no labels
  double prune_below = 0;
  std::size_t most_heads = 0;
  AlignedVector<float> own_pruner;  // of training
  std::span<const float> pruner;    // weights; empty: all arcs are possible

  DependencyFeatures features() const { return {bits, relation_bits, shape.num_labels, second_order}; }
  bool labelled() const { return relations.size() > 0; }
  std::optional<ArcPruner> make_pruner() const;

  TaskSections sections() const;
  static ParseModel load(const StoredTask& stored);
};

}  // namespace espalier
