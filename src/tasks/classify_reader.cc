#include "espalier/tasks/classify_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "espalier/base/error.h"
#include "espalier/base/input.h"
#include "espalier/base/parse_number.h"
#include "espalier/tasks/crfsuite_attributes.h"
#include "tasks/classify_builder.h"

namespace espalier {

ClassifyFormat parse_classify_format(std::string_view name) {
  for (const auto format : {ClassifyFormat::libsvm, ClassifyFormat::crfsuite, ClassifyFormat::idx}) {
    if (name == to_string(format)) return format;
  }
  throw Error::in("--format", fmt::format("{} is no format of classification", quoted(name)),
                  "expected libsvm, crfsuite or idx");
}

const char* to_string(ClassifyFormat format) {
  switch (format) {
    case ClassifyFormat::libsvm:
      return "libsvm";
    case ClassifyFormat::crfsuite:
      return "crfsuite";
    case ClassifyFormat::idx:
      return "idx";
  }
  return "unknown";
}

ClassifyFormat guess_classify_format(const std::string& path) {
  return looks_like_idx(path) ? ClassifyFormat::idx : ClassifyFormat::libsvm;
}

namespace {

ClassifyExamples read_into(ClassifyBuilder& builder, const std::string& path,
                           const ClassifyReadOptions& options) {
  if (options.first == 0) throw Error::in("--first", "0 examples", "expected at least 1");
  switch (options.format) {
    case ClassifyFormat::libsvm:
      read_libsvm(path, options, builder);
      break;
    case ClassifyFormat::crfsuite:
      read_crfsuite(path, options, builder);
      break;
    case ClassifyFormat::idx:
      read_idx(path, options, builder);
      break;
  }
  return builder.finish(path == "-" ? "standard input" : path);
}

}  // namespace

ClassifyExamples read_classify_growing(const std::string& path, const ClassifyReadOptions& options,
                                       Dictionary& attributes, Dictionary& labels) {
  ESPALIER_EXPECT(options.labels_required && labels.size() == 0);
  ClassifyBuilder builder(options, attributes, labels);
  return read_into(builder, path, options);
}

ClassifyExamples read_classify(const std::string& path, const ClassifyReadOptions& options,
                               const Dictionary& attributes, const Dictionary& labels) {
  ClassifyBuilder builder(options, attributes, labels);
  return read_into(builder, path, options);
}

void read_crfsuite(const std::string& path, const ClassifyReadOptions& options, ClassifyBuilder& builder) {
  LineReader reader(path);
  CrfsuiteItem item;
  for (std::string_view line; !builder.full() && reader.next(line);) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    item.parse(line, reader);
    if (item.label.empty() && options.labels_required) {
      reader.fail("no label before the first TAB", "expected 'label TAB attribute TAB attribute:value ...'");
    }
    for (const auto& attribute : item.attributes)
      builder.add(builder.attribute(attribute.name), attribute.value);
    builder.finish_example(item.label.empty() ? std::nullopt : std::optional(item.label));
  }
}

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
  if (growing_labels_) {
    if (examples_.labels.empty()) throw Error::in(name, "no examples", "expected at least one");
    number_labels();
    if (labels_.size() < 2) {
      throw Error::in(name, fmt::format("only the label {}", quoted(labels_.name(0))),
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
