#include "features/span_features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "espalier/base/error.h"
#include "features/moves.h"
#include "features/sinks.h"
#include "features/span_templates.h"
#include "features/sparse_sum.h"
#include "kernels/relaxed.h"
#include "kernels/rows.h"
#include "kernels/vectors.h"

namespace espalier {
namespace {

constexpr std::size_t kLine = 16;  // weights on a cache line

// Places whose rows are looked at together: their values stay in a cache.
constexpr std::size_t kAtOnce = 512;

constexpr std::uint32_t kAlone = std::numeric_limits<std::uint32_t>::max();

constexpr std::size_t whole_lines(std::size_t n) { return (n + kLine - 1) / kLine * kLine; }

}  // namespace

// The places of a sentence that are wanted, and the rows of each.
struct CfgFeatures::Rows {
  std::span<Cfg::Place> places;
  std::span<std::size_t> offsets;
  std::span<std::uint32_t> ids;
  std::size_t size = 0, first_weight = 0, width = 0, num_rows = 0;

  kernels::SparseRowRange range() const { return {offsets.data(), ids.data(), nullptr, size}; }
  template <class Real>
  kernels::RowTable<Real> table(Real* w, double threshold = 0) const {
    return {w + first_weight, width, row_stride(width), {threshold}};
  }
  RowBlock block() const { return {first_weight, width, row_stride(width)}; }
  std::size_t num_ids() const { return offsets[size]; }
  // Values of statistics, spread over whole rows.
  template <class Real>
  std::span<Real> spread(std::span<const Real> values, Workspace::Frame& frame) const {
    const auto dense = frame.take<Real>(size * width);
    std::ranges::fill(dense, Real{0});
    for (std::size_t r = 0; r < size; ++r) {
      for (std::size_t k = 0; k < places[r].labels.size(); ++k)
        dense[r * width + places[r].labels[k]] = values[places[r].first + k];
    }
    return dense;
  }
};

CfgFeatures::CfgFeatures(const GrammarIndex& index, const CfgFeatureOptions& options)
    : index_(&index), options_(options) {
  ESPALIER_EXPECT(options.bits >= 1 && options.bits <= 28 && options.tag_bits <= 28);
  const Grammar& grammar = index.grammar();
  first_of_rows_ = whole_lines(index.num_rules());
  const std::size_t row = row_stride(grammar.num_labels), tag_row = row_stride(grammar.num_tags);
  first_of_tags_ = first_of_rows_ + (options.spans ? whole_lines((std::size_t{1} << options.bits) * row) : 0);
  num_tag_weights_ = options.tag_bits > 0 ? (std::size_t{1} << options.tag_bits) * tag_row : 0;
}

double CfgFeatures::typical_size() const {
  return 1 + (options_.spans ? static_cast<double>(span_templates().size() + split_templates().size()) : 0);
}

double CfgFeatures::largest_norm(const Counts& counts) const {
  double sum = counts.rules * counts.rules;
  if (options_.spans) {
    sum += static_cast<double>(span_templates().size()) * counts.labels * counts.labels;
    sum += static_cast<double>(split_templates().size()) * counts.splits * counts.splits;
  }
  if (has_tags()) sum += static_cast<double>(tag_templates().size()) * counts.tags * counts.tags;
  return sum;
}

double CfgFeatures::common_share() const {
  if (!options_.spans) return 1;
  const auto spans = static_cast<double>(span_templates().size()),
             splits = static_cast<double>(split_templates().size());
  return (1 + spans * span_templates().common_share() + splits * split_templates().common_share()) /
         (1 + spans + splits);
}

template <class Wanted, class Use>
void CfgFeatures::for_label_rows(std::span<const SpanWord> words, const Cfg& forest, const Wanted& wanted,
                                 std::size_t at_once, const Use& use, Workspace::Frame& frame) const {
  const SpanTemplates &of_spans = span_templates(), &of_splits = split_templates();
  const std::size_t positions = words.size() + 1,
                    most = std::min(at_once, forest.num_cells() + forest.num_splits());
  Rows rows;
  rows.places = frame.take<Cfg::Place>(most);
  rows.offsets = frame.take<std::size_t>(most + 1);
  rows.ids = frame.take<std::uint32_t>(most * std::max(of_spans.size(), of_splits.size()));
  rows.first_weight = first_of_rows_;
  rows.width = index_->grammar().num_labels;
  rows.num_rows = num_label_rows();
  rows.offsets[0] = 0;
  const auto begins = frame.take<std::uint32_t>(positions * of_spans.size()),
             ends = frame.take<std::uint32_t>(positions * of_spans.size());
  const auto add = [&](const SpanTemplates& templates, const Cfg::Place& place) {
    if (!wanted(place)) return;
    if (rows.size == most) {
      use(rows);
      rows.size = 0;
    }
    const std::size_t at = rows.offsets[rows.size];
    const auto ids = rows.ids.subspan(at, templates.size());
    templates.span_keys(words, place.begin, place.end, begins, ends, ids);
    for (std::uint32_t& id : ids) id &= (std::uint32_t{1} << options_.bits) - 1;
    rows.places[rows.size++] = place;
    rows.offsets[rows.size] = at + templates.size();
  };
  of_spans.keys(words, begins, ends);
  forest.for_each_span([&](const Cfg::Place& place) { add(of_spans, place); });
  of_splits.keys(words, begins, ends);
  for (std::size_t k = 0; k < forest.num_splits(); ++k) add(of_splits, forest.split(k));
  use(rows);
}

template <class Wanted>
CfgFeatures::Rows CfgFeatures::tag_rows(std::span<const SpanWord> words, const Cfg& forest,
                                        const Wanted& wanted, Workspace::Frame& frame) const {
  const SpanTemplates& templates = tag_templates();
  const std::size_t positions = words.size() + 1, most = forest.num_tagged();
  Rows rows;
  rows.places = frame.take<Cfg::Place>(most);
  rows.offsets = frame.take<std::size_t>(most + 1);
  rows.ids = frame.take<std::uint32_t>(most * templates.size());
  rows.first_weight = first_of_tags_;
  rows.width = index_->grammar().num_tags;
  rows.num_rows = num_tag_rows();
  rows.offsets[0] = 0;
  const auto begins = frame.take<std::uint32_t>(positions * templates.size()),
             ends = frame.take<std::uint32_t>(positions * templates.size());
  templates.keys(words, begins, ends);
  for (std::size_t k = 0; k < most; ++k) {
    const Cfg::Place place = forest.tagged(k);
    if (!wanted(place)) continue;
    const std::size_t at = rows.offsets[rows.size];
    const auto ids = rows.ids.subspan(at, templates.size());
    templates.span_keys(words, place.begin, place.end, begins, ends, ids);
    for (std::uint32_t& id : ids) id &= (std::uint32_t{1} << options_.tag_bits) - 1;
    rows.places[rows.size++] = place;
    rows.offsets[rows.size] = at + templates.size();
  }
  return rows;
}

void CfgFeatures::for_each_feature(std::span<const SpanWord> words, const Cfg& forest,
                                   const Visit& visit) const {
  std::vector<std::uint32_t> begins, ends, ids;
  const auto begin = [&](const SpanTemplates& templates) {
    begins.resize((words.size() + 1) * templates.size());
    ends.resize(begins.size());
    ids.resize(templates.size());
    templates.keys(words, begins, ends);
  };
  const auto add = [&](const SpanTemplates& templates, unsigned bits, const Cfg::Place& place,
                       const auto& place_of) {
    templates.span_keys(words, place.begin, place.end, begins, ends, ids);
    for (std::size_t t = 0; t < templates.size(); ++t) {
      const std::size_t row = ids[t] & ((std::uint32_t{1} << bits) - 1);
      for (std::size_t k = 0; k < place.labels.size(); ++k)
        visit(templates.name(t), place, k, place_of(row, place.labels[k]));
    }
  };
  const auto label = [&](std::size_t row, std::size_t l) { return label_place(row, l); };
  if (options_.spans) {
    begin(span_templates());
    forest.for_each_span(
        [&](const Cfg::Place& place) { add(span_templates(), options_.bits, place, label); });
    begin(split_templates());
    for (std::size_t k = 0; k < forest.num_splits(); ++k)
      add(split_templates(), options_.bits, forest.split(k), label);
  }
  if (!has_tags()) return;
  begin(tag_templates());
  for (std::size_t k = 0; k < forest.num_tagged(); ++k)
    add(tag_templates(), options_.tag_bits, forest.tagged(k),
        [&](std::size_t row, std::size_t tag) { return tag_place(row, tag); });
}

template <class Real, class Scale>
void CfgFeatures::score(std::span<const SpanWord> words, const Cfg& forest, const Real* w, Scale scale,
                        std::span<Scale> s, Workspace& ws, double threshold) const {
  Workspace::Frame frame(ws);
  const auto rules = forest.rules();
  for (std::size_t k = 0; k < rules.size(); ++k)
    s[k] =
        scale * soft(static_cast<Scale>(kernels::relaxed_load(w + rules[k])), static_cast<Scale>(threshold));
  std::fill(s.begin() + static_cast<std::ptrdiff_t>(rules.size()), s.end(), Scale{0});
  const auto add = [&](const Rows& rows) {
    Workspace::Frame of_rows(ws);
    const auto dense = of_rows.take<Scale>(rows.size * rows.width);
    kernels::score_row_range(rows.table(w, threshold), rows.range(), scale, dense.data());
    for (std::size_t r = 0; r < rows.size; ++r) {
      const Cfg::Place& place = rows.places[r];
      for (std::size_t k = 0; k < place.labels.size(); ++k)
        s[place.first + k] = dense[r * rows.width + place.labels[k]];
    }
  };
  const auto all = [](const Cfg::Place&) { return true; };
  if (options_.spans) for_label_rows(words, forest, all, kAtOnce, add, frame);
  if (has_tags()) add(tag_rows(words, forest, all, frame));
}

template <class Real, class Sink>
void CfgFeatures::accumulate(std::span<const SpanWord> words, const Cfg& forest, std::span<const Real> delta,
                             Real negligible, const Sink& w, Workspace& ws) const {
  Workspace::Frame frame(ws);
  w.add_each(forest.rules().data(), forest.rules().size(), delta.data());
  const auto wanted = [&](const Cfg::Place& place) {
    return moves(delta.subspan(place.first, place.labels.size()), negligible);
  };
  const auto add = [&](const Rows& rows) {
    Workspace::Frame of_rows(ws);
    w.add_row_range(rows.block(), rows.range(), rows.spread(delta, of_rows).data());
  };
  if (options_.spans) for_label_rows(words, forest, wanted, kAtOnce, add, frame);
  if (has_tags()) add(tag_rows(words, forest, wanted, frame));
}

template <class Real>
double CfgFeatures::squared_norm(std::span<const SpanWord> words, const Cfg& forest,
                                 std::span<const Real> delta, Real negligible, Workspace& ws) const {
  Workspace::Frame frame(ws);
  double sum = 0;
  for (std::size_t k = 0; k < forest.rules().size(); ++k) sum += static_cast<double>(delta[k]) * delta[k];
  const auto wanted = [&](const Cfg::Place& place) {
    return moves(delta.subspan(place.first, place.labels.size()), negligible);
  };
  // A row that one place alone has adds what the place has; those that several share are summed first, one
  // after the other.
  const auto add = [&](const Rows& rows) {
    const auto ids = rows.ids.first(rows.num_ids());
    SparsePlaces known(std::min(ids.size(), rows.num_rows), frame);
    for (std::uint32_t& id : ids) id = known.number(id);
    const auto ends = frame.take<std::uint32_t>(known.size());  // of the places of each row
    std::ranges::fill(ends, 0u);
    for (const std::uint32_t id : ids) ++ends[id];
    std::uint32_t shared = 0;
    for (std::uint32_t& count : ends) {
      const std::uint32_t more = count > 1 ? count : 0;
      count = more > 0 ? shared : kAlone;
      shared += more;
    }
    const auto dense = rows.spread(delta, frame);
    const auto places = frame.take<std::uint32_t>(shared);
    for (std::size_t r = 0; r < rows.size; ++r) {
      std::size_t alone = 0;
      for (std::size_t k = rows.offsets[r]; k < rows.offsets[r + 1]; ++k) {
        std::uint32_t& end = ends[ids[k]];
        if (end == kAlone) {
          ++alone;
        } else {
          places[end++] = static_cast<std::uint32_t>(r);
        }
      }
      const Real* of_place = dense.data() + r * rows.width;
      if (alone > 0) sum += static_cast<double>(alone) * kernels::dot(of_place, of_place, rows.width);
    }
    const auto total = frame.take<Real>(rows.width);
    std::uint32_t begin = 0;
    for (const std::uint32_t end : ends) {
      if (end == kAlone) continue;
      std::ranges::fill(total, Real{0});
      for (; begin < end; ++begin) {
        const Real* of_place = dense.data() + places[begin] * rows.width;
        for (std::size_t y = 0; y < rows.width; ++y) total[y] += of_place[y];
      }
      sum += kernels::dot(total.data(), total.data(), rows.width);
    }
  };
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  if (options_.spans) for_label_rows(words, forest, wanted, kAll, add, frame);
  if (has_tags()) add(tag_rows(words, forest, wanted, frame));
  return sum;
}

template void CfgFeatures::score(std::span<const SpanWord>, const Cfg&, const float*, float, std::span<float>,
                                 Workspace&, double) const;
template void CfgFeatures::score(std::span<const SpanWord>, const Cfg&, const float*, double,
                                 std::span<double>, Workspace&, double) const;
template void CfgFeatures::score(std::span<const SpanWord>, const Cfg&, const double*, double,
                                 std::span<double>, Workspace&, double) const;
template void CfgFeatures::accumulate(std::span<const SpanWord>, const Cfg&, std::span<const float>, float,
                                      const WeightsSink<float>&, Workspace&) const;
template void CfgFeatures::accumulate(std::span<const SpanWord>, const Cfg&, std::span<const float>, float,
                                      const ListSink<float>&, Workspace&) const;
template void CfgFeatures::accumulate(std::span<const SpanWord>, const Cfg&, std::span<const double>, double,
                                      const WeightsSink<double>&, Workspace&) const;
template void CfgFeatures::accumulate(std::span<const SpanWord>, const Cfg&, std::span<const double>, double,
                                      const ListSink<double>&, Workspace&) const;
template double CfgFeatures::squared_norm(std::span<const SpanWord>, const Cfg&, std::span<const float>,
                                          float, Workspace&) const;
template double CfgFeatures::squared_norm(std::span<const SpanWord>, const Cfg&, std::span<const double>,
                                          double, Workspace&) const;

}  // namespace espalier
