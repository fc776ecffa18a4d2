#include "tasks/tag/encoding.h"

#include <fmt/format.h>

#include "base/names.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

struct Named {
  std::string_view name;
  Encoding encoding;
};
// The first name of an encoding is the one that models have.
constexpr Named kEncodings[] = {{"iob1", Encoding::iob1},   {"bio", Encoding::bio},
                                {"iob2", Encoding::bio},    {"bioes", Encoding::bioes},
                                {"iobes", Encoding::bioes}, {"bilou", Encoding::bilou}};

bool is_any_of(char prefix, std::string_view prefixes) {
  return prefixes.find(prefix) != std::string_view::npos;
}

// What follows the hyphen; empty for what is in no chunk.
std::string_view type_of(std::string_view tag) {
  const bool in_chunk = tag.size() > 2 && tag[1] == '-' && is_any_of(tag[0], "BIESLU");
  return in_chunk ? tag.substr(2) : std::string_view();
}

// Whether a chunk ends between two neighbouring tags, if the first one is in one.
bool parted(std::string_view before, std::string_view now) {
  return is_any_of(now[0], "BSU") || is_any_of(before[0], "ESLU") || type_of(before) != type_of(now);
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
    case Encoding::bilou:
      if (first) return last ? 'U' : 'B';
      return last ? 'L' : 'I';
  }
  return 'I';
}

}  // namespace

const std::vector<std::string>& encoding_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Named& named : kEncodings) all.emplace_back(named.name);
    return all;
  }();
  return names;
}

Encoding parse_encoding(std::string_view name, std::string_view of_setting) {
  for (const Named& named : kEncodings) {
    if (name == named.name) return named.encoding;
  }
  throw Error(
      fmt::format("{}: {}", setting(of_setting), unknown_name("encoding of chunks", name, encoding_names())));
}

const char* to_string(Encoding encoding) {
  for (const Named& named : kEncodings) {
    if (named.encoding == encoding) return named.name.data();
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
