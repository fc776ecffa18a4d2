#include "tasks/parse/dependency_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/input.h"
#include "espalier/tasks/parse.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::dependency_reader_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

constexpr const char* kSpanish =
    "1\tEl\tel\td\tda\tgen=m|num=s\t2\tESP\t2\tESP\n"
    "2\tgato\tgato\tn\tnc\tgen=m|num=s\t3\tSUJ\t3\tSUJ\n"
    "3\tduerme\tdormir\tv\tvm\tnum=s\t0\tROOT\t0\tROOT\n"
    "\n"
    "1\tLlueve\tllover\tv\tvm\t_\t0\tROOT\t0\tROOT\n"
    "\n";

constexpr const char* kUniversal =
    "# sent_id = 1\n"
    "# text = Don't go to New York.\n"
    "1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t3:aux\t_\n"
    "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\t_\n"
    "3\tgo\tgo\tVERB\tVB\t_\t0\troot\t0:root\t_\n"
    "3.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t3:nsubj\tCopyOf=-1\n"
    "4\tto\tto\tADP\tIN\t_\t5\tcase\t5:case\t_\n"
    "5\tNew York\tNew York\tPROPN\tNNP\t_\t3\tobl\t3:obl:to\tSpaceAfter=No\n"
    "6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t3:punct\t_\n"
    "\n";

// A line of CoNLL-X with nothing but what a test is about.
std::string word(const std::string& id, const std::string& head) {
  return fmt::format("{}\tw{}\t_\tN\tNN\t_\t{}\tdep\t_\t_\n", id, id, head);
}

std::vector<DependencySentence> read(const std::string& path, bool needs_heads) {
  std::vector<DependencySentence> sentences;
  DependencyReader reader(path, needs_heads);
  for (DependencySentence sentence; reader.next(sentence);) sentences.push_back(sentence);
  return sentences;
}

std::vector<std::uint32_t> heads_of(const DependencySentence& sentence) {
  std::vector<std::uint32_t> heads;
  for (const DependencyWord& word : sentence.words) heads.push_back(word.head);
  return heads;
}

class DependencyReaderTest : public ::testing::Test {
 protected:
  // The message of reading a file of this text, without the path before the line.
  std::string message(const std::string& text, bool needs_heads = true) const {
    const std::string path = folder_.file("t", text);
    const std::string all = error_message([&] { read(path, needs_heads); });
    return all.starts_with(path) ? all.substr(path.size()) : all;
  }
  std::vector<DependencySentence> sentences(const std::string& text, bool needs_heads = true) const {
    return read(folder_.file("t", text), needs_heads);
  }

  TemporaryFolder folder_;
};

TEST_F(DependencyReaderTest, ReadsConllX) {
  const auto read = sentences(kSpanish);
  ASSERT_EQ(read.size(), 2u);
  ASSERT_EQ(read[0].words.size(), 3u);
  const DependencyWord& cat = read[0].words[1];
  EXPECT_EQ(cat.form, "gato");
  EXPECT_EQ(cat.lemma, "gato");
  EXPECT_EQ(cat.coarse, "n");
  EXPECT_EQ(cat.fine, "nc");
  EXPECT_EQ(cat.feats, "gen=m|num=s");
  EXPECT_EQ(cat.relation, "SUJ");
  EXPECT_EQ(cat.head, 3u);
  EXPECT_TRUE(cat.has_head);
  EXPECT_EQ(cat.line, 2u);
  EXPECT_EQ(heads_of(read[0]), (std::vector<std::uint32_t>{2, 3, 0}));
  EXPECT_EQ(read[0].first_line, 1u);
  EXPECT_EQ(read[1].first_line, 5u);
  EXPECT_EQ(read[1].words[0].line, 5u);
  EXPECT_EQ(read[1].words[0].form, "Llueve");
  EXPECT_TRUE(read[0].has_heads());
  EXPECT_FALSE(read[0].universal);
  EXPECT_EQ(read[0].text + "\n" + read[1].text + "\n", kSpanish);
}

