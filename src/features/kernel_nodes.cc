#include "features/kernel_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/fingerprint.h"
#include "espalier/base/error.h"
#include "features/as_kernel.h"
#include "kernels/gram.h"

namespace espalier {
namespace {

struct Entry {
  std::uint32_t id;
  float value;
};

// Ids in ascending order, each once, without values of 0.
std::span<const Entry> sort_entries(const SparseRows::Row& row, std::span<Entry> entries) {
  for (std::size_t j = 0; j < row.ids.size(); ++j) entries[j] = {row.ids[j], row.value(j)};
  entries = entries.first(row.ids.size());
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.id < b.id; });
  std::size_t size = 0;
  for (std::size_t j = 0; j < entries.size();) {
    Entry sum = entries[j++];
    for (; j < entries.size() && entries[j].id == sum.id; ++j) sum.value += entries[j].value;
    if (sum.value != 0) entries[size++] = sum;
  }
  return entries.first(size);
}

bool equal(const SparseRows::Row& row, std::span<const Entry> entries) {
  if (row.ids.size() != entries.size()) return false;
  for (std::size_t j = 0; j < entries.size(); ++j) {
    if (row.ids[j] != entries[j].id || row.value(j) != entries[j].value) return false;
  }
  return true;
}

std::uint64_t fingerprint(std::span<const Entry> entries) {
  return fingerprint_of({reinterpret_cast<const char*>(entries.data()), entries.size_bytes()});
}

float squared_norm(const SparseRows::Row& x) {
  float sum = 0;
  for (std::size_t j = 0; j < x.ids.size(); ++j) sum += x.value(j) * x.value(j);
  return sum;
}

}  // namespace

DistinctRows distinct_rows(const SparseRows& rows) {
  DistinctRows result;
  result.of.reserve(rows.size());
  std::unordered_multimap<std::uint64_t, std::uint32_t> known;
  std::vector<Entry> memory;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SparseRows::Row row = rows.row(i);
    memory.resize(row.ids.size());
    const auto entries = sort_entries(row, memory);
    const std::uint64_t hash = fingerprint(entries);
    const auto [begin, end] = known.equal_range(hash);
    const auto found = std::find_if(
        begin, end, [&](const auto& one) { return equal(result.rows.row(one.second), entries); });
    if (found != end) {
      result.of.push_back(found->second);
      continue;
    }
    const auto node = static_cast<std::uint32_t>(result.rows.size());
    for (const Entry& entry : entries) result.rows.add(entry.id, entry.value);
    result.rows.finish_row();
    known.emplace(hash, node);
    result.of.push_back(node);
  }
  return result;
}

KernelNodes::KernelNodes(const Kernel& kernel, SparseRows nodes, std::size_t num_attributes)
    : kernel_(kernel), rows_(std::move(nodes)) {
  build_columns(num_attributes);
  norms_.assign(padded_size(), 0.0f);
  for (std::size_t v = 0; v < size(); ++v) norms_[v] = squared_norm(rows_.row(v));
  self_.reserve(size());
  AlignedVector<float> row(padded_size());
  for (std::size_t v = 0; v < size(); ++v) {
    values(v, v + 1, row.data());
    self_.push_back(row[v]);
    if (!std::isfinite(row[v])) {
      throw Error::in(setting("kernel"), fmt::format("{} is not finite for some input", kernel_.name()),
                      "expected smaller values, a lower degree or a smaller scale");
    }
  }
}

std::optional<std::uint32_t> KernelNodes::find(const SparseRows::Row& row) const {
  std::vector<Entry> memory;
  const auto entries_of = [&](const SparseRows::Row& of) {
    memory.resize(of.ids.size());
    return sort_entries(of, memory);
  };
  std::call_once(indexed_, [&] {
    for (std::uint32_t v = 0; v < size(); ++v) index_.emplace(fingerprint(entries_of(rows_.row(v))), v);
  });
  const auto entries = entries_of(row);
  const auto [begin, end] = index_.equal_range(fingerprint(entries));
  const auto found =
      std::find_if(begin, end, [&](const auto& one) { return equal(rows_.row(one.second), entries); });
  return found == end ? std::nullopt : std::optional(found->second);
}

std::size_t KernelNodes::padded_size() const { return kernels::padded_nodes(size()); }

