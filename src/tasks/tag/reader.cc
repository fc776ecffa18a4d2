#include "tasks/tag/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/names.h"
#include "base/parallel.h"
#include "base/parse_number.h"
#include "espalier/base/error.h"
#include "espalier/tasks/tag.h"
#include "tasks/fields.h"
#include "tasks/new_names.h"
#include "tasks/tag/min_count.h"
#include "tasks/tag/parser.h"
#include "tasks/tag/transition_sets.h"

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
  if (found > kMostColumns)
    reader.fail(0, fmt::format("{} columns", found), fmt::format("expected at most {}", kMostColumns));
  input.num_columns = found;
  input.label_column = label;
}

// Numbers sequences by what they belong to, in the order of a file.
class GroupReader {
 public:
  explicit GroupReader(const TagInput& input)
      : column_(input.group_column), separator_(separator_of(input)) {}

  // The texts of the column so far; without one, groups are documents.
  const Dictionary& names() const { return names_; }

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

// Appends sequences of a file to examples.
class SequenceTaker {
 public:
  explicit SequenceTaker(const TagInput& input)
      : labels_(input),
        groups_(input),
        weighted_(input.weight_comments || input.weight_column),
        grouped_(input.group_documents || input.group_column) {}

  // The one that the reader is at.
  void take(const SequenceReader& reader, TagParser& parser, TagExamples& examples, Dictionary& labels) {
    names_.clear();
    const SequenceLines lines = reader.lines();
    parser.append(lines, examples.sequences, names_);
    for (const std::string_view name : labels_.read(lines, names_)) {
      examples.labels.push_back(labels.add(name));
    }
    if (weighted_) examples.weights.push_back(parser.weight(lines));
    if (grouped_) examples.groups.push_back(groups_.read(reader));
    examples.first_lines.push_back(lines.line_number(0));
  }
  const GroupReader& groups() const { return groups_; }

 private:
  StringBuffer names_;
  LabelReader labels_;
  GroupReader groups_;
  bool weighted_, grouped_;
};

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

// What a chunk of a file has: examples with the ids of the worker that read it, and what this worker had not
// met before.
struct TagPart {
  TagExamples examples;
  StringBuffer attributes, transitions, labels, groups;
  std::vector<AttributeValue> sets;  // of steps, one after the other,
  std::vector<std::size_t> set_ends;
  std::size_t num_documents = 0;
};

// One of several that read a file.
class TagPartReader {
 public:
  // Names are numbered by this reader alone, and counted.
  TagPartReader(const TagInput& input, const SequenceFile& file, bool count)
      : input_(input), file_(file), taker_(input), grows_(true) {
    parser_ = make_tag_parser(input,
                              {NameIds(own_.attributes, count ? &counts_.attributes : nullptr),
                               NameIds(own_.transitions, count ? &counts_.transitions : nullptr)},
                              {true, {}});
  }
  // Names are those of dictionaries that stay as they are.
  TagPartReader(const TagInput& input, const SequenceFile& file, const TagDictionaries& fixed)
      : input_(input), file_(file), taker_(input), grows_(false) {
    parser_ = make_tag_parser(input, {NameIds(fixed.attributes), NameIds(fixed.transitions)}, {true, {}});
  }
  TagPartReader(const TagPartReader&) = delete;
  TagPartReader& operator=(const TagPartReader&) = delete;

  void read(const TextChunk& chunk, TagPart& part) {
    TagExamples& examples = part.examples;
    examples.sequences.transitions = std::move(transitions_);  // all that this reader has met
    const std::size_t attributes = own_.attributes.size(), transitions = own_.transitions.size(),
                      labels = own_.labels.size(), groups = taker_.groups().names().size();
    SequenceReader reader(chunk, input_, &file_);
    while (reader.next()) taker_.take(reader, *parser_, examples, own_.labels);
    part.num_documents = reader.num_documents();
    transitions_ = std::move(examples.sequences.transitions);
    part.attributes = names_from(own_.attributes, attributes);
    part.transitions = names_from(own_.transitions, transitions);
    part.labels = names_from(own_.labels, labels);
    part.groups = names_from(taker_.groups().names(), groups);
    std::vector<AttributeValue> set;
    const TransitionSets* sets = parser_->transition_sets();
    for (; sets != nullptr && num_sets_ < sets->size(); ++num_sets_) {
      sets->get(static_cast<std::uint32_t>(num_sets_), set);
      part.sets.insert(part.sets.end(), set.begin(), set.end());
      part.set_ends.push_back(part.sets.size());
    }
  }

