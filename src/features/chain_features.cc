#include "espalier/features/chain_features.h"

#include <algorithm>
#include <cmath>

#include "espalier/base/error.h"
#include "espalier/features/step_tables.h"
#include "features/as_kernel.h"
#include "kernels/rows.h"

namespace espalier {
namespace {

// The L rows of weights of each attribute of a transition, as if they were L tokens: token i has the row of `before` = i.
kernels::SparseRowRange expand(const SparseRows::Row& row, const ChainShape& shape, Workspace::Frame& frame) {
  const std::size_t labels = shape.num_labels, entries = row.ids.size();
  const auto offsets = frame.take<std::size_t>(labels + 1);
  const auto ids = frame.take<std::uint32_t>(labels * entries);
  const auto values = frame.take<float>(row.values.empty() ? 0 : labels * entries);
  for (std::size_t i = 0; i <= labels; ++i) offsets[i] = i * entries;
  for (std::size_t i = 0; i < labels; ++i) {
    for (std::size_t j = 0; j < entries; ++j) {
      ids[i * entries + j] = static_cast<std::uint32_t>(shape.transition_row(row.ids[j], i));
    }
    if (!row.values.empty()) std::copy(row.values.begin(), row.values.end(), &values[i * entries]);
  }
  return {offsets.data(), ids.data(), row.values.empty() ? nullptr : values.data(), labels};
}

template <class Table, class Real>
void score_chain(const Sequences& sequences, std::size_t i, std::span<const std::uint32_t> tables,
                 const ChainShape& shape, const Table& w, Real scale, std::span<Real> s, Workspace& ws) {
  const std::size_t begin = sequences.offsets[i], end = sequences.offsets[i + 1], labels = shape.num_labels;
  ESPALIER_EXPECT(s.size() == (end - begin + tables.size() * labels) * labels);
  kernels::score_row_range(w, as_kernel(sequences.tokens.range(begin, end)), scale, s.data());
  Real* table = s.data() + (end - begin) * labels;
  for (const std::uint32_t row : tables) {
    Workspace::Frame frame(ws);
    kernels::score_row_range(w, expand(sequences.transitions.row(row), shape, frame), scale, table);
    table += labels * labels;
  }
}

template <class Real>
void accumulate_chain(const Sequences& sequences, std::size_t i, std::span<const std::uint32_t> tables,
                      const ChainShape& shape, std::span<const Real> delta, BasicWeights<Real>& w,
                      Workspace& ws) {
  const std::size_t begin = sequences.offsets[i], end = sequences.offsets[i + 1], labels = shape.num_labels;
  kernels::accumulate_row_range(as_kernel(w), as_kernel(sequences.tokens.range(begin, end)), delta.data());
  const Real* table = delta.data() + (end - begin) * labels;
  for (const std::uint32_t row : tables) {
    Workspace::Frame frame(ws);
    kernels::accumulate_row_range(as_kernel(w), expand(sequences.transitions.row(row), shape, frame), table);
    table += labels * labels;
  }
}

void accumulate_share(const Sequences& sequences, std::size_t i, std::span<const std::uint32_t> tables,
                      const ChainShape& shape, std::span<const double> delta, RowShare share,
                      DoubleWeights& w, Workspace& ws) {
  const std::size_t begin = sequences.offsets[i], end = sequences.offsets[i + 1], labels = shape.num_labels;
  const auto add = [&](const kernels::SparseRowRange& rows, const double* change, Workspace::Frame& frame) {
    kernels::accumulate_row_range(as_kernel(w), entries_of_share(rows, share, frame), change);
  };
  {
    Workspace::Frame frame(ws);
    add(as_kernel(sequences.tokens.range(begin, end)), delta.data(), frame);
  }
  const double* table = delta.data() + (end - begin) * labels;
  for (const std::uint32_t row : tables) {
    Workspace::Frame frame(ws);
    add(expand(sequences.transitions.row(row), shape, frame), table, frame);
    table += labels * labels;
  }
}

double squared_length(const SparseRows::Row& row) {
  double sum = 0;
  for (std::size_t j = 0; j < row.ids.size(); ++j) sum += static_cast<double>(row.value(j)) * row.value(j);
  return sum;
}

}  // namespace

void score_sequence(const Sequences& sequences, std::span<const std::uint32_t> tables,
                    const ChainShape& shape, WeightsView theta, std::span<float> s, Workspace& ws) {
  score_chain(sequences, 0, tables, shape, as_kernel(theta), 1.0f, s, ws);
}
void score_sequence(const Sequences& sequences, std::span<const std::uint32_t> tables,
                    const ChainShape& shape, WeightsView theta, std::span<double> s, Workspace& ws) {
  score_chain(sequences, 0, tables, shape, as_kernel(theta), 1.0, s, ws);
}

ChainFeatures::ChainFeatures(const Sequences& sequences, ChainShape shape)
    : sequences_(sequences),
      shape_(shape),
      token_overlap_(shape.num_attributes),
      table_overlap_(shape.num_transition_attributes) {
  ESPALIER_EXPECT(sequences.tokens.size() == sequences.num_tokens());
  ESPALIER_EXPECT(tied() || sequences.transition_of.size() == sequences.num_tokens());
  if (tied()) {
    ESPALIER_EXPECT(sequences.transitions.size() > 0);
    table_overlap_.add_example(sequences.transitions, 0, 1);
  } else {
    rows_.clear();
    table_of_.reserve(sequences.num_tokens());
  }
  const std::vector<float> frequencies = sequences.tokens.frequencies(shape.num_attributes, size());
  StepTables tables;
  sizes_.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    const std::size_t begin = sequences.offsets[i], end = sequences.offsets[i + 1];
    token_overlap_.add_example(sequences.tokens, begin, end);
    sizes_.push_back(sizes_of(i, frequencies));
    if (tied()) continue;
    table_of_.push_back(0);  // no step leads into a first token
    tables.append(std::span(sequences.transition_of).subspan(begin + 1, end - begin - 1), rows_, table_of_);
    rows_begin_.push_back(rows_.size());
    table_overlap_.add_example(sequences.transitions, rows(i));
  }
  token_overlap_.finish();
  table_overlap_.finish();
}

