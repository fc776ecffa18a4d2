#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/string_buffer.h"
#include "espalier/base/error.h"
#include "features/sequences.h"
#include "features/token_table.h"
#include "tasks/crfsuite_attributes.h"
#include "tasks/fields.h"
#include "tasks/sequence_reader.h"
#include "tasks/tag/name_ids.h"
#include "tasks/tag/reader.h"

namespace espalier {

class TransitionSets;

// Turns the lines of sequences, or sequences in memory, into attributes and labels. One class per format.
class TagParser {
 public:
  virtual ~TagParser() = default;
  // Appends a sequence, and the name of each of its labels (empty: none).
  virtual void append(const SequenceLines& lines, Sequences& to, StringBuffer& labels) = 0;
  // The same for a sequence whose tokens are columns; that of the label may be empty. `lines` says where it
  // is, for messages.
  virtual void append_table(const SequenceLines& /*lines*/, const TokenTable& /*table*/, Sequences& /*to*/) {
    ESPALIER_EXPECT(false);
  }
  // The same for a token that has attributes. Whoever appended the last one ends the sequence in to.offsets.
  virtual void append_token(std::span<const CrfsuiteItem::Attribute> /*attributes*/, Sequences& /*to*/) {
    ESPALIER_EXPECT(false);
  }
  // How much the sequence counts that was appended last. Throws Error if its weight is invalid.
  virtual double weight(const SequenceLines& lines) { return lines.weight(); }
  // The sets of attributes that the steps of sequences so far have; nullptr where they are all alike.
  virtual const TransitionSets* transition_sets() const { return nullptr; }
  // After the last sequence. What is appended next belongs to other Sequences.
  virtual void finish(Sequences& to) = 0;
};

struct TagNames {
  NameIds attributes, transitions;
};

// What a file has besides its attributes.
struct TagLabels {
  bool required = false;                     // a token without a label is an error
  std::optional<std::size_t> forced_column;  // columns: one more, read in place of the label; from 0
};

std::unique_ptr<TagParser> make_column_parser(const TagInput& input, TagNames names, TagLabels labels);
std::unique_ptr<TagParser> make_crfsuite_parser(TagNames names, TagLabels labels);
std::unique_ptr<TagParser> make_wapiti_parser(TagNames names, TagLabels labels);
// That of the input's format.
std::unique_ptr<TagParser> make_tag_parser(const TagInput& input, TagNames names, TagLabels labels);

// Throws Error at a label that the encoding, if there is one, cannot read.
void check_labels(std::optional<Encoding> encoding, const SequenceLines& lines,
                  std::span<const std::string_view> labels);

// Nothing to predict is fine; training on nothing is not, and a model that was measured on nothing would look
// perfect.
[[noreturn]] void fail_without_sequences(const std::string& name);

inline Separator separator_of(const TagInput& input) {
  return input.tabs ? Separator::tab : Separator::space;
}
std::size_t count_columns(std::string_view line, Separator separator = Separator::space);

}  // namespace espalier
