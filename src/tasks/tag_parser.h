#pragma once

#include <memory>

#include "espalier/base/string_buffer.h"
#include "espalier/features/sequences.h"
#include "espalier/tasks/tag_reader.h"
#include "tasks/name_ids.h"
#include "tasks/sequence_reader.h"

namespace espalier {

// Turns the lines of sequences into attributes and labels. One class per format.
class TagParser {
 public:
  virtual ~TagParser() = default;
  // Appends the sequence that the reader is at, and the name of each of its labels (empty: none).
  virtual void append(const SequenceReader& reader, Sequences& to, StringBuffer& labels) = 0;
  // How much the sequence counts that was appended last. Throws Error where its weight is none.
  virtual double weight(const SequenceReader& reader) { return reader.weight(); }
  // After the last sequence. What is appended next belongs to other Sequences.
  virtual void finish(Sequences& to) = 0;
};

struct TagNames {
  NameIds attributes, transitions;
};

std::unique_ptr<TagParser> make_column_parser(const TagInput& input, TagNames names, bool labels_required);
std::unique_ptr<TagParser> make_crfsuite_parser(TagNames names, bool labels_required);
std::unique_ptr<TagParser> make_wapiti_parser(TagNames names, bool labels_required);

std::size_t count_columns(std::string_view line);

}  // namespace espalier
