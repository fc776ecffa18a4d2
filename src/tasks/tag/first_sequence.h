#pragma once

#include <cstddef>
#include <optional>

#include "tasks/sequence_reader.h"
#include "tasks/tag/reader.h"

namespace espalier {

// What the first sequence of training data says of all: what separates columns, where nobody has said so, how
// many there are and which is the label's. Throws Error for columns that are not what the options say, and
// for attributes in place of columns.
void learn_from_first_sequence(const SequenceLines& sequence, std::optional<std::size_t> label_column,
                               TagInput& input);

}  // namespace espalier
