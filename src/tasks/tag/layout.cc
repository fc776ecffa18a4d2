#include "tasks/tag/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/names.h"
#include "base/text.h"
#include "espalier/base/error.h"
#include "tasks/common.h"

namespace espalier {
namespace {

constexpr std::size_t kLargestOrder = 4;
constexpr const char* kAll = "all";
constexpr const char* kObserved = "observed";
constexpr const char* kObservedAttributes = "observed-attributes";
constexpr const char* kObservedTransitions = "observed-transitions";

[[noreturn]] void refuse(const StoredTask& stored, const std::string& found) {
  throw Error::in(stored.file, found, "retrain the model");
}

void add_pairs(const std::string& name, const ObservedPairs& pairs, TaskSections& sections) {
  sections.arrays.emplace_back(name + ".offsets", as_bytes(pairs.offsets()));
  sections.arrays.emplace_back(name + ".labels", as_bytes(pairs.labels()));
}

std::shared_ptr<const ObservedPairs> load_pairs(const std::string& name, const StoredTask& stored,
                                                std::size_t num_attributes, std::size_t num_labels) {
  const auto offsets = as_array<std::uint64_t>(stored.array(name + ".offsets"), name, stored.file);
  const auto labels = as_array<std::uint32_t>(stored.array(name + ".labels"), name, stored.file);
  if (offsets.size() != num_attributes + 1 || offsets.front() != 0 || offsets.back() != labels.size() ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    refuse(stored, fmt::format("{} that do not fit {} attributes", name, num_attributes));
  }
  for (std::size_t a = 0; a < num_attributes; ++a) {
    for (std::size_t e = offsets[a]; e < offsets[a + 1]; ++e) {
      if (labels[e] < num_labels && (e == offsets[a] || labels[e - 1] < labels[e])) continue;
      refuse(stored, fmt::format("{}: label {} out of order", name, labels[e]));
    }
  }
  return std::make_shared<ObservedPairs>(std::vector<std::uint64_t>(offsets.begin(), offsets.end()),
                                         std::vector<std::uint32_t>(labels.begin(), labels.end()));
}

LabelNgrams load_ngrams(const StoredTask& stored, std::size_t order, std::size_t num_labels) {
  const auto packed = as_array<std::uint32_t>(stored.array("ngrams"), "ngrams", stored.file);
  std::vector<std::vector<std::uint32_t>> ngrams;
  for (std::size_t at = 0; at < packed.size();) {
    const std::size_t length = packed[at++];
    if (length < 2 || length > order + 1 || length > packed.size() - at) {
      refuse(stored, fmt::format("an n-gram of {} for order {}", counted(length, "label"), order));
    }
    const auto labels = packed.subspan(at, length);
    for (const std::uint32_t label : labels) {
      if (label >= num_labels) refuse(stored, fmt::format("label {} of {} in an n-gram", label, num_labels));
    }
    ngrams.emplace_back(labels.begin(), labels.end());
    at += length;
  }
  auto sorted = ngrams;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) refuse(stored, "an n-gram twice");
  return LabelNgrams(num_labels, std::move(ngrams));
}

bool has_all(const TagOptions& options) { return options.features == kAll && options.min_freq == 0; }

// "features observed" or "min_freq 2"
std::string not_all(const TagOptions& options) {
  return options.features == kAll ? fmt::format("{} {:g}", setting("min_freq"), options.min_freq)
                                  : fmt::format("{} {}", setting("features"), options.features);
}

}  // namespace

std::vector<std::string> feature_sets() {
  return {kAll, kObserved, kObservedAttributes, kObservedTransitions};
}

