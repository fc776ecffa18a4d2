#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/base/error.h"
#include "espalier/base/memory.h"
#include "espalier/features/weights.h"
#include "kernels/changes.h"
#include "kernels/rows.h"

namespace espalier {

// A table of rows among the weights: where it begins, and what kernels::RowTable has.
struct RowBlock {
  std::size_t first, width, stride;
  const std::uint64_t* columns = nullptr;

  template <class Real>
  kernels::RowTable<Real> table(Real* w) const {
    return {w + first, width, stride, {}, columns};
  }
};

class OwnedRows;

// What some examples add to the weights, as lists: one for each of several owners, who make the changes
// later, each its own, without locks. Owners that go over the lists of all examples in order add to every
// weight in the order of the examples, however many owners there are. Several examples may follow each other
// in one RowChanges, and it is used again and again: once it has grown, it allocates nothing.
//
// A change has the owner of the line of 16 weights that its first weight lies on. So each weight has one
// owner, if whatever changes it always begins at the same weight, or never leaves that line.
template <class Real>
class RowChanges {
 public:
  static constexpr std::size_t kPiece = 64;  // the longest run that stays in one piece

  // No changes, for so many owners. With `owned`, rows of tokens need not be listed: add_owned() adds them.
  void start(std::size_t shares, const OwnedRows* owned = nullptr);
  const OwnedRows* owned() const { return owned_; }

  std::size_t shares() const { return shares_; }
  // Who makes a change that begins here, among so many.
  static std::size_t owner(std::size_t place, std::size_t shares) {
    // Neighbouring lines, which often come together, have different ones.
    const std::uint32_t scattered = static_cast<std::uint32_t>(place / kLine) * 0x9e3779b1u;
    return (std::uint64_t{scattered} * shares) >> 32;
  }
  std::span<const kernels::RowChange> changes(std::size_t share) const {
    return {changes_.data() + share * capacity_, sizes_[share]};
  }
  // What they refer to.
  const Real* values() const { return values_.data(); }
  // Of memory that it has.
  std::size_t bytes() const;

  // A copy of n values that changes may refer to, with zeros up to `stride`; returns where it is.
  std::uint32_t keep(const Real* values, std::size_t n, std::size_t stride) {
    const std::size_t align = stride % kLine == 0 ? kLine : stride % 8 == 0 ? 8 : 1;
    const std::size_t at = (num_values_ + align - 1) / align * align;
    if (at + stride > values_.size()) grow_values(at + stride);
    std::copy_n(values, n, values_.data() + at);
    std::fill(values_.data() + at + n, values_.data() + at + stride, Real{0});
    num_values_ = at + stride;
    ESPALIER_EXPECT(num_values_ <= 0xffffffffu);
    return static_cast<std::uint32_t>(at);
  }

  // w[place + k] += scale x[source + k] for k < width.
  void add(std::size_t place, std::size_t width, std::uint32_t source, float scale = 1.0f) {
    reserve(1);
    put(place, width, source, scale, kAllColumns);
  }
  // w[place + k] += values[k] for k < n, in pieces, of which those without a change are left out.
  void add_run(std::size_t place, const Real* values, std::size_t n);
  // w[first + places[t]] += value
  void add_to_each(std::size_t first, const std::uint32_t* places, std::size_t n, Real value);
  // w[first + places[k]] += values[k], but for zeros.
  void add_each(std::size_t first, const std::uint32_t* places, std::size_t n, const Real* values);
  // What kernels::add_row() adds: w[first + place_in_column(places[t], c)] += line[c] for all of 16 columns.
  void add_lines(std::size_t first, const std::uint32_t* places, std::size_t n, const Real* line);
  // What kernels::accumulate_rows() adds. Rows of zeros are left out.
  void add_rows(const RowBlock& block, const kernels::SparseRow& x, const Real* delta);

  // The rows of example i, which delta has the changes of, a row for each token. The only one.
  void add_owned(std::size_t i, const Real* delta, std::size_t num_tokens);

  // Makes the changes of a share.
  void add_to(std::size_t share, BasicWeights<Real>& w) const { add_to(share, w.values().data()); }
  void add_to(std::size_t share, Real* w) const { add_values_to(share, values_.data(), w); }
  // All changes times a factor.
  void scale(Real factor) {
    for (std::size_t k = 0; k < num_values_; ++k) values_[k] *= factor;
  }
  // Keeps the values once more, times a factor, for other weights that follow: add_copy_to() makes the same
  // changes of those.
  void copy_scaled(Real factor) {
    copies_.resize(num_values_);
    for (std::size_t k = 0; k < num_values_; ++k) copies_[k] = factor * values_[k];
  }
  void add_copy_to(std::size_t share, BasicWeights<Real>& w) const {
    add_values_to(share, copies_.data(), w.values().data());
  }
  // Asks for what add_to() will need of a share, which other cores wrote last: each step finds where what the
  // next one asks for is, so that they are taken some lists ahead of each other.
  enum class Step { size, changes, weights };
  void prefetch(std::size_t share, Step step, const Real* w) const;

 private:
  static constexpr std::size_t kLine = kernels::kLineOfWeights;
  static constexpr std::size_t kAtOnce = 32;    // changes that room is made for
  static constexpr std::size_t kWidest = 4096;  // pieces of longer rows
  static constexpr std::uint64_t kAllColumns = ~std::uint64_t{0};

  // Room for so many more, whoever owns them.
  void reserve(std::size_t n) {
    if (room_ < n) make_room(n);
    room_ -= n;
  }
  void put(std::size_t place, std::size_t width, std::uint32_t source, float scale, std::uint64_t columns) {
    const std::size_t share = owner(place, shares_), at = share * capacity_ + sizes_[share]++;
    changes_[at] = {place, width, source, scale};
    if (some_columns_) columns_[at] = columns;
  }
  void add_values_to(std::size_t share, const Real* values, Real* w) const;
  template <class Change>
  void put_all(std::size_t n, const Change& change);
  void make_room(std::size_t n);
  void obey_columns();
  void grow_values(std::size_t size);

  std::size_t shares_ = 0, capacity_ = 0, room_ = 0, num_values_ = 0;
  bool some_columns_ = false;
  const OwnedRows* owned_ = nullptr;
  std::size_t owned_example_ = 0, owned_source_ = 0;
  AlignedVector<std::uint8_t> moves_;  // of each token of that example; empty: there is none
  AlignedVector<std::size_t> sizes_;
  AlignedVector<kernels::RowChange> changes_;  // of each share, capacity_ apart
  AlignedVector<std::uint64_t> columns_;       // likewise, where some may not change
  AlignedVector<Real> values_, copies_;
};

extern template class RowChanges<float>;
extern template class RowChanges<double>;

}  // namespace espalier
