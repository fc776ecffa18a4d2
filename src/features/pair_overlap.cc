#include "features/pair_overlap.h"

#include <algorithm>
#include <cmath>

namespace espalier {

template <class RowId>
void PairOverlap::add(const SparseRows& rows, std::size_t count, const RowId& row_id) {
  double largest = 0;
  const auto add_largest = [&](std::uint32_t attribute, double sum) {
    largest += static_cast<double>(std::min<std::size_t>(2, pairs_->labels(attribute).size())) * sum * sum;
  };
  std::size_t open = 0;  // the row of sums_
  const auto own = [&](std::size_t r, std::uint32_t attribute, float value) {
    if (r != open) finish_row(open);
    open = r;
    add_largest(attribute, value);
    for (const std::uint32_t label : pairs_->labels(attribute)) {
      if (sums_[label] == 0) touched_.push_back(label);
      sums_[label] += static_cast<double>(value) * value;
    }
  };
  const auto shared = entries_.split(rows, count, row_id, own);
  finish_row(open);

  for (std::size_t begin = 0, end; begin < shared.size(); begin = end) {
    const std::uint32_t attribute = shared[begin].attribute;
    double sum = 0;
    for (end = begin; end < shared.size() && shared[end].attribute == attribute; ++end) {
      members_.push_back({shared[end].row, shared[end].value});
      sum += std::abs(shared[end].value);
    }
    groups_.push_back({attribute, static_cast<std::uint32_t>(end - begin)});
    add_largest(attribute, sum);
  }
  examples_.back().largest = largest;
  examples_.push_back({own_.size(), groups_.size(), members_.size(), 0});
}

void PairOverlap::finish_row(std::size_t r) {
  for (const std::uint32_t label : touched_) {
    if (sums_[label] == 0) continue;  // a value of 0 touches a label more than once
    own_.push_back({static_cast<std::uint32_t>(r * width_ + label), sums_[label]});
    sums_[label] = 0;
  }
  touched_.clear();
}

void PairOverlap::add_example(const SparseRows& rows, std::span<const std::uint32_t> of_example) {
  add(rows, of_example.size(), [&](std::size_t r) { return of_example[r]; });
}
void PairOverlap::add_example(const SparseRows& rows, std::size_t begin, std::size_t end) {
  add(rows, end - begin, [begin](std::size_t r) { return begin + r; });
}

void PairOverlap::finish() {
  entries_ = SharedEntries(0);
  sums_ = {};
  touched_ = {};
}

template <class Real>
double PairOverlap::squared_norm_of(std::size_t i, std::span<const Real> delta) const {
  const Example &here = examples_[i], &next = examples_[i + 1];
  double sum = 0;
  for (std::size_t k = here.own; k < next.own; ++k) {
    const double x = delta[own_[k].at];
    sum += own_[k].factor * x * x;
  }
  const Member* members = members_.data() + here.members;
  for (std::size_t g = here.groups; g < next.groups; ++g) {
    const std::size_t size = groups_[g].size;
    for (const std::uint32_t label : pairs_->labels(groups_[g].attribute)) {
      double total = 0;
      for (std::size_t j = 0; j < size; ++j) {
        total += static_cast<double>(members[j].value) * delta[members[j].row * width_ + label];
      }
      sum += total * total;
    }
    members += size;
  }
  return sum;
}
double PairOverlap::squared_norm(std::size_t i, std::span<const float> delta) const {
  return squared_norm_of(i, delta);
}
double PairOverlap::squared_norm(std::size_t i, std::span<const double> delta) const {
  return squared_norm_of(i, delta);
}

void PairOverlap::prefetch(std::size_t i, Prefetch what) const {
  if (what == Prefetch::location) {
    __builtin_prefetch(&examples_[i]);
    return;
  }
  const Example &here = examples_[i], &next = examples_[i + 1];
  for (std::size_t k = here.own; k < next.own; k += kCacheLine / sizeof(Own))
    __builtin_prefetch(own_.data() + k);
  for (std::size_t j = here.members; j < next.members; j += kCacheLine / sizeof(Member))
    __builtin_prefetch(members_.data() + j);
}

}  // namespace espalier
