#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "tasks/tag/model.h"

namespace espalier {

// Every weight that the model has: those of attributes of tokens, of steps, and of n-grams.
void for_each_weight(const TagModel& model, WeightsView theta,
                     const std::function<void(const WeightName& name, float weight)>& use);

// What `show` prints: the `top` heaviest of each label, then of labels in a row.
std::string describe_strongest(const TagModel& model, WeightsView theta, std::size_t top);

}  // namespace espalier
