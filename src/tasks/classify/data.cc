#include "espalier/tasks/classify.h"

#include "espalier/base/error.h"

namespace espalier {

void ClassifyData::add(std::span<const Attribute> attributes, std::string_view label) {
  if (label.empty()) throw Error::at(kDataInMemory, size() + 1, "no label", "expected one for each example");
  attributes_.add(attributes);
  labels_.push_back(names_of_labels_.add(label));
}

}  // namespace espalier
