#include "tasks/tag/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/names.h"
#include "espalier/base/error.h"
#include "espalier/tasks/tag.h"
#include "fleet/file_share.h"
#include "tasks/new_names.h"
#include "tasks/tag/first_sequence.h"
#include "tasks/tag/min_count.h"
#include "tasks/tag/parser.h"
#include "tasks/tag/parts.h"
#include "tasks/tag/sequence_taker.h"

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

// From the sequence that the reader is at to the end, or as many as were asked for.
TagExamples read_rest(SequenceReader& reader, const TagInput& input, TagParser& parser,
                      std::optional<std::size_t> first, Dictionary& labels) {
  TagExamples examples;
  SequenceTaker taker(input);
  do {
    taker.take(reader, parser, examples, labels);
  } while (examples.sequences.size() != first && reader.next());
  parser.finish(examples.sequences);
  return examples;
}

// Chunks up to the one that has the first sequence, which look(reader) may look at; then what is known of the
// files.
template <class Look>
SequenceFile read_first_chunks(ChunkReader& chunks, const InputFiles& files, const TagInput& input,
                               std::vector<TextChunk>& read, const Look& look) {
  while (chunks.next_with_text(read.emplace_back())) {
    SequenceReader reader(read.back(), input);
    if (!reader.next()) continue;
    look(reader.lines());
    return reader.file();
  }
  fail_without_sequences(files.name());
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
    examples.places.add(kDataInMemory, begin + 1);
  }
  if (!weighted) examples.weights.clear();
  parser.finish(examples.sequences);
  return examples;
}

// Training sequences from wherever `read` has them, given a parser, counts of its names where they are
// needed, and a dictionary for the labels. `name` is for messages.
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
  TagExamples examples = read(*parser, cut ? &counts : nullptr, seen);
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

TagExamples read_tag_growing(const InputFiles& files, TagInput& input,
                             std::optional<std::size_t> label_column, std::optional<std::size_t> first,
                             TagDictionaries& dictionaries, std::size_t min_count,
                             const ChunkOptions& chunks) {
  check_options(input, label_column, first);
  const auto learn = [&](const SequenceLines& lines) {
    learn_from_first_sequence(lines, label_column, input);
  };
  // What follows is not looked at where only the first sequences are wanted.
  if (chunks.threads == 1 || first) {
    SequenceReader reader(files, input);
    if (!reader.next()) fail_without_sequences(files.name());
    learn(reader.lines());
    return grow(input, min_count, dictionaries, files.name(),
                [&](TagParser& parser, AttributeCounts*, Dictionary& labels) {
                  return read_rest(reader, input, parser, first, labels);
                });
  }
  ChunkReader in_chunks(files, sequence_cut(input), chunks);
  std::vector<TextChunk> before;
  const SequenceFile file = read_first_chunks(in_chunks, files, input, before, learn);
  return grow(input, min_count, dictionaries, files.name(),
              [&](TagParser& parser, AttributeCounts* counts, Dictionary& labels) {
                TagExamples examples =
                    read_tag_parts(in_chunks, std::move(before),
                                   {input, file, &dictionaries, counts, dictionaries, labels, chunks.threads})
                        .join(chunks.threads);
                parser.finish(examples.sequences);
                return examples;
              });
}

namespace {

// What a rank makes of its share, by names that it has met itself.
struct OwnShare {
  TagDictionaries names;
  Dictionary labels;
  AttributeCounts counts;
  std::vector<std::size_t> num_lines;
  std::optional<TagParts> parts;  // which refer to the names
};

std::unique_ptr<OwnShare> read_own_share(const std::vector<TextRange>& ranges, const TagInput& input,
                                         const SequenceFile& file, const Dictionary& first_attributes,
                                         bool count, const ChunkOptions& options) {
  auto own = std::make_unique<OwnShare>();
  for (std::uint32_t id = 0; id < first_attributes.size(); ++id)
    own->names.attributes.add(first_attributes.name(id));
  ChunkReader chunks(ranges, sequence_cut(input), options);
  own->parts.emplace(read_tag_parts(
      chunks, {},
      {input, file, &own->names, count ? &own->counts : nullptr, own->names, own->labels, options.threads}));
  own->num_lines.assign(chunks.num_lines().begin(), chunks.num_lines().end());
  return own;
}

void add_counts_of_ranks(const std::vector<std::uint32_t>& own, const std::vector<std::uint32_t>& ids,
                         std::size_t size, std::vector<std::uint32_t>& to, Communicator& fleet) {
  to.assign(size, 0);
  for (std::size_t id = 0; id < own.size(); ++id) to[ids[id]] += own[id];
  add_up_counts(to, fleet);
}

// Steps that are all alike have one table, and need not say which: but they have to be so on all ranks. A
// rank may have no steps at all.
void agree_on_steps(bool has_steps, Sequences& sequences, Communicator& fleet) {
  constexpr std::string_view kNone = "none", kSeveral = "several";
  std::string mine(has_steps ? kSeveral : kNone);
  if (has_steps && sequences.transitions.size() == 1) {
    const SparseRows::Row row = sequences.transitions.row(0);
    mine = "one";
    for (std::size_t j = 0; j < row.ids.size(); ++j) mine += fmt::format(" {}:{}", row.ids[j], row.value(j));
  }
  std::string_view first = kNone;
  bool alike = true;
  const std::vector<std::string> all = fleet.gather(mine);
  for (const std::string& other : all) {
    if (other == kNone) continue;
    if (first == kNone) first = other;
    alike = alike && other == first && other != kSeveral;
  }
  // Those of a rank without steps do not matter.
  if (alike) {
    sequences.transition_of.clear();
  } else if (sequences.transition_of.empty()) {
    sequences.transition_of.assign(sequences.num_tokens(), 0);
  }
}

}  // namespace

