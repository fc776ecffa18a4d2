#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace espalier {

class Communicator;
struct NgramAutomaton;

// The label n-grams, n >= 2, that have a statistic of their own in the chains of a problem: each counts how
// often its labels follow one another. With n-grams of n labels a chain is of order n - 1 (Martins et al.
// 2010, section 2.2). Sequences with other n-grams are possible too; those have the scores of the shorter
// ones in them alone.
class LabelNgrams {
 public:
  // Requires distinct n-grams of at least 2 labels below num_labels. They are kept in the order of their
  // lengths, then of their labels.
  LabelNgrams(std::size_t num_labels, std::vector<std::vector<std::uint32_t>> ngrams);

  std::size_t num_labels() const { return num_labels_; }
  std::size_t size() const { return ngrams_.size(); }
  std::size_t order() const;  // of the chain: labels of the longest n-gram - 1; at least 1
  std::span<const std::uint32_t> ngram(std::size_t k) const { return ngrams_[k]; }
  std::optional<std::size_t> find(std::span<const std::uint32_t> labels) const;
  // The states that a chain with these n-grams is in, for inference.
  const NgramAutomaton& automaton() const { return *automaton_; }

 private:
  std::size_t num_labels_;
  std::vector<std::vector<std::uint32_t>> ngrams_;
  std::shared_ptr<const NgramAutomaton> automaton_;  // shared by copies
};

// Every n-gram of `shortest` to `longest` labels that occurs at least `min_freq` times in these sequences;
// sequence i has the labels offsets[i] to offsets[i + 1] - 1. With all_pairs, also every pair of labels. Of
// ranks that have a share of the sequences each, those of all.
LabelNgrams observed_ngrams(std::span<const std::uint32_t> labels, std::span<const std::size_t> offsets,
                            std::size_t num_labels, std::size_t shortest, std::size_t longest,
                            double min_freq = 0, bool all_pairs = false, Communicator* fleet = nullptr);

}  // namespace espalier
