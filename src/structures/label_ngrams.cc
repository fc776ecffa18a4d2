#include "structures/label_ngrams.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "espalier/base/error.h"
#include "fleet/communicator.h"
#include "kernels/ngram_automaton.h"

namespace espalier {
namespace {

bool shorter_first(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

using NgramCounts = std::map<std::vector<std::uint32_t>, std::size_t>;

// What all ranks have seen: each sends a list of length, count, labels.
void add_up(NgramCounts& seen, Communicator& fleet) {
  std::vector<std::uint64_t> numbers;
  for (const auto& [ngram, count] : seen) {
    numbers.push_back(ngram.size());
    numbers.push_back(count);
    numbers.insert(numbers.end(), ngram.begin(), ngram.end());
  }
  const std::vector<std::string> all =
      fleet.gather({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::uint64_t)});
  seen.clear();
  for (const std::string& bytes : all) {
    numbers.resize(bytes.size() / sizeof(std::uint64_t));
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    for (std::size_t at = 0; at < numbers.size(); at += 2 + numbers[at]) {
      const auto labels = numbers.begin() + static_cast<std::ptrdiff_t>(at) + 2;
      seen[{labels, labels + static_cast<std::ptrdiff_t>(numbers[at])}] += numbers[at + 1];
    }
  }
}

}  // namespace

LabelNgrams::LabelNgrams(std::size_t num_labels, std::vector<std::vector<std::uint32_t>> ngrams)
    : num_labels_(num_labels), ngrams_(std::move(ngrams)) {
  for (const auto& labels : ngrams_) {
    ESPALIER_EXPECT(labels.size() >= 2);
    for (const std::uint32_t label : labels) ESPALIER_EXPECT(label < num_labels_);
  }
  std::sort(ngrams_.begin(), ngrams_.end(), shorter_first);
  ESPALIER_EXPECT(std::adjacent_find(ngrams_.begin(), ngrams_.end()) == ngrams_.end());
  automaton_ = std::make_shared<const NgramAutomaton>(num_labels_, ngrams_);
}

std::size_t LabelNgrams::order() const { return ngrams_.empty() ? 1 : ngrams_.back().size() - 1; }

std::optional<std::size_t> LabelNgrams::find(std::span<const std::uint32_t> labels) const {
  const auto at = std::lower_bound(ngrams_.begin(), ngrams_.end(), labels,
                                   [](const auto& a, const auto& b) { return shorter_first(a, b); });
  if (at == ngrams_.end() || !std::equal(at->begin(), at->end(), labels.begin(), labels.end())) return {};
  return static_cast<std::size_t>(at - ngrams_.begin());
}

LabelNgrams observed_ngrams(std::span<const std::uint32_t> labels, std::span<const std::size_t> offsets,
                            std::size_t num_labels, std::size_t shortest, std::size_t longest,
                            double min_freq, bool all_pairs, Communicator* fleet) {
  NgramCounts seen;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto sequence = labels.subspan(offsets[i], offsets[i + 1] - offsets[i]);
    for (std::size_t n = shortest; n <= longest && n <= sequence.size(); ++n) {
      for (std::size_t t = 0; t + n <= sequence.size(); ++t) {
        const auto ngram = sequence.subspan(t, n);
        ++seen[{ngram.begin(), ngram.end()}];
      }
    }
  }
  if (fleet != nullptr) add_up(seen, *fleet);
  std::set<std::vector<std::uint32_t>> kept;
  for (const auto& [ngram, count] : seen) {
    if (static_cast<double>(count) >= min_freq) kept.insert(ngram);
  }
  for (std::uint32_t before = 0; all_pairs && before < num_labels; ++before) {
    for (std::uint32_t label = 0; label < num_labels; ++label) kept.insert({before, label});
  }
  return LabelNgrams(num_labels, {kept.begin(), kept.end()});
}

}  // namespace espalier
