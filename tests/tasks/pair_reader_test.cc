#include "tasks/align/pair_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::pair_reader_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

std::vector<SentencePair> read(const std::string& text, bool needs_links = true) {
  const TemporaryFolder folder;
  PairReader reader(folder.file("pairs", text), needs_links);
  std::vector<SentencePair> pairs;
  for (SentencePair pair; reader.next(pair);) pairs.push_back(pair);
  return pairs;
}

std::string shown(const SentencePair& pair) {
  std::string text = fmt::format("{}:", pair.line);
  append_words(pair.source, text);
  text += '/';
  append_words(pair.target, text);
  for (const WordLink& link : pair.links)
    text += fmt::format(" {}{}{}", link.source, link.sure ? '-' : '?', link.target);
  return text;
}

TEST(PairReader, ReadsSentencesAndLinks) {
  const auto pairs = read("a b ||| c  d e|||f ||| 1-2 0-0 0?1\r\n\t x\t||| y ||| \nx ||| y |||");
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(shown(pairs[0]), "1:a b/c d e|||f 0-0 0?1 1-2");
  EXPECT_EQ(shown(pairs[1]), "2:x/y");
  EXPECT_EQ(shown(pairs[2]), "3:x/y");
  EXPECT_EQ(pairs[0].num_pairs(), 6u);
  EXPECT_EQ(pairs[0].place({1, 2}), 5u);
  EXPECT_TRUE(read("").empty());
}

TEST(PairReader, LinksMayBeMissingAndAreNotLookedAt) {
  const auto pairs = read("a ||| b\na ||| b ||| nonsense\n", false);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(shown(pairs[0]), "1:a/b");
  EXPECT_EQ(shown(pairs[1]), "2:a/b");
}

TEST(PairReader, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const std::string line = "expected SOURCE ||| TARGET ||| LINKS";
  const std::string link = "expected I-J, or I?J for a possible link, with words counted from 0";
  std::string long_one;
  for (int k = 0; k < 1001; ++k) long_one += "w ";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "an empty line; " + line},
      {" \t\r", "an empty line; " + line},
      {"a b c", "no '|||'; " + line},
      {"a ||| b", "no links; " + line},
      {"a ||| b ||| 0-0 ||| 0-0", "3 times '|||'; " + line},
      {"||| b ||| 0-0", "no source words; " + line},
      {"a ||| ||| 0-0", "no target words; " + line},
      {"a ||| b ||| 0", "the link '0'; " + link},
      {"a ||| b ||| 0-", "the link '0-'; " + link},
      {"a ||| b ||| -0", "the link '-0'; " + link},
      {"a ||| b ||| 0:0", "the link '0:0'; " + link},
      {"a ||| b ||| 0-0-0", "the link '0-0-0'; " + link},
      {"a ||| b ||| 0-99999999999", "the link '0-99999999999'; " + link},
      {"a b ||| c ||| 2-0", "the link '2-0' with 2 source words; expected source words from 0 to 1"},
      {"a b ||| c ||| 0?1", "the link '0?1' with 1 target word; expected target words from 0 to 0"},
      {"a b ||| c ||| 0-0 1-0 0?0", "two links of 0 and 0; expected one"},
      {long_one + "||| b |||", "1,001 source words; expected at most 1,000"},
      {std::string("a\0b", 3), "a NUL byte"},
  };
  for (const auto& [text, message] : cases) {
    const std::string path = folder.file("pairs", "a ||| b ||| 0-0\n" + text + "\n");
    const std::string found = error_message([&] {
      PairReader reader(path, true);
      for (SentencePair pair; reader.next(pair);) continue;
    });
    EXPECT_TRUE(found.starts_with(path + ":2: " + message)) << found;
  }
}

}  // namespace
}  // namespace espalier::pair_reader_test
