#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "espalier/tasks/dependency_sentence.h"
#include "espalier/tasks/parse.h"

namespace espalier {

// Dependency trees in memory, to train a parser on: what a file in CoNLL's format has, added word by word.
// Text is copied. Numbers of lines in messages are those of words, over all sentences.
class ParseData {
 public:
  // Whether words and relations are those of CoNLL-U: then evaluation counts as its shared task does, too.
  // Sentences that were read know that themselves.
  explicit ParseData(bool universal = false) : universal_(universal) {}

  // Adds a word to the sentence at the end; head 0 is the root, and words count from 1 in each sentence.
  // Fields that are empty are "_", as in files. Throws Error where it has no form, and for a TAB or an end of
  // line within a field.
  void add(const DependencyWord& word);
  // Ends the sentence. Throws Error if it has no words or their heads do not form a tree; the sentence is
  // then discarded.
  void end_sentence();
  // A sentence that was read already.
  void add(const DependencySentence& sentence);
  // The next sentence begins a document: for ParseOptions::group_by.
  void begin_document();

  // Sentences that were ended.
  std::size_t size() const { return sentences_.size(); }
  const DependencySentence& sentence(std::size_t i) const { return sentences_[i]; }

 private:
  bool universal_;
  std::vector<DependencySentence> sentences_;
  DependencySentence open_;    // the one at the end
  std::size_t num_words_ = 0;  // of sentences that were ended
};

// What read_parse_training() makes of a file. `dev` is held-out data. None of them need outlive the result.
// Throws Error where relations are to be learnt and a word has none.
std::unique_ptr<TrainingSet> make_parse_training(const ParseData& data, const ParseOptions& options = {},
                                                 const ParseData* dev = nullptr);

}  // namespace espalier