ChainFeatures::Sizes ChainFeatures::sizes_of(std::size_t i, std::span<const float> frequencies) const {
  const std::size_t begin = sequences_.offsets[i], end = sequences_.offsets[i + 1];
  double tokens = 0, common = 0, steps = 0, squared_steps = 0;
  for (std::size_t t = begin; t < end; ++t) {
    const SparseRows::Row row = sequences_.tokens.row(t);
    tokens += squared_length(row);
    for (std::size_t j = 0; j < row.ids.size(); ++j) {
      common += frequencies[row.ids[j]] * static_cast<double>(row.value(j)) * row.value(j);
    }
    if (t == begin) continue;
    const double step = squared_length(sequences_.transitions.row(tied() ? 0 : sequences_.transition_of[t]));
    steps += std::sqrt(step);
    squared_steps += step;
  }
  // Two outputs differ by at most a pair of unit vectors at each position and in the table of each step, and steps
  // together move F by no more than the sum of what they move it by alone. One label is a pair at its position, and in
  // the tables of the steps to and from it.
  const double diameter = 2 * (token_overlap_.largest_squared_norm(i) + steps * steps);
  const double moved = tokens + 2 * squared_steps;
  const double change = 2 * moved / static_cast<double>(end - begin);
  // Every sequence has transitions.
  return {diameter, change, moved > 0 ? (common + 2 * squared_steps) / moved : 0};
}

std::span<const std::uint32_t> ChainFeatures::tables(std::size_t i) const {
  if (tied()) return {};
  return std::span(table_of_).subspan(sequences_.offsets[i] + 1, length(i) - 1);
}

std::span<const std::uint32_t> ChainFeatures::rows(std::size_t i) const {
  if (tied()) return {rows_.data(), length(i) > 1 ? std::size_t{1} : 0};
  return {rows_.data() + rows_begin_[i], rows_begin_[i + 1] - rows_begin_[i]};
}

void ChainFeatures::score(std::size_t i, const Weights& w, float scale, std::span<float> s,
                          Workspace& ws) const {
  score_chain(sequences_, i, rows(i), shape_, as_kernel(w), scale, s, ws);
}
void ChainFeatures::score(std::size_t i, const Weights& w, double scale, std::span<double> s,
                          Workspace& ws) const {
  score_chain(sequences_, i, rows(i), shape_, as_kernel(w), scale, s, ws);
}
void ChainFeatures::score(std::size_t i, const DoubleWeights& w, double scale, std::span<double> s,
                          Workspace& ws) const {
  score_chain(sequences_, i, rows(i), shape_, as_kernel(w), scale, s, ws);
}
void ChainFeatures::accumulate(std::size_t i, std::span<const float> delta, Weights& w, Workspace& ws) const {
  accumulate_chain(sequences_, i, rows(i), shape_, delta, w, ws);
}
void ChainFeatures::accumulate(std::size_t i, std::span<const double> delta, DoubleWeights& w,
                               Workspace& ws) const {
  accumulate_chain(sequences_, i, rows(i), shape_, delta, w, ws);
}

void ChainFeatures::accumulate(std::size_t i, std::span<const double> delta, RowShare share, DoubleWeights& w,
                               Workspace& ws) const {
  accumulate_share(sequences_, i, rows(i), shape_, delta, share, w, ws);
}

template <class Real>
double ChainFeatures::squared_norm_of(std::size_t i, std::span<const Real> delta) const {
  const std::size_t labels = shape_.num_labels, nodes = length(i) * labels;
  double sum = token_overlap_.squared_norm(i, delta.first(nodes), labels);
  if (num_tables(i) > 0)
    sum += table_overlap_.squared_norm(tied() ? 0 : i, delta.subspan(nodes), labels * labels);
  return sum;
}
double ChainFeatures::squared_norm(std::size_t i, std::span<const float> delta) const {
  return squared_norm_of(i, delta);
}
double ChainFeatures::squared_norm(std::size_t i, std::span<const double> delta) const {
  return squared_norm_of(i, delta);
}

void ChainFeatures::prefetch(std::size_t i, Prefetch what) const {
  token_overlap_.prefetch(i, what);
  if (what == Prefetch::location) {
    __builtin_prefetch(&sequences_.offsets[i]);
    return;
  }
  sequences_.tokens.prefetch(sequences_.offsets[i], sequences_.offsets[i + 1]);
}

}  // namespace espalier
