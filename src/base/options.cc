#include "espalier/base/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/names.h"
#include "base/parse_number.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

std::optional<std::uint64_t> parse_whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

bool inside(double value, const OptionRange& range) {
  return (range.above ? value > range.least : value >= range.least) && value <= range.most;
}

// null: none.
template <class Number>
Json if_inside(std::optional<Number> value, const OptionRange& range) {
  return value && inside(static_cast<double>(*value), range) ? Json(*value) : Json();
}

// The value that the text says, one element of a list; null if it is not one.
Json parse(const OptionRow& row, std::string_view text) {
  if (!row.choices.empty() && std::ranges::find(row.choices, text) == row.choices.end()) return Json();
  switch (row.kind) {
    case OptionKind::flag:
      return text == "true" || text == "false" ? Json(text == "true") : Json();
    case OptionKind::whole:
      return if_inside(parse_whole_number(text), row.range);
    case OptionKind::real:
      return if_inside(parse_double(text), row.range);
    case OptionKind::bytes:
      return if_inside(parse_bytes(text), row.range);
    case OptionKind::text:
    case OptionKind::texts:
      break;
  }
  return Json(text);
}

// "1.5G" would be exact, too, but nobody's default: whole units only.
std::string bytes_text(std::uint64_t bytes) {
  std::string_view units = "KMGT";
  std::string unit;
  while (bytes > 0 && bytes % 1024 == 0 && !units.empty()) {
    bytes /= 1024;
    unit = units.front();
    units.remove_prefix(1);
  }
  return fmt::format("{}{}", bytes, unit);
}

// The largest number of a type is no end that anybody has in mind.
bool has_end(double most) { return most < std::numeric_limits<std::int32_t>::max(); }

}  // namespace

std::string listed(std::span<const std::string> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : " or ";
    text += words[i];
  }
  return text;
}

std::string argument_of(std::string_view name) {
  std::string text = "--" + std::string(name);
  std::ranges::replace(text, '_', '-');
  return text;
}

std::string OptionRow::metavar() const {
  if (kind == OptionKind::flag) return "";
  if (!value_name.empty()) return value_name;
  // A value that may be left out has to be told from what follows it.
  if (!implied.empty()) return fmt::format("[{}]", fmt::join(choices, "|"));
  if (!file.empty()) return "FILE";
  switch (kind) {
    case OptionKind::whole:
      return "N";
    case OptionKind::real:
      return "X";
    case OptionKind::bytes:
      return "SIZE";
    default:
      return "NAME";
  }
}

std::string OptionRow::default_text() const {
  if (default_value.is_number() && !inside(default_value.get<double>(), range)) return "";
  switch (kind) {
    case OptionKind::flag:
      return default_value == Json(true) ? "true" : "";
    case OptionKind::text:
      return default_value.is_string() ? default_value.get<std::string>() : "";
    case OptionKind::bytes:
      return default_value.is_null() ? "" : bytes_text(default_value.get<std::uint64_t>());
    case OptionKind::whole:
      return default_value.is_null() ? "" : fmt::to_string(default_value.get<std::uint64_t>());
    case OptionKind::real:
      // Nobody may type an infinite one.
      return default_value.is_null() || !std::isfinite(default_value.get<double>())
                 ? ""
                 : fmt::format("{:g}", default_value.get<double>());
    case OptionKind::texts:
      return fmt::format("{}", fmt::join(default_value.get<std::vector<std::string>>(), ","));
  }
  return "";
}

std::string OptionRow::expected() const {
  switch (kind) {
    case OptionKind::flag:
      return "true or false";
    case OptionKind::bytes:
      return "a number of bytes > 0, such as 500M or 1.5G";
    case OptionKind::text:
    case OptionKind::texts:
      return listed(choices);
    case OptionKind::whole:
    case OptionKind::real:
      if (!choices.empty()) return listed(choices);
      break;
  }
  const bool whole = kind == OptionKind::whole;
  if (!whole && range.least == 0 && range.most == 1 && !range.above)
    return "a probability, a number from 0 to 1";
  const char* number = whole ? "a whole number" : "a number";
  if (has_end(range.most)) return fmt::format("{} from {:.15g} to {:.15g}", number, range.least, range.most);
  if (range.least == -std::numeric_limits<double>::infinity()) return number;
  return fmt::format("{} {} {:.15g}", number, range.above ? ">" : ">=", range.least);
}

std::string OptionRow::refuse(std::string_view text) const {
  if (!parse(*this, text).is_null()) return "";
  const bool words = kind == OptionKind::text || kind == OptionKind::texts;
  if (words && !choices.empty())
    return fmt::format("found {}; {}", in_quotes(text), name_hint(text, choices));
  return fmt::format("found {}; expected {}", in_quotes(text), expected());
}

std::string OptionRow::no_effect(const void* object) const {
  if (!effective || effective(object)) return "";
  return fmt::format("{0}: no effect; expected {1}, or no {0}", setting(name), needs);
}

void OptionRow::set(void* object, std::string_view text) const {
  Json value = parse(*this, text);
  if (value.is_null()) throw Error(fmt::format("{}: {}", name, refuse(text)));
  if (kind == OptionKind::texts) {
    Json all = load(object);
    all.push_back(std::move(value));
    value = std::move(all);
  }
  store(object, value);
}

const OptionRow* OptionTable::find(std::string_view name) const {
  const auto row = std::ranges::find(rows_, name, &OptionRow::name);
  return row == rows_.end() ? nullptr : &*row;
}

OptionValues::OptionValues(const OptionTable& table) : table_(&table), object_(table.make_()) {}

const OptionRow& OptionValues::row(std::string_view name) const {
  if (const OptionRow* row = table_->find(name)) return *row;
  std::vector<std::string> names;
  for (const OptionRow& known : table_->rows()) names.push_back(known.name);
  throw Error(unknown_name("option", name, names));
}

void OptionValues::set(std::string_view name, std::string_view text) {
  row(name).set(address(), text);
  set_.emplace_back(name);
}
void OptionValues::check_effective() const {
  for (const std::string& name : set_) {
    if (const std::string problem = row(name).no_effect(address()); !problem.empty()) throw Error(problem);
  }
}
Json OptionValues::get(std::string_view name) const { return row(name).load(address()); }

Json OptionValues::log() const {
  Json json = Json::object();
  for (const OptionRow& row : table_->rows()) {
    if (row.logged(address())) json[row.log_name] = row.load(address());
  }
  return json;
}

}  // namespace espalier
