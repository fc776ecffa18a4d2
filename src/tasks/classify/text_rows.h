#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "features/text_attributes.h"
#include "tasks/classify/builder.h"

namespace espalier {

// Turns texts into rows of a builder, for files and for texts in memory.
class TextRows {
 public:
  // Keeps references.
  TextRows(const ClassifyReadOptions& options, ClassifyBuilder& builder);

  // Adds the attributes of a text to the example that is being built. Training data that is to be weighted by
  // tf-idf gets counts here: how many texts have an attribute is known at its end (ClassifyBuilder::finish).
  void add(std::string_view text);
  std::size_t num_bad_bytes() const { return attributes_.num_bad_bytes(); }

 private:
  const ClassifyReadOptions& options_;
  ClassifyBuilder& builder_;
  TextAttributes attributes_;
  std::vector<std::uint32_t> occurrences_, ids_;
  std::vector<float> values_;
};

}  // namespace espalier