TEST_F(DependencyReaderTest, ReadsConllU) {
  const auto read = sentences(kUniversal);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_TRUE(read[0].universal);
  EXPECT_EQ(read[0].first_line, 1u);
  ASSERT_EQ(read[0].words.size(), 6u);
  EXPECT_EQ(read[0].words[0].form, "Do");
  EXPECT_EQ(read[0].words[0].line, 4u);
  EXPECT_EQ(read[0].words[3].form, "to");
  EXPECT_EQ(read[0].words[3].line, 8u);
  EXPECT_EQ(read[0].words[4].form, "New York");
  EXPECT_EQ(read[0].words[4].coarse, "PROPN");
  EXPECT_EQ(read[0].words[4].fine, "NNP");
  EXPECT_EQ(heads_of(read[0]), (std::vector<std::uint32_t>{3, 3, 0, 5, 3, 3}));
  EXPECT_EQ(read[0].text + "\n", kUniversal);
}

TEST_F(DependencyReaderTest, TheFirstOfEachMarkTellsConllU) {
  const std::string plain = word("1", "0"),
                    mark[] = {"# c\n" + plain, "1-1\tx\n" + plain, "0.1\tx\n" + plain};
  EXPECT_FALSE(sentences(plain)[0].universal);
  for (const std::string& marked : mark) {
    const auto read = sentences(plain + "\n" + marked + "\n" + plain);
    ASSERT_EQ(read.size(), 3u) << marked;
    EXPECT_FALSE(read[0].universal) << marked;
    EXPECT_TRUE(read[1].universal) << marked;
    EXPECT_TRUE(read[2].universal) << marked;
  }
}

TEST_F(DependencyReaderTest, LineEndsBlankLinesAndByteOrderMark) {
  std::string text = "\xef\xbb\xbf\n\n" + word("1", "2") + word("2", "0") + " \t \n\n\n" + word("1", "0");
  text.pop_back();
  std::string with_returns;
  for (const char c : text) with_returns += c == '\n' ? std::string("\r\n") : std::string(1, c);
  for (const std::string& file : {text, with_returns}) {
    const auto read = sentences(file);
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(read[0].text, word("1", "2") + word("2", "0"));
    EXPECT_EQ(read[0].first_line, 3u);
    EXPECT_EQ(read[1].text, word("1", "0"));
    EXPECT_EQ(read[1].first_line, 8u);
  }
}

// Comments that a blank line separates from the words after them belong to these; those at the end to
// nothing.
TEST_F(DependencyReaderTest, CommentsOnTheirOwn) {
  const auto read =
      sentences("# newdoc\n\n# text\n" + word("1", "2") + "# within\n" + word("2", "0") + "\n# end\n");
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].text, "# newdoc\n# text\n" + word("1", "2") + "# within\n" + word("2", "0"));
  EXPECT_EQ(read[0].words[1].line, 6u);
}

TEST_F(DependencyReaderTest, NothingIsNoSentence) {
  for (const char* text : {"", "\n\n", "# a comment\n"}) EXPECT_EQ(sentences(text).size(), 0u) << text;
}

