#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/string_buffer.h"
#include "base/text_chunks.h"
#include "espalier/features/dictionary.h"
#include "tasks/sequence_reader.h"
#include "tasks/tag/min_count.h"
#include "tasks/tag/reader.h"
#include "tasks/tag/transition_sets.h"

namespace espalier {

// What a chunk of a file has: examples with the ids of the worker that read it, and what this worker had not
// met before.
struct TagPart {
  TagExamples examples;
  StringBuffer attributes, transitions, labels, groups;
  std::vector<AttributeValue> sets;  // of steps, one after the other,
  std::vector<std::size_t> set_ends;
  std::size_t num_documents = 0;
};

// Puts the parts of files together, in their order.
class TagParts {
 public:
  // Dictionaries and sets that take in what they see; without `names`, parts have their ids already.
  TagParts(const TagInput& input, std::size_t readers, TagDictionaries* names, Dictionary& labels)
      : by_documents_(input.group_documents && !input.group_column),
        names_(names),
        labels_(labels),
        ids_(readers) {}

  void take(std::size_t reader, TagPart part);
  // Adds up what readers counted, by the ids of all.
  void add_counts(std::size_t reader, const AttributeCounts& of_reader, AttributeCounts& to) const;
  // Names have other ids from now on. Nothing is taken any more.
  void renumber(std::span<const std::uint32_t> attributes, std::span<const std::uint32_t> transitions,
                std::span<const std::uint32_t> labels);
  // All of them, but for what a parser has to do at the end.
  TagExamples join(std::size_t threads);

 private:
  struct Ids {  // by those of a reader
    std::vector<std::uint32_t> attributes, transitions, labels, groups, sets;
  };
  struct Part {
    std::size_t reader;
    TagExamples examples;
  };

  bool by_documents_;
  TagDictionaries* names_;
  Dictionary& labels_;
  Dictionary groups_;
  TransitionSets sets_;
  SparseRows transitions_;
  std::vector<Ids> ids_;
  std::vector<Part> parts_;
  std::vector<AttributeValue> set_;
  std::size_t num_documents_ = 0;
};

// How the parts of files are read.
struct TagPartsRequest {
  const TagInput& input;
  const SequenceFile& file;  // what their first sequence says
  TagDictionaries* growing;  // names that take in what they see; nullptr: those of `fixed`
  AttributeCounts* counts;   // of growing names, where they are counted; else nullptr
  const TagDictionaries& fixed;
  Dictionary& labels;
  std::size_t threads;
};
// The chunks that were read already, and all that follow.
TagParts read_tag_parts(ChunkReader& chunks, std::vector<TextChunk> before, const TagPartsRequest& request);

}  // namespace espalier
