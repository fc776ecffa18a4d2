#include "tasks/classify/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "espalier/base/error.h"
#include "tasks/new_names.h"

namespace espalier {

ClassifyBuilder::ClassifyBuilder(const ClassifyReadOptions& options, Dictionary& attributes,
                                 Dictionary& labels)
    : options_(options),
      attributes_(attributes),
      labels_(labels),
      growing_attributes_(&attributes),
      growing_labels_(&labels) {
  if (options.bias) bias_ = attribute(kBiasAttribute);
}

ClassifyBuilder::ClassifyBuilder(const ClassifyReadOptions& options, const Dictionary& attributes,
                                 const Dictionary& labels)
    : options_(options), attributes_(attributes), labels_(labels) {
  if (options.bias) bias_ = attribute(kBiasAttribute);
}

void ClassifyBuilder::attributes(std::span<const std::string_view> names,
                                 std::vector<std::uint32_t>& ids) const {
  // Memory answers in parallel where the slots of all names are asked for before the first one is looked at.
  ids.clear();
  for (const std::string_view name : names) {
    ids.push_back(Dictionary::hash(name));
    attributes_.prefetch(ids.back());
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    ids[k] = growing_attributes_ ? growing_attributes_->add(names[k], ids[k])
                                 : attributes_.find(names[k], ids[k]).value_or(kUnknownAttribute);
  }
}

void ClassifyBuilder::finish_example(std::optional<std::string_view> label, double weight) {
  std::vector<double>& weights = examples_.weights;
  if (weight != 1 && weights.empty()) weights.assign(examples_.labels.size(), 1.0);
  if (weight != 1 || !weights.empty()) weights.push_back(weight);
  add(bias_, 1.0f);
  if (options_.format == ClassifyFormat::crfsuite || options_.format == ClassifyFormat::named)
    examples_.rows.sum_repeated();
  examples_.rows.finish_row();
  if (!label) {
    examples_.labels.push_back(kUnknownLabel);
  } else if (growing_labels_) {
    examples_.labels.push_back(seen_.add(*label));
  } else {
    examples_.labels.push_back(labels_.find(*label).value_or(kUnknownLabel));
  }
}

ClassifyExamples ClassifyBuilder::finish(const std::string& name) {
  // Nothing to predict is fine; a model that was measured on nothing would look perfect.
  if (options_.labels_required && sum_over(examples_.fleet, examples_.labels.size()) == 0) {
    throw Error::in(name, "no examples", "expected at least one");
  }
  if (growing_labels_) {
    number_labels();
    if (labels_.size() < 2) {
      throw Error::in(name, fmt::format("only the label {}", in_quotes(labels_.name(0))),
                      "expected at least two labels");
    }
    if (options_.min_count > 1) drop_rare();
    if (options_.format == ClassifyFormat::text && options_.text.weighting == TextWeighting::tf_idf)
      weigh_by_idf();
  }
  return std::move(examples_);
}

namespace {

// How many rows, of all ranks, have each attribute; none has one twice.
std::vector<std::uint32_t> count_rows(const ClassifyExamples& examples, std::size_t num_attributes) {
  std::vector<std::uint32_t> counts(num_attributes);
  for (std::size_t i = 0; i < examples.rows.size(); ++i) {
    for (const std::uint32_t id : examples.rows.row(i).ids) ++counts[id];
  }
  if (examples.fleet != nullptr) add_up_counts(counts, *examples.fleet);
  return counts;
}

}  // namespace

// Those that are left are numbered anew, in the same order.
void ClassifyBuilder::drop_rare() {
  const std::vector<std::uint32_t> counts = count_rows(examples_, attributes_.size());
  std::vector<std::uint32_t> kept_as(attributes_.size(), kUnknownAttribute);
  Dictionary kept;
  for (std::uint32_t id = 0; id < attributes_.size(); ++id) {
    if (counts[id] >= options_.min_count || id == bias_) kept_as[id] = kept.add(attributes_.name(id));
  }
  examples_.num_rare = attributes_.size() - kept.size();
  if (examples_.num_rare == 0) return;
  if (bias_ != kUnknownAttribute) bias_ = kept_as[bias_];
  *growing_attributes_ = std::move(kept);

  SparseRows rows;
  for (std::size_t i = 0; i < examples_.rows.size(); ++i) {
    const SparseRows::Row row = examples_.rows.row(i);
    for (std::size_t j = 0; j < row.ids.size(); ++j) {
      if (const std::uint32_t id = kept_as[row.ids[j]]; id != kUnknownAttribute) rows.add(id, row.value(j));
    }
    rows.finish_row();
  }
  examples_.rows = std::move(rows);
}

// The bias is no part of the text: it stays 1.
void ClassifyBuilder::weigh_by_idf() {
  const std::size_t n = examples_.rows.size(), of_all = sum_over(examples_.fleet, n);
  for (const std::uint32_t df : count_rows(examples_, attributes_.size()))
    examples_.idf.push_back(inverse_document_frequency(of_all, df));

  SparseRows rows;
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
  for (std::size_t i = 0; i < n; ++i) {
    const SparseRows::Row row = examples_.rows.row(i);
    ids.clear();
    values.clear();
    for (std::size_t j = 0; j < row.ids.size(); ++j) {
      if (row.ids[j] == bias_) continue;
      ids.push_back(row.ids[j]);
      values.push_back(row.value(j));
    }
    weigh_by_tf_idf(ids, examples_.idf, values);
    for (std::size_t j = 0; j < ids.size(); ++j) rows.add(ids[j], values[j]);
    if (bias_ != kUnknownAttribute) rows.add(bias_, 1.0f);
    rows.finish_row();
  }
  examples_.rows = std::move(rows);
}

void ClassifyBuilder::number_labels() {
  std::vector<std::uint32_t> order(seen_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::vector<double> numbers;
  for (const std::uint32_t id : order) {
    if (const auto number = parse_double(seen_.name(id))) numbers.push_back(*number);
  }
  const bool numeric = numbers.size() == seen_.size();
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (numeric && numbers[a] != numbers[b]) return numbers[a] < numbers[b];
    return seen_.name(a) < seen_.name(b);
  });
  std::vector<std::uint32_t> numbered(seen_.size());
  for (const std::uint32_t id : order) numbered[id] = growing_labels_->add(seen_.name(id));
  for (std::uint32_t& label : examples_.labels) label = numbered[label];
}

}  // namespace espalier
