// Files of examples: one thread, and several with small chunks, make the same of them.

#include "fuzzing/seen.h"
#include "fuzzing/targets.h"
#include "tasks/classify/reader.h"

namespace espalier::fuzz {
namespace {

std::string read_examples(const std::string& path, ClassifyReadOptions options) {
  std::string text;
  const std::string message = message_of([&] {
    Seen seen;
    Dictionary attributes, labels;
    const ClassifyExamples train = read_classify_growing(path, options, attributes, labels);
    seen.add(attributes, labels, train.rows, train.labels, train.idf,
             std::vector{train.num_rare, train.num_bad_bytes});
    options.labels_required = false;
    options.idf = train.idf;
    const ClassifyExamples others = read_classify(path, options, attributes, labels);
    seen.add(others.rows, others.labels, std::vector{others.num_bad_bytes});
    text = std::move(seen.text);
  });
  return message + text;
}

// What is read without labels, where training found it wrong.
void read_unlabelled(const std::string& path, ClassifyReadOptions options) {
  static const Dictionary attributes, labels;
  options.labels_required = false;
  options.min_count = 1;
  message_of([&] { read_classify(path, options, attributes, labels); });
}

void check_examples(std::string_view bytes, ClassifyReadOptions options, Choices& choices) {
  options.bias = choices.flag();
  options.min_count = 1 + choices.below(2);
  const std::size_t chunk = chunk_bytes(choices.below(6), bytes);
  const std::string path = memory_file().write(bytes);
  const std::string expected = read_examples(path, options);
  read_unlabelled(path, options);
  if (!turn_of_slow()) return;
  options.chunks = {2, chunk};
  expect(read_examples(path, options) == expected, "the same in chunks");
}

void check_format(std::string_view bytes, ClassifyFormat format) {
  Choices choices(bytes);
  ClassifyReadOptions options;
  options.format = format;
  check_examples(bytes, options, choices);
}

}  // namespace

void libsvm(std::string_view bytes) { check_format(bytes, ClassifyFormat::libsvm); }
void named(std::string_view bytes) { check_format(bytes, ClassifyFormat::named); }
void rows(std::string_view bytes) { check_format(bytes, ClassifyFormat::crfsuite); }

void text(std::string_view bytes) {
  Choices choices(bytes);
  ClassifyReadOptions options;
  options.format = ClassifyFormat::text;
  options.text.ngrams = 1 + choices.below(2);
  options.text.char_ngrams = 3 * choices.below(2);
  options.text.keep_case = choices.flag();
  if (choices.flag()) options.text.weighting = TextWeighting::tf_idf;
  check_examples(bytes, options, choices);
}

// Images, then labels from the place that the second byte says.
void idx(std::string_view bytes) {
  Choices choices(bytes);
  Choices where(bytes);
  const std::size_t cut = std::min(bytes.size(), 16 + where.below(256));
  ClassifyReadOptions options;
  options.format = ClassifyFormat::idx;
  options.bias = choices.flag();
  const std::string images = memory_file(0).write(bytes.substr(0, cut));
  const std::string labels = memory_file(1).write(bytes.substr(cut));
  read_examples(images + "," + labels, options);
  read_unlabelled(images, options);
  message_of([&] { guess_classify_format(images); });
}

}  // namespace espalier::fuzz
