#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/tasks/classify.h"
#include "espalier/tasks/named_rows.h"

namespace espalier {

// Labelled examples in memory, to train a classifier on: what a file in CRFsuite's format has. Text is
// copied.
class ClassifyData {
 public:
  using Attribute = NamedRows::Attribute;  // those that are not given are 0

  // Adds an example. Values of an attribute that is named twice add up. Throws Error for an empty name or
  // label, and for a value that is not finite.
  void add(std::span<const Attribute> attributes, std::string_view label);
  void add(std::initializer_list<Attribute> attributes, std::string_view label) {
    add(std::span(attributes.begin(), attributes.size()), label);
  }

  std::size_t size() const { return labels_.size(); }
  const NamedRows& attributes() const { return attributes_; }
  std::string_view label(std::size_t i) const { return names_of_labels_.name(labels_[i]); }

 private:
  NamedRows attributes_;
  std::vector<std::uint32_t> labels_;
  Dictionary names_of_labels_;
};

// What read_classify_training() makes of a file. An option that names another format is refused. `dev` is
// held-out data, whose labels may be new. None of them need outlive the result.
std::unique_ptr<TrainingSet> make_classify_training(const ClassifyData& data,
                                                    const ClassifyOptions& options = {},
                                                    const ClassifyData* dev = nullptr);

}  // namespace espalier
