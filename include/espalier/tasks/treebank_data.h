#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "espalier/tasks/bracket_tree.h"
#include "espalier/tasks/treebank.h"

namespace espalier {

// Bracketed trees in memory, to train a parser on. What of them counts (traces, functions) is for the options
// to say. Numbers of lines in messages are those of trees.
class TreebankData {
 public:
  // Throws Error for a phrase or a word without a label, for one that is neither phrase nor word or both, for
  // white space and brackets in labels and words, and for trees that are too deep.
  void add(BracketTree tree);
  // The same as it is written: "(S (NP (DT the) (NN dog)) (VP (VBD barked)))". Throws Error where that is not
  // one tree.
  void add(std::string_view brackets);

  std::size_t size() const { return trees_.size(); }
  const BracketTree& tree(std::size_t i) const { return trees_[i]; }

 private:
  std::vector<BracketTree> trees_;
};

// What read_treebank_training() makes of a file. `dev` is held-out data. None of them need outlive the
// result.
std::unique_ptr<TrainingSet> make_treebank_training(const TreebankData& data,
                                                    const TreebankOptions& options = {},
                                                    const TreebankData* dev = nullptr);

}  // namespace espalier