TEST_F(DependencyReaderTest, ColumnsAndHeadsMayBeMissingForPrediction) {
  const auto read = sentences(
      "1\ta\t_\tD\tDT\t_\n"
      "2\tb\t_\tN\tNN\t_\t_\n"
      "3\tc\t_\tV\tVB\t_\t_\t_\n"
      "4\td\t_\tV\tVB\t_\t5\tx\n"
      "5\te\t_\tV\tVB\t_\t5\tx\n"
      "6\tf\t_\tV\tVB\t_\t7\tx\n"
      "7\tg\t_\tV\tVB\t_\t-1\tx\n",
      false);
  ASSERT_EQ(read.size(), 1u);
  const std::vector<DependencyWord>& words = read[0].words;
  EXPECT_EQ(words[0].relation, "");
  EXPECT_EQ(words[1].relation, "");
  EXPECT_EQ(words[2].relation, "_");
  EXPECT_EQ(words[2].feats, "_");
  EXPECT_FALSE(read[0].has_heads());
  std::vector<bool> has_head;
  for (const DependencyWord& word : words) has_head.push_back(word.has_head);
  EXPECT_EQ(has_head, (std::vector<bool>{false, false, false, true, false, true, false}));
  EXPECT_EQ(heads_of(read[0]), (std::vector<std::uint32_t>{0, 0, 0, 5, 0, 7, 0}));
}

TEST_F(DependencyReaderTest, Columns) {
  EXPECT_EQ(message("1\ta\t_\tD\tDT\t_\t0\n"), ":1: 7 columns; expected at least 8, separated by TABs");
  EXPECT_EQ(message("1\ta\t_\tD\tDT\n", false), ":1: 5 columns; expected at least 6, separated by TABs");
  EXPECT_EQ(message("\nthe DT B-NP\n"), ":2: no TAB in 'the DT B-NP'; expected CoNLL-X or CoNLL-U");
  EXPECT_EQ(message(word("1", "0") + "2\n"), ":2: 1 column; expected at least 8, separated by TABs");
  EXPECT_EQ(message("1\ta\t_\tD\tDT\t_\t0\tx\n"), "(no error)");
  EXPECT_EQ(message("1\ta\t_\tD\tDT\t_\t0\tx\t_\t_\tmore\n"), "(no error)");
}

TEST_F(DependencyReaderTest, Ids) {
  EXPECT_EQ(message(word("2", "0")), ":1: the ID '2'; expected 1, the first word of a sentence");
  EXPECT_EQ(message(word("0", "0")), ":1: the ID '0'; expected 1, the first word of a sentence");
  EXPECT_EQ(message(word("the", "0")), ":1: the ID 'the'; expected 1, the first word of a sentence");
  EXPECT_EQ(message("\ta\t_\tD\tDT\t_\t0\tx\n"), ":1: the ID ''; expected 1, the first word of a sentence");
  EXPECT_EQ(message(word("1", "0") + word("1", "0")),
            ":2: the ID '1'; expected 2, or a blank line before the next sentence");
  EXPECT_EQ(message(word("1", "0") + word("3", "0")),
            ":2: the ID '3'; expected 2, or a blank line before the next sentence");
  EXPECT_EQ(message(word("1", "0") + word("2x", "0")),
            ":2: the ID '2x'; expected 2, or a blank line before the next sentence");
  EXPECT_EQ(message(word("1", "0") + word("4294967298", "0")),
            ":2: the ID '4294967298'; expected 2, or a blank line before the next sentence");
}

TEST_F(DependencyReaderTest, MultiWordTokens) {
  const std::string two = word("1", "0") + word("2", "1");
  EXPECT_EQ(message("1-2\tx\n" + two), "(no error)");
  EXPECT_EQ(message("2-3\tx\n" + two),
            ":1: the multi-word token '2-3'; expected one that starts at 1 or later");
  EXPECT_EQ(message("1-0\tx\n" + two),
            ":1: the multi-word token '1-0'; expected one that starts at 1 or later");
  EXPECT_EQ(message("1-99999999999\tx\n" + two),
            ":1: the multi-word token '1-99999999999'; expected one that starts at 1 or later");
  EXPECT_EQ(message("1-2\tx\n" + word("1", "0") + "2-3\tx\n" + word("2", "1") + word("3", "1")),
            ":3: the multi-word token '2-3'; expected one that starts at 3 or later");
  EXPECT_EQ(message("\n1-3\tx\n" + two + "\n" + two),
            ":2: a multi-word token up to word 3; expected one up to 2, the last word of the sentence");
  EXPECT_EQ(message("1-2\tx\n\n" + two),
            ":2: a sentence without words; expected a word on a line of its own");
  EXPECT_EQ(message("1-x\tx\n" + two), ":1: the ID '1-x'; expected 1, the first word of a sentence");
}

