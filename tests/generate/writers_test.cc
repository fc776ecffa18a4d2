#include "generate/writers.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

namespace espalier::writers_test {
namespace {

Sentence sample() {
  Sentence s;
  s.topic = "travel";
  s.words = {"The", "train", "to", "Upper", "Marlow", "left", "the", "a\\b", "at", "10:30", "."};
  s.tags = {"DT", "NN", "IN", "NNP", "NNP", "VBD", "DT", "NN", "IN", "CD", "."};
  s.entities = {"O", "O", "O", "B-LOC", "I-LOC", "O", "O", "O", "O", "O", "O"};
  s.heads = {2, 6, 5, 5, 2, 0, 8, 6, 10, 6, 6};
  s.relations = {"det", "nsubj", "case", "compound", "nmod", "root", "det", "obj", "case", "obl", "punct"};
  s.tree =
      "(S (NP (NP (DT The) (NN train)) (PP (IN to) (NP (NNP Upper) (NNP Marlow)))) (VP (VBD left) (NP (DT "
      "the) "
      "(NN a\\b)) (PP (IN at) (NP (CD 10:30)))) (. .))";
  return s;
}

TEST(Writers, Classify) {
  std::string out = "before\n";
  append_classify(sample(), out);
  EXPECT_EQ(out, "before\ntravel\tthe\ttrain\tto\tupper\tmarlow\tleft\ta\\\\b\tat\t10\\:30\t.\n");
}

TEST(Writers, Text) {
  std::string out = "before\n";
  append_text(sample(), out);
  EXPECT_EQ(out, "before\ntravel\tThe train to Upper Marlow left the a\\b at 10:30.\n");
}

TEST(Writers, Tag) {
  std::string out = "before\n";
  append_tag(sample(), out);
  EXPECT_EQ(
      out,
      "before\nThe\tDT\tO\ntrain\tNN\tO\nto\tIN\tO\nUpper\tNNP\tB-LOC\nMarlow\tNNP\tI-LOC\nleft\tVBD\tO\n"
      "the\tDT\tO\na\\b\tNN\tO\nat\tIN\tO\n10:30\tCD\tO\n.\t.\tO\n\n");
}

TEST(Writers, Supertag) {
  std::string out = "before\n";
  append_supertag(sample(), out);
  EXPECT_EQ(out,
            "before\nThe\tDT/det>NN\ntrain\tNN/nsubj>VBD\nto\tIN/case>NNP\nUpper\tNNP/compound>NNP\n"
            "Marlow\tNNP/nmod<NN\nleft\tVBD/root\nthe\tDT/det>NN\na\\b\tNN/obj<VBD\nat\tIN/case>CD\n"
            "10:30\tCD/obl<VBD\n.\t./punct<VBD\n\n");
}

TEST(Writers, Parse) {
  std::string out = "before\n";
  append_parse(sample(), out);
  EXPECT_EQ(out,
            "before\n"
            "1\tThe\t_\tDET\tDT\t_\t2\tdet\t_\t_\n"
            "2\ttrain\t_\tNOUN\tNN\t_\t6\tnsubj\t_\t_\n"
            "3\tto\t_\tADP\tIN\t_\t5\tcase\t_\t_\n"
            "4\tUpper\t_\tPROPN\tNNP\t_\t5\tcompound\t_\t_\n"
            "5\tMarlow\t_\tPROPN\tNNP\t_\t2\tnmod\t_\t_\n"
            "6\tleft\t_\tVERB\tVBD\t_\t0\troot\t_\t_\n"
            "7\tthe\t_\tDET\tDT\t_\t8\tdet\t_\t_\n"
            "8\ta\\b\t_\tNOUN\tNN\t_\t6\tobj\t_\t_\n"
            "9\tat\t_\tADP\tIN\t_\t10\tcase\t_\t_\n"
            "10\t10:30\t_\tNUM\tCD\t_\t6\tobl\t_\t_\n"
            "11\t.\t_\tPUNCT\t.\t_\t6\tpunct\t_\t_\n\n");
}

TEST(Writers, Treebank) {
  std::string out = "before\n";
  append_treebank(sample(), out);
  EXPECT_EQ(out, "before\n" + sample().tree + "\n");
}

TEST(Writers, HundredsOfSupertags) {
  SentenceGenerator generator(1);
  Sentence sentence;
  std::string out;
  for (int i = 0; i < 3700; ++i) {
    generator.next(sentence);
    append_supertag(sentence, out);
  }
  std::set<std::string> supertags;
  std::size_t tokens = 0;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    supertags.insert(line.substr(line.find('\t') + 1));
    ++tokens;
  }
  EXPECT_GT(supertags.size(), 300u);
  EXPECT_GT(tokens, 50000u);
}

TEST(Writers, EveryTagHasAUniversalOne) {
  SentenceGenerator generator(1);
  Sentence sentence;
  std::string out;
  for (int i = 0; i < 2000; ++i) {
    generator.next(sentence);
    append_parse(sentence, out);
  }
  EXPECT_EQ(out.find("\tX\t"), std::string::npos);
}

}  // namespace
}  // namespace espalier::writers_test
