#include "espalier/tasks/classify.h"

#include "espalier/base/error.h"

namespace espalier {

void ClassifyData::add(std::span<const Attribute> attributes, std::string_view label) {
  check(label, false);
  attributes_.add(attributes);
  labels_.push_back(names_of_labels_.add(label));
}

void ClassifyData::add_text(std::string_view text, std::string_view label) {
  check(label, true);
  texts_.emplace_back(text);
  labels_.push_back(names_of_labels_.add(label));
}

void ClassifyData::check(std::string_view label, bool is_text) const {
  if (label.empty()) throw Error::at(kDataInMemory, size() + 1, "no label", "expected one for each example");
  if (size() > 0 && is_text != has_texts()) {
    throw Error::at(kDataInMemory, size() + 1, is_text ? "a text among attributes" : "attributes among texts",
                    "expected examples of one kind");
  }
}

}  // namespace espalier