TEST_F(DependencyReaderTest, EmptyNodes) {
  EXPECT_EQ(message("0.1\tx\n" + word("1", "0") + "1.1\tx\n1.2\tx\n"), "(no error)");
  EXPECT_EQ(message(word("1", "0") + "2.1\tx\n"),
            ":2: the empty node '2.1'; expected 1.1, 1.2, ... after word 1");
  EXPECT_EQ(message(word("1", "0") + "1.\tx\n"),
            ":2: the ID '1.'; expected 2, or a blank line before the next sentence");
}

TEST_F(DependencyReaderTest, Heads) {
  const std::string number = "expected the number of a word, or 0 for the root";
  EXPECT_EQ(message(word("1", "0") + word("2", "_")), ":2: the head '_'; " + number);
  EXPECT_EQ(message(word("1", "")), ":1: the head ''; " + number);
  EXPECT_EQ(message(word("1", "-1")), ":1: the head '-1'; " + number);
  EXPECT_EQ(message(word("1", "1.5")), ":1: the head '1.5'; " + number);
  EXPECT_EQ(message(word("1", "1000001")), ":1: the head '1000001'; " + number);
  EXPECT_EQ(message("\n" + word("1", "0") + word("2", "3")),
            ":3: the head 3; expected another word, 1 to 2, or 0 for the root");
  EXPECT_EQ(message(word("1", "0") + word("2", "2")),
            ":2: word 2 as its own head; expected another word, 1 to 2, or 0 for the root");
  EXPECT_EQ(message(word("1", "2") + word("2", "1")),
            ":1: a sentence without a root; expected a word with head 0");
  EXPECT_EQ(message("# c\n" + word("1", "3") + word("2", "0") + word("3", "4") + word("4", "3")),
            ":4: a cycle of heads, 3 <- 4 <- 3; expected heads that lead every word to the root, 0");
  EXPECT_EQ(message(word("1", "0") + word("2", "0")), "(no error)");
}

TEST_F(DependencyReaderTest, LongCyclesAreAbridged) {
  std::string text = word("1", "0");
  for (int d = 2; d < 20; ++d) text += word(std::to_string(d), std::to_string(d + 1));
  EXPECT_EQ(message(text + word("20", "2")),
            ":2: a cycle of heads, 2 <- 3 <- 4 <- 5 <- 6 <- 7 <- 8 <- 9 <- ...; expected heads that lead "
            "every word to "
            "the root, 0");
}

TEST_F(DependencyReaderTest, LongestSentence) {
  std::string text;
  for (int d = 1; d <= 1'000'000; ++d) text += word(std::to_string(d), std::to_string(d - 1));
  const auto read = sentences(text);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].words.size(), 1'000'000u);
  EXPECT_EQ(read[0].words[999'999].form, "w1000000");
  EXPECT_EQ(message(text + word("1000001", "1")),
            ":1000001: a sentence of more than 1,000,000 words; expected blank lines between sentences");
}

TEST_F(DependencyReaderTest, LongLines) {
  const std::string form(10'000'000, 'x'), tabs(10'000'000, '\t');
  const auto read = sentences(word("1", "0") + "2\t" + form + "\t_\tN\tNN\t_\t1\tdep\n" + word("3", "1"));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].words[0].form, "w1");
  EXPECT_EQ(read[0].words[1].form, form);
  EXPECT_EQ(read[0].words[2].form, "w3");
  EXPECT_EQ(sentences("1" + tabs + "\n", false).at(0).words.at(0).form, "");
  EXPECT_EQ(message(form), ":1: no TAB in " + in_quotes(form) + "; expected CoNLL-X or CoNLL-U");
}

