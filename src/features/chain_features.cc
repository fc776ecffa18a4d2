#include "features/chain_features.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "espalier/base/error.h"
#include "features/as_kernel.h"
#include "features/owned_rows.h"
#include "features/pair_rows.h"
#include "features/sinks.h"
#include "features/step_tables.h"
#include "kernels/relaxed.h"
#include "kernels/rows.h"
#include "kernels/vectors.h"

namespace espalier {
namespace {

// The L rows of weights of each attribute of a transition, as if they were L tokens: token i has the row of
// `before` = i.
SparseRows::Range expand(const SparseRows::Row& row, const ChainShape& shape, Workspace::Frame& frame) {
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

// n-grams as runs of weights that lie side by side: use(first n-gram of the run, the place of its weight,
// n-grams in the run). Rows is a table or a block of them.
template <class Rows, class Use>
void for_each_ngram_run(const ChainShape& shape, const Rows& rows, const Use& use) {
  const std::size_t ngrams = shape.num_ngrams(), width = rows.width == rows.stride ? ngrams : rows.width;
  std::size_t place = shape.ngram_row() * rows.stride;
  for (std::size_t k = 0; k < ngrams; k += width) {
    use(k, place, std::min(width, ngrams - k));
    place += rows.stride;
  }
}

template <class W, class Real>
void score_tokens(const ChainShape& shape, const SparseRows::Range& tokens, kernels::RowTable<const W> w,
                  Real scale, std::span<Real> s) {
  if (shape.by_pairs()) {
    score_pairs(*shape.tokens, tokens, shape.num_labels, w.data, w.threshold, 0, scale, s.data());
  } else {
    kernels::score_row_range(w, as_kernel(tokens), scale, s.data());
  }
}

// Tables and n-grams; s as of the whole sequence.
template <class W, class Real>
void score_steps(const Sequences& sequences, std::size_t i, std::span<const std::uint32_t> tables,
                 const ChainShape& shape, kernels::RowTable<const W> w, Real scale, std::span<Real> s,
                 Workspace& ws) {
  const std::size_t length = sequences.length(i), labels = shape.num_labels;
  ESPALIER_EXPECT(s.size() == (length + tables.size() * labels) * labels + shape.num_ngrams());
  Real* table = s.data() + length * labels;
  for (const std::uint32_t row : tables) {
    if (shape.observed()) {
      score_pairs(*shape.steps, sequences.transitions.range(row, row + 1), labels * labels,
                  w.data + shape.tokens->size(), w.threshold, shape.tokens->size(), scale, table);
    } else {
      Workspace::Frame frame(ws);
      kernels::score_row_range(w, as_kernel(expand(sequences.transitions.row(row), shape, frame)), scale,
                               table);
    }
    table += labels * labels;
  }
  // The same for all n-grams.
  const auto threshold = static_cast<Real>(w.threshold.of_row(shape.ngram_row()));
  for_each_ngram_run(shape, w, [&](std::size_t first, std::size_t place, std::size_t n) {
    const W* weights = w.data + place;
    for (std::size_t k = 0; k < n; ++k)
      table[first + k] = scale * soft(static_cast<Real>(kernels::relaxed_load(weights + k)), threshold);
  });
}

template <class Real>
void score_one(const Sequences& sequences, std::span<const std::uint32_t> tables, const ChainShape& shape,
               WeightsView theta, const KernelNodes* kernel, std::span<Real> s, Workspace& ws) {
  const SparseRows::Range tokens = sequences.tokens.range(0, sequences.length(0));
  if (kernel) {
    kernel->score(tokens, theta, s, ws);
  } else {
    score_tokens(shape, tokens, as_kernel(theta), Real{1}, s);
  }
  score_steps(sequences, 0, tables, shape, as_kernel(theta), Real{1}, s, ws);
}

RowBlock all_rows(const ChainShape& shape) {
  const std::size_t width = shape.by_pairs() ? 1 : shape.num_labels;
  return {0, width, row_stride(width)};
}

// Tables and n-grams.
template <class Real, class Sink>
void accumulate_steps(const Sequences& sequences, std::size_t i, std::span<const std::uint32_t> tables,
                      const ChainShape& shape, std::span<const Real> delta, const Sink& sink, Workspace& ws) {
  const std::size_t labels = shape.num_labels;
  const RowBlock block = all_rows(shape);
  const Real* table = delta.data() + sequences.length(i) * labels;
  for (const std::uint32_t row : tables) {
    if (shape.observed()) {
      sink.add_pairs(shape.tokens->size(), *shape.steps, sequences.transitions.range(row, row + 1),
                     labels * labels, table);
    } else {
      Workspace::Frame frame(ws);
      sink.add_row_range(block, as_kernel(expand(sequences.transitions.row(row), shape, frame)), table);
    }
    table += labels * labels;
  }
  for_each_ngram_run(shape, block, [&](std::size_t first, std::size_t place, std::size_t n) {
    sink.add_run(place, table + first, n);
  });
}

// Of its attributes, each counted by the square of its value.
double mean_frequency(const SparseRows::Row& row, std::span<const float> frequencies) {
  double sum = 0, common = 0;
  for (std::size_t j = 0; j < row.ids.size(); ++j) {
    const double square = static_cast<double>(row.value(j)) * row.value(j);
    sum += square;
    common += square * frequencies[row.ids[j]];
  }
  return sum > 0 ? common / sum : 0;
}

double squared_length(const SparseRows::Row& row) {
  double sum = 0;
  for (std::size_t j = 0; j < row.ids.size(); ++j) sum += static_cast<double>(row.value(j)) * row.value(j);
  return sum;
}

// Among weights of pairs, the row of this one.
std::optional<WeightPlace> find_pair(const ObservedPairs& pairs, std::size_t attribute, std::size_t label,
                                     std::size_t first_row) {
  const auto labels = pairs.labels(attribute);
  const auto at = std::lower_bound(labels.begin(), labels.end(), label);
  if (at == labels.end() || *at != label) return std::nullopt;
  return WeightPlace{first_row + pairs.begin(attribute) + static_cast<std::size_t>(at - labels.begin()), 0};
}

double squared_norm_of_all(std::span<const float> delta) {
  return kernels::squared_norm(delta.data(), delta.size());
}
double squared_norm_of_all(std::span<const double> delta) {
  return std::inner_product(delta.begin(), delta.end(), delta.begin(), 0.0);
}

}  // namespace

WeightShape ChainShape::weights() const {
  const std::size_t width = by_pairs() ? 1 : num_labels;
  return {ngram_row() + (num_ngrams() + width - 1) / width, width};
}

std::size_t ChainShape::num_weights() const {
  if (by_rows) return tokens->size() + num_ngrams();
  return weights().rows * weights().width;
}

std::size_t ChainShape::ngram_row() const {
  if (by_pairs()) return tokens->size() + (steps ? steps->size() : 0);
  if (by_rows) return num_attributes;
  return transition_row(num_transition_attributes, 0);
}

std::optional<WeightPlace> ChainShape::token_weight(std::size_t attribute, std::size_t label) const {
  if (tokens) {
    const auto pair = find_pair(*tokens, attribute, label, 0);
    if (!pair || by_pairs()) return pair;
  }
  return WeightPlace{attribute, label};
}

std::optional<WeightPlace> ChainShape::step_weight(std::size_t attribute, std::size_t before,
                                                   std::size_t label) const {
  if (!has_tables()) return std::nullopt;
  if (steps) return find_pair(*steps, attribute, before * num_labels + label, tokens->size());
  return WeightPlace{transition_row(attribute, before), label};
}

WeightPlace ChainShape::ngram_weight(std::size_t k) const {
  const std::size_t width = weights().width;
  return {ngram_row() + k / width, k % width};
}

ChainShape chain_shape(const ChainShape& counts, const ChainFeatureSet& features, std::size_t order,
                       const Sequences& sequences, std::span<const std::uint32_t> labels) {
  ChainShape shape{counts.num_attributes, counts.num_transition_attributes, counts.num_labels};
  const bool tied = sequences.transition_of.empty();
  // What was not observed is not frequent.
  const double min_freq = features.min_freq;
  const bool of_tokens = features.observed_tokens || min_freq > 0;
  const bool of_steps = features.observed_steps || min_freq > 0;
  if (of_tokens || of_steps) {
    const std::size_t num_pairs = shape.num_labels * shape.num_labels;
    shape.tokens = std::make_shared<ObservedPairs>(
        of_tokens ? observed_pairs(sequences, labels, shape.num_attributes, min_freq)
                  : all_pairs(shape.num_attributes, shape.num_labels));
    if (!tied) {
      shape.steps =
          std::make_shared<ObservedPairs>(of_steps ? observed_steps(sequences, labels, shape.num_labels,
                                                                    shape.num_transition_attributes, min_freq)
                                                   : all_pairs(shape.num_transition_attributes, num_pairs));
    }
  }
  if (order == 1 && shape.has_tables()) return shape;
  // Without attributes of transitions neighbours are not meant to interact.
  const bool pairs = !shape.has_tables() && shape.num_transition_attributes > 0;
  shape.ngrams = std::make_shared<LabelNgrams>(observed_ngrams(
      labels, sequences.offsets, shape.num_labels, pairs ? 2 : 3, order + 1, min_freq, pairs && !of_steps));
  return shape;
}

void score_sequence(const Sequences& sequences, std::span<const std::uint32_t> tables,
                    const ChainShape& shape, WeightsView theta, const KernelNodes* kernel, std::span<float> s,
                    Workspace& ws) {
  score_one(sequences, tables, shape, theta, kernel, s, ws);
}
void score_sequence(const Sequences& sequences, std::span<const std::uint32_t> tables,
                    const ChainShape& shape, WeightsView theta, const KernelNodes* kernel,
                    std::span<double> s, Workspace& ws) {
  score_one(sequences, tables, shape, theta, kernel, s, ws);
}

ChainFeatures::ChainFeatures(const Sequences& sequences, const ChainShape& shape,
                             std::shared_ptr<const KernelMatrix> kernel, std::size_t threads)
    : sequences_(sequences),
      kernel_(std::move(kernel)),
      tokens_(kernel_ ? kernel_->inputs() : sequences.tokens),
      shape_(shape),
      token_overlap_(shape.observed() || kernel_ ? 0 : shape.num_attributes),
      table_overlap_(shape.observed() ? 0 : shape.num_transition_attributes) {
  if (shape.tokens) token_pairs_.emplace(shape.tokens, shape.num_labels);
  if (shape.by_rows) {
    ESPALIER_EXPECT(shape.observed() && !shape.steps && rows_may_be_observed(shape.num_labels));
    for (std::size_t a = 0; a < shape.num_attributes; ++a) {
      std::uint64_t bits = 0;
      for (const std::uint32_t label : shape.tokens->labels(a)) bits |= std::uint64_t{1} << label;
      observed_columns_.push_back(bits);
    }
  }
  if (shape.steps) table_pairs_.emplace(shape.steps, shape.num_labels * shape.num_labels);
  const auto add_tables = [&](const auto&... of_example) {
    if (table_pairs_) table_pairs_->add_example(sequences.transitions, of_example...);
    if (!shape_.observed()) table_overlap_.add_example(sequences.transitions, of_example...);
  };
  ESPALIER_EXPECT(tokens_.size() == sequences.num_tokens());
  ESPALIER_EXPECT(!kernel_ || (!shape.observed() && shape.num_attributes == kernel_->num_nodes()));
  ESPALIER_EXPECT(tied() || sequences.transition_of.size() == sequences.num_tokens());
  if (tied()) {
    ESPALIER_EXPECT(sequences.transitions.size() > 0);
    add_tables(std::size_t{0}, std::size_t{1});
  } else {
    rows_.clear();
    table_of_.reserve(sequences.num_tokens());
  }
  Team team(threads);
  const std::vector<float> frequencies = tokens_.frequencies(shape.num_attributes, size(), threads);
  add_token_overlaps(team);
  sizes_.resize(size());
  share_range(team, size(), [&](std::size_t begin, std::size_t end) {
    Workspace ws;
    for (std::size_t i = begin; i < end; ++i) sizes_[i] = sizes_of(i, frequencies, ws);
  });
  StepTables tables;
  for (std::size_t i = 0; i < size() && !tied(); ++i) {
    const std::size_t begin = sequences.offsets[i], end = sequences.offsets[i + 1];
    table_of_.push_back(0);  // no step leads into a first token
    tables.append(std::span(sequences.transition_of).subspan(begin + 1, end - begin - 1), rows_, table_of_);
    rows_begin_.push_back(rows_.size());
    add_tables(rows(i));
  }
  token_overlap_.finish();
  table_overlap_.finish();
  if (token_pairs_) token_pairs_->finish();
  if (table_pairs_) table_pairs_->finish();
}

void ChainFeatures::add_token_overlaps(Team& team) {
  const auto add = [&](std::size_t begin, std::size_t end, auto& to) {
    for (std::size_t i = begin; i < end; ++i)
      to.add_example(sequences_.tokens, sequences_.offsets[i], sequences_.offsets[i + 1]);
  };
  if (token_pairs_) {
    add(0, size(), *token_pairs_);
  } else if (!kernel_ && team.size() == 1) {
    add(0, size(), token_overlap_);
  } else if (!kernel_) {
    std::vector<RowOverlap> parts(team.size(), RowOverlap(0));
    team.run([&](std::size_t k) {
      RowOverlap part(shape_.num_attributes);
      add(size() * k / parts.size(), size() * (k + 1) / parts.size(), part);
      part.finish();
      parts[k] = std::move(part);
    });
    for (RowOverlap& part : parts) {
      token_overlap_.append(part);
      part = RowOverlap(0);
    }
  }
}

// The largest |F_i(chi(y) - chi(y'))|^2 of outputs that differ at that token alone, steps and n-grams apart;
// for pairs a bound.
double ChainFeatures::largest_change(std::size_t token) const {
  if (kernel_) return 2 * kernel_->self(token);
  const auto row = sequences_.tokens.row(token);
  if (!shape_.observed()) return 2 * squared_length(row);
  double sum = 0;
  for (std::size_t j = 0; j < row.ids.size(); ++j) {
    const std::size_t labels = shape_.tokens->labels(row.ids[j]).size();
    sum += static_cast<double>(std::min<std::size_t>(2, labels)) * row.value(j) * row.value(j);
  }
  return sum;
}

ChainFeatures::Sizes ChainFeatures::sizes_of(std::size_t i, std::span<const float> frequencies,
                                             Workspace& ws) const {
  const std::size_t begin = sequences_.offsets[i], end = sequences_.offsets[i + 1];
  const std::size_t length = end - begin;
  double tokens = 0, common = 0, steps = 0, squared_steps = 0;
  for (std::size_t t = begin; t < end; ++t) {
    const double change = largest_change(t);
    tokens += change;
    // With a kernel, in general no token is orthogonal to another.
    common += change * (kernel_ ? 1 : mean_frequency(sequences_.tokens.row(t), frequencies));
    if (t == begin || !shape_.has_tables()) continue;
    const double step = squared_length(sequences_.transitions.row(tied() ? 0 : sequences_.transition_of[t]));
    steps += std::sqrt(step);
    squared_steps += step;
  }
  // Two outputs differ by at most a pair of unit vectors at each position and in the table of each step, and
  // steps together move F by no more than the sum of what they move it by alone. One label is a pair at its
  // position, and in the tables of the steps to and from it.
  double diameter = shape_.observed() ? token_pairs_->largest_squared_norm(i)
                    : kernel_         ? 2 * kernel_->largest_squared_norm(begin, end, ws)
                                      : 2 * token_overlap_.largest_squared_norm(i);
  diameter += 2 * steps * steps;
  double transitions = 4 * squared_steps;
  // Likewise, there are n - 1 fewer places for an n-gram than for a label, each with at most one of that
  // length, and one label is part of n of them.
  if (shape_.num_ngrams() > 0) {
    for (std::size_t n = shape_.ngrams->ngram(0).size(); n <= shape_.ngrams->order() + 1 && n <= length;
         ++n) {
      const auto places = static_cast<double>(length - n + 1);
      diameter += 2 * places * places;
      transitions += 2 * static_cast<double>(n) * places;
    }
  }
  // Every sequence has transitions.
  const double change = tokens + transitions;
  return {diameter, change / static_cast<double>(length), change > 0 ? (common + transitions) / change : 0};
}

std::span<const std::uint32_t> ChainFeatures::tables(std::size_t i) const {
  if (tied()) return {};
  return std::span(table_of_).subspan(sequences_.offsets[i] + 1, length(i) - 1);
}

std::span<const std::uint32_t> ChainFeatures::rows(std::size_t i) const {
  if (!shape_.has_tables()) return {};
  if (tied()) return {rows_.data(), length(i) > 1 ? std::size_t{1} : 0};
  return {rows_.data() + rows_begin_[i], rows_begin_[i + 1] - rows_begin_[i]};
}

// With what tokens may change of it.
RowBlock ChainFeatures::token_block() const {
  RowBlock block = all_rows(shape_);
  if (shape_.by_rows) block.columns = observed_columns_.data();
  return block;
}

template <class W, class Real>
void ChainFeatures::score_all(std::size_t i, const BasicWeights<W>& w, Real scale, std::span<Real> s,
                              Workspace& ws) const {
  if (kernel_) {
    kernel_->score(sequences_.offsets[i], sequences_.offsets[i + 1], w, scale, s, ws);
  } else {
    score_tokens(shape_, tokens(i), as_kernel(w), scale, s);
  }
  score_steps(sequences_, i, rows(i), shape_, as_kernel(w), scale, s, ws);
}
void ChainFeatures::score(std::size_t i, const Weights& w, float scale, std::span<float> s,
                          Workspace& ws) const {
  score_all(i, w, scale, s, ws);
}
void ChainFeatures::score(std::size_t i, const Weights& w, double scale, std::span<double> s,
                          Workspace& ws) const {
  score_all(i, w, scale, s, ws);
}
void ChainFeatures::score(std::size_t i, const DoubleWeights& w, double scale, std::span<double> s,
                          Workspace& ws) const {
  score_all(i, w, scale, s, ws);
}
template <class Real, class Sink>
void ChainFeatures::add_all(std::size_t i, std::span<const Real> delta, const Sink& sink,
                            Workspace& ws) const {
  if (shape_.by_pairs()) {
    sink.add_pairs(0, *shape_.tokens, tokens(i), shape_.num_labels, delta.data());
  } else {
    sink.add_row_range(token_block(), as_kernel(tokens(i)), delta.data());
  }
  accumulate_steps(sequences_, i, rows(i), shape_, delta, sink, ws);
}
void ChainFeatures::accumulate(std::size_t i, std::span<const float> delta, Weights& w, Workspace& ws) const {
  add_all(i, delta, WeightsSink(w.row(0)), ws);
}
void ChainFeatures::accumulate(std::size_t i, std::span<const double> delta, DoubleWeights& w,
                               Workspace& ws) const {
  add_all(i, delta, WeightsSink(w.row(0)), ws);
}
// Rows of all labels; numbers would have to be multiplied, and observed rows not changed everywhere.
std::shared_ptr<const OwnedRows> ChainFeatures::owned_rows(std::size_t shares, Team& team) const {
  if (shape_.observed() || size() == 0 || tokens_.range(0, 0).values) return nullptr;
  return OwnedRows::make(tokens_, sequences_.offsets, token_block(), shares, team);
}
template <class Real>
void ChainFeatures::list_all(std::size_t i, std::span<const Real> delta, RowChanges<Real>& changes,
                             Workspace& ws) const {
  if (!changes.owned()) return add_all(i, delta, ListSink(changes), ws);
  changes.add_owned(i, delta.data(), length(i));
  accumulate_steps(sequences_, i, rows(i), shape_, delta, ListSink(changes), ws);
}
void ChainFeatures::list_changes(std::size_t i, std::span<const float> delta, RowChanges<float>& changes,
                                 Workspace& ws) const {
  list_all(i, delta, changes, ws);
}
void ChainFeatures::list_changes(std::size_t i, std::span<const double> delta, RowChanges<double>& changes,
                                 Workspace& ws) const {
  list_all(i, delta, changes, ws);
}

template <class Real>
double ChainFeatures::squared_norm_of(std::size_t i, std::span<const Real> delta, Workspace& ws) const {
  const std::size_t labels = shape_.num_labels, nodes = length(i) * labels;
  const std::size_t ngrams = nodes + num_tables(i) * labels * labels;
  const auto of_nodes = delta.first(nodes);
  double sum = token_pairs_ ? token_pairs_->squared_norm(i, of_nodes)
               : kernel_ ? kernel_->squared_norm(sequences_.offsets[i], sequences_.offsets[i + 1], of_nodes,
                                                 labels, ws)
                         : token_overlap_.squared_norm(i, of_nodes, labels);
  if (num_tables(i) > 0) {
    const auto of_tables = delta.subspan(nodes, ngrams - nodes);
    const std::size_t example = tied() ? 0 : i;
    sum += table_pairs_ ? table_pairs_->squared_norm(example, of_tables)
                        : table_overlap_.squared_norm(example, of_tables, labels * labels);
  }
  return sum + squared_norm_of_all(delta.subspan(ngrams));
}
double ChainFeatures::squared_norm(std::size_t i, std::span<const float> delta, Workspace& ws) const {
  return squared_norm_of(i, delta, ws);
}
double ChainFeatures::squared_norm(std::size_t i, std::span<const double> delta, Workspace& ws) const {
  return squared_norm_of(i, delta, ws);
}

void ChainFeatures::prefetch(std::size_t i, Prefetch what) const {
  if (token_pairs_) {
    token_pairs_->prefetch(i, what);
  } else if (!kernel_) {
    token_overlap_.prefetch(i, what);
  }
  if (what == Prefetch::location) {
    __builtin_prefetch(&sequences_.offsets[i]);
    return;
  }
  tokens_.prefetch(sequences_.offsets[i], sequences_.offsets[i + 1]);
}

}  // namespace espalier
