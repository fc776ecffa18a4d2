#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/tasks/task.h"
#include "tasks/tag/reader.h"
#include "tasks/text_sentences.h"

namespace espalier {

// Where a column of plain text comes from.
struct TextColumn {
  std::optional<std::size_t>
      of_text;                  // as TextSentences counts columns; nullopt: it is the same at every token,
  std::string_view constant{};  // and this

  std::string_view at(const TextSentences& sentences, std::size_t token) const {
    return of_text ? sentences.column(token, *of_text) : constant;
  }
};

// The columns that a model was trained on, without the label. Taggers fill those by their numbers, counted
// from 1, or, of the second one, by "pos". Throws Error for a model of attributes, for columns that no tagger
// fills, and for taggers that fill none of them.
std::vector<TextColumn> text_columns(const TagInput& input, std::span<const ColumnTagger> taggers);

}  // namespace espalier
