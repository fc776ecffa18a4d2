#include "tasks/tag/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/names.h"
#include "base/parse_number.h"
#include "espalier/base/error.h"
#include "espalier/tasks/tag.h"
#include "tasks/fields.h"
#include "tasks/tag/min_count.h"
#include "tasks/tag/parser.h"

namespace espalier {

TagFormat parse_tag_format(std::string_view name) {
  std::vector<std::string> names;
  for (const auto format : {TagFormat::columns, TagFormat::crfsuite, TagFormat::wapiti}) {
    if (name == to_string(format)) return format;
    names.emplace_back(to_string(format));
  }
  throw Error(fmt::format("{}: {}", setting("format"), unknown_name("format", name, names)));
}

const char* to_string(TagFormat format) {
  switch (format) {
    case TagFormat::columns:
      return "columns";
    case TagFormat::crfsuite:
      return "crfsuite";
    case TagFormat::wapiti:
      return "wapiti";
  }
  return "unknown";
}

std::unique_ptr<TagParser> make_tag_parser(const TagInput& input, TagNames names, TagLabels labels) {
  switch (input.format) {
    case TagFormat::columns:
      return make_column_parser(input, std::move(names), labels);
    case TagFormat::crfsuite:
      return make_crfsuite_parser(std::move(names), labels);
    case TagFormat::wapiti:
      return make_wapiti_parser(std::move(names), labels);
  }
  return nullptr;
}

void fail_without_sequences(const std::string& name) {
  throw Error::in(name, "no sequences", "expected at least one");
}

void check_labels(std::optional<Encoding> encoding, const SequenceLines& lines,
                  std::span<const std::string_view> labels) {
  for (std::size_t t = 0; encoding && t < labels.size(); ++t) {
    if (is_chunk_tag(labels[t])) continue;
    lines.fail(t, fmt::format("the label {}", in_quotes(labels[t])),
               fmt::format("expected O, or a prefix (B-, I-, E-, S-, L- or U-) and a type, as {} needs",
                           setting("encoding")));
  }
}

namespace {

// "name=value" or "name:1", as attributes are written, but not features of words such as
// "Case=Nom|Number=Sing".
bool looks_like_attribute(std::string_view field) {
  const std::size_t equals = field.find('=');
  if (equals != std::string_view::npos && equals > 0 && equals + 1 < field.size()) {
    const std::size_t bar = field.find('|', equals);
    return bar == std::string_view::npos || field.find('=', bar) == std::string_view::npos;
  }
  const std::size_t colon = field.rfind(':');
  return colon != std::string_view::npos && colon > 0 && parse_float(field.substr(colon + 1));
}

// "uw=the", "u:the" or "*:t=DT".
bool looks_like_wapiti(std::string_view field) {
  return field.size() > 2 && std::string_view("ub*").find(field.front()) != std::string_view::npos &&
         (field[1] == ':' || looks_like_attribute(field));
}

// Files of attributes whose lines happen to have equally many fields would be read as columns, with
// attributes for labels, or for words. CRFsuite's have the label first, Wapiti's last.
void refuse_attributes(const SequenceLines& reader, Separator separator) {
  constexpr double kMost = 0.9;
  std::size_t others = 0, of_crfsuite = 0,
              of_wapiti = 0;  // than the label; of these, those that look like it
  std::string_view example;
  std::vector<std::string_view> fields;
  for (std::size_t t = 0; t < reader.size(); ++t) {
    fields.clear();
    for_each_field(reader.line(t), separator, [&](std::string_view field) { fields.push_back(field); });
    for (std::size_t column = 0; column < fields.size(); ++column) {
      const bool crfsuite = column > 0 && looks_like_attribute(fields[column]);
      const bool wapiti = column + 1 < fields.size() && looks_like_wapiti(fields[column]);
      others += column > 0 ? 1 : 0;
      of_crfsuite += crfsuite ? 1 : 0;
      of_wapiti += wapiti ? 1 : 0;
      if (example.empty() && (crfsuite || wapiti)) example = fields[column];
    }
  }
  const auto are_most = [&](std::size_t some) {
    return some > 0 && static_cast<double>(some) >= kMost * static_cast<double>(others);
  };
  if (!are_most(of_crfsuite) && !are_most(of_wapiti)) return;
  reader.fail(0, fmt::format("fields such as {}, which look like attributes", in_quotes(example)),
              fmt::format("expected {0} {1}, or {0} columns if they are columns", setting("format"),
                          are_most(of_crfsuite) ? "crfsuite" : "wapiti"));
}

// Whether lines have equally many columns, at least two, separated in this way.
bool are_columns(const SequenceLines& reader, Separator separator) {
  const std::size_t columns = count_columns(reader.line(0), separator);
  for (std::size_t t = 1; t < reader.size(); ++t) {
    if (count_columns(reader.line(t), separator) != columns) return false;
  }
  return columns > 1;
}

// Takes the columns of a training file from its first line.
void set_columns(const SequenceLines& reader, std::optional<std::size_t> label_column, TagInput& input) {
  const std::size_t found = count_columns(reader.line(0), separator_of(input));
  if (found < 2) {
    reader.fail(0, "1 column", "expected at least 2, a word and its label, separated by spaces or tabs");
  }
  if (label_column && *label_column >= found) {
    reader.fail(0, fmt::format("{} columns", found),
                fmt::format("expected the label in column {}, as {} says", *label_column + 1,
                            setting("label_column")));
  }
  const std::size_t label = label_column.value_or(found - 1);
  if (input.weight_column) {
    const std::string column = fmt::format("column {}", *input.weight_column + 1);
    if (*input.weight_column >= found) {
      reader.fail(0, fmt::format("{} columns", found),
                  fmt::format("expected the weight in {}, as {} says", column, setting("example_weights")));
    }
    if (*input.weight_column == label) {
      throw Error::in(setting("example_weights"), fmt::format("{}, which is the label", column),
                      "expected another column");
    }
    if (found < 3) reader.fail(0, "2 columns", "expected at least 3: a word, its label and a weight");
  }
  if (input.group_column) {
    const std::string column = fmt::format("column {}", *input.group_column + 1);
    if (*input.group_column >= found) {
      reader.fail(0, fmt::format("{} columns", found),
                  fmt::format("expected the document in {}, as {} says", column, setting("group_by")));
    }
    if (*input.group_column == label) {
      throw Error::in(setting("group_by"), fmt::format("{}, which is the label", column),
                      "expected another column");
    }
  }
  input.num_columns = found;
  input.label_column = label;
}

// Numbers sequences by what they belong to, in the order of a file.
class GroupReader {
 public:
  explicit GroupReader(const TagInput& input)
      : column_(input.group_column), separator_(separator_of(input)) {}

