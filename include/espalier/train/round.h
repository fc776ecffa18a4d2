#pragma once

#include <cstddef>

#include "espalier/model/model.h"
#include "espalier/tasks/task.h"

namespace espalier {

// Model::rounded(bits) with a certificate of its own. `data` is what the model was trained on, read with the
// same options: its primal is that of the rounded weights on the data, its dual the better one of what those
// weights imply and of the model's before, which bounds the same optimum. That the data are the same is seen
// by the primal of the weights before, which has to be the one that the model states, up to rounding. Throws
// Error where it is not, and for models that state none or of gold outputs that were not all known.
Model round_and_certify(const Model& model, int bits, TrainingSet& data, std::size_t threads = 1);

}  // namespace espalier
