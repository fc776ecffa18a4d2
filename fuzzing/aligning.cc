// Word alignment: sentence pairs are read as they were written, and scores of words are those of their file.

#include "fuzzing/targets.h"
#include "tasks/align/model.h"
#include "tasks/align/pair_reader.h"
#include "tasks/align/word_pairs.h"

namespace espalier::fuzz {
namespace {

std::string written(const std::string& path, bool needs_links) {
  std::string text;
  message_of([&] {
    PairReader reader(path, needs_links);
    for (SentencePair pair; reader.next(pair);) {
      append_words(pair.source, text);
      text += " ||| ";
      append_words(pair.target, text);
      text += " |||";
      for (const WordLink& link : pair.links) {
        expect(pair.place(link) < pair.num_pairs(), "links of words that are there");
        text += ' ' + std::to_string(link.source) + (link.sure ? '-' : '?') + std::to_string(link.target);
      }
      text += '\n';
    }
  });
  return text;
}

}  // namespace

void pairs(std::string_view bytes) {
  Choices choices(bytes);
  const bool needs_links = choices.flag(), has_scores = choices.flag();
  const std::string path = memory_file().write(bytes);
  // Not at the beginning of a file, where the bytes of a word may be the mark of an encoding.
  const std::string once = "a ||| b |||\n" + written(path, needs_links);
  expect(written(memory_file(1).write(once), true) == once, "pairs that are read as they were written");

  const WordPairs counts, none;
  WordPairs scores;
  if (has_scores) message_of([&] { scores = WordPairs::read(path); });
  Dictionary names;
  PairAttributes::add_fixed(names);
  PairAttributes attributes(names, counts, scores, 2);
  SparseRows rows;
  Workspace ws;
  message_of([&] {
    PairReader reader(path, needs_links);
    for (SentencePair pair; reader.next(pair) && pair.num_pairs() < 400;) {
      attributes.append(pair, false, rows);
      const Matching matching(pair.source.size(), pair.target.size(), 1);
      for (const std::uint32_t place : gold_matching(pair, matching, attributes.strengths(), ws))
        expect(place < pair.num_pairs(), "gold links of words that are there");
    }
  });
}

}  // namespace espalier::fuzz
