#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/tasks/task.h"

namespace espalier {

// Words of two languages, and a number for some pairs of them: in how many sentence pairs both are, or how
// well they go together. Made once, and then const; in a model file it is used where it lies.
class WordPairs {
 public:
  static constexpr std::uint32_t kUnknown = ~0u;

  WordPairs() = default;
  WordPairs(WordPairs&&) = default;
  WordPairs& operator=(WordPairs&&) = default;

  // Counts the words of a sentence pair, in lower case, each word of a side once.
  void count(std::span<const std::string> source, std::span<const std::string> target);
  // Ends counting. Every number below is of words in lower case.
  void finish();
  // Lines "SOURCE TARGET SCORE", with scores from 0 to 1. Throws Error::at for what it cannot read, and for a
  // pair named twice.
  static WordPairs read(const std::string& path);

  std::size_t size() const { return keys_.size(); }
  // kUnknown: there is none.
  std::uint32_t source(std::string_view word) const { return sources_.find(word).value_or(kUnknown); }
  std::uint32_t target(std::string_view word) const { return targets_.find(word).value_or(kUnknown); }
  // 0 for pairs that have none.
  float value(std::uint32_t source, std::uint32_t target) const;
  // Of sentence pairs; 0 for unknown words.
  std::uint32_t source_count(std::uint32_t word) const {
    return word < source_counts_.size() ? source_counts_[word] : 0;
  }
  std::uint32_t target_count(std::uint32_t word) const {
    return word < target_counts_.size() ? target_counts_[word] : 0;
  }

  // As arrays of a model file whose names begin so; views of this object.
  void add_to(const std::string& name, TaskSections& sections) const;
  // Throws Error for arrays that do not fit together: then association scores could be anything.
  static WordPairs load(const std::string& name, const StoredTask& stored);

 private:
  bool fits_together() const;

  Dictionary sources_, targets_;
  std::unordered_map<std::uint64_t, float> counting_;  // by key: source in the upper half, target below
  std::vector<std::uint32_t> own_source_counts_, own_target_counts_;
  std::vector<std::uint64_t> own_keys_;
  std::vector<float> own_values_;
  std::span<const std::uint32_t> source_counts_, target_counts_;
  std::span<const std::uint64_t> keys_;  // ascending
  std::span<const float> values_;
};

std::string lower_case(std::string_view word);

// 2 C(s,t) / (C(s) + C(t)), and 0 for words that nobody has counted. `held_out`: less one sentence pair that
// has both.
double dice(const WordPairs& counts, std::uint32_t source, std::uint32_t target, bool held_out);

}  // namespace espalier
