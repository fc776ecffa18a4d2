#include "tasks/classify/reader.h"

#include <fmt/format.h>

#include "base/names.h"
#include "espalier/base/error.h"
#include "espalier/tasks/classify.h"
#include "tasks/classify/builder.h"

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

ClassifyExamples read_into(ClassifyBuilder& builder, const std::string& path,
                           const ClassifyReadOptions& options) {
  check_first(options);
  switch (options.format) {
    case ClassifyFormat::libsvm:
    case ClassifyFormat::named:
      read_libsvm(path, options, builder);
      break;
    case ClassifyFormat::crfsuite:
      read_crfsuite(path, options, builder);
      break;
    case ClassifyFormat::idx:
      read_idx(path, options, builder);
      break;
    case ClassifyFormat::text:
      read_text(path, options, builder);
      break;
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
  return read_into(builder, path, options);
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
  return read_into(builder, path, options);
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
