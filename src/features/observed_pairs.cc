#include "features/observed_pairs.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {
namespace {

struct Seen {
  std::uint32_t label, row;
};

// Taken by labels, so that those of an attribute come in order, each beside its repetitions.
ObservedPairs collect(const SparseRows& rows, std::vector<Seen> seen, std::size_t num_attributes,
                      double min_freq) {
  std::sort(seen.begin(), seen.end(),
            [](const Seen& a, const Seen& b) { return std::tie(a.label, a.row) < std::tie(b.label, b.row); });
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> last(num_attributes, kNone);
  std::vector<double> sums(min_freq > 0 ? num_attributes : 0);  // of values with the label at hand
  const auto for_each_pair = [&](const auto& use) {
    std::fill(last.begin(), last.end(), kNone);
    for (std::size_t begin = 0, end = 0; begin < seen.size(); begin = end) {
      const std::uint32_t label = seen[begin].label;
      std::fill(sums.begin(), sums.end(), 0.0);
      for (end = begin; end < seen.size() && seen[end].label == label; ++end) {
        const SparseRows::Row row = rows.row(seen[end].row);
        for (std::size_t j = 0; !sums.empty() && j < row.ids.size(); ++j) sums[row.ids[j]] += row.value(j);
      }
      for (std::size_t k = begin; k < end; ++k) {
        for (const std::uint32_t a : rows.row(seen[k].row).ids) {
          if (last[a] == label) continue;
          last[a] = label;
          if (sums.empty() || sums[a] >= min_freq) use(a, label);
        }
      }
    }
  };
  std::vector<std::uint64_t> offsets(num_attributes + 1, 0);
  for_each_pair([&](std::uint32_t a, std::uint32_t) { ++offsets[a + 1]; });
  for (std::size_t a = 0; a < num_attributes; ++a) offsets[a + 1] += offsets[a];
  std::vector<std::uint32_t> labels(offsets.back());
  std::vector<std::uint64_t> next(offsets.begin(), offsets.end() - 1);
  for_each_pair([&](std::uint32_t a, std::uint32_t label) { labels[next[a]++] = label; });
  return {std::move(offsets), std::move(labels)};
}

}  // namespace

ObservedPairs::ObservedPairs(std::vector<std::uint64_t> offsets, std::vector<std::uint32_t> labels)
    : offsets_(std::move(offsets)), labels_(std::move(labels)) {
  ESPALIER_EXPECT(!offsets_.empty() && offsets_.front() == 0 && offsets_.back() == labels_.size());
  ESPALIER_EXPECT(std::is_sorted(offsets_.begin(), offsets_.end()));
}

ObservedPairs observed_pairs(const Sequences& sequences, std::span<const std::uint32_t> labels,
                             std::size_t num_attributes, double min_freq) {
  std::vector<Seen> seen;
  seen.reserve(labels.size());
  for (std::size_t t = 0; t < labels.size(); ++t) seen.push_back({labels[t], static_cast<std::uint32_t>(t)});
  return collect(sequences.tokens, std::move(seen), num_attributes, min_freq);
}

ObservedPairs observed_steps(const Sequences& sequences, std::span<const std::uint32_t> labels,
                             std::size_t num_labels, std::size_t num_attributes, double min_freq) {
  std::vector<Seen> seen;
  const auto& row_of = sequences.transition_of;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    for (std::size_t t = sequences.offsets[i] + 1; t < sequences.offsets[i + 1]; ++t) {
      const std::size_t pair = labels[t - 1] * num_labels + labels[t];
      seen.push_back({static_cast<std::uint32_t>(pair), row_of.empty() ? 0 : row_of[t]});
    }
  }
  return collect(sequences.transitions, std::move(seen), num_attributes, min_freq);
}

ObservedPairs all_pairs(std::size_t num_attributes, std::size_t num_labels) {
  std::vector<std::uint64_t> offsets;
  for (std::size_t a = 0; a <= num_attributes; ++a) offsets.push_back(a * num_labels);
  std::vector<std::uint32_t> labels(num_attributes * num_labels);
  for (std::size_t e = 0; e < labels.size(); ++e) labels[e] = static_cast<std::uint32_t>(e % num_labels);
  return {std::move(offsets), std::move(labels)};
}

}  // namespace espalier
