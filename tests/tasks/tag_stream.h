#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/tag/parser.h"

namespace espalier::testing {

// Sequences one after the other, in the memory of one, as prediction reads them: with dictionaries that stay
// as they are, so that unknown attributes are skipped, and labels as text, since a file may have some that
// training never saw.
class TagStream {
 public:
  // labels_required: a token without one is an error (evaluation); else labels are read where there are some.
  TagStream(const std::string& path, const TagInput& input, const TagDictionaries& dictionaries,
            bool labels_required)
      : reader_(path, input, SequenceReader::Between::keep),
        parser_(make_tag_parser(input, {NameIds(dictionaries.attributes), NameIds(dictionaries.transitions)},
                                {labels_required, {}})),
        encoding_(input.encoding),
        labels_required_(labels_required) {}

  // Goes on to the next sequence; false at the end of the file.
  bool next() {
    sequence_.clear();
    labels_.clear();
    if (!reader_.next()) {
      if (labels_required_ && !any_) fail_without_sequences(reader_.name());
      return false;
    }
    any_ = true;
    parser_->append(reader_.lines(), sequence_, labels_);
    if (labels_required_) {
      std::vector<std::string_view> tags;
      for (std::size_t t = 0; t < size(); ++t) tags.push_back(label(t));
      check_labels(encoding_, reader_.lines(), tags);
    }
    parser_->finish(sequence_);
    return true;
  }
  std::size_t size() const { return reader_.lines().size(); }                     // tokens of this sequence
  const Sequences& sequence() const { return sequence_; }                         // just this one
  std::string_view line(std::size_t t) const { return reader_.lines().line(t); }  // as it was read
  std::string_view label(std::size_t t) const { return labels_[t]; }  // as it was read; empty: none
  // What is between the blank line that ended the sequence before and this one; at the end, after the last
  // one.
  std::string_view before() const { return reader_.before(); }

 private:
  SequenceReader reader_;
  std::unique_ptr<TagParser> parser_;
  std::optional<Encoding> encoding_;
  bool labels_required_;
  bool any_ = false;
  Sequences sequence_;
  StringBuffer labels_;
};

}  // namespace espalier::testing
