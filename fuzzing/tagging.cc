// Files of sequences: one thread, and several with small chunks, make the same of them.

#include <memory>

#include "features/gazetteer.h"
#include "fuzzing/seen.h"
#include "fuzzing/targets.h"
#include "tasks/tag/reader.h"

namespace espalier::fuzz {
namespace {

std::string seen_of(const TagExamples& examples, const TagDictionaries& names, const Dictionary& labels) {
  Seen seen;
  std::vector<std::size_t> lines;
  for (std::size_t i = 0; i < examples.sequences.size(); ++i) lines.push_back(examples.places.line(i));
  seen.add(names.attributes, names.transitions, labels, examples.sequences.tokens,
           examples.sequences.transitions, examples.sequences.offsets, examples.sequences.transition_of,
           examples.labels, lines, examples.weights, examples.groups, std::vector{examples.num_rare});
  return seen.text;
}

// What training makes of a file, and then a model of it.
std::string read_sequences(const std::string& path, TagInput input, std::size_t min_count,
                           const ChunkOptions& chunks) {
  std::string seen;
  const std::string message = message_of([&] {
    TagDictionaries names;
    const TagExamples train = read_tag_growing(path, input, {}, {}, names, min_count, chunks);
    seen = seen_of(train, names, names.labels);
    Dictionary labels;
    seen += seen_of(read_tag(path, input, names, labels, chunks), names, labels);
  });
  return message + seen;
}

void check_tagging(std::string_view bytes, TagInput input, Choices& choices) {
  const std::size_t min_count = 1 + choices.below(2);
  const std::size_t chunk = chunk_bytes(choices.below(6), bytes);
  const std::string path = memory_file().write(bytes);
  const std::string expected = read_sequences(path, input, min_count, {1});
  if (turn_of_slow())
    expect(read_sequences(path, input, min_count, {2, chunk}) == expected, "the same in chunks");
}

}  // namespace

void columns(std::string_view bytes) {
  Choices choices(bytes);
  TagInput input;
  input.separator_assumed = choices.flag();
  input.format_assumed = choices.flag();
  input.weight_comments = choices.flag();
  input.group_documents = choices.flag();
  if (choices.flag()) input.templates = "U00:%x[0,0]/%x[-1,0]\nB\n";
  // What the first byte has no room for.
  static const auto phrases = std::make_shared<const Gazetteer>(
      Gazetteer::from_text("place\tNew York\nplace\ta b\nother\ta\n", "phrases"));
  switch (bytes.size() % 6) {
    case 1:
      input.weight_column = 0;
      break;
    case 2:
      input.gazetteer = phrases;
      break;
    case 3:
      input.templates = "U0:%v[0,0]\nU1:%x[0,1]\nB\n";
      break;
    case 4:
      input.group_column = 0;
      break;
    case 5:
      input.encoding = Encoding::bioes;
      break;
    default:
      break;
  }
  check_tagging(bytes, input, choices);
}

void crfsuite(std::string_view bytes) {
  Choices choices(bytes);
  TagInput input;
  input.format = TagFormat::crfsuite;
  input.weight_comments = choices.flag();
  check_tagging(bytes, input, choices);
}

void wapiti(std::string_view bytes) {
  Choices choices(bytes);
  TagInput input;
  input.format = TagFormat::wapiti;
  input.weight_comments = choices.flag();
  check_tagging(bytes, input, choices);
}

}  // namespace espalier::fuzz
