#include "cli/validators.h"

#include <fmt/format.h>

#include <limits>
#include <string>

#include "base/parse_number.h"
#include "espalier/base/options.h"

namespace espalier::cli {
namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

// What an option of a table may be, an option without one may be, too.
OptionRow row_of(OptionKind kind, OptionRange range) {
  OptionRow row;
  row.kind = kind;
  row.range = range;
  return row;
}
Check check_of(OptionKind kind, OptionRange range) {
  return [row = row_of(kind, range)](std::string& text) { return row.refuse(text); };
}

}  // namespace

Check positive_number() { return check_of(OptionKind::real, {0, kNoEnd, true}); }
Check number_from_zero() { return check_of(OptionKind::real, {0}); }
Check probability() { return check_of(OptionKind::real, {0, 1}); }
Check whole_number_from(std::uint64_t least) {
  return check_of(OptionKind::whole, {static_cast<double>(least)});
}

Check whole_number_between(std::uint64_t least, std::uint64_t most) {
  return check_of(OptionKind::whole, {static_cast<double>(least), static_cast<double>(most)});
}

Check bits_of_weights() {
  return [](std::string& text) {
    return text == "16" || text == "32" ? std::string() : fmt::format("found '{}'; expected 16 or 32", text);
  };
}

Check bytes() {
  return [row = row_of(OptionKind::bytes, {1})](std::string& text) {
    std::string refusal = row.refuse(text);
    if (refusal.empty()) text = std::to_string(*parse_bytes(text));
    return refusal;
  };
}

}  // namespace espalier::cli
