#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "espalier/features/dictionary.h"

namespace espalier {

// How the labels of a model spell chunks. A chunk tag is a prefix and, after the first hyphen, a type, B-NP,
// or the prefix alone. B and S (also U and [) begin a chunk, E and S (also L, U and ]) end one; any other
// continues with a chunk of its type, or begins one if there is none. That is conlleval's reading, but for
// neighbours of one type in BIOES, which it takes for one chunk. Where the labels are no chunk tags (parts of
// speech), every token is a chunk of its own.
class ChunkLabels {
 public:
  explicit ChunkLabels(const Dictionary& labels);

  bool are_chunk_tags() const { return are_chunk_tags_; }
  // False for O.
  bool in_chunk(std::uint32_t label) const { return tags_[label].in_chunk; }
  // Whether a token with the label `now` belongs to the chunk of the token before.
  bool continues(std::uint32_t before, std::uint32_t now) const {
    const Tag &a = tags_[before], &b = tags_[now];
    return a.in_chunk && b.in_chunk && !a.ends && !b.begins && a.type == b.type;
  }
  // What is after the hyphen; the label itself if labels are not chunk tags.
  std::string_view type(std::uint32_t label) const { return types_.name(tags_[label].type); }

 private:
  struct Tag {
    bool in_chunk, begins, ends;
    std::uint32_t type;
  };
  bool are_chunk_tags_;
  Dictionary types_;
  std::vector<Tag> tags_;  // by label
};

}  // namespace espalier
