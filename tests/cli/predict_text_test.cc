// `espalier predict --format text`: taggers and parsers on plain text.

#include "cli/cli_test.h"

namespace espalier::testing::predict_text_test {
namespace {

class PredictTextTest : public CliTest {
 protected:
  void SetUp() override {
    succeed("generate tag -n 80 --seed 1 -o train.txt");
    std::string pos, entities;
    for (const std::string& line : lines(read("train.txt"))) {
      const std::vector<std::string> fields = words(line);
      if (fields.empty()) {
        pos += '\n';
        entities += '\n';
        continue;
      }
      pos += fields[0] + '\t' + fields[1] + '\n';
      entities += fields[0] + '\t' + fields[2] + '\n';
    }
    write("pos.txt", pos);
    write("words.txt", entities);
    succeed("train tag pos.txt --quiet --gap 0.1 -o pos.esp");
    succeed("train tag words.txt --quiet --gap 0.1 -o words.esp");
  }
};

constexpr const char* kText = "Mr. Tremley flew to Paris. He\nlikes caf\u00e9s!\n\nThe end";

TEST_F(PredictTextTest, LinesAreThoseOfItsTokens) {
  write("in.txt", kText);
  write("columns.txt", "Mr.\nTremley\nflew\nto\nParis\n.\n\nHe\nlikes\ncaf\u00e9s\n!\n\nThe\nend\n");
  EXPECT_EQ(succeed("predict words.esp in.txt --format text --marginals"),
            succeed("predict words.esp columns.txt --marginals"));
  EXPECT_EQ(succeed("predict words.esp --format text --kbest 2", kText),
            succeed("predict words.esp columns.txt --kbest 2"));
  EXPECT_EQ(succeed("predict words.esp --format text", ""), "");
}

TEST_F(PredictTextTest, OffsetsAreCharactersOfTheFile) {
  const std::string text = kText;
  std::vector<Json> all;
  for (const std::string& line : lines(succeed("predict words.esp --format text --json", text)))
    all.push_back(Json::parse(line));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1]["tokens"].dump(), "[\"He\",\"likes\",\"caf\u00e9s\",\"!\"]");
  EXPECT_EQ(all[1]["offsets"].dump(), "[[27,29],[30,35],[36,41],[41,42]]");
  EXPECT_EQ(all[2]["offsets"].dump(), "[[44,47],[48,51]]");
  EXPECT_EQ(all[2]["labels"].size(), 2u);
}

TEST_F(PredictTextTest, ATaggerFillsAColumn) {
  succeed("train tag train.txt --quiet --gap 0.1 -o both.esp");
  write("in.txt", kText);
  const std::string tagged = succeed("predict pos.esp in.txt --format text");
  const std::string both = succeed("predict both.esp in.txt --format text --columns pos=pos.esp");
  EXPECT_EQ(both, succeed("predict both.esp", tagged));
  EXPECT_EQ(both, succeed("predict both.esp in.txt --format text --columns 2=pos.esp --threads 1"));
  EXPECT_EQ(
      error("predict both.esp in.txt --format text"),
      "espalier: --format: text for a model that looks at column 2 besides the words; expected a tagger that "
      "fills it: --columns pos=MODEL");
  EXPECT_EQ(error("predict both.esp in.txt --format text --columns lemma=pos.esp --columns pos=pos.esp"),
            "espalier: --columns: the column 'lemma'; expected a column that the model looks at: 2, pos");
  EXPECT_EQ(error("predict both.esp in.txt --format text --columns pos=both.esp"),
            "espalier: --columns pos: a tagger of 2 columns; expected one of at most 1: the word");
  EXPECT_EQ(error("predict words.esp in.txt --columns pos=pos.esp"),
            "espalier: --columns: given for input that has its columns; expected --format text");
  EXPECT_EQ(error("predict words.esp in.txt --format text --columns pos"),
            "espalier: --columns: 'pos'; expected NAME=MODEL, as pos=POS.esp");
  EXPECT_EQ(error("predict words.esp in.txt --format text --forced label"),
            "espalier: --forced: given for plain text; expected input with a column of labels");
  write("nul.txt", std::string_view("a\nb\0", 4));
  EXPECT_EQ(error("predict words.esp nul.txt --format text"),
            "espalier: nul.txt:2: a NUL byte; expected a text file, plain or compressed by gzip, zstd or xz");
}

