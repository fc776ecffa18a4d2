#include "espalier/tasks/tag.h"

#include <fmt/format.h>

#include <cmath>

#include "espalier/base/error.h"

namespace espalier {

void TagData::add_columns(std::span<const std::string_view> columns, std::string_view label) {
  const auto fail = [&](std::string_view expected) {
    throw Error::at(kDataInMemory, labels_.size() + 1,
                    fmt::format("{} column{}", columns.size(), columns.size() == 1 ? "" : "s"), expected);
  };
  if (columns.empty()) fail("expected at least 1, a word");
  if (attributes_.size() > 0) fail("expected attributes, as before");
  if (!labels_.empty() && columns.size() != num_columns_)
    fail(fmt::format("expected {}, as before", num_columns_));
  check_label(label);
  num_columns_ = columns.size();
  for (const std::string_view column : columns) columns_.push_back(texts_.add(column));
  labels_.push_back(names_of_labels_.add(label));
}

void TagData::add_attributes(std::span<const Attribute> attributes, std::string_view label) {
  if (num_columns_ > 0) {
    throw Error::at(kDataInMemory, labels_.size() + 1, "attributes", "expected columns, as before");
  }
  check_label(label);
  attributes_.add(attributes);
  labels_.push_back(names_of_labels_.add(label));
}

void TagData::check_label(std::string_view label) const {
  if (!label.empty()) return;
  throw Error::at(kDataInMemory, labels_.size() + 1, "no label", "expected one for each token");
}

void TagData::end_sentence(double weight) {
  if (labels_.size() == begins_.back())
    throw Error::at(kDataInMemory, labels_.size() + 1, "the end of a sentence without tokens",
                    "expected some");
  if (!(weight > 0) || !std::isfinite(weight)) {
    throw Error::at(kDataInMemory, labels_.size(), fmt::format("the weight {}", weight),
                    "expected a positive, finite number");
  }
  begins_.push_back(labels_.size());
  weights_.push_back(weight);
}

}  // namespace espalier
