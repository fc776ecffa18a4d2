#include "espalier/features/row_overlap.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "espalier/base/error.h"
#include "kernels/overlap.h"

namespace espalier {

template <class RowId>
void RowOverlap::add(const SparseRows& rows, std::size_t count, const RowId& row_id) {
  ESPALIER_EXPECT(count < kernels::kEndOfGroup);
  for (std::size_t r = 0; r < count; ++r) {
    for (const std::uint32_t a : rows.row(row_id(r)).ids) ++counts_[a];
  }
  double largest = 0;
  shared_.clear();
  for (std::size_t r = 0; r < count; ++r) {
    const auto row = rows.row(row_id(r));
    double own = 0;
    for (std::size_t j = 0; j < row.ids.size(); ++j) {
      const float value = row.value(j);
      if (counts_[row.ids[j]] == 1) {
        own += static_cast<double>(value) * value;
      } else {
        shared_.push_back({row.ids[j], static_cast<std::uint32_t>(r), value});
      }
    }
    own_.push_back(static_cast<float>(own));
    largest += own;
  }
  for (std::size_t r = 0; r < count; ++r) {
    for (const std::uint32_t a : rows.row(row_id(r)).ids) counts_[a] = 0;
  }

  std::sort(shared_.begin(), shared_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.attribute, a.row) < std::tie(b.attribute, b.row);
  });
  double sum = 0;
  for (std::size_t j = 0; j < shared_.size(); ++j) {
    const bool last = j + 1 == shared_.size() || shared_[j + 1].attribute != shared_[j].attribute;
    const float value = shared_[j].value;
    if (value != 1 && values_.empty()) values_.assign(members_.size(), 1.0f);
    members_.push_back(shared_[j].row | (last ? kernels::kEndOfGroup : 0));
    if (value != 1 || !values_.empty()) values_.push_back(value);
    sum += std::abs(value);
    if (last) {
      largest += sum * sum;
      sum = 0;
    }
  }
  examples_.back().largest = largest;
  examples_.push_back({own_.size(), members_.size(), 0});
}

void RowOverlap::add_example(const SparseRows& rows, std::span<const std::uint32_t> of_example) {
  add(rows, of_example.size(), [&](std::size_t r) { return of_example[r]; });
}
void RowOverlap::add_example(const SparseRows& rows, std::size_t begin, std::size_t end) {
  add(rows, end - begin, [begin](std::size_t r) { return begin + r; });
}

kernels::Overlap RowOverlap::as_kernel(std::size_t i) const {
  const Example &here = examples_[i], &next = examples_[i + 1];
  return {own_.data() + here.rows, next.rows - here.rows, members_.data() + here.members,
          values_.empty() ? nullptr : values_.data() + here.members, next.members - here.members};
}

double RowOverlap::squared_norm(std::size_t i, std::span<const float> delta, std::size_t width) const {
  return kernels::overlap_norm(as_kernel(i), delta.data(), width);
}
double RowOverlap::squared_norm(std::size_t i, std::span<const double> delta, std::size_t width) const {
  return kernels::reference::overlap_norm(as_kernel(i), delta.data(), width);
}

void RowOverlap::prefetch(std::size_t i, Prefetch what) const {
  if (what == Prefetch::location) {
    __builtin_prefetch(&examples_[i]);
    return;
  }
  const Example &here = examples_[i], &next = examples_[i + 1];
  constexpr std::size_t kPerLine = kCacheLine / sizeof(float);
  for (std::size_t r = here.rows; r < next.rows; r += kPerLine) __builtin_prefetch(own_.data() + r);
  for (std::size_t j = here.members; j < next.members; j += kPerLine) {
    __builtin_prefetch(members_.data() + j);
    if (!values_.empty()) __builtin_prefetch(values_.data() + j);
  }
}

}  // namespace espalier
