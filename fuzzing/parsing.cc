// Treebanks: what was read is written and read again, in one piece and in chunks.

#include "base/text_chunks.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/treebank.h"
#include "fuzzing/targets.h"
#include "tasks/parse/dependency_reader.h"
#include "tasks/treebank/bracket_reader.h"
#include "tasks/treebank/reader.h"

namespace espalier::fuzz {
namespace {

void add_sentences(DependencyReader& reader, std::string& to) {
  for (DependencySentence sentence; reader.next(sentence);) {
    to += std::to_string(sentence.first_line) + '\n' + sentence.text;
    for (const DependencyWord& word : sentence.words) {
      to += std::to_string(word.line) + ' ' + std::to_string(word.head) + (word.has_head ? "+" : "-");
      to.append(word.form).append(word.lemma).append(word.coarse).append(word.fine);
      to.append(word.feats).append(word.relation).append("\n");
    }
  }
}

void add_trees(BracketReader& reader, std::string& to) {
  for (BracketTree tree; reader.next(tree);) {
    to += std::to_string(reader.first_line()) + ' ';
    append_brackets(tree, to);
    to += '\n';
  }
}

template <class Read>
std::string chunk_by_chunk(const std::string& path, const FindCut& find_cut, std::size_t bytes,
                           const Read& read) {
  std::string seen;
  const std::string message = message_of([&] {
    ChunkReader chunks(path, find_cut, {1, bytes});
    for (TextChunk chunk; chunks.next(chunk);) read(chunk, seen);
  });
  return seen + message;
}

}  // namespace

void dependencies(std::string_view bytes) {
  Choices choices(bytes);
  const bool needs_heads = choices.flag();
  const std::string path = memory_file().write(bytes);
  std::string seen;
  const std::string message = message_of([&] {
    DependencyReader reader(path, needs_heads);
    add_sentences(reader, seen);
  });
  expect(chunk_by_chunk(path, dependency_cut, 1 + 9 * choices.below(20),
                        [&](const TextChunk& chunk, std::string& to) {
                          DependencyReader reader(LineReader(chunk), needs_heads);
                          add_sentences(reader, to);
                        }) == seen + message,
         "the same in chunks");
  std::string written;
  message_of([&] {
    for (const DependencySentence& sentence : parse_dependencies(bytes, needs_heads)) {
      std::vector<std::uint32_t> heads;
      std::vector<std::string_view> relations;
      for (const DependencyWord& word : sentence.words) {
        heads.push_back(word.head);
        relations.push_back(word.relation);
      }
      append_tree(sentence, heads, relations, written);
    }
  });
  if (needs_heads && !written.empty()) parse_dependencies(written, true);
}

void brackets(std::string_view bytes) {
  Choices choices(bytes);
  const BracketNorm norm{choices.flag(), choices.flag()};
  const std::size_t chunk = 1 + 9 * choices.below(20);
  const std::string path = memory_file().write(bytes);
  std::string seen;
  const std::string message = message_of([&] {
    BracketReader reader(path, norm);
    add_trees(reader, seen);
  });
  // Trees that end and begin in one line are of one chunk.
  const std::string in_chunks =
      chunk_by_chunk(path, cut_after_brackets, chunk, [&](const TextChunk& part, std::string& to) {
        BracketReader reader(part, norm);
        add_trees(reader, to);
      });
  expect(in_chunks == seen + message, "the same in chunks");

  std::string written, again;
  message_of([&] {
    BracketReader reader(path, norm);
    for (BracketTree tree; reader.next(tree);) append_brackets(tree, written);
  });
  BracketReader reader = BracketReader::of_text(written, "written", 1, norm);
  for (BracketTree tree; reader.next(tree);) append_brackets(tree, again);
  expect(again == written, "trees that are read as they were written");

  for (const auto format : {TreebankFormat::tagged, TreebankFormat::words}) {
    message_of([&] {
      TreebankReader sentences(path, format, norm);
      for (TreebankSentence sentence; sentences.next(sentence);)
        without_brackets(sentence.words.front().word);
    });
  }
}

}  // namespace espalier::fuzz
