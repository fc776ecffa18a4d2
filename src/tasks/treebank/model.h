#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
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

// Of weights for spans, there are 2^N rows.
inline constexpr std::size_t kLeastHashBits = 8, kMostHashBits = 26;

// What is parsed as one: a sentence, or a part of a long one.
struct TreebankPiece {
  std::size_t begin, end;
  std::vector<SpanWord> seen;  // by features
  std::optional<Cfg> forest;   // nothing: the grammar has no derivation
};

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
  // A sentence as prediction sees it, with the derivations that pruning leaves: in one piece, or in several
  // where it is longer than longest().
  // Kinds may be shared, as Cfg has it.
  std::vector<TreebankPiece> pieces(std::span<const TaggedWord> words, Workspace& ws,
                                    const std::shared_ptr<SpanKinds>& kinds = nullptr) const;
  // The same with the gold derivation; notes what of it pruning would have left out.
  Cfg forest(std::span<const TaggedWord> words, const Derivation& gold, PruningReport& report, Workspace& ws,
             const std::shared_ptr<SpanKinds>& kinds) const;
  // Words as they are written in a tree: with the tags of the input, if the model takes those.
  std::vector<TaggedWord> output_words(std::span<const TaggedWord> words) const;
  // For sentences that have no derivation.
  BracketTree flat_tree(std::span<const TaggedWord> words) const;
  std::size_t longest() const { return longest_; }

  TaskSections sections() const;

 private:
  std::optional<Cfg> forest(std::span<const TaggedWord> words, Workspace& ws,
                            const std::shared_ptr<SpanKinds>& kinds) const;
  TagSets tag_sets(std::span<const TaggedWord> words) const;
  std::vector<std::uint32_t> all_tags() const;

  Json settings_;
  BracketNorm norm_;
  double prune_below_ = 0;
  std::size_t longest_ = 0;
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

  // The best tree of a sentence; a flat one where the grammar has none, and trees of pieces side by side.
  BracketTree parse(std::span<const TaggedWord> words);
  // The same from pieces that are there already; then it is not one for kbest() and log_partition().
  BracketTree parse(std::span<const TaggedWord> words, std::span<const TreebankPiece> pieces);
  // Of the sentence last parsed.
  const std::vector<TreebankPiece>& pieces() const { return pieces_; }
  std::vector<Scored> kbest(std::span<const TaggedWord> words, std::size_t k);
  double log_partition(double beta);
  std::vector<TreebankParser::Sentence::Constituent> constituents(double beta, double least);
  void for_each_contribution(const std::function<void(const TreebankParser::Sentence::Contribution&)>& visit);
  std::vector<Scored> samples(std::span<const TaggedWord> words, double beta, std::size_t n, Random& random);
  double entropy(double beta);

 private:
  // beta s, of a piece that has a forest; leaves s.
  std::vector<double> scaled_scores(const TreebankPiece& piece, double beta);

  void score(const TreebankPiece& piece);

  const TreebankModel& model_;
  WeightsView theta_;
  Workspace ws_;
  std::vector<TreebankPiece> pieces_;
  std::vector<double> s_;  // of the piece last looked at
  double best_ = 0;        // the score of the tree last found
};

// Whether the grammar has a derivation of each.
bool in_grammar(std::span<const TreebankPiece> pieces);

}  // namespace espalier
