// The files that it reads and writes: how they are packed, what they hold, and what else they may hold.

#include "base/output.h"
#include "cli/cli_test.h"
#include "cli/idx_bytes.h"

namespace espalier::testing::format_test {
namespace {

class CliFormatTest : public CliTest {
 protected:
  void pack(const std::string& name, const std::string& contents) const {
    OutputFile file(folder_.path(name));
    file.write(contents);
    file.commit();
  }
  std::string raw(const std::string& name) const {
    std::ifstream file(folder_.path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void train(const std::string& arguments) const {
    succeed("train classify --quiet -o model.esp " + arguments);
  }
};

TEST_F(CliFormatTest, PackedFilesAreReadAndWritten) {
  train_model();
  const std::string plain = read("model.esp"), labels = succeed("predict model.esp test.txt");
  for (const std::string& suffix : {std::string(".gz"), std::string(".zst")}) {
    pack("train.txt" + suffix, read("train.txt"));
    pack("test.txt" + suffix, read("test.txt"));
    train("train.txt" + suffix + " --format crfsuite");
    EXPECT_TRUE(read("model.esp") == plain);
    EXPECT_EQ(succeed("predict model.esp test.txt" + suffix), labels);
    EXPECT_EQ(succeed("predict model.esp -", raw("test.txt" + suffix)), labels);
    EXPECT_EQ(json("eval model.esp --json test.txt" + suffix), json("eval model.esp --json test.txt"));
    succeed("predict model.esp test.txt -o labels.txt" + suffix);
    EXPECT_EQ(read("labels.txt" + suffix), labels);
  }
  EXPECT_EQ(raw("labels.txt.gz").substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(raw("labels.txt.zst").substr(0, 4), "\x28\xb5\x2f\xfd");
}

TEST_F(CliFormatTest, StandardInputAndOutput) {
  train_model();
  const std::string model = read("model.esp"), labels = succeed("predict model.esp test.txt");
  const Outcome piped = run_shell(
      "cat train.txt | $E train classify - --format crfsuite --quiet -o - > piped.esp && "
      "cat test.txt | $E predict piped.esp - -o - | cat");
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(piped.out, labels);
  EXPECT_TRUE(read("piped.esp") == model);
  EXPECT_EQ(succeed("predict model.esp", read("test.txt")), labels);
  EXPECT_EQ(succeed("eval model.esp -", read("test.txt")), succeed("eval model.esp test.txt"));
}

// Lines of attributes that happen to have equally many fields are no columns.
TEST_F(CliFormatTest, AttributesAreNotTakenForColumns) {
  const auto refused = [&](const std::string& text, const std::string& field,
                           const std::string& format = "crfsuite") {
    write("train.txt", text);
    EXPECT_EQ(error("train tag train.txt -o model.esp"),
              "espalier: train.txt:1: fields such as '" + field +
                  "', which look like attributes; expected --format " + format +
                  ", or --format columns if they are columns");
    EXPECT_FALSE(files().contains("model.esp"));
    succeed("train tag train.txt -o model.esp --quiet --format " + format);
    const Outcome columns = run("train tag train.txt -o model.esp --format columns");
    EXPECT_EQ(columns.status, 0) << columns.err;
    std::filesystem::remove(folder_.path("model.esp"));
  };
  refused("B\tw[0]=the\tpos[0]=DT\nI\tw[0]=dog\tpos[0]=NN\n\nO\tw[0]=barks\tpos[0]=VB\n", "w[0]=the");
  refused("B\tw=the|DT\nI\tw=dog|NN\n", "w=the|DT");
  refused("B\tthe:1\tDT:0.5\nI\tdog:1\tNN:1e-2\n", "the:1");
  refused("uw=the *t=DT B\nuw=dog *t=NN I\n", "uw=the", "wapiti");
  refused("u:the u:x=1 B\nu:dog u:x=2 I\n", "u:the", "wapiti");

  // Columns that only look a little like it.
  const auto taken = [&](const std::string& text, const std::string& arguments = "") {
    write("train.txt", text);
    EXPECT_TRUE(run("train tag train.txt -o model.esp" + arguments)
                    .err.starts_with("read train.txt: 1 sequence, 2 tokens, label in column "))
        << text;
  };
  taken("dogs\tCase=Nom|Number=Plur\nbark\t_\n");
  taken("dogs\tCase=Nom|Number=Plur\nbark\tTense=Pres|Number=Plur\n");
  taken("10:30\tCD\nw=1\tNN\n");
  taken("at\t10:30\tIN\nx\ty=1\tNN\n");
  taken("a\t=\nb\t:\n");
  taken("u:\tu:\nbe\tVB\n");
  // Who says where the label is means columns.
  taken("a\tw=1\tX\nb\tw=2\tY\n", " --label-column 3");
}

// Fields with spaces inside, which TABs separate: by detection where white space makes no columns, or by an
// option.
TEST_F(CliFormatTest, ColumnsSeparatedByTabs) {
  const std::string uneven = "New York\tNNP\tB-LOC\nis\tVBZ\tO\n\nold\tJJ\tO\n";
  const std::string even = "New York\tB-LOC\nLa Paz\tB-LOC\n\nParis\tB-LOC\nruns\tO\n";
  write("uneven.txt", uneven);
  write("even.txt", even);
  const Outcome detected = run("train tag uneven.txt -o model.esp");
  EXPECT_TRUE(
      detected.err.starts_with("read uneven.txt: 2 sequences, 3 tokens, label in column 3 of 3: 2 labels, "))
      << detected.err;
  EXPECT_EQ(succeed("predict model.esp uneven.txt"),
            "New York\tNNP\tB-LOC\tB-LOC\nis\tVBZ\tO\tO\n\nold\tJJ\tO\tO\n\n");
  EXPECT_EQ(succeed("predict model.esp", "New York\tNNP\n\n-DOCSTART-\t-X-\nold\tJJ\n"),
            "New York\tNNP\tB-LOC\n\n-DOCSTART-\t-X-\tO\nold\tJJ\tO\n\n");
  // Where TABs separate fields, a space belongs to one, also to the only one.
  succeed("train tag even.txt -o tabs.esp --quiet --separator tab");
  EXPECT_EQ(succeed("predict tabs.esp", "New York\nruns\n"), "New York\tB-LOC\nruns\tO\n\n");
  EXPECT_EQ(json("eval model.esp uneven.txt --json").at("accuracy"), 1.0);
  EXPECT_EQ(json("show model.esp --json").at("settings").at("separator"), "tab");
  EXPECT_EQ(error("predict model.esp", "New York\t\tO\n"),
            "espalier: standard input:1: nothing in column 2; expected a field between two TABs");
  EXPECT_EQ(
      error("train tag uneven.txt -o model.esp --separator space"),
      "espalier: uneven.txt:2: 3 columns; expected 4 as in line 1; attribute files need --format crfsuite, "
      "fields with spaces inside --separator tab");

  // As many words in each field of the first sequence: white space makes columns, unless somebody says
  // otherwise.
  EXPECT_EQ(
      error("train tag even.txt -o model.esp"),
      "espalier: even.txt:4: 2 columns; expected 3 as in line 1; attribute files need --format crfsuite, "
      "fields with spaces inside --separator tab");
  write("spaces.txt", "Paris\tB-LOC\nruns\tO\n\nNew York\tB-LOC\n");
  EXPECT_EQ(
      error("train tag spaces.txt -o model.esp"),
      "espalier: spaces.txt:4: 3 columns; expected 2 as in line 1; attribute files need --format crfsuite, "
      "fields with spaces inside --separator tab");
  succeed("train tag even.txt -o model.esp --quiet --separator tab");
  EXPECT_EQ(succeed("predict model.esp even.txt"),
            "New York\tB-LOC\tB-LOC\nLa Paz\tB-LOC\tB-LOC\n\nParis\tB-LOC\tB-LOC\nruns\tO\tO\n\n");
  EXPECT_EQ(error("train tag even.txt -o model.esp --separator tab --format crfsuite"),
            "espalier: --separator: given for --format crfsuite; expected --format columns");
}

TEST_F(CliFormatTest, IdxPair) {
  // A bright pixel on the left is a 3, on the right a 8.
  write("train-images", idx_images(2, 2, {255, 0, 200, 0, 0, 255, 0, 200, 250, 0, 0, 0, 0, 0, 0, 250}));
  write("train-labels", idx_labels({3, 8, 3, 8}));
  write("test-images", idx_images(2, 2, {0, 0, 0, 9, 99, 0, 0, 0}));
  write("test-labels", idx_labels({8, 8}));
  train("train-images,train-labels --dev test-images,test-labels");
  EXPECT_EQ(json("show model.esp --json").at("settings").at("format"), "idx");
  EXPECT_EQ(succeed("predict model.esp test-images"), "8\n3\n");
  EXPECT_EQ(succeed("predict model.esp test-images,test-labels"), "8\n3\n");
  EXPECT_EQ(json("eval model.esp test-images,test-labels --json").at("error"), 0.5);
  EXPECT_EQ(lines(succeed("show model.esp --weights")).size(), 4u * 2);

  pack("train-images.gz", read("train-images"));
  pack("train-labels.gz", read("train-labels"));
  const std::string model = read("model.esp");
  train("train-images.gz,train-labels.gz");
  EXPECT_TRUE(read("model.esp") == model);
}

TEST_F(CliFormatTest, DenseRowsAreSparseRowsWithoutIndices) {
  write("dense.svm", "1 0.5 0 2\n2 0 1 0\n1 1 0 0\n");
  write("sparse.svm", "1 1:0.5 3:2\n2 2:1\n1 1:1\n");
  train("sparse.svm");
  const std::string sparse = read("model.esp");
  train("dense.svm");
  EXPECT_TRUE(read("model.esp") == sparse);
  EXPECT_EQ(succeed("predict model.esp dense.svm"), succeed("predict model.esp sparse.svm"));
}

TEST_F(CliFormatTest, LabelsOfAnyName) {
  write("train.svm",
        "spam 1:1\nno-spam 2:1\n-1.5 3:1\ngr\xc3\xbc\xc3\x9f"
        "e 4:1\n+7 5:1\n");
  train("train.svm");
  EXPECT_EQ(succeed("predict model.esp -", "1:1\n2:1\n3:1\n4:1\n5:1\n"),
            "spam\nno-spam\n-1.5\ngr\xc3\xbc\xc3\x9f"
            "e\n7\n");
  EXPECT_EQ(json("eval model.esp train.svm --json").at("error"), 0);
}

TEST_F(CliFormatTest, NumbersAreOneLabelHoweverSpelt) {
  write("train.svm", "+1 1:1\n-1 2:1\n1.0 1:2\n-1 2:2\n01 1:3\n");
  train("train.svm");
  EXPECT_EQ(json("show model.esp --json").at("width"), 2);
  EXPECT_EQ(succeed("predict model.esp -", "1:1\n2:1\n"), "1\n-1\n");
}

TEST_F(CliFormatTest, Utf8LabelsAndAttributes) {
  write("train.txt",
        "m\xc3\xba"
        "sica\t\xe6\xad\x8c\xe6\x89\x8b\nd\xc3\xa9porte\t\xf0\x9f\x8f\x80:2\n");
  train("train.txt --format crfsuite");
  EXPECT_EQ(succeed("predict model.esp -", "\t\xf0\x9f\x8f\x80\n\t\xe6\xad\x8c\xe6\x89\x8b\n"),
            "d\xc3\xa9porte\nm\xc3\xba"
            "sica\n");
  EXPECT_NE(succeed("show model.esp").find("\xf0\x9f\x8f\x80"), std::string::npos);
  EXPECT_EQ(json("eval model.esp train.txt --json").at("labels"), (Json{"d\xc3\xa9porte",
                                                                        "m\xc3\xba"
                                                                        "sica"}));
}

// Latin-1 is no UTF-8, and no JSON either.
TEST_F(CliFormatTest, LabelsThatAreNoUtf8) {
  write("train.txt", "m\xfasica\tcanci\xf3n\nother\tx\n");
  train("train.txt --format crfsuite --dev train.txt --log run.jsonl");
  EXPECT_EQ(succeed("predict model.esp -", "\tcanci\xf3n\n"), "m\xfasica\n");
  const Json report = json("eval model.esp train.txt --json");
  EXPECT_EQ(report.at("error"), 0);
  EXPECT_EQ(report.at("labels"), (Json{"m\xef\xbf\xbdsica", "other"}));
  for (const std::string& line : lines(read("run.jsonl"))) EXPECT_NO_THROW(Json::parse(line)) << line;
}

TEST_F(CliFormatTest, LineEndsAndTheLastLine) {
  const std::string unix_lines = "a 1:1\nb 2:1\na 1:2\n";
  write("train.svm", unix_lines);
  train("train.svm");
  const std::string model = read("model.esp");
  for (const std::string variant : {"a 1:1\r\nb 2:1\r\na 1:2\r\n", "a 1:1\nb 2:1\na 1:2",
                                    "\xef\xbb\xbf"
                                    "a 1:1\nb 2:1\na 1:2\n",
                                    "a 1:1 \n\n# between\nb\t2:1 # behind\n  a 1:2\n"}) {
    write("variant.svm", variant);
    train("variant.svm");
    EXPECT_TRUE(read("model.esp") == model) << variant;
  }
  EXPECT_EQ(succeed("predict model.esp -", "1:1\r\n2:1"), "a\nb\n");
}

TEST_F(CliFormatTest, ALineOfTenMegabytes) {
  std::string line = "a";
  for (int index = 1; line.size() < 10'000'000; ++index) line += ' ' + std::to_string(index) + ":1";
  write("train.svm", line + "\nb 1:1\n");
  train("train.svm --gap 0.1 --l2 1e6");
  EXPECT_EQ(lines(succeed("predict model.esp train.svm")).size(), 2u);
}

TEST_F(CliFormatTest, FormatOverridesTheModelsOwn) {
  write("train.svm", "a 1:1\nb 2:1\n");
  train("train.svm");
  EXPECT_EQ(succeed("predict model.esp - --format crfsuite", "\t1\n\t2\n"), "a\nb\n");
}

TEST_F(CliFormatTest, AttributesUnseenInTrainingCountNothing) {
  write("train.svm", "a 1:1\nb 2:1\n");
  train("train.svm");
  EXPECT_EQ(succeed("predict model.esp - --kbest 2", "1:1\n1:1 77:5\n"),
            succeed("predict model.esp - --kbest 2", "1:1\n1:1\n"));
}

}  // namespace
}  // namespace espalier::testing::format_test
