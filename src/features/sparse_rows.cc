#include "espalier/features/sparse_rows.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/parallel.h"
#include "espalier/base/error.h"

namespace espalier {

namespace {

// False only if all ids differ. Each sets one of 4,096 bits, so short rows hardly ever meet by chance.
bool may_repeat(std::span<const std::uint32_t> ids) {
  std::array<std::uint64_t, 64> seen{};
  std::uint64_t met = 0;
  for (const std::uint32_t id : ids) {
    std::uint64_t& word = seen[id >> 6 & 63];
    const std::uint64_t bit = std::uint64_t{1} << (id & 63);
    met |= word & bit;
    word |= bit;
  }
  return met != 0;
}

}  // namespace

void SparseRows::sum_repeated() {
  const std::size_t begin = offsets_.back();
  if (!may_repeat(std::span(ids_).subspan(begin))) return;
  // Id above position: equal ids become neighbours, the first of them in front.
  sorted_.clear();
  for (std::size_t j = begin; j < ids_.size(); ++j)
    sorted_.push_back(std::uint64_t{ids_[j]} << 32 | (j - begin));
  std::sort(sorted_.begin(), sorted_.end());
  const auto same_id = [](std::uint64_t a, std::uint64_t b) { return a >> 32 == b >> 32; };
  if (std::adjacent_find(sorted_.begin(), sorted_.end(), same_id) == sorted_.end()) return;

  if (values_.empty()) values_.assign(ids_.size(), 1.0f);
  std::size_t first = 0;
  for (const std::uint64_t entry : sorted_) {
    const std::size_t j = begin + (entry & 0xffffffff);
    if (entry != sorted_.front() && ids_[j] == ids_[first]) {
      values_[first] += values_[j];
      values_[j] = 0;
    } else {
      first = j;
    }
  }
  std::size_t end = begin;
  for (std::size_t j = begin; j < ids_.size(); ++j) {
    if (values_[j] == 0) continue;
    ids_[end] = ids_[j];
    values_[end++] = values_[j];
  }
  ids_.resize(end);
  values_.resize(end);
}

void SparseRows::prefetch(std::size_t i, Prefetch what) const {
  if (what == Prefetch::location) {
    __builtin_prefetch(offsets_.data() + i);
    return;
  }
  prefetch(i, i + 1);
}

void SparseRows::prefetch(std::size_t begin, std::size_t end) const {
  constexpr std::size_t kPerLine = kCacheLine / sizeof(float);
  for (std::size_t j = offsets_[begin]; j < offsets_[end]; j += kPerLine) {
    __builtin_prefetch(ids_.data() + j);
    if (!values_.empty()) __builtin_prefetch(values_.data() + j);
  }
}

SparseRows SparseRows::joined(std::span<SparseRows> tables,
                              const std::function<std::span<const std::uint32_t>(std::size_t k)>& ids_of,
                              std::size_t threads, std::optional<std::size_t> unsorted) {
  std::vector<std::size_t> rows{0}, entries{0};
  bool all_ones = true;
  for (const SparseRows& table : tables) {
    rows.push_back(rows.back() + table.size());
    entries.push_back(entries.back() + table.num_entries());
    all_ones = all_ones && table.values_.empty();
  }
  SparseRows all;
  all.offsets_.resize(rows.back() + 1);
  all.ids_.resize(entries.back());
  if (!all_ones) all.values_.resize(entries.back());
  for (std::size_t k = 0; k < rows.size(); ++k) all.offsets_[rows[k]] = entries[k];
  std::atomic<std::size_t> next{0};
  run_in_parallel(std::max<std::size_t>(std::min(threads, tables.size()), 1), [&](std::size_t) {
    std::vector<std::pair<std::uint32_t, float>> entries_of_row;
    for (std::size_t k; (k = next++) < tables.size();) {
      const SparseRows from = std::move(tables[k]);
      tables[k] = SparseRows();
      for (std::size_t r = 1; r < from.size(); ++r) all.offsets_[rows[k] + r] = entries[k] + from.offsets_[r];
      const auto ids = ids_of(k);
      std::uint32_t* to = all.ids_.data() + entries[k];
      if (ids.empty()) {
        std::copy(from.ids_.begin(), from.ids_.end(), to);
      } else {
        for (const std::uint32_t id : from.ids_) *to++ = ids[id];
      }
      if (!all_ones) {
        float* values = all.values_.data() + entries[k];
        if (from.values_.empty()) {
          std::fill_n(values, from.num_entries(), 1.0f);
        } else {
          std::copy(from.values_.begin(), from.values_.end(), values);
        }
      }
      if (!unsorted) continue;
      for (std::size_t r = rows[k]; r < rows[k + 1]; ++r) all.sort_row(r, *unsorted, entries_of_row);
    }
  });
  return all;
}

void SparseRows::sort_row(std::size_t i, std::size_t unsorted,
                          std::vector<std::pair<std::uint32_t, float>>& entries) {
  const std::size_t begin = offsets_[i], end = std::max(begin + unsorted, offsets_[i + 1]) - unsorted;
  entries.clear();
  for (std::size_t j = begin; j < end; ++j)
    entries.emplace_back(ids_[j], values_.empty() ? 1.0f : values_[j]);
  std::sort(entries.begin(), entries.end());
  for (std::size_t j = begin; j < end; ++j) {
    ids_[j] = entries[j - begin].first;
    if (!values_.empty()) values_[j] = entries[j - begin].second;
  }
}

std::vector<float> SparseRows::frequencies(std::size_t num_attributes, std::size_t n,
                                           std::size_t threads) const {
  // Each thread counts a part of the entries: not worth it where there are more attributes than that.
  constexpr std::size_t kWorthIt = 8;
  threads = std::clamp<std::size_t>(num_entries() / (kWorthIt * num_attributes + 1), 1, threads);
  std::vector<std::vector<std::uint32_t>> counts(threads);
  run_in_parallel(threads, [&](std::size_t k) {
    counts[k].resize(num_attributes);
    const std::size_t end = num_entries() * (k + 1) / threads;
    for (std::size_t j = num_entries() * k / threads; j < end; ++j) {
      ESPALIER_EXPECT(ids_[j] < num_attributes);
      ++counts[k][ids_[j]];
    }
  });
  std::vector<float> result(num_attributes);
  for (std::size_t a = 0; a < num_attributes; ++a) {
    std::uint64_t sum = 0;
    for (const std::vector<std::uint32_t>& count : counts) sum += count[a];
    result[a] = std::min(1.0f, static_cast<float>(sum) / static_cast<float>(n));
  }
  return result;
}

}  // namespace espalier
