#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "espalier/features/weights.h"
#include "espalier/tasks/task.h"

namespace espalier {

// A tagging model that another program trained, read from its text: a `crfsuite dump`, a model file of
// Wapiti, or what `crf_learn -t` of CRF++ writes. Which one it is, its first line tells. What it predicts is
// what that program predicts.
class ConvertedTagger {
 public:
  // Throws Error for what is not one of them, and for one that is not complete.
  explicit ConvertedTagger(const std::string& path);
  ~ConvertedTagger();

  std::string_view program() const;  // "CRFsuite", "Wapiti", "CRF++"
  // "7 labels, 850 attributes, 6,001 weights"
  std::string describe() const;
  // What a model file keeps. The arrays are views of this.
  TaskSections sections() const;
  const Weights& theta() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
