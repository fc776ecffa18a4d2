#include "features/graph_features.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "espalier/base/error.h"
#include "features/as_kernel.h"
#include "features/sinks.h"
#include "kernels/rows.h"
#include "kernels/vectors.h"

namespace espalier {
namespace {

constexpr std::size_t kWeightsInLine = kCacheLine / sizeof(float);

template <class Real>
kernels::RowTable<Real> table(const GraphWeights::Block& block, Real* w, double threshold = 0) {
  return {w + block.begin, block.columns, block.stride, {threshold}};
}

template <class Real>
Coefficients<Real> coefficients(const GraphWeights::Block& block, const Real* w) {
  return {w + block.begin, block.attributes, block.columns};
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

GraphFeatures::GraphFeatures(GraphFeatures&& linear, std::vector<std::shared_ptr<const KernelMatrix>> kernels)
    : GraphFeatures(std::move(linear)) {
  ESPALIER_EXPECT(kernels.size() <= tables_.size());
  for (std::size_t t = 0; t < kernels.size(); ++t) {
    if (!kernels[t]) continue;
    ESPALIER_EXPECT(kernels[t]->inputs().size() == tables_[t].rows.size());
    types_[t].attributes = kernels[t]->num_nodes();
    tables_[t] = {kernels[t]->inputs(), std::move(kernels[t]), {}, {}};
    has_kernels_ = true;
  }
  weights_ = GraphWeights(types_);
  for (std::size_t i = 0; i < size(); ++i) measure(i);
}

void GraphFeatures::finish_graph() {
  constexpr std::uint32_t kNone = ~0u;
  ESPALIER_EXPECT(!has_kernels_);
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    Table& table = tables_[t];
    const std::size_t first = ends_[ends_.size() - tables_.size()], last = table.rows.size();
    ends_.push_back(last);
    std::uint32_t distinct = 0;
    for (std::size_t r = first; r < last; ++r) {
      for (const std::uint32_t id : table.rows.row(r).ids) {
        ESPALIER_EXPECT(id < types_[t].attributes);
        std::uint32_t& local = table.local_of[id];
        if (local == kNone) local = distinct++;
        table.local_ids.push_back(local);
      }
    }
    for (std::size_t r = first; r < last; ++r) {
      for (const std::uint32_t id : table.rows.row(r).ids) table.local_of[id] = kNone;
    }
    distinct_.push_back(distinct);
  }
  squared_diameters_.push_back(0);
  squared_changes_.push_back(0);
  measure(size() - 1);
}

void GraphFeatures::add_reach(std::size_t i, std::size_t type, Reach& sum, Workspace& ws) const {
  const std::size_t first = begin(i, type), last = end(i, type);
  if (const KernelMatrix* kernel = this->kernel(type)) {
    sum.together += kernel->largest_squared_norm(first, last, ws);
    for (std::size_t r = first; r < last; ++r)
      sum.alone += static_cast<double>(types_[type].arity) * kernel->self(r);
    return;
  }
  Workspace::Frame frame(ws);
  const auto lengths = frame.take<double>(distinct_[i * tables_.size() + type]);
  std::fill(lengths.begin(), lengths.end(), 0.0);
  const SparseRows::Range rows = range(i, type);
  for (std::size_t e = rows.offsets[0]; e < rows.offsets[rows.size]; ++e) {
    const double value = rows.values ? rows.values[e] : 1.0;
    lengths[tables_[type].local_ids[e]] += std::abs(value);
    sum.alone += static_cast<double>(types_[type].arity) * value * value;
  }
  for (const double length : lengths) sum.together += length * length;
}

void GraphFeatures::measure(std::size_t i) {
  Workspace ws;
  Reach reach;
  std::size_t nodes = 0;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    add_reach(i, t, reach, ws);
    if (types_[t].arity == 1) nodes += end(i, t) - begin(i, t);
  }
  // |F(z - chi(y))|^2 = sum_a |sum_c x_ca d_c|^2 <= sum_a (sum_c |x_ca| |d_c|)^2 with |d_c|^2 <= 2, a
  // difference of two units.
  squared_diameters_[i] = 2 * reach.together;
  // One node with another label: its own row, and those of the cliques that it is in.
  squared_changes_[i] = 2 * reach.alone / static_cast<double>(std::max<std::size_t>(nodes, 1));
}

template <class Real, class Scale>
void GraphFeatures::score(std::size_t i, const Real* w, Scale scale, std::span<Scale> s, Workspace& ws,
                          double threshold) const {
  std::size_t at = 0;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const auto rows = as_kernel(range(i, t));
    const auto of_type = s.subspan(at, rows.size * types_[t].columns);
    if (const KernelMatrix* kernel = this->kernel(t)) {
      kernel->score(begin(i, t), end(i, t), coefficients(weights_.block(t), w), scale, of_type, ws);
    } else {
      kernels::score_row_range(table(weights_.block(t), w, threshold), rows, scale, of_type.data());
    }
    at += of_type.size();
  }
}