  std::uint32_t read(const SequenceReader& reader) {
    if (!column_) return static_cast<std::uint32_t>(reader.num_documents());
    std::size_t column = 0;
    std::uint32_t group = 0;
    const auto take = [&](std::string_view field) {
      if (column++ == *column_) group = names_.add(field);
    };
    for_each_field(reader.lines().line(0), separator_, take);
    return group;
  }

 private:
  std::optional<std::size_t> column_;
  Separator separator_;
  Dictionary names_;
};

void check_options(const TagInput& input, std::optional<std::size_t> label_column,
                   std::optional<std::size_t> first) {
  if (first == 0) throw Error::in(setting("first"), "0 sequences", "expected at least 1");
  if (input.format == TagFormat::columns) return;
  const auto refuse = [&](const std::string& option) {
    throw Error::in(option, fmt::format("given for {} {}", setting("format"), to_string(input.format)),
                    fmt::format("expected {} columns", setting("format")));
  };
  if (label_column) refuse(setting("label_column"));
  if (!input.separator_assumed && input.tabs) refuse(setting("separator"));
  if (!input.templates.empty()) refuse(setting("template"));
  if (input.weight_column) refuse("a column of " + setting("example_weights"));
  if (input.gazetteer) refuse(setting("gazetteer"));
  if (input.group_documents || input.group_column) refuse(setting("group_by"));
}

// The labels of the sequence that was read last, as the model is to have them.
class LabelReader {
 public:
  explicit LabelReader(const TagInput& input) : encoding_(input.encoding) {}

