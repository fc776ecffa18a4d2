#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/tasks/named_rows.h"

namespace espalier {

// Labels examples with a model of classification: what `espalier predict` does, for programs that have
// examples in memory. A model has one (Model::classifier()), const and thread-safe. Attributes that training
// never saw are skipped, and values of one that is named twice add up. Throws Error for a value that is not
// finite.
class Classifier {
 public:
  using Attribute = NamedRows::Attribute;

  virtual ~Classifier() = default;
  virtual std::size_t num_labels() const = 0;
  virtual std::string_view label(std::uint32_t id) const = 0;
  virtual std::optional<std::uint32_t> find_label(std::string_view name) const = 0;
  // False for models of beta = infinity, which have scores alone.
  virtual bool has_probabilities() const = 0;

  // The best label, by its id.
  virtual std::uint32_t classify(std::span<const Attribute> attributes) const = 0;
  std::uint32_t classify(std::initializer_list<Attribute> attributes) const {
    return classify(std::span(attributes.begin(), attributes.size()));
  }
  // The score of every label; and its probability. Throws Error where the model has none.
  virtual std::vector<double> scores(std::span<const Attribute> attributes) const = 0;
  virtual std::vector<double> probabilities(std::span<const Attribute> attributes) const = 0;
  std::vector<double> probabilities(std::initializer_list<Attribute> attributes) const {
    return probabilities(std::span(attributes.begin(), attributes.size()));
  }
};

}  // namespace espalier
