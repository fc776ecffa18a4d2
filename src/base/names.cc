#include "base/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/options.h"

namespace espalier {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool same(char a, char b) { return lower(a) == lower(b); }

}  // namespace

// Optimal string alignment: d(i, j) is the distance of the first i letters of a from the first j letters of
// b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      next[j] = std::min({replaced, last[j] + 1, next[j - 1] + 1});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, next);
  }
  return last[b.size()];
}

std::optional<std::string> nearest_name(std::string_view found, std::span<const std::string> known) {
  // Nobody misspells a name at such length, and the distance takes time.
  constexpr std::size_t kLongest = 64;
  if (found.empty() || found.size() > kLongest) return std::nullopt;
  std::optional<std::string> nearest;
  std::size_t least = (found.size() + 1) / 3;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(found, name);
    if (distance > least || (nearest && distance == least)) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

std::string name_hint(std::string_view found, std::span<const std::string> known) {
  if (const auto nearest = nearest_name(found, known)) return fmt::format("did you mean {}?", *nearest);
  return "expected " + listed(known);
}

std::string unknown_name(std::string_view kind, std::string_view found, std::span<const std::string> known) {
  return fmt::format("unknown {} {}; {}", kind, in_quotes(found), name_hint(found, known));
}

}  // namespace espalier