  std::span<const std::string_view> read(const SequenceLines& lines, const StringBuffer& labels) {
    return read(lines, [&](std::size_t t) { return labels[t]; });
  }
  // label(t) is that of token t.
  template <class Label>
  std::span<const std::string_view> read(const SequenceLines& lines, const Label& label) {
    tags_.clear();
    for (std::size_t t = 0; t < lines.size(); ++t) tags_.push_back(label(t));
    check_labels(encoding_, lines, tags_);
    return encoding_ ? convert_encoding(tags_, *encoding_, converted_) : tags_;
  }

 private:
  std::optional<Encoding> encoding_;
  std::vector<std::string_view> tags_;
  ConvertedTags converted_;
};

// From the sequence that the reader is at to the end, or as many as were asked for.
TagExamples read_rest(SequenceReader& reader, const TagInput& input, TagParser& parser,
                      std::optional<std::size_t> first, Dictionary& labels) {
  TagExamples examples;
  StringBuffer names;
  LabelReader label_reader(input);
  GroupReader group_reader(input);
  const bool weighted = input.weight_comments || input.weight_column;
  const bool grouped = input.group_documents || input.group_column;
  do {
    names.clear();
    const SequenceLines lines = reader.lines();
    parser.append(lines, examples.sequences, names);
    for (const std::string_view name : label_reader.read(lines, names)) {
      examples.labels.push_back(labels.add(name));
    }
    if (weighted) examples.weights.push_back(parser.weight(lines));
    if (grouped) examples.groups.push_back(group_reader.read(reader));
    examples.first_lines.push_back(lines.line_number(0));
  } while (examples.sequences.size() != first && reader.next());
  parser.finish(examples.sequences);
  return examples;
}

// The same of sentences in memory.
TagExamples take_sentences(const TagData& data, const TagInput& input, TagParser& parser,
                           std::optional<std::size_t> first, Dictionary& labels) {
  const SequenceFile file{kDataInMemory, {}, 1};  // for messages, where lines are tokens
  const StringBuffer no_lines;
  TagExamples examples;
  LabelReader label_reader(input);
  std::vector<std::string_view> fields;
  std::vector<TagData::Attribute> attributes;
  bool weighted = false;
  for (std::size_t i = 0; i < data.size() && i != first; ++i) {
    const std::size_t begin = data.begin(i), end = data.begin(i + 1);
    const SequenceLines lines(file, no_lines, 0, end - begin, begin + 1, data.weight(i));
    if (data.num_columns() > 0) {
      fields.clear();
      for (std::size_t t = begin; t < end; ++t) {
        for (std::size_t c = 0; c < data.num_columns(); ++c) fields.push_back(data.column(t, c));
        fields.emplace_back();  // where the label is in a file
      }
      parser.append_table(lines, {fields, input.num_columns}, examples.sequences);
    } else {
      for (std::size_t t = begin; t < end; ++t) {
        data.attributes().get(t, attributes);
        parser.append_token(attributes, examples.sequences);
      }
      examples.sequences.offsets.push_back(examples.sequences.tokens.size());
    }
    const auto label = [&](std::size_t t) { return data.label(begin + t); };
    for (const std::string_view name : label_reader.read(lines, label)) {
      examples.labels.push_back(labels.add(name));
    }
    examples.weights.push_back(data.weight(i));
    weighted = weighted || data.weight(i) != 1;
    examples.first_lines.push_back(begin + 1);
  }
  if (!weighted) examples.weights.clear();
  parser.finish(examples.sequences);
  return examples;
}

// Training sequences from wherever `read` has them, given a parser and a dictionary for the labels. `name` is
// for messages.
template <class Read>
TagExamples grow(const TagInput& input, std::size_t min_count, TagDictionaries& dictionaries,
                 const std::string& name, const Read& read) {
  const bool cut = min_count > 1;
  AttributeCounts counts;
  const auto parser =
      make_tag_parser(input,
                      {NameIds(dictionaries.attributes, cut ? &counts.attributes : nullptr),
                       NameIds(dictionaries.transitions, cut ? &counts.transitions : nullptr)},
                      {true, {}});
  Dictionary seen;
  TagExamples examples = read(*parser, seen);
  if (cut) examples.num_rare = drop_rare(counts, min_count, dictionaries, examples.sequences);

  // Labels in the order of their text, so that ids do not depend on that of the sequences.
  std::vector<std::uint32_t> order(seen.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return seen.name(a) < seen.name(b); });
  std::vector<std::uint32_t> numbered(seen.size());
  for (const std::uint32_t id : order) numbered[id] = dictionaries.labels.add(seen.name(id));
  for (std::uint32_t& label : examples.labels) label = numbered[label];
  if (dictionaries.labels.size() < 2) {
    throw Error::in(name, fmt::format("only the label {}", in_quotes(seen.name(0))),
                    "expected at least two labels");
  }
  return examples;
}

}  // namespace

