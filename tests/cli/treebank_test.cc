// Phrase structure, from trees in brackets to trees in brackets.

#include <algorithm>
#include <cctype>
#include <cmath>

#include "cli/cli_test.h"

namespace espalier::testing::treebank_test {
namespace {

class CliTreebankTest : public CliTest {
 protected:
  static constexpr const char* kTrain = "train treebank train.mrg --hash-bits 10 --gap 1e-2 ";

  void SetUp() override {
    succeed("generate treebank -n 60 --seed 1 -o train.mrg");
    succeed("generate treebank -n 20 --seed 2 -o dev.mrg");
  }
  void train(const std::string& model, const std::string& options = "") const {
    succeed(kTrain + ("--quiet -o " + model + " " + options));
  }
  // A tree without its brackets: "the_DT rain_NN".
  static std::string tagged(const std::string& tree) {
    std::string text;
    const auto tokens = words(tree);
    for (std::size_t k = 1; k < tokens.size(); ++k) {
      if (!tokens[k].ends_with(')')) continue;
      text += (text.empty() ? "" : " ") + tokens[k].substr(0, tokens[k].find(')')) + "_" +
              tokens[k - 1].substr(1);
    }
    return text;
  }
};

TEST_F(CliTreebankTest, TrainsEvaluatesAndPredicts) {
  const Outcome outcome = run(kTrain + std::string("--dev dev.mrg -o model.esp --log run.jsonl"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const std::vector<std::string> shown = lines(outcome.err);
  EXPECT_EQ(shown.at(0), "pruning with a coarse grammar");
  EXPECT_TRUE(shown.at(1).starts_with("pruned in ") && shown.at(1).ends_with(" s")) << shown.at(1);
  EXPECT_TRUE(shown.at(2).starts_with("read train.mrg: 60 trees, ")) << shown.at(2);
  EXPECT_NE(shown.at(3).find("  dev F1 "), std::string::npos);
  EXPECT_TRUE(shown.back().starts_with("converged: relative gap ")) << shown.back();
  EXPECT_LE(json("show model.esp --json").at("certificate").at("relative_gap").get<double>(), 1e-2);

  const std::string predicted = succeed("predict model.esp dev.mrg");
  const auto gold = lines(read("dev.mrg")), found = lines(predicted);
  ASSERT_EQ(found.size(), gold.size());
  std::size_t exact = 0;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    EXPECT_EQ(tagged(found[i]), tagged(gold[i]));
    exact += found[i] == gold[i] ? 1 : 0;
  }
  const Json rates = json("eval model.esp dev.mrg --json");
  EXPECT_EQ(rates.at("exact_sentences"), exact);
  EXPECT_EQ(rates.at("sentences"), gold.size());
  EXPECT_EQ(rates.at("tagging"), 1);
  EXPECT_GT(rates.at("f1").get<double>(), 0.75);
  EXPECT_LT(rates.at("f1").get<double>(), 1);
  // A parse of its own output is all right.
  write("predicted.mrg", predicted);
  EXPECT_EQ(json("eval model.esp predicted.mrg --json").at("f1"), 1);

  const std::vector<std::string> log = lines(read("run.jsonl"));
  const Json start = Json::parse(log.front());
  EXPECT_EQ(start.at("task"), "treebank");
  EXPECT_EQ(start.at("binarise"), "head");
  EXPECT_EQ(start.at("hash_bits"), 10);
  EXPECT_EQ(Json::parse(log.at(log.size() - 2)).at("dev").at("f1"), rates.at("f1"));
}

TEST_F(CliTreebankTest, TheSameSeedGivesTheSameBytes) {
  train("one.esp");
  train("two.esp");
  EXPECT_TRUE(read("one.esp") == read("two.esp"));
  train("other.esp", "--seed 2");
  EXPECT_FALSE(read("one.esp") == read("other.esp"));
}

TEST_F(CliTreebankTest, ThreadsGiveTheSameBytes) {
  train("model.esp");
  for (const std::string options : {"", " --kbest 3"}) {
    EXPECT_EQ(succeed("predict model.esp train.mrg --threads 3" + options),
              succeed("predict model.esp train.mrg" + options));
  }
  EXPECT_EQ(succeed("eval model.esp train.mrg --threads 3"), succeed("eval model.esp train.mrg"));
}

TEST_F(CliTreebankTest, ReadsTaggedWords) {
  train("model.esp");
  std::string text;
  for (const std::string& tree : lines(read("dev.mrg"))) text += tagged(tree) + '\n';
  EXPECT_EQ(succeed("predict model.esp --format tagged", text), succeed("predict model.esp dev.mrg"));
  EXPECT_EQ(error("predict model.esp --format words", "rain"),
            "espalier: --format: 'words' for a model that takes the tags of its input; expected brackets or "
            "tagged, a model trained with --tags predicted, or --format text with --columns pos=MODEL");
  EXPECT_EQ(error("predict model.esp --format tagged", "rain_NN\nfell"),
            "espalier: standard input:2: 'fell' without a tag; expected WORD_TAG");
  EXPECT_EQ(error("eval model.esp dev.mrg --format tagged"),
            "espalier: --format: 'tagged'; expected brackets: without trees there is no gold");
}

TEST_F(CliTreebankTest, PredictsTags) {
  train("model.esp", "--tags predicted");
  const Json rates = json("eval model.esp dev.mrg --json");
  EXPECT_GT(rates.at("tagging").get<double>(), 0.8);
  EXPECT_LT(rates.at("tagging").get<double>(), 1);
  EXPECT_GT(rates.at("f1").get<double>(), 0.5);
  // Tags of the input are not looked at.
  std::string text;
  for (const std::string& tree : lines(read("dev.mrg"))) {
    for (const std::string& word : words(tagged(tree))) text += word.substr(0, word.find('_')) + ' ';
    text += '\n';
  }
  EXPECT_EQ(succeed("predict model.esp --format words", text), succeed("predict model.esp dev.mrg"));
  EXPECT_TRUE(succeed("predict model.esp --format words", "Zyzzyva zyzzyvas !").starts_with("("));
}

// At once, and not when a gigabyte is full of them.
TEST_F(CliTreebankTest, RefusesMoreTreesThanMemoryHolds) {
  train("model.esp");
  std::string tree = "(NP (DT the) (NN dog))";
  for (int k = 0; k < 20; ++k) tree = "(NP " + tree + " (PP (IN in) (NP (DT the) (NN park))))";
  EXPECT_EQ(error("predict model.esp --kbest 99999999", "(S " + tree + " (VP (VBD slept)))\n"),
            "espalier: --kbest: that many outputs take more than 1 GiB of memory; expected a smaller number");
}

// Wherever no tree is in the grammar, the words stand side by side.
TEST_F(CliTreebankTest, ParsesWhatIsNotInTheGrammar) {
  train("model.esp");
  const std::string odd = "(S (. .) (. .) (. .) (MD may))\n";
  EXPECT_EQ(succeed("predict model.esp", odd), odd);
  EXPECT_EQ(succeed("predict model.esp --kbest 2", odd), "# 0 1.000000\n" + odd);
  write("odd.mrg", odd);
  EXPECT_EQ(json("eval model.esp odd.mrg --json").at("unparsed"), 1);
  EXPECT_NE(succeed("eval model.esp odd.mrg").find("not in the grammar                   1\n"),
            std::string::npos);
  // A tag that training did not have stays as it is.
  const std::string parsed = succeed("predict model.esp --format tagged", "The_DT rain_NEW fell_VBD ._.\n");
  EXPECT_NE(parsed.find("(NEW rain)"), std::string::npos) << parsed;
}

// A sentence of the words of all trees of a file.
std::string all_words(const std::vector<std::string>& tagged_trees) {
  std::string text;
  for (const std::string& tree : tagged_trees) text += tree + ' ';
  return text + '\n';
}

TEST_F(CliTreebankTest, LeavesLongSentencesOut) {
  const auto trees = lines(read("train.mrg"));
  std::size_t long_ones = 0;
  std::string kept;
  for (const std::string& tree : trees) {
    const bool fits = words(tagged(tree)).size() <= 12;
    long_ones += fits ? 0 : 1;
    if (fits) kept += tree + '\n';
  }
  ASSERT_GT(long_ones, 1u);
  write("kept.mrg", kept);
  const std::string left_out = "; " + std::to_string(long_ones) + " sentences of more than 12 words left out";
  const auto read_line = [&](const std::string& command) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    for (const std::string& line : lines(outcome.err)) {
      if (line.starts_with("read train.mrg: ")) return line;
    }
    return outcome.err;
  };
  const std::string line = read_line(kTrain + std::string("--longest 12 -o model.esp"));
  EXPECT_TRUE(line.starts_with("read train.mrg: " + std::to_string(trees.size() - long_ones) + " trees, "))
      << line;
  EXPECT_TRUE(line.ends_with(left_out)) << line;
  EXPECT_TRUE(read_line("cross-validate treebank train.mrg --longest 12 --folds 2 --features rules "
                        "--l2-max 10 --l2-min 10 --gap 0.1")
                  .ends_with(left_out));
  // What is left is all that training sees.
  succeed("train treebank kept.mrg --longest 12 --hash-bits 10 --gap 1e-2 --quiet -o same.esp");
  EXPECT_TRUE(read("model.esp") == read("same.esp"));
  EXPECT_EQ(json("show model.esp --json").at("settings").at("longest"), 12);
  // The first N count whether they are left out or not; one sentence that is too long is said as such.
  const std::string one = "(S (NN rain) (VBD fell))\n(S (NN snow) (CC and) (NN hail) (VBD fell))\n";
  write("two.mrg", one);
  EXPECT_NE(run("train treebank two.mrg --hash-bits 8 --longest 3 -o two.esp")
                .err.find("; 1 sentence of more than 3 words left out\n"),
            std::string::npos);
  EXPECT_EQ(run("train treebank two.mrg --hash-bits 8 --longest 3 --first 1 -o two.esp").err.find("left out"),
            std::string::npos);
  EXPECT_EQ(error("train treebank two.mrg --longest 1 -o none.esp"),
            "espalier: two.mrg: no sentences of at most 1 word; expected some");
  // By default a corpus with one such sentence trains, too.
  std::string longest = "(S";
  for (int k = 0; k < 2000; ++k) longest += " (NN rain)";
  write("long.mrg", one + longest + ")\n");
  EXPECT_NE(run("train treebank long.mrg --hash-bits 8 -o long.esp").err.find("; 1 sentence of more than "),
            std::string::npos);
}

TEST_F(CliTreebankTest, ParsesLongSentencesInPieces) {
  train("model.esp", "--longest 10");
  const auto trees = lines(read("dev.mrg"));
  // Each piece has a tree of its own, below one phrase.
  std::vector<std::string> pieces;
  std::size_t size = 0;
  for (const std::string& tree : trees) {
    const auto of_tree = words(tagged(tree));
    // With its full stop alone to end a piece at.
    const auto marks = std::count_if(of_tree.begin(), of_tree.end(), [](const std::string& word) {
      return std::isalnum(static_cast<unsigned char>(word.front())) == 0;
    });
    if (of_tree.size() > 10 || of_tree.size() <= 5 || marks != 1 || pieces.size() == 3) continue;
    pieces.push_back(tagged(tree));
    size += words(tagged(tree)).size();
  }
  ASSERT_EQ(pieces.size(), 3u);
  std::string expected = "(S";
  for (const std::string& piece : pieces) {
    ASSERT_TRUE(piece.ends_with("._.")) << piece;
    const std::string tree = succeed("predict model.esp --format tagged", piece);
    expected += ' ' + tree.substr(0, tree.size() - 1);
  }
  const std::string all = all_words(pieces), found = succeed("predict model.esp --format tagged", all);
  EXPECT_EQ(words(tagged(found)).size(), size);
  EXPECT_EQ(found, expected + ")\n");
  const std::string best = succeed("predict model.esp --format tagged --kbest 5", all);
  EXPECT_EQ(lines(best).size(), 2u);
  EXPECT_EQ(lines(best).at(1) + '\n', found);
  const double p = std::stod(words(lines(best).at(0)).at(2));
  EXPECT_GT(p, 0);
  EXPECT_LE(p, 1);
  // It counts like any other: all that it gets right.
  write("long.mrg", found);
  EXPECT_EQ(json("eval model.esp long.mrg --json").at("f1"), 1);
  EXPECT_EQ(json("eval model.esp long.mrg --json").at("in_pieces"), 1);
  EXPECT_NE(succeed("eval model.esp long.mrg").find("parsed in pieces                     1\n"),
            std::string::npos);
  EXPECT_EQ(json("eval model.esp dev.mrg --json").at("in_pieces"),
            std::count_if(trees.begin(), trees.end(),
                          [](const std::string& tree) { return words(tagged(tree)).size() > 10; }));
}

TEST_F(CliTreebankTest, ParsesSentencesOfAnyLength) {
  train("model.esp");
  std::string text;
  for (std::size_t size = 0; size < 2000;) {
    for (const std::string& tree : lines(read("dev.mrg"))) {
      text += tagged(tree) + ' ';
      size += words(tagged(tree)).size();
    }
  }
  const std::size_t size = words(text).size();
  EXPECT_EQ(words(tagged(succeed("predict model.esp --format tagged", text + '\n'))).size(), size);
}

TEST_F(CliTreebankTest, TheBestTrees) {
  train("model.esp", "--prune-below 1e-6");
  std::size_t several = 0;
  for (const std::string& gold : lines(read("dev.mrg"))) {
    double before = 1, sum = 0;
    std::vector<std::string> trees;
    for (const std::string& line : lines(succeed("predict model.esp --kbest 3", gold))) {
      if (!line.starts_with("# ")) {
        trees.push_back(line);
        continue;
      }
      EXPECT_EQ(words(line).at(1), std::to_string(trees.size()));
      const double p = std::stod(words(line).at(2));
      EXPECT_LE(p, before);
      sum += p;
      before = p;
    }
    ASSERT_GE(trees.size(), 1u);
    ASSERT_LE(trees.size(), 3u);
    EXPECT_LE(sum, 1 + 1e-5);
    EXPECT_EQ(trees[0] + '\n', succeed("predict model.esp", gold));
    if (trees.size() == 1) {
      EXPECT_NEAR(sum, 1, 1e-5);
      continue;
    }
    ++several;
    EXPECT_NE(trees[0], trees[1]);
  }
  EXPECT_GE(several, 5u);
  train("margin.esp", "--loss svm --l2 100");
  EXPECT_TRUE(succeed("predict margin.esp dev.mrg --kbest 2").starts_with("# 0 "));
}

TEST_F(CliTreebankTest, Shapes) {
  write("train.mrg",
        "((S (NP-SBJ (NP (NN rain)) (, ,) (NP (NN snow)) (, ,) (NP (NN hail))) (VP (VBD fell) (NP (-NONE- "
        "*)))))\n"
        "((S (NP-SBJ (PRP it)) (VP (VBD rained))))\n");
  const auto rules = [&](const std::string& options) {
    // Without spans there is nothing to hash.
    const std::string bits = options.find("--features rules") == std::string::npos ? "--hash-bits 8 " : "";
    succeed("train treebank train.mrg --quiet -o model.esp " + bits + options);
    std::vector<std::string> names;
    for (const std::string& line : lines(succeed("show model.esp --weights"))) {
      if (!line.starts_with("span ")) names.push_back(line.substr(0, line.find('\t')));
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  using Rules = std::vector<std::string>;
  const auto has = [](const Rules& all, const char* rule) {
    return std::find(all.begin(), all.end(), rule) != all.end();
  };
  EXPECT_TRUE(has(rules("--horizontal 1"), "NP -> [NP >NP |> ,] NP"));
  EXPECT_TRUE(has(rules("--horizontal 0"), "NP -> [NP >NP |> ] NP"));
  EXPECT_TRUE(has(rules("--binarise right --horizontal 1"), "[NP |NP] -> , NP"));
  EXPECT_TRUE(has(rules("--vertical 2"), "[NP ^S] -> PRP"));
  EXPECT_TRUE(has(rules("--keep-functions"), "NP-SBJ -> PRP"));
  EXPECT_TRUE(has(rules("--keep-traces"), "NP -> -NONE-"));
  EXPECT_EQ(succeed("predict model.esp train.mrg"),
            "(TOP (S (NP (NP (NN rain)) (, ,) (NP (NN snow)) (, ,) (NP (NN hail))) (VP (VBD fell) (NP "
            "(-NONE- *)))))\n"
            "(TOP (S (NP (PRP it)) (VP (VBD rained))))\n");
  EXPECT_TRUE(has(rules("--features rules --unaries shorten"), "START -> TOP -> S"));
}

TEST_F(CliTreebankTest, OtherCommands) {
  const std::string table = succeed(
      "path treebank train.mrg --dev dev.mrg --features rules --l2-max 10 --l2-min 1 --gap 0.1 --quiet -o "
      "best.esp");
  EXPECT_NE(table.find("F1 "), std::string::npos) << table;
  EXPECT_NE(succeed("cross-validate treebank train.mrg --folds 2 --features rules --l2-max 10 --l2-min 10 "
                    "--gap 0.1 --quiet")
                .find("F1"),
            std::string::npos);
  EXPECT_NE(
      succeed("race treebank train.mrg --features rules --solvers eg,lbfgs --budget 2 --quiet").find("lbfgs"),
      std::string::npos);
  train("model.esp");
  EXPECT_NE(succeed("show model.esp --top 2").find("\nrules\n"), std::string::npos);
  // Weights of a model are found again by their names.
  const Outcome again = run(kTrain + std::string("--init model.esp -o again.esp"));
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_NE(succeed("show --diff model.esp again.esp").find("|difference|"), std::string::npos);
}

TEST_F(CliTreebankTest, SaysWhatIsWrong) {
  const std::string command = "train treebank bad.mrg -o bad.esp ";
  const auto message = [&](const std::string& text, const std::string& options = "") {
    write("bad.mrg", text);
    return error(command + options);
  };
  const auto before = files();
  EXPECT_EQ(message(""), "espalier: bad.mrg: no trees; expected some");
  EXPECT_EQ(
      message("(NN a)\n(NP (NN rain)"),
      "espalier: bad.mrg:2: the end of the file in the tree that begins in line 2; expected 1 more ')'");
  EXPECT_EQ(message("(NP rain fell)"),
            "espalier: bad.mrg:1: the word 'fell' without a tag; expected (TAG WORD), each word in a bracket "
            "of its own");
  EXPECT_EQ(message("(S (NP (-NONE- *)))"),
            "espalier: bad.mrg:1: a tree that has only traces; expected words");
  const std::string good = "(S (NN rain) (VBD fell))\n";
  const std::string see = "; see 'espalier train treebank --help'";
  EXPECT_EQ(message(good, "--binarise left"),
            "espalier: --binarise: found 'left'; expected head or right" + see);
  EXPECT_EQ(message(good, "--unaries drop"),
            "espalier: --unaries: found 'drop'; expected keep or shorten" + see);
  EXPECT_EQ(message(good, "--tags none"), "espalier: --tags: found 'none'; expected gold or predicted" + see);
  EXPECT_EQ(message(good, "--features words"),
            "espalier: --features: found 'words'; expected spans or rules" + see);
  EXPECT_EQ(files().size(), before.size() + 1);  // bad.mrg alone
  train("model.esp");
  EXPECT_EQ(error("predict model.esp dev.mrg --format conll"),
            "espalier: --format conll: given for a model of treebank; expected a model of parse");
  EXPECT_EQ(error("predict model.esp dev.mrg --marginals"),
            "espalier: --marginals: given for a model of treebank; expected a model of tag, classify, parse, "
            "graph or align");
  EXPECT_EQ(error("predict model.esp dev.mrg --marginals entity"),
            "espalier: --marginals entity: given for a model of treebank; expected a model of tag");
  EXPECT_EQ(error("predict model.esp", "rain"),
            "espalier: standard input:1: 'rain' outside of brackets; expected '(', the beginning of a tree");
  EXPECT_EQ(error("eval model.esp -"), "espalier: standard input: no trees; expected some");
}

TEST_F(CliTreebankTest, Demo) {
  const Outcome outcome = run("demo treebank");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* piece :
       {"$ espalier generate treebank ", "$ espalier train treebank train.mrg --dev dev.mrg ",
        "$ espalier eval parser.esp test.mrg\nF1 ", "$ espalier predict parser.esp new.mrg\n(S "}) {
    EXPECT_NE(outcome.out.find(piece), std::string::npos) << piece;
  }
  EXPECT_NE(outcome.err.find("  dev F1 "), std::string::npos);
  EXPECT_EQ(files().size(), 2u);  // the test's own
}

}  // namespace
}  // namespace espalier::testing::treebank_test
