#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/string_buffer.h"
#include "espalier/features/dictionary.h"
#include "tasks/fields.h"
#include "tasks/sequence_reader.h"
#include "tasks/tag/encoding.h"
#include "tasks/tag/parser.h"
#include "tasks/tag/reader.h"

namespace espalier {

// Numbers sequences by what they belong to, in the order of a file.
class GroupReader {
 public:
  explicit GroupReader(const TagInput& input)
      : column_(input.group_column), separator_(separator_of(input)) {}

  // The texts of the column so far; without one, groups are documents.
  const Dictionary& names() const { return names_; }

  std::uint32_t read(const SequenceReader& reader) {
    if (!column_) return static_cast<std::uint32_t>(reader.num_documents());
    std::size_t column = 0;
    std::uint32_t group = 0;
    const auto take = [&](std::string_view field) {
      if (column++ == *column_) group = names_.add(field);
    };
    for_each_field(reader.lines().line(0), separator_, take);
    return group;
  }

 private:
  std::optional<std::size_t> column_;
  Separator separator_;
  Dictionary names_;
};

// The labels of the sequence that was read last, as the model is to have them.
class LabelReader {
 public:
  explicit LabelReader(const TagInput& input) : encoding_(input.encoding) {}

  std::span<const std::string_view> read(const SequenceLines& lines, const StringBuffer& labels) {
    return read(lines, [&](std::size_t t) { return labels[t]; });
  }
  // label(t) is that of token t.
  template <class Label>
  std::span<const std::string_view> read(const SequenceLines& lines, const Label& label) {
    tags_.clear();
    for (std::size_t t = 0; t < lines.size(); ++t) tags_.push_back(label(t));
    check_labels(encoding_, lines, tags_);
    return encoding_ ? convert_encoding(tags_, *encoding_, converted_) : tags_;
  }

 private:
  std::optional<Encoding> encoding_;
  std::vector<std::string_view> tags_;
  ConvertedTags converted_;
};

// Appends sequences of a file to examples.
class SequenceTaker {
 public:
  explicit SequenceTaker(const TagInput& input)
      : labels_(input),
        groups_(input),
        weighted_(input.weight_comments || input.weight_column),
        grouped_(input.group_documents || input.group_column) {}

  // The one that the reader is at.
  void take(const SequenceReader& reader, TagParser& parser, TagExamples& examples, Dictionary& labels) {
    names_.clear();
    const SequenceLines lines = reader.lines();
    parser.append(lines, examples.sequences, names_);
    for (const std::string_view name : labels_.read(lines, names_)) {
      examples.labels.push_back(labels.add(name));
    }
    if (weighted_) examples.weights.push_back(parser.weight(lines));
    if (grouped_) examples.groups.push_back(groups_.read(reader));
    examples.places.add(lines.name(), lines.line_number(0));
  }
  const GroupReader& groups() const { return groups_; }

 private:
  StringBuffer names_;
  LabelReader labels_;
  GroupReader groups_;
  bool weighted_, grouped_;
};

}  // namespace espalier
