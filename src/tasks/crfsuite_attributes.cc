#include "tasks/crfsuite_attributes.h"

#include <fmt/format.h>

#include "base/parse_number.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

std::size_t find_unescaped_colon(std::string_view field) {
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == ':') return i;
    if (field[i] == '\\' && i + 1 < field.size() && (field[i + 1] == ':' || field[i + 1] == '\\')) ++i;
  }
  return kNone;
}

}  // namespace

void CrfsuiteItem::parse(std::string_view line, std::string_view file, std::size_t line_number) {
  attributes.clear();
  unescaped_.clear();
  unescaped_.reserve(line.size());  // never moved while views point into it
  // Most lines have neither values nor escapes, and two quick searches spare two for each attribute.
  const bool plain = line.find(':') == kNone && line.find('\\') == kNone;

  std::size_t tab = line.find('\t');
  label = unescaped(line.substr(0, tab));
  while (tab != kNone) {
    line.remove_prefix(tab + 1);
    tab = line.find('\t');
    const std::string_view field = line.substr(0, tab);
    if (field.empty()) continue;
    if (plain) {
      attributes.push_back({field, 1.0f});
      continue;
    }

    const std::size_t colon = find_unescaped_colon(field);
    Attribute attribute{unescaped(field.substr(0, colon)), 1.0f};
    if (attribute.name.empty()) {
      throw Error::at(file, line_number, fmt::format("{} without a name", in_quotes(field)),
                      "expected 'attribute' or 'attribute:value'");
    }
    if (colon != kNone && colon + 1 < field.size()) {
      const std::string_view text = field.substr(colon + 1);
      const auto value = parse_float(text);
      if (!value) {
        throw Error::at(file, line_number,
                        fmt::format("value {} of attribute {}", in_quotes(text), in_quotes(attribute.name)),
                        "expected a finite number; a colon that is part of a name is written '\\:'");
      }
      attribute.value = *value;
    }
    attributes.push_back(attribute);
  }
}

std::string_view CrfsuiteItem::unescaped(std::string_view text) {
  if (text.find('\\') == kNone) return text;
  const std::size_t begin = unescaped_.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == ':' || text[i + 1] == '\\')) ++i;
    unescaped_ += text[i];
  }
  return std::string_view(unescaped_).substr(begin);
}

}  // namespace espalier
