#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/tasks/named_rows.h"
#include "espalier/tasks/tag.h"

namespace espalier {

// Labelled sentences in memory, to train a tagger on: what a file has, added token by token. All tokens have
// columns, which templates or the built-in attributes look at, or all have attributes. Text is copied.
class TagData {
 public:
  using Attribute = NamedRows::Attribute;

  // Adds a token to the sentence at the end: its columns, and the label that a file has behind them. Throws
  // Error where it has no columns, another number of them than the tokens before, or an empty label.
  void add_columns(std::span<const std::string_view> columns, std::string_view label);
  void add_columns(std::initializer_list<std::string_view> columns, std::string_view label) {
    add_columns(std::span(columns.begin(), columns.size()), label);
  }
  // The same by attributes. Throws Error for an empty name or label, and for a value that is not finite.
  void add_attributes(std::span<const Attribute> attributes, std::string_view label);
  void add_attributes(std::initializer_list<Attribute> attributes, std::string_view label) {
    add_attributes(std::span(attributes.begin(), attributes.size()), label);
  }
  // Ends the sentence, and says how much it counts. Throws Error where it has no tokens, and for a weight
  // that is not positive and finite.
  void end_sentence(double weight = 1);

  // Sentences that were ended; tokens begin(i) to begin(i + 1) - 1 are those of sentence i.
  std::size_t size() const { return weights_.size(); }
  std::size_t begin(std::size_t i) const { return begins_[i]; }
  double weight(std::size_t i) const { return weights_[i]; }
  // Of every token, without the label; 0: tokens have attributes.
  std::size_t num_columns() const { return num_columns_; }
  std::string_view column(std::size_t token, std::size_t column) const {
    return texts_.name(columns_[token * num_columns_ + column]);
  }
  const NamedRows& attributes() const { return attributes_; }  // of all tokens
  std::string_view label(std::size_t token) const { return names_of_labels_.name(labels_[token]); }

 private:
  void check_label(std::string_view label) const;

  std::size_t num_columns_ = 0;
  std::vector<std::uint32_t> columns_, labels_;  // of all tokens
  Dictionary texts_, names_of_labels_;
  NamedRows attributes_;
  std::vector<std::size_t> begins_{0};
  std::vector<double> weights_;
};

// What read_tag_training() makes of a file. The format and where labels, weights and groups are is the data's
// own affair: options that say otherwise are refused. `dev` is held-out data, of tokens of the same kind; its
// labels may be new. None of them need outlive the result.
std::unique_ptr<TrainingSet> make_tag_training(const TagData& data, const TagOptions& options = {},
                                               const TagData* dev = nullptr);

}  // namespace espalier
