#include "espalier/tasks/tag_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "espalier/base/error.h"
#include "tasks/tag_parser.h"

namespace espalier {

TagFormat parse_tag_format(std::string_view name) {
  for (const auto format : {TagFormat::columns, TagFormat::crfsuite}) {
    if (name == to_string(format)) return format;
  }
  throw Error::in("--format", fmt::format("{} is no format of tagging", in_quotes(name)),
                  "expected columns or crfsuite");
}

const char* to_string(TagFormat format) {
  switch (format) {
    case TagFormat::columns:
      return "columns";
    case TagFormat::crfsuite:
      return "crfsuite";
  }
  return "unknown";
}

std::unique_ptr<TagParser> make_tag_parser(const TagInput& input, TagNames names, TagLabels labels) {
  switch (input.format) {
    case TagFormat::columns:
      return make_column_parser(input, std::move(names), labels);
    case TagFormat::crfsuite:
      return make_crfsuite_parser(std::move(names), labels);
  }
  return nullptr;
}

void fail_without_sequences(const SequenceReader& reader) {
  throw Error::in(reader.name(), "no sequences", "expected at least one");
}

namespace {

// Takes the columns of a training file from its first line.
void set_columns(const SequenceLines& reader, std::optional<std::size_t> label_column, TagInput& input) {
  const std::size_t found = count_columns(reader.line(0));
  if (found < 2) {
    reader.fail(0, "1 column", "expected at least 2, a word and its label, with spaces or tabs between");
  }
  if (label_column && *label_column >= found) {
    reader.fail(0, fmt::format("{} columns", found),
                fmt::format("expected the label in column {}, as --label-column says", *label_column + 1));
  }
  input.num_columns = found;
  input.label_column = label_column.value_or(found - 1);
}

void check_options(const TagInput& input, std::optional<std::size_t> label_column,
                   std::optional<std::size_t> first) {
  if (first == 0) throw Error::in("--first", "0 sequences", "expected at least 1");
  if (input.format == TagFormat::columns) return;
  if (label_column) {
    throw Error::in("--label-column", "given for --format crfsuite", "expected --format columns");
  }
  if (!input.templates.empty()) {
    throw Error::in("--template", "given for --format crfsuite", "expected --format columns");
  }
}

// From the sequence that the reader is at to the end, or as many as were asked for.
TagExamples read_rest(SequenceReader& reader, TagParser& parser, std::optional<std::size_t> first,
                      Dictionary& labels) {
  TagExamples examples;
  StringBuffer names;
  do {
    names.clear();
    parser.append(reader.lines(), examples.sequences, names);
    for (std::size_t t = 0; t < names.size(); ++t) examples.labels.push_back(labels.add(names[t]));
  } while (examples.sequences.size() != first && reader.next());
  parser.finish(examples.sequences);
  return examples;
}

}  // namespace

TagExamples read_tag_growing(const std::string& path, TagInput& input,
                             std::optional<std::size_t> label_column, std::optional<std::size_t> first,
                             TagDictionaries& dictionaries) {
  check_options(input, label_column, first);
  SequenceReader reader(path);
  if (!reader.next()) fail_without_sequences(reader);
  if (input.format == TagFormat::columns) set_columns(reader.lines(), label_column, input);
  const auto parser = make_tag_parser(
      input, {NameIds(dictionaries.attributes), NameIds(dictionaries.transitions)}, {true, {}});
  Dictionary seen;
  TagExamples examples = read_rest(reader, *parser, first, seen);

  // Labels in the order of their text, so that ids do not depend on that of the sequences.
  std::vector<std::uint32_t> order(seen.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return seen.name(a) < seen.name(b); });
  std::vector<std::uint32_t> numbered(seen.size());
  for (const std::uint32_t id : order) numbered[id] = dictionaries.labels.add(seen.name(id));
  for (std::uint32_t& label : examples.labels) label = numbered[label];
  if (dictionaries.labels.size() < 2) {
    throw Error::in(reader.name(), fmt::format("only the label {}", in_quotes(seen.name(0))),
                    "expected at least two labels");
  }
  return examples;
}

TagExamples read_tag(const std::string& path, const TagInput& input, const TagDictionaries& dictionaries,
                     Dictionary& labels) {
  SequenceReader reader(path);
  if (!reader.next()) fail_without_sequences(reader);
  const auto parser = make_tag_parser(
      input, {NameIds(dictionaries.attributes), NameIds(dictionaries.transitions)}, {true, {}});
  return read_rest(reader, *parser, std::nullopt, labels);
}

struct TagStream::State {
  SequenceReader reader;
  std::unique_ptr<TagParser> parser;
  bool labels_required;
  bool any = false;
  Sequences sequence;
  StringBuffer labels;
};

TagStream::TagStream(const std::string& path, const TagInput& input, const TagDictionaries& dictionaries,
                     bool labels_required)
    : state_(new State{
          SequenceReader(path),
          make_tag_parser(input, {NameIds(dictionaries.attributes), NameIds(dictionaries.transitions)},
                          {labels_required, {}}),
          labels_required,
          false,
          {},
          {}}) {}
TagStream::~TagStream() = default;

bool TagStream::next() {
  State& state = *state_;
  state.sequence.clear();
  state.labels.clear();
  if (!state.reader.next()) {
    if (state.labels_required && !state.any) fail_without_sequences(state.reader);
    return false;
  }
  state.any = true;
  state.parser->append(state.reader.lines(), state.sequence, state.labels);
  state.parser->finish(state.sequence);
  return true;
}

std::size_t TagStream::size() const { return state_->reader.lines().size(); }
const Sequences& TagStream::sequence() const { return state_->sequence; }
std::string_view TagStream::line(std::size_t t) const { return state_->reader.lines().line(t); }
std::string_view TagStream::label(std::size_t t) const { return state_->labels[t]; }

}  // namespace espalier
