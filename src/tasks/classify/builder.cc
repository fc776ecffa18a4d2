#include "tasks/classify/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "espalier/base/error.h"

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

void ClassifyBuilder::finish_example(std::optional<std::string_view> label) {
  add(bias_, 1.0f);
  if (options_.format == ClassifyFormat::crfsuite) examples_.rows.sum_repeated();
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
  if (options_.labels_required && examples_.labels.empty()) {
    throw Error::in(name, "no examples", "expected at least one");
  }
  if (growing_labels_) {
    number_labels();
    if (labels_.size() < 2) {
      throw Error::in(name, fmt::format("only the label {}", in_quotes(labels_.name(0))),
                      "expected at least two labels");
    }
  }
  return std::move(examples_);
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
