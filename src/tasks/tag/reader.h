#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_chunks.h"
#include "espalier/base/input_files.h"
#include "espalier/features/dictionary.h"
#include "espalier/tasks/tag.h"
#include "features/gazetteer.h"
#include "features/sequences.h"
#include "tasks/example_places.h"
#include "tasks/tag/encoding.h"

namespace espalier {

class Communicator;
class TagData;

// Throws Error listing the formats for an unknown name.
TagFormat parse_tag_format(std::string_view name);

// Of a line, in training and in models: built-in attributes are made for each.
inline constexpr std::size_t kMostColumns = std::size_t{1} << 16;

// How lines become attributes. A model keeps it.
struct TagInput {
  TagFormat format = TagFormat::columns;
  bool format_assumed = false;   // nobody said columns: what is clearly attributes is refused
  std::string templates;         // columns: the text of a template; empty: the built-in attributes
  std::size_t num_columns = 0;   // columns: of the training file, label included
  std::size_t label_column = 0;  // columns: counted from 0
  // columns: lines may have more columns before the label, which is the last one then; nobody looks at them.
  bool more_columns = false;
  // columns: TABs alone separate them; in training nobody may have said, and then the file's first lines do.
  bool tabs = false, separator_assumed = false;
  std::string template_name = "template";  // for messages
  std::optional<Encoding> encoding;        // labels are read in any and turned into this one
  // How much a training sequence counts: what a comment says, or (columns) the number in a column, from 0.
  bool weight_comments = false;
  std::optional<std::size_t> weight_column;
  std::shared_ptr<const Gazetteer> gazetteer;  // columns; may be nullptr
  // columns: which training sequences belong together: those between two boundaries of documents, or with the
  // same text in a column, from 0, at their first tokens.
  bool group_documents = false;
  std::optional<std::size_t> group_column;
};

// The one attribute of every transition of CRFsuite files and of the built-in attributes.
inline constexpr std::string_view kTiedTransition = "(transition)";

struct TagDictionaries {
  Dictionary attributes, transitions, labels;
};

struct TagExamples {
  Sequences sequences;
  std::vector<std::uint32_t> labels;  // one per token
  ExamplePlaces places;               // one a sequence: its first token
  std::vector<double> weights;        // one a sequence; empty where all are 1
  std::vector<std::uint32_t> groups;  // one a sequence, where the input says what they go by
  std::size_t num_rare = 0;           // attributes that were dropped
  Communicator* fleet = nullptr;      // the ranks that have the others, where these are the share of one
};

// Reads training sequences: the dictionaries, empty at first, take in what they see, and `input` its number
// of columns and (where label_column is not given) its last column as the label's. Attributes seen fewer than
// `min_count` times are dropped; every occurrence counts, also of one attribute at one token. What comes out
// does not depend on the number of threads.
TagExamples read_tag_growing(const InputFiles& files, TagInput& input,
                             std::optional<std::size_t> label_column, std::optional<std::size_t> first,
                             TagDictionaries& dictionaries, std::size_t min_count = 1,
                             const ChunkOptions& chunks = {});

// The same by several ranks, each of which reads its share of the sequences, and has the dictionaries of all.
// All ranks call it at the same time. nullopt on all of them, and nothing has changed, where the files cannot
// be shared out (find_share).
std::optional<TagExamples> read_tag_share(const InputFiles& files, TagInput& input,
                                          std::optional<std::size_t> label_column,
                                          TagDictionaries& dictionaries, std::size_t min_count,
                                          const ChunkOptions& chunks, Communicator& fleet);

// The same of sentences in memory, where the label is the last column. Requires an input of their format.
TagExamples take_tag_growing(const TagData& data, TagInput& input, std::optional<std::size_t> first,
                             TagDictionaries& dictionaries, std::size_t min_count = 1);

// All sequences of a file at once, with dictionaries that stay as they are: unknown attributes are skipped.
// `labels` starts with the names of dictionaries.labels, in their order, and takes in those that training
// never saw. Every token needs a label.
TagExamples read_tag(const std::string& path, const TagInput& input, const TagDictionaries& dictionaries,
                     Dictionary& labels, const ChunkOptions& chunks = {});

// The same of sentences in memory. Throws Error if they are of another kind than the input.
TagExamples take_tag(const TagData& data, const TagInput& input, const TagDictionaries& dictionaries,
                     Dictionary& labels);

}  // namespace espalier
