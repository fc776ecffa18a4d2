#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_buffer.h"

namespace espalier {

// How the labels of tokens spell chunks. A tag is O, or a prefix, a hyphen and the chunk's type.
//   iob1   I for every token of a chunk, but B for the first one where the chunk before ends there and has
//          the same type
//   bio    B for the first token, I for the others
//   bioes  B for the first token, E for the last, I between; S for a chunk of one token
//   bilou  the same with L for E and U for S
enum class Encoding { iob1, bio, bioes, bilou };

// The names of encodings: bio is also known as iob2, bioes as iobes.
const std::vector<std::string>& encoding_names();
// Throws Error, in the name of this setting, for an unknown name.
Encoding parse_encoding(std::string_view name, std::string_view of_setting = "encoding");
const char* to_string(Encoding encoding);

// O, or B, I, E, S, L or U, a hyphen and a type.
bool is_chunk_tag(std::string_view tag);

// Memory that convert_encoding() reuses: once it has seen a long sequence, it allocates no more.
struct ConvertedTags {
  StringBuffer text;
  std::vector<std::string_view> tags;
};

// The tags of one sequence, in any of the encodings, in another one. A chunk begins at B, S and U, after E,
// L, S, U and O, and where the type changes; so all tags mean something, well-formed or not. What is no chunk
// tag stays as it is and ends a chunk as O does. The result lives in `buffer`, until the next call with it.
std::span<const std::string_view> convert_encoding(std::span<const std::string_view> tags, Encoding to,
                                                   ConvertedTags& buffer);

}  // namespace espalier
