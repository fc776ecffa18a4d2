#include "features/row_overlap.h"

#include <cmath>
#include <numeric>

#include "espalier/base/error.h"
#include "kernels/overlap.h"

namespace espalier {

template <class RowId>
void RowOverlap::add(const SparseRows& rows, std::size_t count, const RowId& row_id) {
  ESPALIER_EXPECT(count < kernels::kEndOfGroup);
  const std::size_t begin = own_.size();
  own_.resize(begin + count, 0);
  const auto shared = entries_.split(rows, count, row_id, [&](std::size_t r, std::uint32_t, float value) {
    own_[begin + r] += static_cast<double>(value) * value;
  });
  double largest = std::accumulate(own_.begin() + static_cast<std::ptrdiff_t>(begin), own_.end(), 0.0);
  double sum = 0;
  for (std::size_t j = 0; j < shared.size(); ++j) {
    const bool last = j + 1 == shared.size() || shared[j + 1].attribute != shared[j].attribute;
    const float value = shared[j].value;
    if (value != 1 && values_.empty()) values_.assign(members_.size(), 1.0f);
    members_.push_back(shared[j].row | (last ? kernels::kEndOfGroup : 0));
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

void RowOverlap::append(const RowOverlap& other) {
  const std::size_t rows = own_.size(), members = members_.size();
  examples_.pop_back();
  for (const Example& example : other.examples_)
    examples_.push_back({rows + example.rows, members + example.members, example.largest});
  own_.insert(own_.end(), other.own_.begin(), other.own_.end());
  members_.insert(members_.end(), other.members_.begin(), other.members_.end());
  if (values_.empty() && other.values_.empty()) return;
  values_.resize(members, 1.0f);
  values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  values_.resize(members_.size(), 1.0f);
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
  for (std::size_t r = here.rows; r < next.rows; r += kCacheLine / sizeof(double))
    __builtin_prefetch(own_.data() + r);
  constexpr std::size_t kPerLine = kCacheLine / sizeof(float);
  for (std::size_t j = here.members; j < next.members; j += kPerLine) {
    __builtin_prefetch(members_.data() + j);
    if (!values_.empty()) __builtin_prefetch(values_.data() + j);
  }
}

}  // namespace espalier
