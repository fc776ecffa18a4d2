#pragma once

#include <optional>

#include "espalier/tasks/task.h"
#include "tasks/tag/model.h"

namespace espalier {

// What a model keeps of these weights: attributes that have one that is not zero, of observed features the
// pairs, and the n-grams. All features become pairs where rows would take far more memory: scores are the
// same. Of equally good label sequences another one may come first where n-grams of three labels and more are
// left out, which states of chains come from. nullopt: everything, as it is. Requires a model without a
// kernel.
std::optional<ModelContents> without_zeros(const TagModel& model, const Weights& theta);

}  // namespace espalier
