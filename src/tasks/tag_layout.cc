#include "tasks/tag_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/error.h"
#include "tasks/common.h"

namespace espalier {
namespace {

constexpr std::size_t kLargestOrder = 4;
constexpr const char* kObserved = "observed";

[[noreturn]] void refuse(const StoredTask& stored, const std::string& found) {
  throw Error::in(stored.file, found, "train the model anew");
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
      refuse(stored, fmt::format("an n-gram of {} labels for order {}", length, order));
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

}  // namespace

void check_layout(const TagOptions& options) {
  if (options.features != "all" && options.features != kObserved) {
    throw Error::in("--features", fmt::format("{} is no set of features", in_quotes(options.features)),
                    "expected all or observed");
  }
  if (options.order < 1 || options.order > kLargestOrder) {
    throw Error::in("--order", fmt::format("{}", options.order),
                    fmt::format("expected 1 to {}", kLargestOrder));
  }
}

TagLayout::TagLayout(const TagOptions& options, const TagExamples& train, const TagDictionaries& dictionaries)
    : order_(options.order) {
  const std::size_t num_labels = dictionaries.labels.size();
  const Sequences& sequences = train.sequences;
  const bool observed = options.features == kObserved;
  const bool tied = sequences.transition_of.empty();
  if (observed) {
    tokens_ = std::make_shared<ObservedPairs>(
        observed_pairs(sequences, train.labels, dictionaries.attributes.size()));
    if (!tied) {
      steps_ = std::make_shared<ObservedPairs>(
          observed_steps(sequences, train.labels, num_labels, dictionaries.transitions.size()));
    }
  }
  // Pairs of labels are n-grams where each has but one weight and not all have one; a template may want none.
  const bool pairs = observed && tied && dictionaries.transitions.size() > 0;
  if (order_ > 1 || (observed && tied)) {
    set_ngrams(observed_ngrams(train.labels, sequences.offsets, num_labels, pairs ? 2 : 3, order_ + 1));
  }
}

void TagLayout::set_ngrams(LabelNgrams ngrams) {
  for (std::size_t k = 0; k < ngrams.size(); ++k) {
    const auto labels = ngrams.ngram(k);
    packed_ngrams_.push_back(static_cast<std::uint32_t>(labels.size()));
    packed_ngrams_.insert(packed_ngrams_.end(), labels.begin(), labels.end());
  }
  ngrams_ = std::make_shared<LabelNgrams>(std::move(ngrams));
}

ChainShape TagLayout::shape(const TagDictionaries& dictionaries) const {
  return {dictionaries.attributes.size(),
          dictionaries.transitions.size(),
          dictionaries.labels.size(),
          tokens_,
          steps_,
          ngrams_};
}

void TagLayout::add_to(TaskSections& sections) const {
  sections.settings["features"] = tokens_ ? kObserved : "all";
  sections.settings["order"] = order_;
  if (tokens_) add_pairs("pairs", *tokens_, sections);
  if (steps_) add_pairs("step_pairs", *steps_, sections);
  if (tokens_) sections.settings["step_pairs"] = steps_ != nullptr;
  if (ngrams_) sections.arrays.emplace_back("ngrams", as_bytes(std::span(packed_ngrams_)));
}

TagLayout TagLayout::load(const StoredTask& stored, const TagDictionaries& dictionaries) {
  TagLayout layout;
  const std::size_t num_labels = dictionaries.labels.size();
  // Models of version 0.1 have all features and are of order 1, and do not say so.
  const auto features = stored.settings.value("features", std::string("all"));
  layout.order_ = stored.settings.value("order", std::size_t{1});
  if (features != "all" && features != kObserved) {
    refuse(stored, fmt::format("a model of the features {}", in_quotes(features)));
  }
  if (layout.order_ < 1 || layout.order_ > kLargestOrder) {
    refuse(stored, fmt::format("a model of order {}", layout.order_));
  }
  const bool observed = features == kObserved;
  if (observed) {
    layout.tokens_ = load_pairs("pairs", stored, dictionaries.attributes.size(), num_labels);
    if (stored.settings.at("step_pairs").get<bool>()) {
      layout.steps_ =
          load_pairs("step_pairs", stored, dictionaries.transitions.size(), num_labels * num_labels);
    }
  }
  if (layout.order_ > 1 || (observed && !layout.steps_)) {
    layout.set_ngrams(load_ngrams(stored, layout.order_, num_labels));
  }
  return layout;
}

}  // namespace espalier