void check_layout(const TagOptions& options) {
  const std::vector<std::string> names = feature_sets();
  if (std::ranges::find(names, options.features) == names.end()) {
    throw Error(
        fmt::format("{}: {}", setting("features"), unknown_name("set of features", options.features, names)));
  }
  if (!(options.min_freq >= 0) || !std::isfinite(options.min_freq))
    throw Error::in(setting("min_freq"), fmt::format("{}", options.min_freq), "expected a number >= 0");
  if (!options.kernel.empty()) Kernel::parse(options.kernel);
  if (!options.kernel.empty() && !has_all(options)) {
    throw Error::in(not_all(options),
                    fmt::format("given with {}, whose coefficients are not of features", setting("kernel")),
                    fmt::format("expected {} all and no {}", setting("features"), setting("min_freq")));
  }
  if (options.order < 1 || options.order > kLargestOrder) {
    throw Error::in(setting("order"), fmt::format("{}", options.order),
                    fmt::format("expected 1 to {}", kLargestOrder));
  }
  if (options.partial && !has_all(options)) {
    throw Error::in(not_all(options),
                    fmt::format("given with {}, where labels are not all seen", setting("partial")),
                    fmt::format("expected {} all and no {}", setting("features"), setting("min_freq")));
  }
}

TagLayout::TagLayout(const TagOptions& options, const TagExamples& train, const TagDictionaries& dictionaries)
    : order_(options.order) {
  const bool both = options.features == kObserved;
  const ChainFeatureSet features{both || options.features == kObservedAttributes,
                                 both || options.features == kObservedTransitions, options.min_freq};
  shape_ = chain_shape(shape(dictionaries), features, order_, train.sequences, train.labels, train.fleet);
  pack_ngrams();
}

TagLayout::TagLayout(ChainShape shape, std::size_t order) : order_(order), shape_(std::move(shape)) {
  pack_ngrams();
}

void TagLayout::pack_ngrams() {
  for (std::size_t k = 0; k < shape_.num_ngrams(); ++k) {
    const auto labels = shape_.ngrams->ngram(k);
    packed_ngrams_.push_back(static_cast<std::uint32_t>(labels.size()));
    packed_ngrams_.insert(packed_ngrams_.end(), labels.begin(), labels.end());
  }
}

ChainShape TagLayout::shape(const TagDictionaries& dictionaries) const {
  ChainShape shape = shape_;
  shape.num_attributes = dictionaries.attributes.size();
  shape.num_transition_attributes = dictionaries.transitions.size();
  shape.num_labels = dictionaries.labels.size();
  return shape;
}

void TagLayout::add_to(TaskSections& sections) const {
  if (order_ > 1) sections.settings["order"] = order_;
  if (shape_.ngrams) sections.arrays.emplace_back("ngrams", as_bytes(std::span(packed_ngrams_)));
  if (!shape_.observed()) return;
  sections.settings["features"] = kObserved;
  sections.settings["step_pairs"] = shape_.steps != nullptr;
  add_pairs("pairs", *shape_.tokens, sections);
  if (shape_.steps) add_pairs("step_pairs", *shape_.steps, sections);
}

TagLayout TagLayout::load(const StoredTask& stored, const TagDictionaries& dictionaries) {
  TagLayout layout;
  ChainShape& shape = layout.shape_;
  const std::size_t num_labels = dictionaries.labels.size();
  // A model of all features, or of order 1, does not say so.
  const auto features = stored.settings.value("features", std::string("all"));
  layout.order_ = stored.settings.value("order", std::size_t{1});
  if (features != "all" && features != kObserved) {
    refuse(stored, fmt::format("a model of the features {}", in_quotes(features)));
  }
  if (layout.order_ < 1 || layout.order_ > kLargestOrder) {
    refuse(stored, fmt::format("a model of order {}", layout.order_));
  }
  if (features == kObserved) {
    shape.tokens = load_pairs("pairs", stored, dictionaries.attributes.size(), num_labels);
    if (stored.settings.at("step_pairs").get<bool>()) {
      shape.steps =
          load_pairs("step_pairs", stored, dictionaries.transitions.size(), num_labels * num_labels);
    }
  }
  if (layout.order_ > 1 || !shape.has_tables()) {
    shape.ngrams = std::make_shared<LabelNgrams>(load_ngrams(stored, layout.order_, num_labels));
    layout.pack_ngrams();
  }
  return layout;
}

}  // namespace espalier
