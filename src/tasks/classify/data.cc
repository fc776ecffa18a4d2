#include <fmt/format.h>

#include <cmath>

#include "espalier/base/error.h"
#include "espalier/tasks/classify.h"

namespace espalier {

void ClassifyData::add(std::span<const Attribute> attributes, std::string_view label, double weight) {
  check(label, weight, false);
  attributes_.add(attributes);
  labels_.push_back(names_of_labels_.add(label));
  weights_.push_back(weight);
}

void ClassifyData::add_text(std::string_view text, std::string_view label, double weight) {
  check(label, weight, true);
  texts_.emplace_back(text);
  labels_.push_back(names_of_labels_.add(label));
  weights_.push_back(weight);
}

void ClassifyData::check(std::string_view label, double weight, bool is_text) const {
  if (label.empty()) throw Error::at(kDataInMemory, size() + 1, "no label", "expected one for each example");
  if (!(weight > 0) || !std::isfinite(weight))
    throw Error::at(kDataInMemory, size() + 1, fmt::format("the weight {}", weight),
                    "expected a finite number above 0");
  if (size() > 0 && is_text != has_texts()) {
    throw Error::at(kDataInMemory, size() + 1, is_text ? "a text among attributes" : "attributes among texts",
                    "expected examples of one kind");
  }
}

}  // namespace espalier
