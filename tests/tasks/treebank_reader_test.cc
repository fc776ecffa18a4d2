#include "tasks/treebank/reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::treebank_reader_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;
using Words = std::vector<TaggedWord>;

std::vector<Words> words_of(const std::string& text, TreebankFormat format) {
  const TemporaryFolder folder;
  TreebankReader reader(folder.file("in", text), format, {});
  std::vector<Words> all;
  for (TreebankSentence sentence; reader.next(sentence);) all.push_back(sentence.words);
  return all;
}

TEST(TreebankReader, ReadsTreesTaggedWordsAndWords) {
  EXPECT_EQ(words_of("(S (NN rain) (VBD fell))\n(NN a)", TreebankFormat::brackets),
            (std::vector<Words>{{{"rain", "NN"}, {"fell", "VBD"}}, {{"a", "NN"}}}));
  EXPECT_EQ(words_of("rain_NN  fell_VBD \r\n\n \ta_b_X", TreebankFormat::tagged),
            (std::vector<Words>{{{"rain", "NN"}, {"fell", "VBD"}}, {{"a_b", "X"}}}));
  EXPECT_EQ(words_of("rain fell\n\n\nsnow_NN", TreebankFormat::words),
            (std::vector<Words>{{{"rain", ""}, {"fell", ""}}, {{"snow_NN", ""}}}));
}

TEST(TreebankReader, WritesBracketsAsThePennTreebankDoes) {
  EXPECT_EQ(words_of("(_( a_NN )_)", TreebankFormat::tagged),
            (std::vector<Words>{{{"-LRB-", "-LRB-"}, {"a", "NN"}, {"-RRB-", "-RRB-"}}}));
  EXPECT_EQ(words_of("f(x)", TreebankFormat::words), (std::vector<Words>{{{"f-LRB-x-RRB-", ""}}}));
}

TEST(TreebankReader, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  for (const char* text : {"rain", "_NN", "rain_"}) {
    const std::string path = folder.file("in", std::string("a_NN\n\nb_NN ") + text);
    EXPECT_EQ(error_message([&] {
                TreebankReader reader(path, TreebankFormat::tagged, {});
                for (TreebankSentence sentence; reader.next(sentence);) continue;
              }),
              path + ":3: '" + text + "' without a tag; expected WORD_TAG");
  }
  EXPECT_EQ(error_message([] { parse_treebank_format("conll"); }),
            "format: found 'conll'; expected brackets, tagged or words");
}

}  // namespace
}  // namespace espalier::treebank_reader_test
