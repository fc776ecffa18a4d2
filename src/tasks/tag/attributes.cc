#include "tasks/tag/attributes.h"

#include <fmt/format.h>

#include <vector>

#include "base/string_buffer.h"
#include "espalier/base/error.h"
#include "features/word_attributes.h"
#include "tasks/fields.h"
#include "tasks/sequence_reader.h"
#include "tasks/tag/parser.h"

namespace espalier {
namespace {

// As CrfsuiteItem reads it.
void append_escaped(std::string_view name, std::string& to) {
  for (const char c : name) {
    if (c == ':' || c == '\\') to += '\\';
    to += c;
  }
}

}  // namespace

void write_tag_attributes(const std::string& path, const TagAttributesOptions& options,
                          const std::function<void(std::string_view)>& write) {
  SequenceReader reader(path, TagInput{});
  std::optional<WordAttributes> attributes;
  std::size_t columns = 0, label = 0;
  std::vector<std::string_view> fields;
  StringBuffer names;
  std::string text;
  while (reader.next()) {
    const SequenceLines lines = reader.lines();
    if (!attributes) {
      columns = count_columns(lines.line(0));
      const std::size_t least = options.labelled ? 2 : 1;
      if (columns < least) lines.fail(0, "1 column", "expected at least 2, a word and its label");
      label = options.labelled ? options.label_column.value_or(columns - 1) : columns;
      if (options.labelled && label >= columns) {
        lines.fail(0, fmt::format("{} columns", columns),
                   fmt::format("expected the label in column {}", label + 1));
      }
      // Without labels there is an empty column in their place.
      attributes.emplace(options.labelled ? columns : columns + 1, label);
    }
    fields.clear();
    for (std::size_t t = 0; t < lines.size(); ++t) {
      const std::size_t begin = fields.size();
      for_each_field(lines.line(t), [&](std::string_view field) { fields.push_back(field); });
      const std::size_t found = fields.size() - begin;
      if (found != columns) {
        lines.fail(t, fmt::format("{} column{}", found, found == 1 ? "" : "s"),
                   fmt::format("expected {} as in {}", columns, lines.file().first_place()));
      }
      if (!options.labelled) fields.emplace_back();
    }
    const TokenTable table{fields, options.labelled ? columns : columns + 1};
    attributes->set(table);
    text.clear();
    for (std::size_t t = 0; t < lines.size(); ++t) {
      append_escaped(table.at(t, label), text);
      names.clear();
      attributes->append(t, names);
      for (std::size_t k = 0; k < names.size(); ++k) {
        text += '\t';
        append_escaped(names[k], text);
      }
      text += '\n';
    }
    text += '\n';
    write(text);
  }
}

}  // namespace espalier
