#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "base/random.h"
#include "structures/label_ngrams.h"

namespace espalier::test_support {

// Up to `most` distinct n-grams of 2 to `longest` labels. What a long one consists of need not be among them.
inline LabelNgrams random_ngrams(Random& random, std::size_t labels, std::size_t longest, std::size_t most) {
  std::set<std::vector<std::uint32_t>> ngrams;
  for (std::size_t k = 0; k < most; ++k) {
    std::vector<std::uint32_t> ngram(2 + random.below(longest - 1));
    for (auto& label : ngram) label = static_cast<std::uint32_t>(random.below(labels));
    ngrams.insert(std::move(ngram));
  }
  return {labels, {ngrams.begin(), ngrams.end()}};
}

// All of n labels.
inline LabelNgrams all_ngrams(std::size_t labels, std::size_t n) {
  std::vector<std::vector<std::uint32_t>> ngrams;
  std::vector<std::uint32_t> ngram(n, 0);
  for (;;) {
    ngrams.push_back(ngram);
    std::size_t t = 0;
    while (t < n && ++ngram[t] == labels) ngram[t++] = 0;
    if (t == n) return {labels, ngrams};
  }
}

}  // namespace espalier::test_support
