#include "tasks/classify/reader.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/names.h"
#include "espalier/base/error.h"
#include "espalier/base/json.h"
#include "espalier/tasks/classify.h"
#include "fleet/file_share.h"
#include "tasks/classify/builder.h"
#include "tasks/new_names.h"

namespace espalier {

ClassifyFormat parse_classify_format(std::string_view name) {
  std::vector<std::string> names;
  for (const auto format : {ClassifyFormat::libsvm, ClassifyFormat::crfsuite, ClassifyFormat::idx,
                            ClassifyFormat::named, ClassifyFormat::text}) {
    if (name == to_string(format)) return format;
    names.emplace_back(to_string(format));
  }
  throw Error(fmt::format("{}: {}", setting("format"), unknown_name("format", name, names)));
}

const char* to_string(ClassifyFormat format) {
  switch (format) {
    case ClassifyFormat::libsvm:
      return "libsvm";
    case ClassifyFormat::crfsuite:
      return "crfsuite";
    case ClassifyFormat::idx:
      return "idx";
    case ClassifyFormat::named:
      return "named";
    case ClassifyFormat::text:
      return "text";
  }
  return "unknown";
}

ClassifyFormat guess_classify_format(const std::string& path) {
  return looks_like_idx(path) ? ClassifyFormat::idx : ClassifyFormat::libsvm;
}

namespace {

void check_first(const ClassifyReadOptions& options) {
  if (options.first == 0) throw Error::in(setting("first"), "0 examples", "expected at least 1");
}

std::unique_ptr<ClassifyLines> make_lines(const ClassifyReadOptions& options, ClassifyBuilder& builder) {
  switch (options.format) {
    case ClassifyFormat::libsvm:
    case ClassifyFormat::named:
      return make_libsvm_lines(options, builder);
    case ClassifyFormat::crfsuite:
      return make_crfsuite_lines(options, builder);
    case ClassifyFormat::text:
      return make_text_lines(options, builder);
    case ClassifyFormat::idx:
      break;
  }
  return nullptr;
}

// What a chunk of a file has: examples with the ids of the worker that read it, and what this worker had not
// met before.
struct ClassifyPart {
  ClassifyExamples examples;
  StringBuffer attributes, labels;
  ClassifyLines::DenseRow first_dense;
  std::exception_ptr failure;
  TextChunk failed{};
};

// One of several that read a file.
class ClassifyPartReader {
 public:
  ClassifyPartReader(const ClassifyReadOptions& options, const ClassifyBuilder& like,
                     const Dictionary& attributes, const Dictionary& labels)
      : builder_(like.grows() ? ClassifyBuilder(options, attributes_, labels_)
                              : ClassifyBuilder(options, attributes, labels)),
        lines_(make_lines(options, builder_)) {}
  ClassifyPartReader(const ClassifyPartReader&) = delete;
  ClassifyPartReader& operator=(const ClassifyPartReader&) = delete;

  void read(const TextChunk& chunk, ClassifyPart& part) {
    lines_->expect({});
    LineReader lines(chunk);
    try {
      lines_->read(lines);
    } catch (...) {
      part.failure = std::current_exception();
      part.failed = chunk;
    }
    part.first_dense = lines_->first_dense();
    part.examples = builder_.take_examples();
    part.attributes = names_from(attributes_, num_attributes_);
    part.labels = names_from(builder_.seen_labels(), num_labels_);
    num_attributes_ = attributes_.size();
    num_labels_ = builder_.seen_labels().size();
  }
  // Reads what could not be read once more, as part of a file that has this row.
  void read_again(const TextChunk& chunk, const ClassifyLines::DenseRow& first) {
    lines_->expect(first);
    LineReader lines(chunk);
    lines_->read(lines);
  }
  std::size_t num_bad_bytes() const { return lines_->num_bad_bytes(); }

