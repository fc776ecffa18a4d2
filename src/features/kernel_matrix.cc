#include "features/kernel_matrix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "espalier/base/error.h"
#include "kernels/gram.h"
#include "kernels/relaxed.h"
#include "kernels/vectors.h"

namespace espalier {
namespace {

// Nodes whose coefficients are not all zero.
template <class W>
std::span<const std::uint32_t> find_support(const Coefficients<W>& w, std::span<std::uint32_t> nodes) {
  const std::size_t width = w.width;
  std::size_t size = 0;
  for (std::uint32_t v = 0; v < nodes.size(); ++v) {
    const W* row = w.row(v);
    std::size_t k = 0;
    while (k < width && kernels::relaxed_load(row + k) == 0) ++k;
    nodes[size] = v;
    size += k < width ? 1 : 0;
  }
  return nodes.first(size);
}

double dot(const float* a, const float* b, std::size_t n) { return kernels::dot(a, b, n); }
double dot(const double* a, const double* b, std::size_t n) { return std::inner_product(a, a + n, b, 0.0); }

}  // namespace

KernelMatrix::KernelMatrix(std::shared_ptr<const KernelNodes> nodes, const std::vector<std::uint32_t>& of,
                           std::size_t memory)
    : nodes_(std::move(nodes)) {
  for (const std::uint32_t node : of) {
    ESPALIER_EXPECT(node < num_nodes());
    inputs_.add(node, 1.0f);
    inputs_.finish_row();
  }
  const std::size_t row_bytes = nodes_->padded_size() * sizeof(float);
  if (row_bytes == 0 || memory / row_bytes >= num_nodes()) {
    compute_all();
    return;
  }
  slots_.assign(std::max<std::size_t>(1, memory / row_bytes), {kNone});
  slot_of_.assign(num_nodes(), kNone);
  memory_.resize(slots_.size() * nodes_->padded_size());
}

void KernelMatrix::compute_all() {
  const std::size_t n = num_nodes();
  memory_.resize(n * nodes_->padded_size());
  for (std::size_t u = 0; u < n; ++u) nodes_->values(u, u + 1, row_memory(u));
  // What is above the diagonal, in blocks that stay in the cache.
  constexpr std::size_t kBlock = 64;
  for (std::size_t first = 0; first < n; first += kBlock) {
    const std::size_t last = std::min(first + kBlock, n);
    for (std::size_t other = 0; other <= first; other += kBlock) {
      for (std::size_t u = first; u < last; ++u) {
        const float* row = row_memory(u);
        for (std::size_t v = other; v < std::min(other + kBlock, u); ++v) row_memory(v)[u] = row[v];
      }
    }
  }
}

// A slot for the node, with one user more; `fill`: it has to be computed, which nobody else does. None where
// all are in use.
std::uint32_t KernelMatrix::find_slot(std::uint32_t node, bool& fill) const {
  fill = false;
  if (slot_of_[node] != kNone) {
    Slot& slot = slots_[slot_of_[node]];
    if (!slot.filled) return kNone;  // another thread is at it
    ++slot.users;
    slot.last_use = ++uses_;
    return slot_of_[node];
  }
  std::size_t oldest = slots_.size();
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    if (slots_[k].users > 0) continue;
    if (oldest == slots_.size() || slots_[k].last_use < slots_[oldest].last_use) oldest = k;
  }
  if (oldest == slots_.size()) return kNone;
  Slot& slot = slots_[oldest];
  if (slot.node != kNone) slot_of_[slot.node] = kNone;
  slot = {node, 1, false, ++uses_};
  slot_of_[node] = static_cast<std::uint32_t>(oldest);
  fill = true;
  return slot_of_[node];
}

template <class Use>
void KernelMatrix::with_rows(std::span<const std::uint32_t> nodes, Workspace& ws, const Use& use) const {
  ESPALIER_EXPECT(nodes.size() <= kTogether);
  std::array<const float*, kTogether> rows{};
  if (complete()) {
    for (std::size_t r = 0; r < nodes.size(); ++r) rows[r] = row_memory(nodes[r]);
    use(rows.data());
    return;
  }
  Workspace::Frame frame(ws);
  std::array<std::uint32_t, kTogether> slots{};
  for (std::size_t r = 0; r < nodes.size(); ++r) {
    bool fill;
    {
      const std::lock_guard lock(mutex_);
      slots[r] = find_slot(nodes[r], fill);
    }
    float* row = slots[r] == kNone ? frame.take<float>(nodes_->padded_size()).data() : row_memory(slots[r]);
    if (fill || slots[r] == kNone) nodes_->values(nodes[r], num_nodes(), row);
    if (fill) {
      const std::lock_guard lock(mutex_);
      slots_[slots[r]].filled = true;
    }
    rows[r] = row;
  }
  use(rows.data());
  const std::lock_guard lock(mutex_);
  for (std::size_t r = 0; r < nodes.size(); ++r) {
    if (slots[r] != kNone) --slots_[slots[r]].users;
  }
}