  bool grows() const { return grows_; }
  const AttributeCounts& counts() const { return counts_; }

 private:
  const TagInput& input_;
  const SequenceFile& file_;
  TagDictionaries own_;  // labels, and what grows
  AttributeCounts counts_;
  SequenceTaker taker_;
  bool grows_;
  std::unique_ptr<TagParser> parser_;
  SparseRows transitions_;
  std::size_t num_sets_ = 0;
};

// Puts the parts of a file together, in its order.
class TagParts {
 public:
  // Dictionaries and sets that take in what they see; without `names`, parts have their ids already.
  TagParts(const TagInput& input, std::size_t readers, TagDictionaries* names, Dictionary& labels)
      : by_documents_(input.group_documents && !input.group_column),
        names_(names),
        labels_(labels),
        ids_(readers) {}

  void take(std::size_t reader, TagPart part) {
    Ids& ids = ids_[reader];
    if (names_ != nullptr) {
      merge_names(part.attributes, names_->attributes, ids.attributes);
      merge_names(part.transitions, names_->transitions, ids.transitions);
    }
    merge_names(part.labels, labels_, ids.labels);
    merge_names(part.groups, groups_, ids.groups);
    std::size_t begin = 0;
    for (const std::size_t end : part.set_ends) {
      set_.assign(part.sets.begin() + static_cast<std::ptrdiff_t>(begin),
                  part.sets.begin() + static_cast<std::ptrdiff_t>(end));
      for (AttributeValue& attribute : set_) {
        if (names_ != nullptr) attribute.id = ids.transitions[attribute.id];
      }
      ids.sets.push_back(sets_.row(set_, transitions_));
      begin = end;
    }
    TagExamples& examples = part.examples;
    for (std::uint32_t& group : examples.groups)
      group = by_documents_ ? group + static_cast<std::uint32_t>(num_documents_) : ids.groups[group];
    num_documents_ += part.num_documents;
    parts_.push_back({reader, std::move(examples)});
  }

  // All of them, but for what a parser has to do at the end.
  TagExamples join(std::size_t threads) {
    TagExamples all;
    Sequences& sequences = all.sequences;
    std::vector<std::size_t> firsts{0}, tokens{0};  // of each part
    bool tied = true;
    std::vector<SparseRows> rows;
    for (Part& part : parts_) {
      firsts.push_back(firsts.back() + part.examples.sequences.size());
      tokens.push_back(tokens.back() + part.examples.sequences.num_tokens());
      tied = tied && part.examples.sequences.transition_of.empty();
      rows.push_back(std::move(part.examples.sequences.tokens));
    }
    const auto attributes = [&](std::size_t k) { return std::span(ids_[parts_[k].reader].attributes); };
    sequences.tokens = SparseRows::joined(rows, attributes, threads);
    sequences.transitions = std::move(transitions_);
    sequences.offsets.resize(firsts.back() + 1);
    all.labels.resize(tokens.back());
    all.first_lines.resize(firsts.back());
    if (!tied) sequences.transition_of.resize(tokens.back());
    std::atomic<std::size_t> next{0};
    run_in_parallel(threads, [&](std::size_t) {
      for (std::size_t k; (k = next++) < parts_.size();) {
        const TagExamples& from = parts_[k].examples;
        const Ids& ids = ids_[parts_[k].reader];
        for (std::size_t i = 0; i < from.sequences.size(); ++i) {
          sequences.offsets[firsts[k] + i + 1] = tokens[k] + from.sequences.offsets[i + 1];
          all.first_lines[firsts[k] + i] = from.first_lines[i];
        }
        for (std::size_t t = 0; t < from.labels.size(); ++t)
          all.labels[tokens[k] + t] = ids.labels[from.labels[t]];
        if (tied) continue;
        for (std::size_t i = 0; i < from.sequences.size(); ++i) {
          // No step leads into a first token: whatever set is the first one stands for it.
          for (std::size_t t = from.sequences.offsets[i] + 1; t < from.sequences.offsets[i + 1]; ++t)
            sequences.transition_of[tokens[k] + t] = ids.sets[from.sequences.transition_of[t]];
        }
      }
    });
    for (Part& part : parts_) {
      all.weights.insert(all.weights.end(), part.examples.weights.begin(), part.examples.weights.end());
      all.groups.insert(all.groups.end(), part.examples.groups.begin(), part.examples.groups.end());
    }
    parts_.clear();
    return all;
  }

