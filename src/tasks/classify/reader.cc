#include "tasks/classify/reader.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/names.h"
#include "espalier/base/error.h"
#include "espalier/tasks/classify.h"
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

// A file by several threads, with what one would make of it.
void read_parts(ClassifyBuilder& builder, const std::string& path, const ClassifyReadOptions& options,
                Dictionary* growing, const Dictionary& attributes, const Dictionary& labels) {
  const std::size_t threads = options.chunks.threads;
  ChunkReader chunks(path, cut_after_line, options.chunks);
  std::vector<std::unique_ptr<ClassifyPartReader>> readers;
  for (std::size_t k = 0; k < threads; ++k)
    readers.push_back(std::make_unique<ClassifyPartReader>(options, builder, attributes, labels));
  std::vector<std::vector<std::uint32_t>> ids(threads), label_ids(threads);
  std::vector<std::size_t> reader_of;
  std::vector<SparseRows> rows;
  ClassifyExamples all;
  ClassifyLines::DenseRow first_dense;
  read_in_chunks<ClassifyPart>(
      chunks, {}, readers,
      [](std::unique_ptr<ClassifyPartReader>& reader, const TextChunk& chunk, ClassifyPart& part) {
        reader->read(chunk, part);
      },
      [&](std::size_t reader, ClassifyPart part) {
        const ClassifyLines::DenseRow& dense = part.first_dense;
        if (part.failure) {
          // What is wrong first may be the width of a row, which is that of rows before.
          ClassifyPartReader(options, builder, attributes, labels).read_again(part.failed, first_dense);
          std::rethrow_exception(part.failure);
        }
        if (first_dense.width == 0) first_dense = dense;
        if (dense.width != 0 && dense.width != first_dense.width)
          fail_at_width(chunks.name(), dense.line, dense.width, first_dense);
        if (growing != nullptr) {
          merge_names(part.attributes, *growing, ids[reader]);
          merge_names(part.labels, builder.seen_labels(), label_ids[reader]);
        }
        for (const std::uint32_t label : part.examples.labels)
          all.labels.push_back(growing != nullptr ? label_ids[reader][label] : label);
        reader_of.push_back(reader);
        rows.push_back(std::move(part.examples.rows));
      });
  for (const auto& reader : readers) all.num_bad_bytes += reader->num_bad_bytes();
  readers.clear();
  // Texts have their attributes in the order of their ids, the bias apart.
  const bool sorted = growing != nullptr && options.format == ClassifyFormat::text;
  const std::size_t at_end = options.bias ? 1 : 0;
  all.rows = SparseRows::joined(
      rows, [&](std::size_t k) { return std::span<const std::uint32_t>(ids[reader_of[k]]); }, threads,
      sorted ? std::optional(at_end) : std::nullopt);
  builder.set_examples(std::move(all));
}

// `growing` are the attributes, where they grow.
ClassifyExamples read_into(ClassifyBuilder& builder, const std::string& path,
                           const ClassifyReadOptions& options, Dictionary* growing,
                           const Dictionary& attributes, const Dictionary& labels) {
  check_first(options);
  if (options.format == ClassifyFormat::idx) {
    read_idx(path, options, builder);
  } else if (options.chunks.threads > 1 && !options.first) {
    read_parts(builder, path, options, growing, attributes, labels);
  } else {
    LineReader lines(path);
    const auto reader = make_lines(options, builder);
    reader->read(lines);
    builder.set_num_bad_bytes(reader->num_bad_bytes());
  }
  return builder.finish(path == "-" ? "standard input" : path);
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

ClassifyExamples read_classify_growing(const std::string& path, const ClassifyReadOptions& options,
                                       Dictionary& attributes, Dictionary& labels) {
  ESPALIER_EXPECT(options.labels_required);
  ClassifyBuilder builder(options, attributes, labels);
  return read_into(builder, path, options, &attributes, attributes, labels);
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
