#include "tasks/tag/label_constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/input.h"
#include "espalier/base/error.h"
#include "espalier/base/options.h"
#include "tasks/fields.h"
#include "tasks/tag/encoding.h"

namespace espalier {
namespace {

std::string_view prefixes_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::iob1:
    case Encoding::bio:
      return "BI";
    case Encoding::bioes:
      return "BIES";
    case Encoding::bilou:
      return "BILU";
  }
  return "";
}

// "O, B-TYPE or I-TYPE"
std::string tags_of(Encoding encoding) {
  std::vector<std::string> tags{"O"};
  for (const char prefix : prefixes_of(encoding)) tags.push_back(fmt::format("{}-TYPE", prefix));
  return listed(tags);
}

struct Tag {
  char prefix;
  std::string_view type;
};

Tag parse_tag(Encoding encoding, std::string_view label) {
  if (label == "O") return {'O', {}};
  const bool known = !label.empty() && prefixes_of(encoding).find(label[0]) != std::string_view::npos;
  if (known && label.size() == 1) return {label[0], {}};
  if (known && label.size() > 2 && label[1] == '-') return {label[0], label.substr(2)};
  throw Error::in(fmt::format("{} {}", setting("valid"), to_string(encoding)),
                  fmt::format("found the label {}", in_quotes(label)), "expected " + tags_of(encoding));
}

bool is(const Tag& tag, std::string_view prefixes) {
  return prefixes.find(tag.prefix) != std::string_view::npos;
}

// Whether `after` may follow `before`. The ends of a sequence are as good as an O.
bool may_follow(Encoding encoding, const Tag& before, const Tag& after) {
  const bool same = before.type == after.type;
  if (encoding == Encoding::bio) return !is(after, "I") || (is(before, "BI") && same);
  if (encoding == Encoding::iob1) return !is(after, "B") || (is(before, "BI") && same);
  // bioes, bilou: an open chunk continues, and only that.
  const bool open = is(before, "BI"), goes_on = is(after, "IEL");
  return open == goes_on && (!open || same);
}

constexpr std::string_view kStart = "(start)", kStop = "(stop)", kEvery = "*";

// fail(found, expected) throws.
template <class Fail>
void forbid(std::string_view before, std::string_view after, const Dictionary& labels,
            ChainConstraints& constraints, const Fail& fail) {
  const auto size = static_cast<std::uint32_t>(labels.size());
  // The labels that a name stands for, as a range.
  const auto range_of = [&](std::string_view name) -> std::array<std::uint32_t, 2> {
    if (name == kEvery) return {0, size};
    const auto id = labels.find(name);
    if (!id)
      fail(fmt::format("the label {}", in_quotes(name)),
           "expected a label of the training data, (start), (stop) or *");
    return {*id, *id + 1};
  };
  if (before == kStop || after == kStart)
    fail(fmt::format("{} {}", before, after), "expected (start) on the left or (stop) on the right");
  if (before == kStart && after == kStop) fail("(start) (stop)", "expected a label: no sequence is empty");
  if (before == kEvery && after == kEvery) fail("* *", "expected a label on one side");
  if (before == kStart) {
    const auto [begin, end] = range_of(after);
    for (std::uint32_t j = begin; j < end; ++j) constraints.first[j] = 0;
  } else if (after == kStop) {
    const auto [begin, end] = range_of(before);
    for (std::uint32_t i = begin; i < end; ++i) constraints.last[i] = 0;
  } else {
    const auto from = range_of(before), to = range_of(after);
    for (std::uint32_t i = from[0]; i < from[1]; ++i) {
      for (std::uint32_t j = to[0]; j < to[1]; ++j) constraints.step[std::size_t{i} * size + j] = 0;
    }
  }
}

}  // namespace

ChainConstraints all_allowed(std::size_t num_labels) {
  ChainConstraints constraints;
  constraints.first.assign(num_labels, 1);
  constraints.last.assign(num_labels, 1);
  constraints.step.assign(num_labels * num_labels, 1);
  return constraints;
}

void forbid_by_scheme(std::string_view name, const Dictionary& labels, ChainConstraints& constraints) {
  const Encoding encoding = parse_encoding(name, "valid");
  std::vector<Tag> tags;
  for (std::uint32_t y = 0; y < labels.size(); ++y) tags.push_back(parse_tag(encoding, labels.name(y)));
  constexpr Tag kOutside{'O', {}};
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (!may_follow(encoding, kOutside, tags[i])) constraints.first[i] = 0;
    if (!may_follow(encoding, tags[i], kOutside)) constraints.last[i] = 0;
    for (std::size_t j = 0; j < tags.size(); ++j) {
      if (!may_follow(encoding, tags[i], tags[j])) constraints.step[i * tags.size() + j] = 0;
    }
  }
}

void forbid_listed(const std::string& path, const Dictionary& labels, ChainConstraints& constraints) {
  LineReader reader(path);
  std::string_view line;
  const auto fail = [&](std::string_view found, std::string_view expected) { reader.fail(found, expected); };
  while (reader.next(line)) {
    std::array<std::string_view, 3> fields;  // one more than there may be
    const std::size_t count = split_fields(line, fields);
    if (count == 0) continue;
    if (count != 2) fail(count == 1 ? "1 field" : "more than 2 fields", "expected BEFORE AFTER");
    forbid(fields[0], fields[1], labels, constraints, fail);
  }
}

void forbid_pairs(std::span<const std::pair<std::string, std::string>> pairs, const Dictionary& labels,
                  ChainConstraints& constraints) {
  for (const auto& [before, after] : pairs) {
    forbid(before, after, labels, constraints, [](std::string_view found, std::string_view expected) {
      throw Error::in(setting("transitions"), found, expected);
    });
  }
}

// The labels that sequences of a length can end with determine those of the next length, so the sets repeat
// once one of them does.
std::optional<std::size_t> impossible_length(const ChainConstraints& constraints) {
  constexpr std::size_t kLongest = 10000;
  const std::size_t labels = constraints.first.size();
  std::vector<bool> reached(constraints.first.begin(), constraints.first.end());
  std::set<std::vector<bool>> seen;
  for (std::size_t length = 1; length <= kLongest && seen.insert(reached).second; ++length) {
    std::vector<bool> next(labels);
    bool possible = false;
    for (std::size_t i = 0; i < labels; ++i) {
      if (!reached[i]) continue;
      possible = possible || constraints.last[i] != 0;
      for (std::size_t j = 0; j < labels; ++j) next[j] = next[j] || constraints.step[i * labels + j] != 0;
    }
    if (!possible) return length;
    reached.swap(next);
  }
  return std::nullopt;
}

}  // namespace espalier
