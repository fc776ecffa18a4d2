#include "espalier/features/graph_features.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "espalier/base/error.h"
#include "features/as_kernel.h"
#include "kernels/rows.h"
#include "kernels/vectors.h"

namespace espalier {
namespace {

constexpr std::size_t kWeightsInLine = kCacheLine / sizeof(float);

template <class Real>
kernels::RowTable<Real> table(const GraphWeights::Block& block, Real* w) {
  return {w + block.begin, block.columns, block.stride};
}

double sum_of_squares(std::span<const float> values) {
  return kernels::squared_norm(values.data(), values.size());
}
double sum_of_squares(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

}  // namespace

GraphWeights::GraphWeights(std::span<const GraphTypeSize> types) {
  for (const GraphTypeSize& type : types) {
    const std::size_t stride = row_stride(type.columns);
    blocks_.push_back({size_, type.attributes, type.columns, stride});
    size_ += (type.attributes * stride + kWeightsInLine - 1) / kWeightsInLine * kWeightsInLine;
  }
}

GraphFeatures::GraphFeatures(std::vector<GraphTypeSize> types)
    : types_(std::move(types)), weights_(types_), tables_(types_.size()), ends_(types_.size(), 0) {
  constexpr std::uint32_t kNone = ~0u;
  for (std::size_t t = 0; t < types_.size(); ++t) tables_[t].local_of.assign(types_[t].attributes, kNone);
}

void GraphFeatures::finish_graph() {
  constexpr std::uint32_t kNone = ~0u;
  double spread = 0, change = 0, nodes = 0;
  std::vector<double> sums;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    Table& table = tables_[t];
    const std::size_t first = ends_[ends_.size() - tables_.size()], last = table.rows.size();
    ends_.push_back(last);
    sums.clear();
    if (types_[t].arity == 1) nodes += static_cast<double>(last - first);
    for (std::size_t r = first; r < last; ++r) {
      const SparseRows::Row row = table.rows.row(r);
      for (std::size_t j = 0; j < row.ids.size(); ++j) {
        ESPALIER_EXPECT(row.ids[j] < types_[t].attributes);
        std::uint32_t& local = table.local_of[row.ids[j]];
        if (local == kNone) {
          local = static_cast<std::uint32_t>(sums.size());
          sums.push_back(0);
        }
        table.local_ids.push_back(local);
        const double value = row.value(j);
        sums[local] += std::abs(value);
        change += static_cast<double>(types_[t].arity) * value * value;
      }
    }
    for (std::size_t r = first; r < last; ++r) {
      for (const std::uint32_t id : table.rows.row(r).ids) table.local_of[id] = kNone;
    }
    for (const double sum : sums) spread += sum * sum;
    distinct_.push_back(static_cast<std::uint32_t>(sums.size()));
  }
  // |F(z - chi(y))|^2 = sum_a |sum_c x_ca d_c|^2 <= sum_a (sum_c |x_ca| |d_c|)^2 with |d_c|^2 <= 2, a difference of two units.
  squared_diameters_.push_back(2 * spread);
  // One node with another label: its own row, and those of the cliques that it is in.
  squared_changes_.push_back(2 * change / std::max(nodes, 1.0));
}

template <class Real, class Scale>
void GraphFeatures::score(std::size_t i, const Real* w, Scale scale, std::span<Scale> s) const {
  std::size_t at = 0;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const auto rows = as_kernel(range(i, t));
    kernels::score_row_range(table(weights_.block(t), w), rows, scale, s.data() + at);
    at += rows.size * types_[t].columns;
  }
}

template <class Real>
void GraphFeatures::accumulate(std::size_t i, std::span<const Real> delta, Real* w) const {
  std::size_t at = 0;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const auto rows = as_kernel(range(i, t));
    kernels::accumulate_row_range(table(weights_.block(t), w), rows, delta.data() + at);
    at += rows.size * types_[t].columns;
  }
}

void GraphFeatures::accumulate(std::size_t i, std::span<const double> delta, RowShare share, double* w,
                               Workspace& ws) const {
  std::size_t at = 0;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    Workspace::Frame frame(ws);
    const auto rows = as_kernel(entries_of_share(range(i, t), share, frame));
    kernels::accumulate_row_range(table(weights_.block(t), w), rows, delta.data() + at);
    at += rows.size * types_[t].columns;
  }
}

void GraphFeatures::accumulate_shared(std::size_t i, std::span<const float> delta, float* w) const {
  // Graphs have most attributes of cliques in common.
  const std::lock_guard lock(*writing_);
  accumulate(i, delta, w);
}

template <class Real>
double GraphFeatures::squared_norm(std::size_t i, std::span<const Real> delta, Workspace& ws) const {
  double sum = 0;
  std::size_t at = 0;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    Workspace::Frame frame(ws);
    const GraphWeights::Block& block = weights_.block(t);
    const auto changes = frame.take<Real>(distinct_[i * tables_.size() + t] * block.stride);
    std::fill(changes.begin(), changes.end(), Real{0});
    auto rows = as_kernel(range(i, t));
    rows.ids = tables_[t].local_ids.data();
    kernels::accumulate_row_range({changes.data(), block.columns, block.stride}, rows, delta.data() + at);
    sum += sum_of_squares(std::span<const Real>(changes));
    at += rows.size * types_[t].columns;
  }
  return sum;
}

void GraphFeatures::prefetch(std::size_t i, Prefetch what) const {
  if (what == Prefetch::location) {
    __builtin_prefetch(ends_.data() + i * tables_.size());
    return;
  }
  for (std::size_t t = 0; t < tables_.size(); ++t) tables_[t].rows.prefetch(begin(i, t), end(i, t));
}

template void GraphFeatures::score(std::size_t, const float*, float, std::span<float>) const;
template void GraphFeatures::score(std::size_t, const float*, double, std::span<double>) const;
template void GraphFeatures::score(std::size_t, const double*, double, std::span<double>) const;
template void GraphFeatures::accumulate(std::size_t, std::span<const float>, float*) const;
template void GraphFeatures::accumulate(std::size_t, std::span<const double>, double*) const;
template double GraphFeatures::squared_norm(std::size_t, std::span<const float>, Workspace&) const;
template double GraphFeatures::squared_norm(std::size_t, std::span<const double>, Workspace&) const;

}  // namespace espalier