template <class W, class Real>
void KernelMatrix::score_of(std::span<const std::uint32_t> nodes, const Coefficients<W>& w, Real scale,
                            std::span<Real> s, Workspace& ws) const {
  Workspace::Frame frame(ws);
  kernels::GramRows gram{nullptr, 0, nullptr, num_nodes()};
  // To look for zeros costs about as much as to score one input.
  if (nodes.size() > 1) {
    const auto support = find_support(w, frame.take<std::uint32_t>(num_nodes()));
    gram.nodes = support.data();
    gram.size = support.size();
  }
  for (std::size_t first = 0; first < nodes.size(); first += kTogether) {
    gram.num_rows = std::min(kTogether, nodes.size() - first);
    with_rows(nodes.subspan(first, gram.num_rows), ws, [&](const float* const* rows) {
      gram.rows = rows;
      kernels::score_gram({w.first, w.width, w.stride}, gram, scale, s.data() + first * w.width);
    });
  }
}

void KernelMatrix::score(std::size_t begin, std::size_t end, Coefficients<float> w, float scale,
                         std::span<float> s, Workspace& ws) const {
  score_of({inputs_.range(0, 0).ids + begin, end - begin}, w, scale, s, ws);
}
void KernelMatrix::score(std::size_t begin, std::size_t end, Coefficients<float> w, double scale,
                         std::span<double> s, Workspace& ws) const {
  score_of({inputs_.range(0, 0).ids + begin, end - begin}, w, scale, s, ws);
}
void KernelMatrix::score(std::size_t begin, std::size_t end, Coefficients<double> w, double scale,
                         std::span<double> s, Workspace& ws) const {
  score_of({inputs_.range(0, 0).ids + begin, end - begin}, w, scale, s, ws);
}

template <class Real>
double KernelMatrix::squared_norm_of(std::size_t begin, std::size_t end, std::span<const Real> delta,
                                     std::size_t width, Workspace& ws) const {
  if (end - begin == 1) return self(begin) * dot(delta.data(), delta.data(), width);
  double sum = 0;
  for (std::size_t t = begin; t < end; ++t) {
    const Real* of_t = delta.data() + (t - begin) * width;
    const std::uint32_t own = node(t);
    with_rows({&own, 1}, ws, [&](const float* const* rows) {
      for (std::size_t u = begin; u < t; ++u) {
        sum += 2.0 * rows[0][node(u)] * dot(of_t, delta.data() + (u - begin) * width, width);
      }
      sum += rows[0][own] * dot(of_t, of_t, width);
    });
  }
  return std::max(sum, 0.0);  // but for rounding it is no less
}
double KernelMatrix::squared_norm(std::size_t begin, std::size_t end, std::span<const float> delta,
                                  std::size_t width, Workspace& ws) const {
  return squared_norm_of(begin, end, delta, width, ws);
}
double KernelMatrix::squared_norm(std::size_t begin, std::size_t end, std::span<const double> delta,
                                  std::size_t width, Workspace& ws) const {
  return squared_norm_of(begin, end, delta, width, ws);
}

double KernelMatrix::largest_squared_norm(std::size_t begin, std::size_t end, Workspace& ws) const {
  double sum = 0;
  for (std::size_t t = begin; t < end; ++t) {
    const std::uint32_t own = node(t);
    with_rows({&own, 1}, ws, [&](const float* const* rows) {
      for (std::size_t u = begin; u < end; ++u) sum += std::abs(rows[0][node(u)]);
    });
  }
  return sum;
}

template <class Real>
double KernelMatrix::inner_product_of(const Coefficients<Real>& a, const Coefficients<Real>& b) const {
  Workspace ws;
  std::vector<std::uint32_t> memory(num_nodes());
  const auto support = find_support(a, memory);
  const std::size_t width = a.width;
  constexpr std::size_t kBlock = 8 * kTogether;
  std::vector<double> s(kBlock * width);
  double sum = 0;
  for (std::size_t first = 0; first < support.size(); first += kBlock) {
    const auto nodes = support.subspan(first, std::min(kBlock, support.size() - first));
    score_of(nodes, b, 1.0, std::span(s), ws);
    for (std::size_t r = 0; r < nodes.size(); ++r) {
      const Real* row = a.row(nodes[r]);
      for (std::size_t k = 0; k < width; ++k) sum += row[k] * s[r * width + k];
    }
  }
  for (std::size_t r = num_nodes(); r < a.rows; ++r) sum += dot(a.row(r), b.row(r), width);
  return sum;
}
double KernelMatrix::inner_product(Coefficients<double> a, Coefficients<double> b) const {
  return inner_product_of(a, b);
}
double KernelMatrix::squared_norm(Coefficients<float> w) const {
  return std::max(inner_product_of(w, w), 0.0);
}
double KernelMatrix::squared_norm(Coefficients<double> w) const {
  return std::max(inner_product_of(w, w), 0.0);
}

}  // namespace espalier
