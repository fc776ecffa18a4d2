#pragma once

#include <string>
#include <string_view>

#include "base/fingerprint.h"
#include "espalier/tasks/task.h"

namespace espalier {

// "xxh3:" and 16 hexadecimal digits.
std::string fingerprint_text(const Fingerprint& fingerprint);
bool is_fingerprint(const Json& value);

// What training data are known by, in models and checkpoints: names, features, structures, gold outputs,
// costs and weights of all examples, as they were read. `known`: all gold outputs are; else statistics that
// stand for them change during training, and only costs tell what they may be.
std::string data_fingerprint(const TrainingSet& data, bool known = true);
// Whether a section of a task comes from the training data alone: the parts of dictionaries, which have a dot
// in their names, and what a parser prunes by.
bool comes_from_data(std::string_view section);

}  // namespace espalier
