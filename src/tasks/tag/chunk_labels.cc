#include "tasks/tag/chunk_labels.h"

#include <algorithm>

namespace espalier {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool is_any_of(std::string_view prefix, std::string_view letters) {
  return prefix.size() == 1 && letters.find(prefix.front()) != kNone;
}

struct Parts {
  std::string_view prefix, type;
  bool outside() const { return is_any_of(prefix, "O."); }
  bool begins() const { return is_any_of(prefix, "BSU["); }
  bool ends() const { return is_any_of(prefix, "ESLU]"); }
  bool is_known() const { return begins() || ends() || is_any_of(prefix, "I"); }
};

Parts split(std::string_view label) {
  const std::size_t hyphen = label.find('-');
  return {label.substr(0, hyphen), hyphen == kNone ? std::string_view() : label.substr(hyphen + 1)};
}

// B-NP is a chunk tag, and so is a plain B, but only where all labels are like that: a letter may be a part
// of speech.
bool all_or_some_are_chunk_tags(const Dictionary& labels) {
  bool all_plain = true;
  for (std::uint32_t id = 0; id < labels.size(); ++id) {
    const Parts parts = split(labels.name(id));
    if (parts.is_known() && !parts.type.empty()) return true;
    all_plain = all_plain && parts.type.empty() && (parts.is_known() || parts.outside());
  }
  return all_plain;
}

}  // namespace

ChunkLabels::ChunkLabels(const Dictionary& labels) : are_chunk_tags_(all_or_some_are_chunk_tags(labels)) {
  for (std::uint32_t id = 0; id < labels.size(); ++id) {
    const Parts parts = split(labels.name(id));
    if (!are_chunk_tags_) {
      tags_.push_back({true, true, true, types_.add(labels.name(id))});
    } else {
      const bool in_chunk = !parts.outside() && (parts.is_known() || !parts.type.empty());
      tags_.push_back({in_chunk, parts.begins(), parts.ends(), types_.add(parts.type)});
    }
  }
}

}  // namespace espalier