TEST_F(DependencyReaderTest, FilesThatAreNoText) {
  EXPECT_EQ(message(std::string("1\ta\0b\n", 6)),
            ":1: a NUL byte; expected a text file, plain or compressed by gzip, zstd or xz");
  const std::string missing = folder_.path("missing");
  EXPECT_EQ(error_message([&] { DependencyReader reader(missing, true); }),
            missing + ": cannot open: No such file or directory; expected a file that can be read");
}

// The text of the first word is within the string itself, that of the others is not.
TEST_F(DependencyReaderTest, ViewsFollowTheText) {
  const std::string path = folder_.file("t", "1\ta\t\tD\t\t\t0\tx\n" + word("2", "1") + word("3", "1"));
  DependencyReader reader(path, true);
  DependencySentence sentence;
  ASSERT_TRUE(reader.next(sentence));
  EXPECT_EQ(sentence.words[0].form.data(), sentence.text.data() + 2);
  EXPECT_EQ(sentence.words[0].coarse, "D");
  EXPECT_EQ(sentence.words[0].relation, "x");
  EXPECT_EQ(sentence.words[1].form, "w2");
}

TEST_F(DependencyReaderTest, CopiesHaveTheirOwnText) {
  DependencySentence copy, moved;
  {
    // Short enough for a string without memory of its own, which moves its bytes.
    DependencySentence sentence = sentences("1\ta\t\tD\t\t\t0\tx\n")[0];
    ASSERT_LE(sentence.text.size(), 15u);
    copy = sentence;
    moved = std::move(sentence);
  }
  for (const DependencySentence* each : {&copy, &moved}) {
    ASSERT_EQ(each->words.size(), 1u);
    EXPECT_EQ(each->words[0].form.data(), each->text.data() + 2);
    EXPECT_EQ(each->words[0].form, "a");
    EXPECT_EQ(each->words[0].relation, "x");
  }
}

// Sentences and words of the files as their index has them; writing the heads that were read gives the files
// back.
TEST(DependencyReader, Treebanks) {
  const std::string data = ESPALIER_SHARED_DIR "/data/";
  struct Treebank {
    const char* path;
    std::size_t sentences, words;
    bool universal;
  };
  const Treebank treebanks[] = {
      {"conllx-spanish/spanish_cast3lb_train.conll.gz", 3306, 89334, false},
      {"conllx-spanish/spanish_cast3lb_test.conll.gz", 206, 5694, false},
      {"danish-ddt/danish_ddt_train.conll.gz", 4456, 80141, false},
      {"danish-ddt/danish_ddt_dev.conll.gz", 549, 10113, false},
      {"danish-ddt/danish_ddt_test.conll.gz", 536, 9941, false},
      {"ud-english-ewt/en_ewt-ud-train.conllu.gz", 12544, 204577, true},
      {"ud-english-ewt/en_ewt-ud-dev.conllu.gz", 2001, 25147, true},
      {"ud-english-ewt/en_ewt-ud-test.conllu.gz", 2077, 25094, true},
  };
  for (const Treebank& treebank : treebanks) {
    const std::string path = data + treebank.path;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "there is no " << path;
    DependencyReader reader(path, true);
    DependencySentence sentence;
    std::size_t sentences = 0, words = 0;
    std::string written;
    std::vector<std::string_view> relations;
    while (reader.next(sentence)) {
      ++sentences;
      words += sentence.words.size();
      EXPECT_EQ(sentence.universal, treebank.universal);
      relations.clear();
      for (const DependencyWord& word : sentence.words) relations.push_back(word.relation);
      append_tree(sentence, heads_of(sentence), relations, written);
    }
    EXPECT_EQ(sentences, treebank.sentences) << path;
    EXPECT_EQ(words, treebank.words) << path;
    EXPECT_TRUE(written == read_all(path)) << path;
  }
}

}  // namespace
}  // namespace espalier::dependency_reader_test
