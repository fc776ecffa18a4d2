#include "tasks/tag_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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
                     const std::function<void(const TagWeight&)>& use) {
  const ChainShape shape = model.shape();
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
    for_each_label(shape.tokens.get(), a, num_labels, [&](std::uint32_t label) {
      use({model.dictionaries.attributes.name(a), {&label, 1}, theta.at(*shape.token_weight(a, label))});
    });
  }
  for (std::uint32_t a = 0; shape.has_tables() && a < shape.num_transition_attributes; ++a) {
    for_each_label(shape.steps.get(), a, num_labels * num_labels, [&](std::uint32_t pair) {
      const std::uint32_t labels[] = {pair / num_labels, pair % num_labels};
      use({model.dictionaries.transitions.name(a), labels,
           theta.at(*shape.step_weight(a, labels[0], labels[1]))});
    });
  }
  const std::string_view name =
      model.dictionaries.transitions.size() == 1 ? model.dictionaries.transitions.name(0) : kTiedTransition;
  for (std::size_t k = 0; k < shape.num_ngrams(); ++k) {
    use({name, shape.ngrams->ngram(k), theta.at(shape.ngram_weight(k))});
  }
}

std::string describe_strongest(const TagModel& model, WeightsView theta, std::size_t top) {
  const Dictionary& labels = model.dictionaries.labels;
  std::vector<Heaviest> of_label(labels.size(), Heaviest(top));
  Heaviest of_several(top);
  bool several = false;
  // Where all steps are alike, the name of what they have in common says nothing.
  const bool alike = model.dictionaries.transitions.size() <= 1 || !model.shape().has_tables();
  for_each_weight(model, theta, [&](const TagWeight& one) {
    if (one.labels.size() == 1) {
      of_label[one.labels[0]].offer(one.weight, [&] { return std::string(one.attribute); });
      return;
    }
    several = true;
    of_several.offer(one.weight, [&] {
      std::string text(labels.name(one.labels[0]));
      for (const std::uint32_t label : one.labels.subspan(1)) text.append(" -> ").append(labels.name(label));
      if (!alike) text.append("  ").append(one.attribute);
      return text;
    });
  });
  std::string text;
  for (std::uint32_t y = 0; y < labels.size(); ++y) {
    text += fmt::format("{}\n", labels.name(y));
    of_label[y].append(text);
  }
  if (!several) return text;
  text += "transitions\n";
  of_several.append(text);
  return text;
}

std::string describe_all(const TagModel& model, WeightsView theta) {
  std::string text;
  const auto out = std::back_inserter(text);
  for_each_weight(model, theta, [&](const TagWeight& one) {
    text += one.attribute;
    for (const std::uint32_t label : one.labels)
      text.append("\t").append(model.dictionaries.labels.name(label));
    fmt::format_to(out, "\t{}\n", one.weight);
  });
  return text;
}

}  // namespace espalier
