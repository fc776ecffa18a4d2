#include "tasks/parse/tree_drawing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/temporary_folder.h"

namespace espalier {
namespace {

struct Word {
  std::string form, tag;
  std::uint32_t head;
  std::string relation;
};

std::string drawing(const std::vector<Word>& words, bool labelled = true) {
  std::string text;
  std::vector<std::uint32_t> heads;
  std::vector<std::string_view> relations;
  for (const Word& word : words) {
    heads.push_back(word.head);
    if (labelled) relations.push_back(word.relation);
    text += std::to_string(heads.size()) + "\t" + word.form + "\t_\t" + word.tag + "\t_\t_\n";
  }
  const testing::TemporaryFolder folder;
  DependencyReader reader(folder.file("t", text), false);
  DependencySentence sentence;
  EXPECT_TRUE(reader.next(sentence));
  return "\n" + draw_tree(sentence, heads, relations);
}

TEST(TreeDrawing, Projective) {
  const std::vector<Word> words = {
      {"The", "DET", 3, "det"},      {"old", "ADJ", 3, "amod"},   {"dog", "NOUN", 4, "nsubj"},
      {"barked", "VERB", 0, "root"}, {"at", "ADP", 7, "case"},    {"the", "DET", 7, "det"},
      {"postman", "NOUN", 4, "obl"}, {"who", "PRON", 9, "nsubj"}, {"came", "VERB", 7, "acl:relcl"},
      {"late", "ADV", 9, "advmod"},  {".", "PUNCT", 4, "punct"},
  };
  EXPECT_EQ(drawing(words), R"(
     ┌─► The      DET    det
     ├─► old      ADJ    amod
 ┌───┴─► dog      NOUN   nsubj
─┼─────► barked   VERB   root
 │ ┌───► at       ADP    case
 │ ├───► the      DET    det
 ├─┼───► postman  NOUN   obl
 │ │ ┌─► who      PRON   nsubj
 │ └─┼─► came     VERB   acl:relcl
 │   └─► late     ADV    advmod
 └─────► .        PUNCT  punct
)");
}

// The line from "hearing" to "on" crosses that from "is" to "scheduled", and the one from there to "today"
// that to "on".
TEST(TreeDrawing, LinesThatCross) {
  const std::vector<Word> words = {
      {"A", "DT", 2, "det"},         {"hearing", "NN", 3, "nsubj"}, {"is", "VBZ", 0, "root"},
      {"scheduled", "VBN", 3, "vc"}, {"on", "IN", 2, "nmod"},       {"the", "DT", 7, "det"},
      {"issue", "NN", 5, "pmod"},    {"today", "NN", 4, "tmp"},
  };
  EXPECT_EQ(drawing(words), R"(
     ┌─────► A          DT   det
 ┌───┼─────► hearing    NN   nsubj
─┼───│─────► is         VBZ  root
 └─┬─│─────► scheduled  VBN  vc
   │ └─┬───► on         IN   nmod
   │   │ ┌─► the        DT   det
   │   └─┴─► issue      NN   pmod
   └───────► today      NN   tmp
)");
}

TEST(TreeDrawing, SeveralRoots) {
  EXPECT_EQ(drawing({{"a", "X", 2, "l"}, {"b", "X", 0, "r"}, {"c", "X", 0, "r"}, {"d", "X", 3, "l"}}), R"(
 ┌─► a  X  l
─┴─► b  X  r
─┬─► c  X  r
 └─► d  X  l
)");
}

TEST(TreeDrawing, OneWord) { EXPECT_EQ(drawing({{"Yes", "INTJ", 0, "root"}}), "\n─► Yes  INTJ  root\n"); }

TEST(TreeDrawing, WithoutRelations) {
  EXPECT_EQ(drawing({{"a", "DET", 2, ""}, {"bird", "NOUN", 0, ""}}, false), R"(
 ┌─► a     DET
─┴─► bird  NOUN
)");
}

// Letters with accents, also as characters of their own, and letters as wide as two.
TEST(TreeDrawing, WidthIsThatOfTheTerminal) {
  EXPECT_EQ(drawing({{"\xc3\xa9t\xc3\xa9", "N", 2, "x"},
                     {"e\xcc\x81t", "N", 0, "y"},
                     {"\xe6\x97\xa5\xe6\x9c\xac", "N", 2, "z"}}),
            "\n"
            " ┌─► \xc3\xa9t\xc3\xa9   N  x\n"
            "─┼─► e\xcc\x81t    N  y\n"
            " └─► \xe6\x97\xa5\xe6\x9c\xac  N  z\n");
}

TEST(TreeDrawing, LongWordsPushOnlyTheirOwnLine) {
  const std::string text = drawing({{std::string(30, 'x'), "N", 2, "a"}, {"b", "N", 0, "r"}});
  EXPECT_EQ(text, "\n ┌─► " + std::string(30, 'x') + "  N  a\n─┴─► b" + std::string(25, ' ') + "N  r\n");
}

}  // namespace
}  // namespace espalier
