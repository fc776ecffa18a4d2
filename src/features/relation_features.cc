#include "features/relation_features.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "espalier/base/error.h"
#include "features/moves.h"
#include "features/sparse_sum.h"
#include "kernels/rows.h"

namespace espalier {

RelationFeatures::RelationFeatures(const ArcTemplates& templates, unsigned bits, std::size_t num_labels)
    : templates_(&templates), bits_(bits), num_labels_(num_labels) {
  ESPALIER_EXPECT(bits >= 1 && bits <= 30 && templates.num_between() == 0);
}

double RelationFeatures::typical_size() const { return static_cast<double>(templates_->size()); }

// Calls use(arc, rows) for every arc that is wanted.
template <class Wanted, class Use>
void RelationFeatures::for_each_arc(std::span<const WordAtoms> words, const ArcSet& arcs,
                                    const Wanted& wanted, const Use& use, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const std::size_t m = words.size(), n = templates_->size();
  const auto head = frame.take<std::uint32_t>((m + 1) * n), modifier = frame.take<std::uint32_t>((m + 1) * n);
  const auto rows = frame.take<std::uint32_t>(n);
  templates_->keys(words, n, head, modifier);
  const std::uint32_t mask = (std::uint32_t{1} << bits_) - 1;
  for (std::size_t d = 1; d <= m; ++d) {
    for (std::size_t a = arcs.begin(d); a < arcs.end(d); ++a) {
      if (!wanted(a)) continue;
      const std::size_t h = arcs.head(a, d);
      const std::uint32_t direction = direction_key(h < d);
      for (std::size_t t = 0; t < n; ++t)
        rows[t] = (head[h * n + t] ^ modifier[d * n + t] ^ direction) & mask;
      use(a, std::span<const std::uint32_t>(rows));
    }
  }
}

template <class Real, class Scale>
void RelationFeatures::add_score(std::span<const WordAtoms> words, const ArcSet& arcs, const Real* w,
                                 Scale scale, std::span<Scale> s, Workspace& ws, double threshold) const {
  Workspace::Frame frame(ws);
  const auto of_arc = frame.take<Scale>(num_labels_);
  const kernels::RowTable<const Real> table{w, num_labels_, row_stride(num_labels_), {threshold}};
  for_each_arc(
      words, arcs, [](std::size_t) { return true; },
      [&](std::size_t a, std::span<const std::uint32_t> rows) {
        kernels::score_rows(table, {rows.data(), nullptr, rows.size()}, scale, of_arc.data());
        for (std::size_t l = 0; l < num_labels_; ++l) s[a * num_labels_ + l] += of_arc[l];
      },
      ws);
}

template <class Real, class Sink>
void RelationFeatures::accumulate(std::span<const WordAtoms> words, const ArcSet& arcs,
                                  std::span<const Real> delta, Real negligible, const Sink& w,
                                  Workspace& ws) const {
  const RowBlock block{0, num_labels_, row_stride(num_labels_)};
  const auto of_arc = [&](std::size_t a) { return delta.subspan(a * num_labels_, num_labels_); };
  for_each_arc(
      words, arcs, [&](std::size_t a) { return moves(of_arc(a), negligible); },
      [&](std::size_t a, std::span<const std::uint32_t> rows) {
        w.add_rows(block, {rows.data(), nullptr, rows.size()}, of_arc(a).data());
      },
      ws);
}

template <class Real>
double RelationFeatures::squared_norm(std::span<const WordAtoms> words, const ArcSet& arcs,
                                      std::span<const Real> delta, Real negligible, Workspace& ws) const {
  const auto of_arc = [&](std::size_t a) { return delta.subspan(a * num_labels_, num_labels_); };
  std::size_t moved = 0;
  for (std::size_t a = 0; a < arcs.size(); ++a) moved += moves(of_arc(a), negligible) ? 1 : 0;
  Workspace::Frame frame(ws);
  // Rows that arcs share are summed first.
  const std::size_t most = std::min(moved * templates_->size(), std::size_t{1} << bits_),
                    stride = row_stride(num_labels_);
  SparsePlaces known(most, frame);
  const auto sums = frame.take<Real>(most * stride);
  const auto numbers = frame.take<std::uint32_t>(templates_->size());
  for_each_arc(
      words, arcs, [&](std::size_t a) { return moves(of_arc(a), negligible); },
      [&](std::size_t a, std::span<const std::uint32_t> rows) {
        for (std::size_t t = 0; t < rows.size(); ++t) {
          const std::size_t before = known.size();
          numbers[t] = known.number(rows[t]);
          if (known.size() > before) std::fill_n(sums.data() + numbers[t] * stride, stride, Real{0});
        }
        kernels::accumulate_rows(kernels::RowTable<Real>{sums.data(), num_labels_, stride},
                                 {numbers.data(), nullptr, numbers.size()}, of_arc(a).data());
      },
      ws);
  double sum = 0;
  for (std::size_t j = 0; j < known.size() * stride; ++j) sum += static_cast<double>(sums[j]) * sums[j];
  return sum;
}

template void RelationFeatures::add_score(std::span<const WordAtoms>, const ArcSet&, const float*, float,
                                          std::span<float>, Workspace&, double) const;
template void RelationFeatures::add_score(std::span<const WordAtoms>, const ArcSet&, const float*, double,
                                          std::span<double>, Workspace&, double) const;
template void RelationFeatures::add_score(std::span<const WordAtoms>, const ArcSet&, const double*, double,
                                          std::span<double>, Workspace&, double) const;
template void RelationFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&, std::span<const float>,
                                           float, const WeightsSink<float>&, Workspace&) const;
template void RelationFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&, std::span<const float>,
                                           float, const ListSink<float>&, Workspace&) const;
template void RelationFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&, std::span<const double>,
                                           double, const WeightsSink<double>&, Workspace&) const;
template void RelationFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&, std::span<const double>,
                                           double, const ListSink<double>&, Workspace&) const;
template double RelationFeatures::squared_norm(std::span<const WordAtoms>, const ArcSet&,
                                               std::span<const float>, float, Workspace&) const;
template double RelationFeatures::squared_norm(std::span<const WordAtoms>, const ArcSet&,
                                               std::span<const double>, double, Workspace&) const;

}  // namespace espalier