 private:
  Dictionary attributes_, labels_;
  std::size_t num_attributes_ = 0, num_labels_ = 0;
  ClassifyBuilder builder_;
  std::unique_ptr<ClassifyLines> lines_;
};

// What several threads make of files.
struct ClassifyParts {
  std::vector<SparseRows> rows;
  std::vector<std::size_t> reader_of;           // of each of them,
  std::vector<std::vector<std::uint32_t>> ids;  // which has attributes of its own, where they grow
  std::vector<std::uint32_t> labels;            // of all
  ClassifyLines::DenseRow first_dense;
  std::size_t num_bad_bytes = 0;
};

// Names that grow; nullptr: those of training stay as they are.
struct GrowingNames {
  Dictionary* attributes = nullptr;
  Dictionary* labels = nullptr;
};

// `first_dense` is what came before the files.
ClassifyParts read_parts(ChunkReader& chunks, const ClassifyBuilder& builder,
                         const ClassifyReadOptions& options, GrowingNames growing,
                         const Dictionary& attributes, const Dictionary& labels,
                         const ClassifyLines::DenseRow& first_dense) {
  const std::size_t threads = options.chunks.threads;
  std::vector<std::unique_ptr<ClassifyPartReader>> readers;
  for (std::size_t k = 0; k < threads; ++k)
    readers.push_back(std::make_unique<ClassifyPartReader>(options, builder, attributes, labels));
  ClassifyParts all;
  all.first_dense = first_dense;
  all.ids.resize(threads);
  std::vector<std::vector<std::uint32_t>> label_ids(threads);
  read_in_chunks<ClassifyPart>(
      chunks, {}, readers,
      [](std::unique_ptr<ClassifyPartReader>& reader, const TextChunk& chunk, ClassifyPart& part) {
        reader->read(chunk, part);
      },
      [&](std::size_t reader, ClassifyPart part) {
        const ClassifyLines::DenseRow& dense = part.first_dense;
        if (part.failure) {
          // What is wrong first may be the width of a row, which is that of rows before.
          ClassifyPartReader(options, builder, attributes, labels).read_again(part.failed, all.first_dense);
          std::rethrow_exception(part.failure);
        }
        if (all.first_dense.width == 0) all.first_dense = dense;
        if (dense.width != 0 && dense.width != all.first_dense.width) fail_at_width(dense, all.first_dense);
        if (growing.attributes != nullptr) {
          merge_names(part.attributes, *growing.attributes, all.ids[reader]);
          merge_names(part.labels, *growing.labels, label_ids[reader]);
        }
        for (const std::uint32_t label : part.examples.labels)
          all.labels.push_back(growing.labels != nullptr ? label_ids[reader][label] : label);
        all.reader_of.push_back(reader);
        all.rows.push_back(std::move(part.examples.rows));
      });
  for (const auto& reader : readers) all.num_bad_bytes += reader->num_bad_bytes();
  return all;
}

ClassifyExamples join(ClassifyParts parts, const ClassifyReadOptions& options, bool grows) {
  ClassifyExamples all;
  // Texts have their attributes in the order of their ids, the bias apart.
  const bool sorted = grows && options.format == ClassifyFormat::text;
  const std::size_t at_end = options.bias ? 1 : 0;
  all.rows = SparseRows::joined(
      parts.rows,
      [&](std::size_t k) { return std::span<const std::uint32_t>(parts.ids[parts.reader_of[k]]); },
      options.chunks.threads, sorted ? std::optional(at_end) : std::nullopt);
  all.labels = std::move(parts.labels);
  all.num_bad_bytes = parts.num_bad_bytes;
  return all;
}

// Throws the first Error of all ranks, if one of them has failed, or has a row that is not as wide as those
// that others have. `read` reads once more what this one has failed to read, given lines before and the first
// of such rows.
void compare_classify_shares(
    const FileShare& share, const ShareOutcome& outcome, ClassifyLines::DenseRow dense, Communicator& fleet,
    const std::function<void(std::size_t lines_before, const ClassifyLines::DenseRow& first)>& read) {
  if (dense.file == share.ranges.front().path) dense.line += outcome.lines_before;
  const Json mine{dense.width, dense.file, dense.line};
  const std::vector<std::string> all = fleet.gather(mine.dump());
  ClassifyLines::DenseRow first;
  for (std::size_t r = 0; r < outcome.failed.value_or(all.size()); ++r) {
    const Json row = Json::parse(all[r]);
    const ClassifyLines::DenseRow of_rank{row[0].get<std::uint64_t>(), row[1].get<std::string>(),
                                          row[2].get<std::size_t>()};
    if (of_rank.width == 0) continue;
    if (first.width == 0) first = of_rank;
    if (of_rank.width != first.width) fail_as(r, fleet, [&] { fail_at_width(of_rank, first); });
  }
  if (outcome.failed) fail_as(*outcome.failed, fleet, [&] { read(outcome.lines_before, first); });
}

// A rank's share of the files; false on all of them where there are none to be had.
bool read_share(ClassifyBuilder& builder, const InputFiles& files, const ClassifyReadOptions& options,
                Dictionary& attributes, const Dictionary& labels, Communicator& fleet) {
  const std::optional<FileShare> share = find_share(files, cut_after_line, fleet);
  if (!share) return false;
  Dictionary own_attributes, own_labels;
  for (std::uint32_t id = 0; id < attributes.size(); ++id) own_attributes.add(attributes.name(id));
  std::vector<std::size_t> num_lines;
  const auto read = [&](std::size_t lines_before, const ClassifyLines::DenseRow& first) {
    std::vector<TextRange> ranges = share->ranges;
    ranges.front().first_line += lines_before;
    ChunkReader chunks(ranges, cut_after_line, options.chunks);
    ClassifyParts parts =
        read_parts(chunks, builder, options, {&own_attributes, &own_labels}, attributes, labels, first);
    num_lines.assign(chunks.num_lines().begin(), chunks.num_lines().end());
    return parts;
  };
  std::optional<ClassifyParts> parts;
  try {
    parts.emplace(read(0, {}));
  } catch (const Error&) {  // the line that it names is not yet that of the file
  }
  const ShareOutcome outcome = compare_shares(*share, !parts, num_lines, fleet);
  compare_classify_shares(*share, outcome, parts ? parts->first_dense : ClassifyLines::DenseRow(), fleet,
                          read);

  const auto ids = merge_names_of_ranks(own_attributes, attributes, fleet);
  const auto label_ids = merge_names_of_ranks(own_labels, builder.seen_labels(), fleet);
  for (std::vector<std::uint32_t>& of_reader : parts->ids) {
    for (std::uint32_t& id : of_reader) id = ids[id];
  }
  for (std::uint32_t& label : parts->labels) label = label_ids[label];
  own_attributes = {};
  parts->num_bad_bytes = fleet.sum(parts->num_bad_bytes);
  ClassifyExamples examples = join(std::move(*parts), options, true);
  examples.fleet = &fleet;
  builder.set_examples(std::move(examples));
  return true;
}

// `growing` are the attributes, where they grow.
ClassifyExamples read_into(ClassifyBuilder& builder, const InputFiles& files,
                           const ClassifyReadOptions& options, Dictionary* growing,
                           const Dictionary& attributes, const Dictionary& labels) {
  check_first(options);
  if (options.format == ClassifyFormat::idx) {
    if (files.several()) {
      throw Error::in(files.paths()[1], "given beside " + files.first(),
                      fmt::format("expected one IMAGES,LABELS, as {} idx has it", setting("format")));
    }
    read_idx(files.first(), options, builder);
  } else if (options.fleet != nullptr && growing != nullptr && !options.first &&
             read_share(builder, files, options, *growing, labels, *options.fleet)) {
    // It has its examples.
  } else if (options.chunks.threads > 1 && !options.first) {
    ChunkReader chunks(files, cut_after_line, options.chunks);
    const bool grows = growing != nullptr;
    builder.set_examples(
        join(read_parts(chunks, builder, options, {growing, grows ? &builder.seen_labels() : nullptr},
                        attributes, labels, {}),
             options, grows));
  } else {
    const auto reader = make_lines(options, builder);
    for (const std::string& path : files.paths()) {
      if (builder.full()) break;
      LineReader lines(path);
      reader->read(lines);
    }
    builder.set_num_bad_bytes(reader->num_bad_bytes());
  }
  return builder.finish(files.name());
}

ClassifyExamples take_into(ClassifyBuilder& builder, const ClassifyData& data,
                           const ClassifyReadOptions& options) {
  const bool texts = options.format == ClassifyFormat::text;
  ESPALIER_EXPECT(texts || options.format == ClassifyFormat::crfsuite);
  ESPALIER_EXPECT(data.size() == 0 || data.has_texts() == texts);
  check_first(options);
  if (texts) {
    take_texts(data, options, builder);
    return builder.finish(kDataInMemory);
  }
  std::vector<ClassifyData::Attribute> row;
  for (std::size_t i = 0; i < data.size() && !builder.full(); ++i) {
    data.attributes().get(i, row);
    for (const auto& attribute : row) builder.add(builder.attribute(attribute.name), attribute.value);
    builder.finish_example(data.label(i), data.weight(i));
  }
  return builder.finish(kDataInMemory);
}

ClassifyExamples take_into(ClassifyBuilder& builder, const ClassifyMatrix& data,
                           const ClassifyReadOptions& options) {
  ESPALIER_EXPECT(options.format == (data.columns.empty() ? ClassifyFormat::libsvm : ClassifyFormat::named));
  check_first(options);
  take_matrix(data, builder);
  return builder.finish(kDataInMemory);
}

}  // namespace

ClassifyExamples read_classify_growing(const InputFiles& files, const ClassifyReadOptions& options,
                                       Dictionary& attributes, Dictionary& labels) {
  ESPALIER_EXPECT(options.labels_required);
  ClassifyBuilder builder(options, attributes, labels);
  return read_into(builder, files, options, &attributes, attributes, labels);
}

ClassifyExamples take_classify_growing(const ClassifyData& data, const ClassifyReadOptions& options,
                                       Dictionary& attributes, Dictionary& labels) {
  ESPALIER_EXPECT(options.labels_required);
  ClassifyBuilder builder(options, attributes, labels);
  return take_into(builder, data, options);
}

ClassifyExamples take_classify_growing(const ClassifyMatrix& data, const ClassifyReadOptions& options,
                                       Dictionary& attributes, Dictionary& labels) {
  ESPALIER_EXPECT(options.labels_required);
  ClassifyBuilder builder(options, attributes, labels);
  return take_into(builder, data, options);
}

ClassifyExamples read_classify(const std::string& path, const ClassifyReadOptions& options,
                               const Dictionary& attributes, const Dictionary& labels) {
  ClassifyBuilder builder(options, attributes, labels);
  return read_into(builder, path, options, nullptr, attributes, labels);
}

ClassifyExamples take_classify(const ClassifyData& data, const ClassifyReadOptions& options,
                               const Dictionary& attributes, const Dictionary& labels) {
  ClassifyBuilder builder(options, attributes, labels);
  return take_into(builder, data, options);
}

ClassifyExamples take_classify(const ClassifyMatrix& data, const ClassifyReadOptions& options,
                               const Dictionary& attributes, const Dictionary& labels) {
  ClassifyBuilder builder(options, attributes, labels);
  return take_into(builder, data, options);
}

}  // namespace espalier
