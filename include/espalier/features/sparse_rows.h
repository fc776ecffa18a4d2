#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "espalier/base/memory.h"

namespace espalier {

// Rows of (attribute id, value), one after the other in memory. Values are stored only once one of them is
// not 1: indicator features, by far the most common kind, cost four bytes each.
class SparseRows {
 public:
  struct Row {
    std::span<const std::uint32_t> ids;
    std::span<const float> values;  // empty where every value of the whole table is 1
    float value(std::size_t j) const { return values.empty() ? 1.0f : values[j]; }
  };

  // Rows one after the other: row r of them has the entries offsets[r] to offsets[r + 1] - 1.
  struct Range {
    const std::size_t* offsets;
    const std::uint32_t* ids;
    const float* values;  // nullptr where every value of the whole table is 1
    std::size_t size;
  };

  // Appends to the row that is being built.
  void add(std::uint32_t id, float value) {
    if (value != 1.0f && values_.empty()) values_.assign(ids_.size(), 1.0f);
    ids_.push_back(id);
    if (!values_.empty() || value != 1.0f) values_.push_back(value);
  }
  // Adds up the values of entries with the same id in the row that is being built. Sums of 0 go.
  void sum_repeated();
  // Forgets all rows but keeps their memory.
  void clear() {
    offsets_.resize(1);
    ids_.clear();
    values_.clear();
  }
  // Ends the row that is being built.
  void finish_row() { offsets_.push_back(ids_.size()); }

  std::size_t size() const { return offsets_.size() - 1; }
  std::size_t num_entries() const { return ids_.size(); }
  Row row(std::size_t i) const {
    const std::size_t begin = offsets_[i], length = offsets_[i + 1] - begin;
    return {
        {ids_.data() + begin, length},
        values_.empty() ? std::span<const float>{} : std::span<const float>{values_.data() + begin, length}};
  }

  Range range(std::size_t begin, std::size_t end) const {
    return {offsets_.data() + begin, ids_.data(), values_.empty() ? nullptr : values_.data(), end - begin};
  }

  // For each attribute, its entries divided by n, at most 1: how likely one of n examples is to have it.
  std::vector<float> frequencies(std::size_t num_attributes, std::size_t n, std::size_t threads = 1) const;

  // Rows are visited in random order, and then nothing of them is in cache.
  void prefetch(std::size_t i, Prefetch what) const;
  // Where rows begin to end - 1 are known to lie, their contents.
  void prefetch(std::size_t begin, std::size_t end) const;

  // The rows of some tables one after the other, where ids_of(k)[id] takes the place of each id of table k,
  // or the id stays as it is where ids_of(k) is empty. Made by `threads` threads; tables are freed on the
  // way. With `unsorted`, the entries of each row are sorted by id, but for so many at its end.
  static SparseRows joined(std::span<SparseRows> tables,
                           const std::function<std::span<const std::uint32_t>(std::size_t k)>& ids_of,
                           std::size_t threads, std::optional<std::size_t> unsorted = {});

 private:
  void sort_row(std::size_t i, std::size_t unsorted, std::vector<std::pair<std::uint32_t, float>>& entries);

  // Numbers that resize() leaves as they are in memory: so it is the thread that writes them first that has
  // their pages made.
  template <class T>
  struct Allocator : CacheLineAllocator<T> {
    using value_type = T;
    Allocator() = default;
    template <class U>
    Allocator(const Allocator<U>&) {}  // NOLINT: allocators convert
    template <class U>
    void construct(U* p) {
      ::new (static_cast<void*>(p)) U;
    }
    template <class U, class... Arguments>
    void construct(U* p, Arguments&&... arguments) {
      ::new (static_cast<void*>(p)) U(std::forward<Arguments>(arguments)...);
    }
  };
  template <class T>
  using Numbers = std::vector<T, Allocator<T>>;

  Numbers<std::size_t> offsets_{0};
  Numbers<std::uint32_t> ids_;
  Numbers<float> values_;
  std::vector<std::uint64_t> sorted_;  // scratch of sum_repeated
};

}  // namespace espalier
