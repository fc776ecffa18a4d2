#include "tasks/tag/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tasks/kernel_model.h"
#include "tasks/tag/reader.h"

namespace espalier {
namespace {

// The `top` heaviest of those that it is offered; of equals the first.
class Heaviest {
 public:
  explicit Heaviest(std::size_t top) : top_(top) {}

  template <class Describe>
  void offer(float weight, const Describe& describe) {
    const std::size_t rank = seen_++;
    if (top_ == 0 || (kept_.size() == top_ && kept_.front().weight >= weight)) return;
    kept_.push_back({weight, rank, describe()});
    std::push_heap(kept_.begin(), kept_.end(), heavier);
    if (kept_.size() <= top_) return;
    std::pop_heap(kept_.begin(), kept_.end(), heavier);
    kept_.pop_back();
  }
  // Lines "WEIGHT  NAME".
  void append(std::string& text) {
    std::sort_heap(kept_.begin(), kept_.end(), heavier);
    for (const Kept& one : kept_) text += fmt::format("  {:>+9.4f}  {}\n", one.weight, one.name);
  }

 private:
  struct Kept {
    float weight;
    std::size_t rank;
    std::string name;
  };
  static bool heavier(const Kept& a, const Kept& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.rank < b.rank;
  }

  std::size_t top_, seen_ = 0;
  std::vector<Kept> kept_;  // a heap, the lightest first
};

}  // namespace

void for_each_weight(const TagModel& model, WeightsView theta,
                     const std::function<void(const WeightName& name, float weight)>& use) {
  const ChainShape shape = model.shape();
  const TagDictionaries& names = model.dictionaries;
  const auto num_labels = static_cast<std::uint32_t>(shape.num_labels);
  // The numbers of the labels that an attribute goes with.
  const auto for_each_label = [](const ObservedPairs* pairs, std::size_t attribute, std::uint32_t all,
                                 const auto& with) {
    if (pairs) {
      for (const std::uint32_t label : pairs->labels(attribute)) with(label);
    } else {
      for (std::uint32_t label = 0; label < all; ++label) with(label);
    }
  };
  for (std::uint32_t a = 0; a < shape.num_attributes; ++a) {
    const std::string node = model.kernel ? node_name(*model.kernel, names.attributes, a) : std::string();
    const std::string_view attribute = model.kernel ? node : names.attributes.name(a);
    for_each_label(shape.tokens.get(), a, num_labels, [&](std::uint32_t label) {
      use({attribute, {}, names.labels.name(label)}, theta.at(*shape.token_weight(a, label)));
    });
  }
  for (std::uint32_t a = 0; shape.has_tables() && a < shape.num_transition_attributes; ++a) {
    for_each_label(shape.steps.get(), a, num_labels * num_labels, [&](std::uint32_t pair) {
      const std::uint32_t first = pair / num_labels, second = pair % num_labels;
      const std::string_view before = names.labels.name(first);
      use({names.transitions.name(a), {&before, 1}, names.labels.name(second)},
          theta.at(*shape.step_weight(a, first, second)));
    });
  }
  std::vector<std::string_view> before;
  for (std::size_t k = 0; k < shape.num_ngrams(); ++k) {
    const auto labels = shape.ngrams->ngram(k);
    before.clear();
    for (const std::uint32_t label : labels.first(labels.size() - 1))
      before.push_back(names.labels.name(label));
    use({model.ngram_attribute(), before, names.labels.name(labels.back())}, theta.at(shape.ngram_weight(k)));
  }
}

std::string describe_strongest(const TagModel& model, WeightsView theta, std::size_t top) {
  const Dictionary& labels = model.dictionaries.labels;
  std::vector<Heaviest> of_label(labels.size(), Heaviest(top));
  Heaviest of_several(top);
  bool several = false;
  // Where all steps are alike, the name of what they have in common says nothing.
  const bool alike = model.dictionaries.transitions.size() <= 1 || !model.shape().has_tables();
  for_each_weight(model, theta, [&](const WeightName& name, float weight) {
    if (name.before.empty()) {
      of_label[*labels.find(name.label)].offer(weight, [&] { return std::string(name.attribute); });
      return;
    }
    several = true;
    of_several.offer(weight, [&] {
      std::string text;
      for (const std::string_view label : name.before) text.append(label).append(" -> ");
      text += name.label;
      if (!alike) text.append("  ").append(name.attribute);
      return text;
    });
  });
  std::string text;
  for (std::uint32_t y = 0; !model.kernel && y < labels.size(); ++y) {
    text += fmt::format("{}\n", labels.name(y));
    of_label[y].append(text);
  }
  if (!several) return text;
  text += "transitions\n";
  of_several.append(text);
  return text;
}

}  // namespace espalier
