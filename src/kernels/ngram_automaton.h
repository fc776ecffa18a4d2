#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/memory.h"

namespace espalier {

// The states that a sequence of labels is in, as far as the scores of n-grams depend on it (Aho and Corasick
// 1975): the longest of its endings with which one of the n-grams begins, but at least the last label. A step
// with label j scores the n-grams q' j for the state q and for all of its shorter endings q'.
//
// Where a step leads depends on less. States are in one class if every label leads them to the same states:
// those whose longest ending that can still be extended is the same. This ending r is the class's name. Label
// j leads from it to the state r j if there is one, else where it leads from the class of the next shorter
// such ending, its parent. So each state has one place (class, label) of its own, and all other places pass
// on to a parent.
struct NgramAutomaton {
  NgramAutomaton(std::size_t num_labels, std::span<const std::vector<std::uint32_t>> ngrams);

  std::size_t num_labels, num_states, num_classes;
  std::size_t stride;  // from one class to the next in `place`, and in rows of the kernels

  // States, by class.
  std::vector<std::uint32_t> label;    // the last one
  std::vector<std::uint32_t> place;    // class * stride + label
  std::vector<std::uint32_t> shorter;  // the longest ending that is a state; of a single label itself
  std::vector<std::uint32_t> class_of;
  std::vector<std::uint32_t> by_length;  // all states, shortest first
  std::vector<std::uint32_t> single;     // the state of each label by itself

  // Classes, longest first. The last one, which can be extended with any label, is its own parent.
  std::vector<std::uint32_t> class_begin;  // its states; num_classes + 1
  std::vector<std::uint32_t>
      block_begin;  // the same in memory where the states of each class are whole vectors
  std::vector<std::uint32_t> parent;
  std::vector<std::uint32_t> target;  // num_classes x num_labels: where labels lead

  // 1 where a place passes on to the class's parent, else 0; num_classes x stride.
  AlignedVector<float> passes_float;
  AlignedVector<double> passes_double;

  // The n-grams q j of state q: from ngram_begin[q] on, by label. N-gram ngram_index[k] has the last label
  // ngram_label[k].
  std::vector<std::uint32_t> ngram_begin, ngram_label, ngram_index;

  std::size_t next(std::size_t state, std::size_t j) const {
    return target[class_of[state] * num_labels + j];
  }

  // Calls use(n-gram) for all that end with label j after the state.
  template <class Use>
  void for_each_ngram(std::size_t state, std::uint32_t j, const Use& use) const {
    for (;;) {
      const auto begin = ngram_label.begin() + ngram_begin[state],
                 end = ngram_label.begin() + ngram_begin[state + 1];
      const auto at = std::lower_bound(begin, end, j);
      if (at != end && *at == j) use(ngram_index[static_cast<std::size_t>(at - ngram_label.begin())]);
      if (shorter[state] == state) return;
      state = shorter[state];
    }
  }
};

}  // namespace espalier