  // Adds up what readers counted, by the ids of all.
  void add_counts(std::size_t reader, const AttributeCounts& of_reader, AttributeCounts& to) const {
    const auto add = [](const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& ids,
                        std::size_t size, std::vector<std::uint32_t>& sum) {
      sum.resize(size);
      for (std::size_t id = 0; id < from.size(); ++id) sum[ids[id]] += from[id];
    };
    add(of_reader.attributes, ids_[reader].attributes, names_->attributes.size(), to.attributes);
    add(of_reader.transitions, ids_[reader].transitions, names_->transitions.size(), to.transitions);
  }

 private:
  struct Ids {  // by those of a reader
    std::vector<std::uint32_t> attributes, transitions, labels, groups, sets;
  };
  struct Part {
    std::size_t reader;
    TagExamples examples;
  };

  bool by_documents_;
  TagDictionaries* names_;
  Dictionary& labels_;
  Dictionary groups_;
  TransitionSets sets_;
  SparseRows transitions_;
  std::vector<Ids> ids_;
  std::vector<Part> parts_;
  std::vector<AttributeValue> set_;
  std::size_t num_documents_ = 0;
};

// A file whose first chunk was read, by several threads; `file` is what that chunk says of it. Names grow,
// and are counted where counts are asked for, or are those of `fixed`. `parser` has the same dictionaries.
TagExamples read_parts(ChunkReader& chunks, TextChunk first, const SequenceFile& file, const TagInput& input,
                       std::size_t threads, TagDictionaries* growing, AttributeCounts* counts,
                       const TagDictionaries& fixed, TagParser& parser, Dictionary& labels) {
  std::vector<std::unique_ptr<TagPartReader>> readers;
  for (std::size_t k = 0; k < threads; ++k) {
    readers.push_back(growing != nullptr ? std::make_unique<TagPartReader>(input, file, counts != nullptr)
                                         : std::make_unique<TagPartReader>(input, file, fixed));
  }
  TagParts parts(input, threads, growing, labels);
  std::vector<TextChunk> before;
  before.push_back(std::move(first));
  read_in_chunks<TagPart>(
      chunks, std::move(before), readers,
      [](std::unique_ptr<TagPartReader>& reader, const TextChunk& chunk, TagPart& part) {
        reader->read(chunk, part);
      },
      [&](std::size_t reader, TagPart part) { parts.take(reader, std::move(part)); });
  for (std::size_t k = 0; counts != nullptr && k < threads; ++k)
    parts.add_counts(k, readers[k]->counts(), *counts);
  readers.clear();
  TagExamples examples = parts.join(threads);
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

TagExamples read_tag_growing(const std::string& path, TagInput& input,
                             std::optional<std::size_t> label_column, std::optional<std::size_t> first,
                             TagDictionaries& dictionaries, std::size_t min_count,
                             const ChunkOptions& chunks) {
  check_options(input, label_column, first);
  // The rest of the file is not looked at where only the first sequences are wanted.
  const bool in_parts = chunks.threads > 1 && !first;
  std::optional<ChunkReader> in_chunks;
  TextChunk chunk;
  if (in_parts) {
    in_chunks.emplace(path, sequence_cut(input), chunks);
    in_chunks->next_with_text(chunk);
  }
  SequenceReader reader = in_parts ? SequenceReader(chunk, input) : SequenceReader(path, input);
  if (!reader.next()) fail_without_sequences(reader.name());
  // TABs with spaces between them make sense of what white space does not.
  if (input.format == TagFormat::columns && input.separator_assumed) {
    input.tabs =
        !are_columns(reader.lines(), Separator::space) && are_columns(reader.lines(), Separator::tab);
  }
  if (input.format == TagFormat::columns) set_columns(reader.lines(), label_column, input);
  if (input.format_assumed) refuse_attributes(reader.lines(), separator_of(input));
  return grow(input, min_count, dictionaries, reader.name(),
              [&](TagParser& parser, AttributeCounts* counts, Dictionary& labels) {
                if (!in_parts) return read_rest(reader, input, parser, first, labels);
                return read_parts(*in_chunks, std::move(chunk), SequenceFile(reader.file()), input,
                                  chunks.threads, &dictionaries, counts, dictionaries, parser, labels);
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
  TextChunk chunk;
  in_chunks.next_with_text(chunk);
  SequenceReader reader(chunk, input);
  if (!reader.next()) fail_without_sequences(reader.name());
  const SequenceFile file = reader.file();
  return read_parts(in_chunks, std::move(chunk), file, input, chunks.threads, nullptr, nullptr, dictionaries,
                    *parser, labels);
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