void KernelNodes::build_columns(std::size_t num_attributes) {
  constexpr std::size_t kDenseShare = 8;  // a vector has about as many nodes
  std::vector<std::size_t> counts(num_attributes, 0);
  for (std::size_t v = 0; v < size(); ++v) {
    for (const std::uint32_t id : rows_.row(v).ids) {
      ESPALIER_EXPECT(id < num_attributes);
      ++counts[id];
    }
  }
  std::size_t entries = 0, dense = 0;
  for (const std::size_t count : counts) {
    const bool is_dense = count * kDenseShare > size();
    columns_.push_back({is_dense ? dense : entries, is_dense ? size() : 0, is_dense});
    (is_dense ? dense : entries) += is_dense ? padded_size() : count;
  }
  dense_.assign(dense, 0.0f);
  nodes_.resize(entries);
  values_.resize(entries);
  for (std::size_t v = 0; v < size(); ++v) {
    const SparseRows::Row x = rows_.row(v);
    for (std::size_t j = 0; j < x.ids.size(); ++j) {
      Column& column = columns_[x.ids[j]];
      if (column.dense) {
        dense_[column.begin + v] = x.value(j);
      } else {
        nodes_[column.begin + column.size] = static_cast<std::uint32_t>(v);
        values_[column.begin + column.size++] = x.value(j);
      }
    }
  }
}

void KernelNodes::values(const SparseRows::Row& x, std::size_t count, float* k) const {
  const std::size_t padded = kernels::padded_nodes(count);
  std::fill_n(k, padded, 0.0f);
  for (std::size_t j = 0; j < x.ids.size(); ++j) {
    const Column& column = columns_[x.ids[j]];
    const float value = x.value(j);
    if (column.dense) {
      kernels::add_scaled(value, &dense_[column.begin], k, padded);
      continue;
    }
    for (std::size_t e = column.begin; e < column.begin + column.size && nodes_[e] < count; ++e)
      k[nodes_[e]] += value * values_[e];
  }
  switch (kernel_.kind) {
    case Kernel::Kind::linear:
      break;
    case Kernel::Kind::poly:
      kernels::to_polynomial(kernel_.scale, kernel_.constant, kernel_.degree, k, padded);
      break;
    case Kernel::Kind::rbf:
      kernels::to_gaussian(kernel_.gamma, squared_norm(x), norms_.data(), k, padded);
      break;
  }
}

template <class Real>
void KernelNodes::score_of(const SparseRows::Range& x, WeightsView theta, std::span<Real> s,
                           Workspace& ws) const {
  constexpr std::size_t kTogether = 8;
  Workspace::Frame frame(ws);
  const std::size_t width = theta.shape.width;
  const auto memory = frame.take<float>(kTogether * padded_size());
  const float* rows[kTogether];
  for (std::size_t first = 0; first < x.size; first += kTogether) {
    const std::size_t count = std::min(kTogether, x.size - first);
    for (std::size_t r = 0; r < count; ++r) {
      Workspace::Frame inner(ws);
      const std::size_t begin = x.offsets[first + r], length = x.offsets[first + r + 1] - begin;
      const SparseRows::Row given{
          {x.ids + begin, length},
          x.values ? std::span<const float>(x.values + begin, length) : std::span<const float>()};
      const auto entries = sort_entries(given, inner.take<Entry>(length));
      const auto ids = inner.take<std::uint32_t>(entries.size());
      const auto values_of = inner.take<float>(entries.size());
      for (std::size_t j = 0; j < entries.size(); ++j) {
        ids[j] = entries[j].id;
        values_of[j] = entries[j].value;
      }
      float* row = memory.data() + r * padded_size();
      values({ids, values_of}, size(), row);
      rows[r] = row;
    }
    kernels::score_gram(as_kernel(theta), {rows, count, nullptr, size()}, Real{1}, &s[first * width]);
  }
}

void KernelNodes::score(const SparseRows::Range& x, WeightsView theta, std::span<float> s,
                        Workspace& ws) const {
  score_of(x, theta, s, ws);
}
void KernelNodes::score(const SparseRows::Range& x, WeightsView theta, std::span<double> s,
                        Workspace& ws) const {
  score_of(x, theta, s, ws);
}

}  // namespace espalier