std::optional<TagExamples> read_tag_share(const InputFiles& files, TagInput& input,
                                          std::optional<std::size_t> label_column,
                                          TagDictionaries& dictionaries, std::size_t min_count,
                                          const ChunkOptions& chunks, Communicator& fleet) {
  check_options(input, label_column, {});
  const std::optional<FileShare> share = find_share(files, sequence_cut(input), fleet);
  if (!share) return std::nullopt;
  SequenceReader head(files, input);
  if (!head.next()) fail_without_sequences(files.name());
  learn_from_first_sequence(head.lines(), label_column, input);
  bool has_steps = false;
  TagExamples examples = grow(
      input, min_count, dictionaries, files.name(),
      [&](TagParser& parser, AttributeCounts* counts, Dictionary& labels) {
        const auto read = [&](const std::vector<TextRange>& ranges) {
          return read_own_share(ranges, input, head.file(), dictionaries.attributes, counts != nullptr,
                                chunks);
        };
        std::unique_ptr<OwnShare> own;
        try {
          own = read(share->ranges);
        } catch (const Error&) {  // the line that it names is not yet that of the file
        }
        const ShareOutcome outcome = compare_shares(
            *share, !own, own ? std::span<const std::size_t>(own->num_lines) : std::span<const std::size_t>(),
            fleet);
        if (outcome.failed) {
          fail_as(*outcome.failed, fleet, [&] {
            std::vector<TextRange> ranges = share->ranges;
            ranges.front().first_line += outcome.lines_before;
            read(ranges);
          });
        }
        const auto attributes = merge_names_of_ranks(own->names.attributes, dictionaries.attributes, fleet);
        const auto transitions =
            merge_names_of_ranks(own->names.transitions, dictionaries.transitions, fleet);
        own->parts->renumber(attributes, transitions, merge_names_of_ranks(own->labels, labels, fleet));
        if (counts != nullptr) {
          add_counts_of_ranks(own->counts.attributes, attributes, dictionaries.attributes.size(),
                              counts->attributes, fleet);
          add_counts_of_ranks(own->counts.transitions, transitions, dictionaries.transitions.size(),
                              counts->transitions, fleet);
        }
        own->names = {};
        TagExamples all = own->parts->join(chunks.threads);
        all.places.move_first_file(share->ranges.front().path, outcome.lines_before);
        all.fleet = &fleet;
        has_steps = all.sequences.transitions.size() > 0;
        parser.finish(all.sequences);
        return all;
      });
  agree_on_steps(has_steps, examples.sequences, fleet);
  return examples;
}

TagExamples take_tag_growing(const TagData& data, TagInput& input, std::optional<std::size_t> first,
                             TagDictionaries& dictionaries, std::size_t min_count) {
  check_options(input, {}, first);
  if (data.size() == 0) fail_without_sequences(kDataInMemory);
  if (input.format == TagFormat::columns) {
    input.num_columns = data.num_columns() + 1;
    input.label_column = data.num_columns();
  }
  return grow(input, min_count, dictionaries, kDataInMemory,
              [&](TagParser& parser, AttributeCounts*, Dictionary& labels) {
                return take_sentences(data, input, parser, first, labels);
              });
}

TagExamples read_tag(const std::string& path, const TagInput& input, const TagDictionaries& dictionaries,
                     Dictionary& labels, const ChunkOptions& chunks) {
  const auto parser = make_tag_parser(
      input, {NameIds(dictionaries.attributes), NameIds(dictionaries.transitions)}, {true, {}});
  if (chunks.threads == 1) {
    SequenceReader reader(path, input);
    if (!reader.next()) fail_without_sequences(reader.name());
    return read_rest(reader, input, *parser, std::nullopt, labels);
  }
  ChunkReader in_chunks(path, sequence_cut(input), chunks);
  std::vector<TextChunk> before;
  const SequenceFile file = read_first_chunks(in_chunks, path, input, before, [](const SequenceLines&) {});
  TagExamples examples = read_tag_parts(in_chunks, std::move(before),
                                        {input, file, nullptr, nullptr, dictionaries, labels, chunks.threads})
                             .join(chunks.threads);
  parser->finish(examples.sequences);
  return examples;
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
