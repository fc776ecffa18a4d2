#include "generate/sentence_pairs.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/generated_data.h"
#include "support/temporary_folder.h"
#include "tasks/align/pair_reader.h"

namespace espalier::sentence_pairs_test {
namespace {

TEST(SentencePairs, AreReadAsTheyAreWritten) {
  const testing::TemporaryFolder folder;
  PairReader reader(folder.file("pairs", testing::generated_sentences(1, 200, append_align)), true);
  std::size_t pairs = 0, possible = 0, crossing = 0;
  for (SentencePair pair; reader.next(pair);) {
    ++pairs;
    std::set<std::uint32_t> target, sure_targets;
    for (const WordLink& link : pair.links) {
      possible += link.sure ? 0 : 1;
      target.insert(link.target);
      if (link.sure) sure_targets.insert(link.target);
      for (const WordLink& other : pair.links)
        crossing += link.source < other.source && link.target > other.target ? 1 : 0;
    }
    // Every word of the translation has a sure link.
    EXPECT_EQ(target.size(), pair.target.size()) << pair.line;
    EXPECT_EQ(sure_targets, target) << pair.line;
    EXPECT_LE(pair.target.size(), pair.source.size());
  }
  EXPECT_EQ(pairs, 200u);
  EXPECT_GT(possible, 50u);
  EXPECT_GT(crossing, 50u);
}

TEST(SentencePairs, OfOneSentence) {
  Sentence sentence;
  sentence.words = {"The", "old", "Everlow", "trip", "can", "end", "."};
  sentence.tags = {"DT", "JJ", "NNP", "NN", "MD", "VB", "."};
  std::string text;
  append_align(sentence, text);
  // An adjective moves where a noun follows it; a name comes between.
  EXPECT_EQ(
      text,
      "The old Everlow trip can end . ||| utm Everlow dboxi iwm lewan . ||| 0?2 1-0 2-1 3-2 4-4 5-3 6-5\n");
}

}  // namespace
}  // namespace espalier::sentence_pairs_test