// A template that does not look at a column needs nobody to fill it.
TEST_F(PredictTextTest, ColumnsThatNobodyLooksAt) {
  write("word.template", "U00:%x[0,0]\nB\n");
  succeed("train tag train.txt --template word.template --quiet --gap 0.1 -o word.esp");
  const std::string text = succeed("predict word.esp --format text", kText);
  EXPECT_TRUE(text.starts_with("Mr.\t_\t")) << text;
  EXPECT_EQ(text, succeed("predict word.esp",
                          "Mr.\t_\nTremley\t_\nflew\t_\nto\t_\nParis\t_\n.\t_\n\nHe\t_\nlikes\t_\n"
                          "caf\u00e9s\t_\n!\t_\n\nThe\t_\nend\t_\n"));
  write("both.template", "U00:%x[0,0]\nU01:%x[-1,1]\nB\n");
  succeed("train tag train.txt --template both.template --quiet --gap 0.1 -o both.esp");
  EXPECT_NE(error("predict both.esp --format text", kText).find("looks at column 2"), std::string::npos);
}

// Long text is read in stretches, which nobody sees.
TEST_F(PredictTextTest, LongText) {
  std::string text, columns;
  for (int i = 0; i < 9000; ++i) {
    text += "Mr. Tremley flew. ";
    columns += "Mr.\nTremley\nflew\n.\n\n";
  }
  write("long.txt", text);
  write("columns.txt", columns);
  EXPECT_EQ(succeed("predict words.esp long.txt --format text"), succeed("predict words.esp columns.txt"));
  const std::vector<std::string> all = lines(succeed("predict words.esp long.txt --format text --json"));
  ASSERT_EQ(all.size(), 9000u);
  EXPECT_EQ(Json::parse(all.back())["offsets"][0][0].get<std::size_t>(), 8999u * 18);
}

TEST_F(PredictTextTest, Parsers) {
  succeed("generate parse -n 60 --seed 1 -o train.conllu");
  succeed("train parse train.conllu --l2 10 --quiet --gap 0.1 -o parser.esp");
  write("in.txt", "He flew. She\nswam.");
  const std::string tree = succeed("predict parser.esp in.txt --format text --columns pos=pos.esp");
  EXPECT_TRUE(tree.starts_with("# text = He flew.\n1\tHe\t_\t")) << tree;
  EXPECT_NE(tree.find("\tTokenRange=3:7\n"), std::string::npos);
  EXPECT_NE(tree.find("\n# text = She swam.\n"), std::string::npos);
  EXPECT_EQ(succeed("predict parser.esp", tree), tree);
  const std::vector<std::string> json =
      lines(succeed("predict parser.esp in.txt --format text --json --columns pos=pos.esp"));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(Json::parse(json[1])["offsets"].dump(), "[[9,12],[13,17],[17,18]]");
  EXPECT_EQ(Json::parse(json[1])["heads"].size(), 3u);

  succeed("generate treebank -n 60 --seed 1 -o train.mrg");
  succeed("train treebank train.mrg --quiet --gap 0.5 -o phrases.esp");
  const std::string phrases = succeed("predict phrases.esp in.txt --format text --columns pos=pos.esp");
  EXPECT_EQ(lines(phrases).size(), 2u);
  EXPECT_NE(phrases.find("swam"), std::string::npos);
  EXPECT_EQ(error("predict phrases.esp in.txt --format text"),
            "espalier: --format: 'text' for a model that takes the tags of its input; expected brackets or "
            "tagged, a "
            "model trained with --tags predicted, or --format text with --columns pos=MODEL");
  EXPECT_EQ(error("predict phrases.esp in.txt --format text --columns lemma=pos.esp"),
            "espalier: --columns: the column 'lemma'; expected pos");
}

}  // namespace
}  // namespace espalier::testing::predict_text_test
