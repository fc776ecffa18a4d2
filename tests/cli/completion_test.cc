// The completions, in the shells that they are for.

#include <set>

#include "cli/cli_test.h"

namespace espalier::testing::completion_test {
namespace {

class CompletionTest : public CliTest {
 protected:
  void SetUp() override {
    const Outcome outcome = run_program({ESPALIER_PROGRAM "_pages", folder_.path("pages"), "2026-11-18"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    write("train.txt", "");
    write("tagger.esp", "");
  }
  static bool has(const char* shell) {
    return run_program({"/bin/sh", "-c", std::string("command -v ") + shell}).status == 0;
  }
  // What bash offers where the line ends, as it is asked by readline: in the words that the line has.
  std::vector<std::string> bash(const std::string& line) const {
    const std::string script =
        "source pages/bash/espalier\n"
        "COMP_WORDBREAKS=$' \\t\\n=:'\n"
        "read -ra COMP_WORDS <<< \"${1//=/ = }\"\n"
        "[[ $1 == *' ' ]] && COMP_WORDS+=('')\n"
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
        "_espalier\n"
        "((${#COMPREPLY[@]})) && printf '%s\\n' \"${COMPREPLY[@]}\"; true\n";
    const Outcome outcome = run_program({"bash", "--norc", "-c", script, "bash", line}, here());
    EXPECT_EQ(outcome.status, 0) << line;
    EXPECT_EQ(outcome.err, "") << line;
    return lines(outcome.out);
  }
  // Names of files come in the order that the folder has them.
  std::set<std::string> bash_files(const std::string& line) const {
    const std::vector<std::string> names = bash(line);
    return {names.begin(), names.end()};
  }
  // What zsh offers at the ends of lines: its own completion runs in a terminal, and compadd tells what it is
  // given.
  std::vector<std::vector<std::string>> zsh(const std::vector<std::string>& asked) const {
    const std::string script =
        "zmodload zsh/zpty\n"
        "wait_for () { repeat 400 { [[ -e $1 ]] && break; zpty -rt shell ignored; sleep 0.02 } }\n"
        "zpty shell 'TERM=vt100 zsh -f -i'\n"
        "zpty -w shell \"PROMPT=; fpath=($PWD/pages/zsh \\$fpath); autoload -Uz compinit; compinit -u -D\"\n"
        "zpty -w shell 'compadd () { local -a found; builtin compadd -O found \"$@\"; "
        "(( $#found )) && print -rl -- $found >> offered; builtin compadd \"$@\" }'\n"
        "zpty -w shell 'LISTMAX=10000; touch ready'\n"
        "wait_for ready\n"
        "for line; do\n"
        "  zpty -n -w shell \"$line\"$'\\t'\n"
        "  wait_for offered\n"
        "  zpty -n -w shell $'\\C-u touch done\\n'\n"
        "  wait_for done\n"
        "  [[ -e offered ]] && sort -u offered\n"
        "  print -- --\n"
        "  rm -f offered done\n"
        "done\n"
        "zpty -d shell\n";
    std::vector<std::string> command{"zsh", "-f", "-c", script, "zsh"};
    command.insert(command.end(), asked.begin(), asked.end());
    std::vector<std::vector<std::string>> offered(1);
    for (const std::string& line : lines(run_program(command, here()).out)) {
      if (line == "--") {
        offered.emplace_back();
      } else {
        offered.back().push_back(line);
      }
    }
    offered.pop_back();
    return offered;
  }

  using Words = std::vector<std::string>;
};

TEST_F(CompletionTest, BashOffersCommandsAndTasks) {
  EXPECT_EQ(bash("espalier "),
            (Words{"train", "predict", "eval", "path", "cross-validate", "race", "show", "report", "serve",
                   "verify", "convert", "attributes", "infer", "demo", "generate", "help"}));
  EXPECT_EQ(bash("espalier tr"), Words{"train"});
  EXPECT_EQ(bash("espalier train t"), (Words{"tag", "treebank"}));
  EXPECT_EQ(bash("espalier help cross-validate cl"), Words{"classify"});
  EXPECT_EQ(bash("espalier help p"), (Words{"predict", "path"}));
  EXPECT_EQ(bash("espalier generate s"), Words{"supertag"});
  EXPECT_EQ(bash("espalier demo g"), Words{"graph"});
  EXPECT_EQ(bash("espalier generate -n 10 tr"), Words{"treebank"});
  EXPECT_EQ(bash("espalier generate tag "), Words{}) << "nothing follows the task";
}

TEST_F(CompletionTest, BashOffersOptions) {
  EXPECT_EQ(bash("espalier train tag --sol"), Words{"--solver"});
  EXPECT_EQ(bash("espalier train tag train.txt --l2"), (Words{"--l2", "--l2-max", "--l2-min"}));
  EXPECT_EQ(bash("espalier race parse --sol"), Words{"--solvers"});
  EXPECT_EQ(bash("espalier predict --marginals --kb"), Words{"--kbest"});
  EXPECT_EQ(bash("espalier train --he"), (Words{"--help", "--help-all"}));
  EXPECT_EQ(bash("espalier --v"), Words{"--version"});
  EXPECT_EQ(bash("espalier train classify --template"), Words{}) << "of another task";
}

TEST_F(CompletionTest, BashOffersWordsAndFiles) {
  EXPECT_EQ(bash("espalier train tag --solver sm"), Words{"smo"});
  EXPECT_EQ(bash("espalier train tag --solver=sm"), Words{"smo"});
  EXPECT_EQ(bash("espalier train tag --solver smo,eg"), (Words{"smo,eg", "smo,eg-batch"}));
  EXPECT_EQ(bash("espalier race tag --solvers=eg,lb"), Words{"eg,lbfgs"});
  EXPECT_EQ(bash("espalier train tag --loss "),
            (Words{"crf", "svm", "softmax-margin", "perceptron", "ramp", "risk"}));
  EXPECT_EQ(bash("espalier train tag --loss="),
            (Words{"crf", "svm", "softmax-margin", "perceptron", "ramp", "risk"}));
  EXPECT_EQ(bash("espalier train tag --l2 "), Words{"auto"});
  EXPECT_EQ(bash("espalier train tag --passes "), Words{});
  EXPECT_EQ(bash("espalier train tag --format c"), (Words{"columns", "crfsuite"}));
  EXPECT_EQ(bash("espalier train classify --format c"), Words{"crfsuite"});
  EXPECT_EQ(bash("espalier infer x.uai --task M"), (Words{"MAR", "MPE"}));
  EXPECT_EQ(bash_files("espalier train tag t"), (std::set<std::string>{"tagger.esp", "train.txt"}));
  EXPECT_EQ(bash("espalier train tag train.txt tr"), Words{"train.txt"}) << "one of several files";
  EXPECT_EQ(bash("espalier train tag --dev tr"), Words{"train.txt"});
  EXPECT_EQ(bash_files("espalier predict tagger.esp --threads 2 -o t"),
            (std::set<std::string>{"tagger.esp", "train.txt"}));
  EXPECT_EQ(bash("espalier predict tagger.esp train.txt "), Words{}) << "no third file";
}

// Whatever is offered for an option is right.
TEST_F(CompletionTest, WordsAreTaken) {
  for (const std::string& loss : bash("espalier train tag --loss ")) {
    EXPECT_EQ(error("train tag none.txt -o m.esp --loss " + loss).find("--loss"), std::string::npos) << loss;
  }
  for (const std::string& solver : bash("espalier train tag --solver ")) {
    EXPECT_EQ(error("train tag none.txt -o m.esp --solver " + solver).find("unknown"), std::string::npos);
  }
}

TEST_F(CompletionTest, Zsh) {
  if (!has("zsh")) GTEST_SKIP() << "no zsh";
  EXPECT_EQ(zsh({"espalier train t", "espalier train tag --sol", "espalier train tag --solver sm",
                 "espalier train tag --solver smo,sd", "espalier train tag --format=c",
                 "espalier generate -n 10 tr", "espalier help cross-validate cl",
                 "espalier predict tagger.esp tr"}),
            (std::vector<Words>{{"tag", "treebank"},
                                {"--solver"},
                                {"smo"},
                                {"sdca"},
                                {"columns", "crfsuite"},
                                {"treebank"},
                                {"classify"},
                                {"train.txt"}}));
}

}  // namespace
}  // namespace espalier::testing::completion_test