TagExamples read_tag_growing(const std::string& path, TagInput& input,
                             std::optional<std::size_t> label_column, std::optional<std::size_t> first,
                             TagDictionaries& dictionaries, std::size_t min_count) {
  check_options(input, label_column, first);
  SequenceReader reader(path, input);
  if (!reader.next()) fail_without_sequences(reader.name());
  // TABs with spaces between them make sense of what white space does not.
  if (input.format == TagFormat::columns && input.separator_assumed) {
    input.tabs =
        !are_columns(reader.lines(), Separator::space) && are_columns(reader.lines(), Separator::tab);
  }
  if (input.format == TagFormat::columns) set_columns(reader.lines(), label_column, input);
  if (input.format_assumed) refuse_attributes(reader.lines(), separator_of(input));
  return grow(input, min_count, dictionaries, reader.name(), [&](TagParser& parser, Dictionary& labels) {
    return read_rest(reader, input, parser, first, labels);
  });
}

TagExamples take_tag_growing(const TagData& data, TagInput& input, std::optional<std::size_t> first,
                             TagDictionaries& dictionaries, std::size_t min_count) {
  check_options(input, {}, first);
  if (data.size() == 0) fail_without_sequences(kDataInMemory);
  if (input.format == TagFormat::columns) {
    input.num_columns = data.num_columns() + 1;
    input.label_column = data.num_columns();
  }
  return grow(input, min_count, dictionaries, kDataInMemory, [&](TagParser& parser, Dictionary& labels) {
    return take_sentences(data, input, parser, first, labels);
  });
}

TagExamples read_tag(const std::string& path, const TagInput& input, const TagDictionaries& dictionaries,
                     Dictionary& labels) {
  SequenceReader reader(path, input);
  if (!reader.next()) fail_without_sequences(reader.name());
  const auto parser = make_tag_parser(
      input, {NameIds(dictionaries.attributes), NameIds(dictionaries.transitions)}, {true, {}});
  return read_rest(reader, input, *parser, std::nullopt, labels);
}

TagExamples take_tag(const TagData& data, const TagInput& input, const TagDictionaries& dictionaries,
                     Dictionary& labels) {
  if (data.size() == 0) fail_without_sequences(kDataInMemory);
  const auto kind = [](std::size_t columns) {
    return columns == 0 ? "attributes" : fmt::format("{} column{}", columns, columns == 1 ? "" : "s");
  };
  const std::size_t expected = input.format == TagFormat::columns ? input.num_columns - 1 : 0;
  if (data.num_columns() != expected) {
    throw Error::in(kDataInMemory, kind(data.num_columns()),
                    fmt::format("expected {} as in training", kind(expected)));
  }
  const auto parser = make_tag_parser(
      input, {NameIds(dictionaries.attributes), NameIds(dictionaries.transitions)}, {true, {}});
  return take_sentences(data, input, *parser, std::nullopt, labels);
}

}  // namespace espalier
