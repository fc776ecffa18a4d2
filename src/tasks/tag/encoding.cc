#include "tasks/tag/encoding.h"

#include <fmt/format.h>

#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr Encoding kEncodings[] = {Encoding::iob1, Encoding::bio, Encoding::bioes};

// What follows the hyphen; empty for what is in no chunk.
std::string_view type_of(std::string_view tag) {
  const bool in_chunk =
      tag.size() > 2 && tag[1] == '-' && (tag[0] == 'B' || tag[0] == 'I' || tag[0] == 'E' || tag[0] == 'S');
  return in_chunk ? tag.substr(2) : std::string_view();
}

// Whether a chunk ends between two neighbouring tags, if the first one is in one.
bool parted(std::string_view before, std::string_view now) {
  return now[0] == 'B' || now[0] == 'S' || before[0] == 'E' || before[0] == 'S' ||
         type_of(before) != type_of(now);
}

char prefix(Encoding encoding, bool first, bool last, bool behind_same_type) {
  switch (encoding) {
    case Encoding::iob1:
      return first && behind_same_type ? 'B' : 'I';
    case Encoding::bio:
      return first ? 'B' : 'I';
    case Encoding::bioes:
      if (first) return last ? 'S' : 'B';
      return last ? 'E' : 'I';
  }
  return 'I';
}

}  // namespace

Encoding parse_encoding(std::string_view name) {
  for (const Encoding encoding : kEncodings) {
    if (name == to_string(encoding)) return encoding;
  }
  throw Error::in(setting("encoding"), fmt::format("{} is no encoding of chunks", in_quotes(name)),
                  "expected iob1, bio or bioes");
}

const char* to_string(Encoding encoding) {
  switch (encoding) {
    case Encoding::iob1:
      return "iob1";
    case Encoding::bio:
      return "bio";
    case Encoding::bioes:
      return "bioes";
  }
  return "unknown";
}

bool is_chunk_tag(std::string_view tag) { return tag == "O" || !type_of(tag).empty(); }

std::span<const std::string_view> convert_encoding(std::span<const std::string_view> tags, Encoding to,
                                                   ConvertedTags& buffer) {
  buffer.text.clear();
  for (std::size_t t = 0; t < tags.size(); ++t) {
    const std::string_view type = type_of(tags[t]);
    if (type.empty()) {
      buffer.text.add(tags[t]);
      continue;
    }
    const bool first = t == 0 || parted(tags[t - 1], tags[t]);
    const bool last = t + 1 == tags.size() || parted(tags[t], tags[t + 1]);
    const bool behind_same_type = t > 0 && type_of(tags[t - 1]) == type;
    buffer.text.text() += prefix(to, first, last, behind_same_type);
    buffer.text.text() += '-';
    buffer.text.add(type);
  }
  buffer.tags.clear();
  for (std::size_t t = 0; t < tags.size(); ++t) buffer.tags.push_back(buffer.text[t]);
  return buffer.tags;
}

}  // namespace espalier
