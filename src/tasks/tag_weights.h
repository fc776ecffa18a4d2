#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "tasks/tag_model.h"

namespace espalier {

// A weight of a tagging model: of an attribute with a label, or of several labels in a row, and of an attribute of the step
// between them.
struct TagWeight {
  std::string_view attribute;
  std::span<const std::uint32_t> labels;  // one: the attribute is that of a token
  float weight;
};

// Every weight that the model has: those of attributes of tokens, of steps, and of n-grams.
void for_each_weight(const TagModel& model, WeightsView theta,
                     const std::function<void(const TagWeight&)>& use);

// What `show` prints: the `top` heaviest of each label, then of labels in a row; every weight.
std::string describe_strongest(const TagModel& model, WeightsView theta, std::size_t top);
std::string describe_all(const TagModel& model, WeightsView theta);

}  // namespace espalier
