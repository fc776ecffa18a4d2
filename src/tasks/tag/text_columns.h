#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "espalier/tasks/task.h"
#include "tasks/tag/reader.h"

namespace espalier {

// Where a column of plain text comes from, as TextSentences counts them; nullopt: it is a weight, which is 1.
using TextColumn = std::optional<std::size_t>;

// The columns that a model was trained on, without the label. Taggers fill those by their numbers, counted
// from 1, or, of the second one, by "pos". Throws Error for a model of attributes, for columns that no tagger
// fills, and for taggers that fill none of them.
std::vector<TextColumn> text_columns(const TagInput& input, std::span<const ColumnTagger> taggers);

}  // namespace espalier
