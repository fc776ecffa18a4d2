// Training data in several files.

#include "cli/cli_test.h"

namespace espalier::testing::several_files_test {
namespace {

using CliSeveralFilesTest = CliTest;

TEST_F(CliSeveralFilesTest, AreOneAfterTheOther) {
  const std::string options = " --gap 0.1 --passes 3 --quiet -o ";
  for (const auto& [task, format] : {std::pair<std::string, std::string>{"tag", ""},
                                     {"classify", " --format crfsuite"},
                                     {"parse", " --unlabelled --hash-bits 12"},
                                     {"treebank", ""},
                                     {"graph", ""},
                                     {"align", ""}}) {
    SCOPED_TRACE(task);
    succeed("generate " + task + " -n 20 --seed 1 -o a.txt");
    succeed("generate " + task + " -n 10 --seed 2 -o b.txt");
    run_shell("cat a.txt b.txt > all.txt; gzip -kf b.txt");
    succeed("train " + task + " all.txt" + format + options + "one.esp");
    const std::string expected = read("one.esp");
    for (const std::string threads : {"1", "2"}) {
      succeed("train " + task + " a.txt b.txt.gz" + format + options + "two.esp --threads " + threads);
      if (threads == "2") succeed("train " + task + " all.txt" + format + options + "one.esp --threads 2");
      EXPECT_TRUE(read("two.esp") == read("one.esp")) << threads;
    }
    // The first examples are those of both.
    succeed("train " + task + " all.txt --first 25" + format + options + "one.esp");
    succeed("train " + task + " a.txt b.txt --first 25" + format + options + "two.esp");
    EXPECT_TRUE(read("two.esp") == read("one.esp"));
  }
}

TEST_F(CliSeveralFilesTest, EndTheirLastExample) {
  write("a.txt", "Anna NNP B-PER\nsings VBZ O");
  write("b.txt", "Bert NNP B-PER\n");
  const Outcome outcome = run("train tag a.txt b.txt -o model.esp");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(lines(outcome.err).front().starts_with("read a.txt and 1 more: 2 sequences, 3 tokens"))
      << outcome.err;
}

TEST_F(CliSeveralFilesTest, MessagesNameTheRightOne) {
  write("a.txt", "Anna NNP B-PER\nsings VBZ O\n\n");
  write("b.txt", "\nBert NNP B-PER\n\nruns O\n");
  write("c.txt", "1 0.5 2\n");
  write("d.txt", "2 1 1\n1 1 1 1\n");
  write("tree.conllu", "1\ta\t_\t_\t_\t_\t0\troot\n\n");
  write("bad.conllu", "\n1\ta\t_\t_\t_\t_\t1\troot\n\n");
  for (const std::string threads : {"1", "2"}) {
    const std::string options = " -o model.esp --threads " + threads;
    EXPECT_EQ(error("train tag a.txt b.txt" + options),
              "espalier: b.txt:4: 2 columns; expected 3 as in line 1 of a.txt");
    EXPECT_EQ(error("train tag a.txt b.txt --valid bio --transitions none.txt" + options),
              "espalier: b.txt:4: 2 columns; expected 3 as in line 1 of a.txt");
    EXPECT_EQ(error("train classify c.txt d.txt" + options),
              "espalier: d.txt:2: 3 values; expected 2 as in line 1 of c.txt");
    EXPECT_TRUE(
        error("train parse tree.conllu bad.conllu" + options).starts_with("espalier: bad.conllu:2: "));
    EXPECT_TRUE(
        error("train tag a.txt missing.txt" + options).starts_with("espalier: missing.txt: cannot open: "));
  }
  write("b.txt", "Bert NNP B-PER\n\nCarl NNP I-PER\n");
  EXPECT_EQ(
      error("train tag a.txt b.txt --valid bio -o model.esp"),
      "espalier: b.txt:3: the label 'I-PER' at the beginning of a sequence; --valid bio does not allow it; "
      "--invalid drop leaves such sequences out");
  write("c.txt", "a X\n\n");
  EXPECT_EQ(error("train tag c.txt c.txt c.txt -o model.esp"),
            "espalier: c.txt and 2 more: only the label 'X'; expected at least two labels");
  EXPECT_EQ(
      error("train classify a.idx,b.idx c.idx,d.idx --format idx -o model.esp"),
      "espalier: c.idx,d.idx: given beside a.idx,b.idx; expected one IMAGES,LABELS, as --format idx has it");
}

// A model is not written over any of them.
TEST_F(CliSeveralFilesTest, AreNotWrittenOver) {
  succeed("generate tag -n 20 -o a.txt");
  succeed("generate tag -n 20 -o b.txt");
  EXPECT_EQ(
      error("train tag a.txt b.txt -o b.txt"),
      "espalier: b.txt: is both the output (-o) and the training data; expected another file for the output");
}

}  // namespace
}  // namespace espalier::testing::several_files_test
