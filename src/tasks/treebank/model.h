#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/tasks/task.h"
#include "espalier/tasks/treebank.h"
#include "features/span_features.h"
#include "structures/cfg.h"
#include "structures/pcfg_pruner.h"
#include "tasks/treebank/bracket_reader.h"
#include "tasks/treebank/lexicon.h"
#include "tasks/treebank/tree_grammar.h"

namespace espalier {

// Longer sentences are not parsed: their chart would take minutes and gigabytes.
inline constexpr std::size_t kMostTreebankWords = 300;

// What a parser needs besides its weights, as training makes it and a model file has it.
class TreebankModel {
 public:
  // Reads the grammar off trees. The derivation of each is appended.
  TreebankModel(std::span<const BracketTree> trees, const TreebankOptions& options,
                std::vector<Derivation>& derivations);
  explicit TreebankModel(const StoredTask& stored);

  const TreeGrammar& grammar() const { return grammar_; }
  const GrammarIndex& index() const { return index_; }
  const CfgFeatures& features() const { return features_; }
  const Dictionary& rule_names() const { return rule_names_; }  // by the rules' numbers
  BracketNorm norm() const { return norm_; }
  bool predicts_tags() const { return lexicon_.has_value(); }

  // What features see of a sentence.
  std::vector<SpanWord> span_words(std::span<const TaggedWord> words) const;
  // The derivations that pruning leaves of a sentence. Nothing: the grammar has none.
  std::optional<Cfg> forest(std::span<const TaggedWord> words, Workspace& ws) const;
  // The same with the gold derivation; notes what of it pruning would have left out.
  Cfg forest(std::span<const TaggedWord> words, const Derivation& gold, PruningReport& report,
             Workspace& ws) const;
  // Words as they are written in a tree: with the tags of the input, if the model takes those.
  std::vector<TaggedWord> output_words(std::span<const TaggedWord> words) const;
  // For sentences that have no derivation.
  BracketTree flat_tree(std::span<const TaggedWord> words) const;

  TaskSections sections() const;

 private:
  TagSets tag_sets(std::span<const TaggedWord> words) const;
  std::vector<std::uint32_t> all_tags() const;

  Json settings_;
  BracketNorm norm_;
  double prune_below_ = 0;
  TreeGrammar grammar_;
  std::vector<std::uint32_t> binaries_, unaries_, between_;  // the rules as numbers, for the model file
  std::optional<TagLexicon> lexicon_;                        // tags are predicted
  GrammarIndex index_;
  PcfgPruner pruner_;
  std::vector<std::uint32_t> coarse_binaries_, coarse_unaries_;  // the pruner's, for the model file
  std::vector<double> coarse_probabilities_;
  CfgFeatures features_;
  Dictionary rule_names_;
};

// Finds trees, one thread's. Keeps references to the model and to the weights.
class TreebankWorker {
 public:
  using Scored = TreebankParser::Sentence::Scored;

  TreebankWorker(const TreebankModel& model, WeightsView theta) : model_(model), theta_(theta) {}

  // The best tree of a sentence; a flat one where the grammar has none.
  BracketTree parse(std::span<const TaggedWord> words);
  // The same from a forest that is there already.
  BracketTree parse(std::span<const TaggedWord> words, std::span<const SpanWord> seen, const Cfg& forest);
  // Whether the sentence last parsed is one of the grammar's. If not, the best trees are that flat one.
  bool parsed() const { return forest_.has_value(); }
  std::vector<Scored> kbest(std::span<const TaggedWord> words, std::size_t k) const;
  double log_partition(double beta);

 private:
  const TreebankModel& model_;
  WeightsView theta_;
  Workspace ws_;
  std::optional<Cfg> forest_;
  std::vector<double> s_;
};

}  // namespace espalier