template <class Real, class Sink>
void GraphFeatures::add_all(std::size_t i, std::span<const Real> delta, const Sink& sink) const {
  std::size_t at = 0;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const auto rows = as_kernel(range(i, t));
    const GraphWeights::Block& block = weights_.block(t);
    sink.add_row_range({block.begin, block.columns, block.stride}, rows, delta.data() + at);
    at += rows.size * types_[t].columns;
  }
}

template <class Real>
void GraphFeatures::accumulate(std::size_t i, std::span<const Real> delta, Real* w) const {
  add_all(i, delta, WeightsSink(w));
}

template <class Real>
void GraphFeatures::list_changes(std::size_t i, std::span<const Real> delta,
                                 RowChanges<Real>& changes) const {
  add_all(i, delta, ListSink(changes));
}

template <class Real>
double GraphFeatures::squared_norm(std::size_t i, std::span<const Real> delta, Workspace& ws) const {
  double sum = 0;
  std::size_t at = 0;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    Workspace::Frame frame(ws);
    const GraphWeights::Block& block = weights_.block(t);
    auto rows = as_kernel(range(i, t));
    const auto of_type = delta.subspan(at, rows.size * block.columns);
    at += of_type.size();
    if (const KernelMatrix* kernel = this->kernel(t)) {
      sum += kernel->squared_norm(begin(i, t), end(i, t), of_type, block.columns, ws);
      continue;
    }
    const auto changes = frame.take<Real>(distinct_[i * tables_.size() + t] * block.stride);
    std::fill(changes.begin(), changes.end(), Real{0});
    rows.ids = tables_[t].local_ids.data();
    kernels::accumulate_row_range({changes.data(), block.columns, block.stride}, rows, of_type.data());
    sum += sum_of_squares(std::span<const Real>(changes));
  }
  return sum;
}

template <class Real>
double GraphFeatures::squared_norm(const BasicWeights<Real>& w) const {
  if (!has_kernels_) return euclidean_squared_norm(w);
  double sum = 0;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const GraphWeights::Block& block = weights_.block(t);
    sum += tables_[t].kernel ? tables_[t].kernel->squared_norm(coefficients(block, w.row(0)))
                             : sum_of_squares(w.values().subspan(block.begin, block.size()));
  }
  return sum;
}

double GraphFeatures::inner_product(const DoubleWeights& a, const DoubleWeights& b) const {
  if (!has_kernels_) return euclidean_inner_product(a, b);
  double sum = 0;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const GraphWeights::Block& block = weights_.block(t);
    const double *of_a = a.row(block.begin), *of_b = b.row(block.begin);
    sum += tables_[t].kernel ? tables_[t].kernel->inner_product(coefficients(block, a.row(0)),
                                                                coefficients(block, b.row(0)))
                             : std::inner_product(of_a, of_a + block.size(), of_b, 0.0);
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

template void GraphFeatures::score(std::size_t, const float*, float, std::span<float>, Workspace&,
                                   double) const;
template void GraphFeatures::score(std::size_t, const float*, double, std::span<double>, Workspace&,
                                   double) const;
template void GraphFeatures::score(std::size_t, const double*, double, std::span<double>, Workspace&,
                                   double) const;
template void GraphFeatures::accumulate(std::size_t, std::span<const float>, float*) const;
template void GraphFeatures::accumulate(std::size_t, std::span<const double>, double*) const;
template void GraphFeatures::list_changes(std::size_t, std::span<const float>, RowChanges<float>&) const;
template void GraphFeatures::list_changes(std::size_t, std::span<const double>, RowChanges<double>&) const;
template double GraphFeatures::squared_norm(std::size_t, std::span<const float>, Workspace&) const;
template double GraphFeatures::squared_norm(std::size_t, std::span<const double>, Workspace&) const;
template double GraphFeatures::squared_norm(const Weights&) const;
template double GraphFeatures::squared_norm(const DoubleWeights&) const;

}  // namespace espalier
