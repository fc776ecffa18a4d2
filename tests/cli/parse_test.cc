// Dependency parsing, from a treebank to trees.

#include <signal.h>

#include <algorithm>
#include <map>

#include "cli/cli_test.h"

namespace espalier::testing::parse_test {
namespace {

class CliParseTest : public CliTest {
 protected:
  static constexpr const char* kTrain = "train parse train.conllu --l2 10 --hash-bits 12 ";
  static constexpr const char* kTrainOtherwise = "train parse train.conllu --unlabelled --quiet ";

  void SetUp() override {
    succeed("generate parse -n 60 --seed 1 -o train.conllu");
    succeed("generate parse -n 30 --seed 2 -o dev.conllu");
  }
  void train(const std::string& model, const std::string& options = "") const {
    succeed(kTrain + ("--gap 1e-2 --quiet -o " + model + " " + options));
  }
  Json certificate(const std::string& model) const {
    return json("show " + model + " --json").at("certificate");
  }
  static std::vector<std::string> split(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
    return fields;
  }
  // The words of all sentences, each with its fields.
  static std::vector<std::vector<std::string>> words_of(const std::string& text) {
    std::vector<std::vector<std::string>> result;
    for (const std::string& line : lines(text)) {
      if (!line.empty() && line.front() != '#') result.push_back(split(line));
    }
    return result;
  }
  // The heads of each sentence.
  static std::vector<std::vector<std::size_t>> heads_of(const std::string& text) {
    std::vector<std::vector<std::size_t>> result;
    for (const auto& fields : words_of(text)) {
      if (fields.front() == "1") result.emplace_back();
      result.back().push_back(std::stoul(fields.at(6)));
    }
    return result;
  }
  static bool is_tree(const std::vector<std::size_t>& heads) {
    for (std::size_t d = 1; d <= heads.size(); ++d) {
      std::size_t at = d, steps = 0;
      while (at != 0 && steps++ <= heads.size()) at = heads.at(at - 1);
      if (at != 0) return false;
    }
    return true;
  }
  // Words with neither heads nor relations: the first six columns, or all ten.
  std::string without_heads(const std::string& name, bool all_columns) const {
    std::string text;
    for (const std::string& line : lines(read(name))) {
      if (!line.empty()) {
        const auto fields = split(line);
        for (std::size_t k = 0; k < 6; ++k) text += (k > 0 ? "\t" : "") + fields.at(k);
        if (all_columns) text += "\t_\t_\t_\t_";
      }
      text += '\n';
    }
    return text;
  }
};

// With all heads given the tree is that of the input, and relations are still found; a sentence in pieces is
// parsed as before where nothing is given.
TEST_F(CliParseTest, KeepsHeadsOfTheInput) {
  succeed(kTrain + std::string("--quiet -o model.esp"));
  succeed("predict model.esp dev.conllu --keep-heads -o kept.conllu");
  const Json kept = json("eval model.esp dev.conllu --json");
  std::size_t words = 0;
  const auto gold = lines(read("dev.conllu")), found = lines(read("kept.conllu"));
  ASSERT_EQ(gold.size(), found.size());
  for (std::size_t i = 0; i < gold.size(); ++i) {
    if (gold[i].empty() || gold[i][0] == '#') continue;
    EXPECT_EQ(split(gold[i]).at(6), split(found[i]).at(6));
    ++words;
  }
  EXPECT_EQ(words, kept.at("words").get<std::size_t>());
  write("cycle.conllu", "1\ta\t_\tN\tN\t_\t2\t_\n2\tb\t_\tN\tN\t_\t1\t_\n\n");
  EXPECT_EQ(
      run("predict model.esp cycle.conllu --keep-heads").err,
      "espalier: cycle.conllu:1: the given heads are of no projective tree; expected those of some tree\n");
  succeed("train parse train.conllu --hash-bits 12 --longest 4 --gap 0.1 --quiet -o short.esp");
  write("free.conllu", without_heads("dev.conllu", true));
  EXPECT_EQ(succeed("predict short.esp free.conllu --keep-heads"), succeed("predict short.esp free.conllu"));
}

TEST_F(CliParseTest, TrainsEvaluatesAndPredicts) {
  const Outcome outcome = run(kTrain + std::string("--dev dev.conllu -o model.esp --log run.jsonl"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const std::vector<std::string> shown = lines(outcome.err);
  EXPECT_EQ(shown.at(0), "training a simpler model to prune heads");
  EXPECT_TRUE(shown.at(1).starts_with("trained it in ") && shown.at(1).ends_with(" s")) << shown.at(1);
  EXPECT_TRUE(shown.at(2).starts_with("read train.conllu: 60 sentences, ")) << shown.at(2);
  EXPECT_NE(shown.at(2).find(" relations; "), std::string::npos);
  EXPECT_TRUE(shown.at(2).ends_with(" % of the gold heads")) << shown.at(2);
  EXPECT_NE(shown.at(3).find("  dev UAS "), std::string::npos);
  EXPECT_TRUE(shown.back().starts_with("converged: relative gap ")) << shown.back();
  EXPECT_TRUE(shown.back().ends_with("; saved model.esp")) << shown.back();
  EXPECT_LE(certificate("model.esp").at("relative_gap").get<double>(), 1e-3);

  // What eval counts is what a comparison of the trees gives.
  const auto gold = words_of(read("dev.conllu")), found = words_of(succeed("predict model.esp dev.conllu"));
  ASSERT_EQ(found.size(), gold.size());
  double heads = 0, both = 0;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    ASSERT_EQ(found[i].size(), 10u);
    for (const std::size_t k : {0, 1, 2, 3, 4, 5, 8, 9}) EXPECT_EQ(found[i][k], gold[i][k]);
    heads += found[i][6] == gold[i][6];
    both += found[i][6] == gold[i][6] && found[i][7] == gold[i][7];
  }
  const auto words = static_cast<double>(gold.size());
  const Json rates = json("eval model.esp dev.conllu --json");
  EXPECT_DOUBLE_EQ(rates.at("uas").get<double>(), heads / words);
  EXPECT_DOUBLE_EQ(rates.at("las").get<double>(), both / words);
  EXPECT_EQ(rates.at("words"), gold.size());
  for (const char* key : {"uas_nopunct", "las_nopunct"}) {
    EXPECT_GT(rates.at(key).get<double>(), 0.5) << key;
    EXPECT_LT(rates.at(key).get<double>(), 1) << key;
  }
  for (const auto& tree : heads_of(succeed("predict model.esp dev.conllu"))) EXPECT_TRUE(is_tree(tree));
  EXPECT_GT(heads, 0.7 * words);

  const std::vector<std::string> log = lines(read("run.jsonl"));
  const Json start = Json::parse(log.front());
  EXPECT_EQ(start.at("task"), "parse");
  EXPECT_EQ(start.at("structure"), "projective");
  EXPECT_EQ(start.at("hash_bits"), 12);
  EXPECT_EQ(start.at("prune_below"), 1e-3);
  const Json last = Json::parse(log.at(log.size() - 2));
  EXPECT_DOUBLE_EQ(last.at("dev").at("las").get<double>(), both / words);
}

TEST_F(CliParseTest, LeavesLongSentencesOut) {
  const std::string text = read("train.conllu");
  std::string kept;
  std::size_t sentences = 0, long_ones = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find("\n\n", begin) + 2;
    const std::string sentence = text.substr(begin, end - begin);
    begin = end;
    ++sentences;
    if (words_of(sentence).size() > 12) {
      ++long_ones;
    } else {
      kept += sentence;
    }
  }
  ASSERT_GT(long_ones, 1u);
  write("kept.conllu", kept);
  const std::string left_out = "; " + std::to_string(long_ones) + " sentences of more than 12 words left out";
  const auto read_line = [&](const std::string& command) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    for (const std::string& line : lines(outcome.err)) {
      if (line.starts_with("read train.conllu: ")) return line;
    }
    return outcome.err;
  };
  const std::string line = read_line(kTrain + std::string("--longest 12 --gap 1e-2 -o model.esp"));
  EXPECT_TRUE(
      line.starts_with("read train.conllu: " + std::to_string(sentences - long_ones) + " sentences, "))
      << line;
  EXPECT_TRUE(line.ends_with(left_out)) << line;
  EXPECT_TRUE(
      read_line("cross-validate parse train.conllu --longest 12 --folds 2 --unlabelled --hash-bits 12 "
                "--l2-max 10 --l2-min 10 --gap 0.1")
          .ends_with(left_out));
  succeed("train parse kept.conllu --l2 10 --hash-bits 12 --longest 12 --gap 1e-2 --quiet -o same.esp");
  EXPECT_TRUE(read("model.esp") == read("same.esp"));
  EXPECT_EQ(json("show model.esp --json").at("settings").at("longest"), 12);
  EXPECT_EQ(error("train parse train.conllu --longest 1 -o none.esp"),
            "espalier: train.conllu: no sentences of at most 1 word; expected some");
}

// In pieces each of which is parsed as a sentence.
TEST_F(CliParseTest, ParsesLongSentencesInPieces) {
  std::vector<std::vector<std::string>> all;
  std::vector<std::size_t> ends;
  std::string pieces;
  for (const auto& fields : words_of(read("dev.conllu"))) {
    if (fields.front() == "1" && !all.empty()) {
      ends.push_back(all.size());
      if (all.size() > 60) break;
      pieces += '\n';
    }
    all.push_back(fields);
    for (std::size_t k = 0; k < 6; ++k) pieces += (k > 0 ? "\t" : "") + fields.at(k);
    pieces += '\n';
  }
  std::string joined;
  for (std::size_t d = 0; d < all.size(); ++d) {
    joined += std::to_string(d + 1);
    for (std::size_t k = 1; k < 6; ++k) joined += '\t' + all[d].at(k);
    joined += '\n';
  }
  for (const std::string options :
       {"", "--single-root", "--unlabelled", "--structure nonprojective --single-root", "--order 2"}) {
    train("model.esp", "--longest 30 " + options);
    const auto found = words_of(succeed("predict model.esp", joined));
    ASSERT_EQ(found.size(), all.size());
    const auto heads = heads_of(succeed("predict model.esp", joined)).at(0);
    EXPECT_TRUE(is_tree(heads)) << options;
    const auto roots = std::count(heads.begin(), heads.end(), 0u);
    if (options.find("--single-root") != std::string::npos) {
      EXPECT_EQ(roots, 1) << options;
    } else {
      EXPECT_GE(roots, 3) << options;
    }
    // No arc is longer than a piece, but for those that join roots.
    for (std::size_t d = 1; d <= heads.size(); ++d) {
      const std::size_t head = heads[d - 1];
      EXPECT_TRUE(head == 0 || (head > d ? head - d : d - head) < 60) << options;
    }
    if (options == "--order 2") continue;
    const auto best = lines(succeed("predict model.esp --kbest 3", joined));
    EXPECT_EQ(
        std::count_if(best.begin(), best.end(), [](const auto& line) { return line.starts_with("# "); }), 1)
        << options;
    // Heads have probabilities that sum up to one.
    const auto marginals = lines(succeed("predict model.esp --marginals", joined));
    ASSERT_TRUE(marginals.at(40).starts_with("# heads 41 =")) << marginals.at(40);
    double sum = 0;
    for (const std::string& field : words(marginals.at(40).substr(std::string("# heads 41 =").size())))
      sum += std::stod(field.substr(field.find(':') + 1));
    EXPECT_NEAR(sum, 1, 0.02) << options;
  }
  write("joined.conllu", succeed("predict model.esp", joined));
  const Json rates = json("eval model.esp joined.conllu --json");
  EXPECT_EQ(rates.at("uas"), 1);
  EXPECT_EQ(rates.at("in_pieces"), 1);
  EXPECT_NE(succeed("eval model.esp joined.conllu").find("parsed in pieces"), std::string::npos);
}

TEST_F(CliParseTest, ParsesSentencesOfAnyLength) {
  train("model.esp");
  std::string text;
  const auto words = words_of(read("dev.conllu"));
  for (std::size_t d = 0; d < 2000; ++d) {
    text += std::to_string(d + 1);
    for (std::size_t k = 1; k < 6; ++k) text += '\t' + words[d % words.size()].at(k);
    text += '\n';
  }
  EXPECT_TRUE(is_tree(heads_of(succeed("predict model.esp", text)).at(0)));
}

TEST_F(CliParseTest, TheSameSeedGivesTheSameBytes) {
  train("one.esp");
  train("two.esp");
  EXPECT_TRUE(read("one.esp") == read("two.esp"));
  train("other.esp", "--seed 2");
  EXPECT_FALSE(read("one.esp") == read("other.esp"));
}

TEST_F(CliParseTest, ThreadsGiveTheSameBytes) {
  train("model.esp");
  std::string many;
  for (int i = 0; i < 5; ++i) many += read("train.conllu") + read("dev.conllu");
  write("many.conllu", many);
  for (const std::string options : {"", " --marginals", " --kbest 2 --format tree"}) {
    const std::string one = succeed("predict model.esp many.conllu" + options);
    for (const std::string threads : {"2", "5"}) {
      EXPECT_TRUE(succeed("predict model.esp many.conllu --threads " + threads + options) == one)
          << threads << options;
    }
  }
  EXPECT_EQ(succeed("eval model.esp many.conllu --threads 3"), succeed("eval model.esp many.conllu"));

  // What is wrong is told alike, and what was before it is written.
  write("bad.conllu", many + "1\tword\n");
  const auto line = static_cast<std::size_t>(std::count(many.begin(), many.end(), '\n')) + 1;
  const std::string message =
      "espalier: bad.conllu:" + std::to_string(line) + ": 2 columns; expected at least 6, separated by TABs";
  const std::string before = run("predict model.esp bad.conllu").out;
  EXPECT_FALSE(before.empty());
  EXPECT_TRUE(succeed("predict model.esp many.conllu").starts_with(before));
  for (const std::string threads : {"1", "4"}) {
    const Outcome outcome = run("predict model.esp bad.conllu --threads " + threads);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err, message + '\n');
    EXPECT_TRUE(outcome.out == before);
    EXPECT_EQ(error("predict model.esp bad.conllu -o out.conllu --threads " + threads), message);
  }
  EXPECT_EQ(files().count("out.conllu"), 0u);
}

// Heads in the input are not looked at, and need not be there.
TEST_F(CliParseTest, PredictsWithoutHeads) {
  train("model.esp");
  const std::string parsed = succeed("predict model.esp dev.conllu");
  EXPECT_EQ(succeed("predict model.esp", read("dev.conllu")), parsed);
  EXPECT_EQ(succeed("predict model.esp -", without_heads("dev.conllu", true)), parsed);
  const auto with = words_of(parsed),
             without = words_of(succeed("predict model.esp", without_heads("dev.conllu", false)));
  ASSERT_EQ(without.size(), with.size());
  for (std::size_t i = 0; i < with.size(); ++i) {
    EXPECT_EQ(without[i], std::vector<std::string>(with[i].begin(), with[i].begin() + 8));
  }
  // A first line that is as short as can be.
  EXPECT_TRUE(succeed("predict model.esp", "1\tA\t_\tDET\tDT\t_\n2\tdog\t_\tNOUN\tNN\t_\n")
                  .starts_with("1\tA\t_\tDET\tDT\t_\t2\t"));
  EXPECT_EQ(succeed("predict model.esp -o parsed.conllu dev.conllu"), "");
  EXPECT_EQ(read("parsed.conllu"), parsed);
}

TEST_F(CliParseTest, KeepsWhatIsNoWord) {
  train("model.esp");
  const std::string input =
      "# newdoc\n"
      "# text = I don't know.\n"
      "1\tI\tI\tPRON\tPRP\t_\t9\tx\t_\t_\n"
      "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
      "2\tdo\tdo\tAUX\tVBP\t_\t_\t_\t_\t_\n"
      "3\tn't\tnot\tPART\tRB\tPolarity=Neg\t_\t_\t3:x\tNote\n"
      "4\tknow\tknow\tVERB\tVB\t_\t4\troot\t_\t_\n"
      "4.1\tit\tit\tPRON\tPRP\t_\t_\t_\t4:obj\t_\n"
      "5\t.\t.\tPUNCT\t.\t_\t_\t_\t_\t_\n"
      "\n";
  const std::vector<std::string> before = lines(input), after = lines(succeed("predict model.esp", input));
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto was = split(before[i]), is = split(after[i]);
    if (was.size() != 10 || was[0].find_first_of("-.") != std::string::npos) {
      EXPECT_EQ(after[i], before[i]);
      continue;
    }
    ASSERT_EQ(is.size(), 10u);
    for (const std::size_t k : {0, 1, 2, 3, 4, 5, 8, 9}) EXPECT_EQ(is[k], was[k]);
    EXPECT_NE(is[7], "_");
  }
  EXPECT_TRUE(
      is_tree({std::stoul(split(after[2])[6]), std::stoul(split(after[4])[6]), std::stoul(split(after[5])[6]),
               std::stoul(split(after[6])[6]), std::stoul(split(after[8])[6])}));
  // A parsed file can be parsed again, and comes out as it went in.
  const std::string parsed = succeed("predict model.esp", input);
  EXPECT_EQ(succeed("predict model.esp", parsed), parsed);
  // CoNLL-U has two more rates.
  const Json rates = [&] {
    write("parsed.conllu", parsed);
    return json("eval model.esp parsed.conllu --json");
  }();
  EXPECT_EQ(rates.at("las"), 1);
  EXPECT_EQ(rates.at("las_universal"), 1);
  EXPECT_EQ(rates.at("clas"), 1);
  EXPECT_FALSE(json("eval model.esp dev.conllu --json").contains("clas"));
}

TEST_F(CliParseTest, NothingInNothingOut) {
  train("model.esp");
  EXPECT_EQ(succeed("predict model.esp", ""), "");
  EXPECT_EQ(succeed("predict model.esp --threads 4", "\n\n"), "");
  EXPECT_EQ(error("eval model.esp -"), "espalier: standard input: no sentences; expected some");
  EXPECT_EQ(error("eval model.esp -", without_heads("dev.conllu", true)),
            "espalier: standard input:1: the head '_'; expected the number of a word, or 0 for the root");
}

TEST_F(CliParseTest, WithoutRelations) {
  const Outcome outcome = run(kTrain + std::string("--unlabelled -o model.esp"));
  ASSERT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.err.starts_with("read train.conllu: 60 sentences, ")) << outcome.err;
  EXPECT_EQ(outcome.err.find("relations"), std::string::npos);
  const Json rates = json("eval model.esp dev.conllu --json");
  EXPECT_TRUE(rates.contains("uas") && rates.contains("uas_nopunct"));
  for (const char* key : {"las", "las_nopunct", "exact_labelled", "clas"}) EXPECT_FALSE(rates.contains(key));
  EXPECT_EQ(succeed("eval model.esp dev.conllu").find("LAS"), std::string::npos);
  for (const auto& fields : words_of(succeed("predict model.esp dev.conllu"))) EXPECT_EQ(fields.at(7), "_");
}

TEST_F(CliParseTest, Shapes) {
  // The second sentence has crossing arcs: 1 <- 3 and 2 <- 4.
  const std::string crossing =
      "1\ta\t_\tD\tD\t_\t3\tx\n2\tb\t_\tE\tE\t_\t4\ty\n3\tc\t_\tF\tF\t_\t0\tz\n4\td\t_\tG\tG\t_\t3\tx\n\n";
  write("two.conllu", "1\tYes\t_\tH\tH\t_\t0\tz\n\n" + crossing);
  const std::string command = "train parse two.conllu --l2 0.01 --hash-bits 12 -o model.esp ";
  const auto first_line = [&](const std::string& options) {
    return lines(run(command + "--unlabelled " + options).err).at(0);
  };
  EXPECT_EQ(first_line(""), "read two.conllu: 2 sentences, 5 words, crossing arcs of 1 lifted");
  EXPECT_EQ(first_line("--crossing drop"),
            "read two.conllu: 1 sentence, 1 word, 1 with crossing arcs dropped");
  EXPECT_EQ(first_line("--first 1 --crossing refuse"), "read two.conllu: 1 sentence, 1 word");
  EXPECT_EQ(first_line("--structure nonprojective"), "read two.conllu: 2 sentences, 5 words");
  // A model of such trees finds it again; one that cannot cross arcs finds the one that was lifted.
  EXPECT_EQ(heads_of(succeed("predict model.esp", crossing)),
            (std::vector<std::vector<std::size_t>>{{3, 4, 0, 3}}));
  succeed(command + "--quiet");
  EXPECT_EQ(heads_of(succeed("predict model.esp", crossing)),
            (std::vector<std::vector<std::size_t>>{{3, 3, 0, 3}}));
  write("two.conllu", crossing);
  EXPECT_EQ(lines(run(command + "--crossing drop").err).back(),
            "espalier: two.conllu: no sentence without crossing arcs; expected some");
}

TEST_F(CliParseTest, SingleRoots) {
  for (const std::string structure : {"projective", "nonprojective"}) {
    // One pass leaves a poor model, which would like several roots.
    succeed(kTrainOtherwise +
            ("--hash-bits 12 --single-root --passes 1 --l2 1000 -o model.esp --structure " + structure));
    for (const auto& heads : heads_of(succeed("predict model.esp dev.conllu"))) {
      EXPECT_EQ(std::count(heads.begin(), heads.end(), 0u), 1);
      EXPECT_TRUE(is_tree(heads));
    }
  }
}

TEST_F(CliParseTest, ProbabilitiesAndTheBestTrees) {
  train("model.esp", "--unlabelled");
  const std::string sentence = "1\tShe\t_\tPRON\tPRP\t_\n2\tflew\t_\tVERB\tVBD\t_\n3\thome\t_\tNOUN\tNN\t_\n";
  // Three words have twelve projective trees, and their probabilities sum to one.
  const std::string all = succeed("predict model.esp --kbest 100", sentence);
  std::vector<double> probabilities;
  std::map<std::pair<std::size_t, std::size_t>, double> heads;
  for (const std::string& line : lines(all)) {
    if (line.starts_with("# ")) {
      EXPECT_EQ(words(line).at(1), std::to_string(probabilities.size()));
      probabilities.push_back(std::stod(words(line).at(2)));
    } else if (!line.empty()) {
      const auto fields = split(line);
      heads[{std::stoul(fields.at(0)), std::stoul(fields.at(6))}] += probabilities.back();
    }
  }
  EXPECT_EQ(probabilities.size(), 12u);
  EXPECT_TRUE(std::is_sorted(probabilities.rbegin(), probabilities.rend()));
  double sum = 0;
  for (const double p : probabilities) sum += p;
  EXPECT_NEAR(sum, 1, 1e-5);

  // Marginals are sums over the trees.
  const std::string marginals = succeed("predict model.esp --marginals", sentence);
  std::size_t seen = 0;
  for (const std::string& line : lines(marginals)) {
    if (!line.starts_with("# heads ")) continue;
    const auto fields = words(line);
    EXPECT_EQ(fields.at(3), "=");
    double last = 1.0001;
    for (std::size_t k = 4; k < fields.size(); ++k, ++seen) {
      const std::size_t colon = fields[k].find(':');
      const double p = std::stod(fields[k].substr(colon + 1));
      EXPECT_LE(p, last);
      last = p;
      EXPECT_NEAR(p, (heads[{std::stoul(fields.at(2)), std::stoul(fields[k])}]), 1e-4);
    }
  }
  EXPECT_GE(seen, 3u);
  // The comments are in front of the tree that is written anyway.
  EXPECT_TRUE(marginals.ends_with(succeed("predict model.esp", sentence)));

  succeed(kTrainOtherwise + std::string("--hash-bits 12 --loss svm --l2 100 --gap 0.2 -o margin.esp"));
  EXPECT_TRUE(succeed("predict margin.esp --kbest 2", sentence).starts_with("# 0 "));
  EXPECT_EQ(error("predict margin.esp --marginals", sentence),
            "espalier: --marginals: a model of loss svm has no probabilities; expected one trained with a "
            "finite beta, such as --loss crf");
}

TEST_F(CliParseTest, DrawsTrees) {
  write("two.conllu",
        "1\tThe\t_\tDET\tDT\t_\t2\tdet\n2\tdog\t_\tNOUN\tNN\t_\t3\tnsubj\n3\tbarked\t_\tVERB\tVBD\t_"
        "\t0\troot\n\n"
        "1\tYes\t_\tINTJ\tUH\t_\t0\troot\n\n");
  succeed("train parse two.conllu --l2 0.01 --hash-bits 12 --quiet -o model.esp");
  EXPECT_EQ(succeed("predict model.esp two.conllu --format tree"),
            "   ┌─► The     DET   det\n"
            " ┌─┴─► dog     NOUN  nsubj\n"
            "─┴───► barked  VERB  root\n"
            "\n"
            "─► Yes  INTJ  root\n"
            "\n");
  const std::vector<std::string> best =
      lines(succeed("predict model.esp two.conllu --format tree --kbest 1"));
  EXPECT_TRUE(best.at(0).starts_with("# 0 0.")) << best.at(0);
  EXPECT_EQ(best.at(3), "─┴───► barked  VERB  root");
}

TEST_F(CliParseTest, OptionsThatAreForOthers) {
  train("model.esp", "--unlabelled");
  succeed("generate tag -n 20 -o tags.txt");
  succeed("train tag tags.txt --gap 0.1 --quiet -o tagger.esp");
  EXPECT_EQ(error("predict model.esp dev.conllu --format conllu"),
            "espalier: --format: found 'conllu'; did you mean conll?");
  EXPECT_EQ(error("eval model.esp dev.conllu --format tree"), "espalier: --format: 'tree'; expected conll");
  EXPECT_EQ(succeed("predict model.esp dev.conllu --format conll"), succeed("predict model.esp dev.conllu"));
  for (const std::string option :
       {"--forced 3", "--encoding bio", "--min-confidence 0.5", "--marginals entity"}) {
    const std::string name = option == "--marginals entity" ? option : words(option).front();
    EXPECT_EQ(error("predict model.esp dev.conllu " + option),
              "espalier: " + name + ": given for a model of parse; expected a model of tag");
  }
  EXPECT_EQ(error("predict tagger.esp dev.conllu"),
            "espalier: dev.conllu:1: 10 columns; expected 3 as in training, or 2 without the label");
  EXPECT_EQ(error("predict tagger.esp dev.conllu --format tree"),
            "espalier: --format tree: given for a model of tag; expected a model of parse");
  EXPECT_EQ(error("predict model.esp tags.txt"),
            "espalier: tags.txt:1: the ID 'This'; expected 1, the first word of a sentence");
  EXPECT_EQ(error("convert model.esp -o new.esp"),
            "espalier: model.esp: a model of espalier; expected --bits 16, or a model of CRFsuite, Wapiti or "
            "CRF++");
  EXPECT_EQ(error("show --diff model.esp tagger.esp"),
            "espalier: --diff: a model of parse and one of tag; expected two of one task");
}

TEST_F(CliParseTest, Shows) {
  train("model.esp");
  const std::vector<std::string> shown = lines(succeed("show model.esp"));
  EXPECT_EQ(shown.at(0), "model        model.esp");
  EXPECT_TRUE(
      shown.at(1).starts_with("task         parse: projective trees of order 1, 2^12 weights of arcs, "))
      << shown.at(1);
  EXPECT_TRUE(shown.at(1).ends_with(" relations")) << shown.at(1);
  EXPECT_EQ(shown.at(2), "loss         crf, l2 10");
  EXPECT_TRUE(
      shown.back().ends_with(" weights are not zero; features are found by hashing and have no names"))
      << shown.back();
  EXPECT_EQ(succeed("show model.esp").find("heaviest"), std::string::npos);
  const Json settings = json("show model.esp --json").at("settings");
  EXPECT_EQ(settings.at("structure"), "projective");
  EXPECT_EQ(settings.at("hash_bits"), 12);
  EXPECT_EQ(settings.at("labelled"), true);
  EXPECT_EQ(settings.at("pruned"), true);
  train("bare.esp", "--unlabelled");
  EXPECT_EQ(lines(succeed("show bare.esp")).at(1),
            "task         parse: projective trees of order 1, 2^12 weights of arcs");
  EXPECT_EQ(lines(succeed("show bare.esp --weights")).size(), 4096u);
  EXPECT_TRUE(succeed("show bare.esp --weights").starts_with("arc 0\t\t"));
}

TEST_F(CliParseTest, Compares) {
  train("model.esp");
  succeed("train parse train.conllu --l2 20 --hash-bits 12 --gap 1e-2 --quiet -o other.esp");
  const std::string shown = succeed("show --diff model.esp other.esp");
  EXPECT_NE(shown.find("\nl2            10.0                     20.0\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("\n|difference| "), std::string::npos) << shown;
  EXPECT_EQ(shown.find("attributes"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("largest changes"), std::string::npos) << shown;
  EXPECT_EQ(json("show --diff model.esp model.esp --json").at("norm_of_difference"), 0);
  succeed(kTrainOtherwise + std::string("--hash-bits 13 -o wide.esp"));
  EXPECT_EQ(error("show --diff model.esp wide.esp"),
            "espalier: --diff: models with --hash-bits 12 and 13, whose weights are not of the same "
            "features; expected "
            "two with the same");
}

TEST_F(CliParseTest, ModelsThatAreDamaged) {
  train("model.esp");
  const std::string whole = read("model.esp");
  for (const std::size_t length : {std::size_t{64}, whole.size() / 2, whole.size() - 1}) {
    write("cut.esp", whole.substr(0, length));
    EXPECT_EQ(error("predict cut.esp dev.conllu"), "espalier: cut.esp: truncated: " + std::to_string(length) +
                                                       " of " + std::to_string(whole.size()) +
                                                       " bytes; copy the model again or retrain it");
  }
  for (std::size_t at = 100; at < whole.size(); at += whole.size() / 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    write("bad.esp", damaged);
    const std::string message = error("eval bad.esp dev.conllu");
    EXPECT_TRUE(message.starts_with("espalier: bad.esp: ")) << message;
    EXPECT_TRUE(message.ends_with("; copy the model again or retrain it")) << message;
  }
}

TEST_F(CliParseTest, Paths) {
  const std::string command =
      "path parse train.conllu --dev dev.conllu --hash-bits 12 --unlabelled --l2-max 40 --l2-min 10 --factor "
      "0.5 "
      "--gap 1e-2 --quiet ";
  const std::vector<std::string> table = lines(succeed(command + "-o best.esp"));
  ASSERT_EQ(table.size(), 4u);
  double best = 0, best_l2 = 0;
  for (std::size_t i = 1; i < table.size(); ++i) {
    const auto row = words(table[i]);  // l2 passes total gap primal UAS X %
    EXPECT_EQ(row.at(5), "UAS");
    if (std::stod(row.at(6)) <= best) continue;
    best = std::stod(row.at(6));
    best_l2 = std::stod(row.at(0));
  }
  EXPECT_EQ(json("show best.esp --json").at("l2").get<double>(), best_l2);
  EXPECT_NEAR(100 * json("eval best.esp dev.conllu --json").at("uas").get<double>(), best, 0.005);
}

TEST_F(CliParseTest, CrossValidates) {
  const std::string command =
      "cross-validate parse train.conllu --hash-bits 12 --folds 2 --l2-max 40 --l2-min 20 --factor 0.5 --gap "
      "1e-2 "
      "--quiet ";
  const std::string one = succeed(command + "-o model.esp");
  EXPECT_EQ(succeed(command + "--threads 2"), one);
  EXPECT_EQ(words(lines(one).at(0)),
            (std::vector<std::string>{"l2", "folds", "passes", "LAS", "%", "deviation"}));
  EXPECT_EQ(lines(one).size(), 3u);
  EXPECT_TRUE(json("eval model.esp dev.conllu --json").contains("las"));
}

TEST_F(CliParseTest, CrossValidatesByDocuments) {
  const std::string train = read("train.conllu"),
                    command =
                        "cross-validate parse documents.conllu --hash-bits 12 --l2 40 "
                        "--unlabelled --gap 0.1 --quiet --folds ";
  const std::size_t middle = train.find("\n\n", train.size() / 2) + 2;
  write("documents.conllu",
        "# newdoc\n" + train.substr(0, middle) + "#newdoc id = b\n# text = x\n" + train.substr(middle));
  EXPECT_EQ(
      error(command + "3 --group-by boundary"),
      "espalier: --folds 3: found 2 groups; expected at least 2 folds, and at least one group per fold");
  EXPECT_NE(succeed(command + "2 --group-by boundary"), succeed(command + "2"));
  EXPECT_EQ(error(command + "2 --group-by 3"), "espalier: --group-by: '3'; expected boundary");
}

TEST_F(CliParseTest, InterruptedRunsGoOn) {
  for (const std::string shape : {"", "--threads 2 ", "--unlabelled --structure nonprojective "}) {
    const std::string command = kTrain + shape;
    succeed(command + "--quiet -o whole.esp");
    const Outcome first = run(command + "--passes 3 -o model.esp --checkpoint run.ckpt");
    EXPECT_TRUE(lines(first.err).back().ends_with("; saved model.esp; --resume continues from run.ckpt"))
        << first.err;
    EXPECT_EQ(
        error(command + "--first 20 -o model.esp --checkpoint run.ckpt --resume"),
        "espalier: run.ckpt: a checkpoint of a run with different training data; expected those of this run");
    const Outcome second = run(command + "-o model.esp --checkpoint run.ckpt --resume");
    EXPECT_EQ(second.status, 0) << second.err;
    EXPECT_NE(second.err.find("\nresumed run.ckpt: 3."), std::string::npos) << second.err;
    EXPECT_EQ(files().count("run.ckpt"), 0u);
    const Json whole = certificate("whole.esp"), resumed = certificate("model.esp");
    EXPECT_LE(resumed.at("relative_gap").get<double>(), 1e-3);
    EXPECT_LE(whole.at("dual").get<double>(), resumed.at("primal").get<double>());
    EXPECT_LE(resumed.at("dual").get<double>(), whole.at("primal").get<double>());
  }
}

TEST_F(CliParseTest, StartsFromAModel) {
  const std::string command = kTrain;
  for (const std::string shape : {"", "--unlabelled "}) {
    succeed(command + shape + "--quiet -o cold.esp");
    const Outcome outcome = run(command + shape + "--init cold.esp -o warm.esp");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("\nstarted from cold.esp: "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("weights of hashed features\n"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("labels, ") != std::string::npos, shape.empty()) << outcome.err;
    EXPECT_LT(certificate("warm.esp").at("passes").get<double>(),
              0.6 * certificate("cold.esp").at("passes").get<double>());
  }
  // Relations or not: the weights of arcs are there in both.
  const Outcome other = run(command + "--init cold.esp --solver lbfgs --passes 1e-9 -o warm.esp");
  EXPECT_EQ(other.status, 0);
  EXPECT_NE(other.err.find("\nstarted from cold.esp: weights of hashed features\n"), std::string::npos)
      << other.err;
  EXPECT_EQ(lines(succeed("show cold.esp --weights")).at(17),
            lines(succeed("show warm.esp --weights")).at(17));

  EXPECT_EQ(error("train parse train.conllu --hash-bits 13 --unlabelled --init cold.esp -o new.esp"),
            "espalier: cold.esp: a model with hash_bits 12; expected hash_bits 13, as in this run");
  succeed(command + "--quiet -o labelled.esp");
  write("others.conllu", "1\ta\t_\tX\tX\t_\t2\tfoo\n2\tb\t_\tX\tX\t_\t0\tbar\n");
  EXPECT_EQ(
      error("train parse others.conllu --hash-bits 12 --init labelled.esp -o new.esp"),
      "espalier: labelled.esp: none of its labels is in the training data; expected a model of similar data");
}

// Before there is anything to train, there is nothing to save.
TEST_F(CliParseTest, AnInterruptWhileLearningWhichHeadsToLeaveOut) {
  succeed("generate parse -n 3000 --seed 1 -o many.conllu");
  const auto before = files();
  for (const std::string task :
       {"train parse many.conllu -o model.esp", "cross-validate parse many.conllu"}) {
    RunningProgram program(command(task), here());
    ASSERT_TRUE(program.wait_for_error_lines(1));
    program.send(SIGINT);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.status, 130);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err,
              "training a simpler model to prune heads\n"
              "espalier: interrupted while reading many.conllu; nothing was saved\n");
    EXPECT_EQ(files(), before);
  }
}

TEST_F(CliParseTest, Demo) {
  const Outcome outcome = run("demo parse");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* piece :
       {"$ espalier generate parse ", "$ espalier train parse train.conllu --dev dev.conllu ",
        "$ espalier eval parser.esp test.conllu\nUAS ", "$ espalier show parser.esp\nmodel ",
        "$ espalier predict parser.esp new.conllu --format tree\n", "─► "}) {
    EXPECT_NE(outcome.out.find(piece), std::string::npos) << piece;
  }
  EXPECT_NE(outcome.err.find("  dev UAS "), std::string::npos);
  EXPECT_EQ(files().size(), 2u);  // the test's own
}

TEST_F(CliParseTest, SecondOrder) {
  for (const std::string structure : {"projective", "nonprojective"}) {
    const bool exact = structure == "projective";
    const Outcome outcome =
        run(kTrain + ("--order 2 --gap 1e-2 -o two.esp --log run.jsonl --structure " + structure));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::string last = lines(outcome.err).back();
    EXPECT_TRUE(last.starts_with("converged: relative gap ")) << last;
    EXPECT_EQ(last.find("of the relaxed problem") == std::string::npos, exact) << last;
    EXPECT_EQ(certificate("two.esp").value("relaxed", false), !exact);
    EXPECT_EQ(succeed("show two.esp").find("inference by trw") == std::string::npos, exact);
    // How many trees are proven to be the best is counted where that is a question.
    EXPECT_EQ(json("eval two.esp dev.conllu --json").contains("proven_best"), !exact);
    EXPECT_EQ(succeed("eval two.esp dev.conllu").find("proven to be best") == std::string::npos, exact);
    for (const auto& heads : heads_of(succeed("predict two.esp dev.conllu"))) EXPECT_TRUE(is_tree(heads));
    EXPECT_GT(json("eval two.esp dev.conllu --json").at("uas").get<double>(), 0.7);
    EXPECT_EQ(error("predict two.esp dev.conllu --kbest 2"),
              "espalier: --kbest: given for a parser of order 2; expected one of order 1");
  }
  EXPECT_EQ(
      error(kTrain + std::string("--order 3 -o three.esp")),
      "espalier: --order: found '3'; expected a whole number from 1 to 2; see 'espalier train parse --help'");
}

TEST_F(CliParseTest, InferenceOfSecondOrder) {
  const std::string order = "--order 2 --structure nonprojective --gap 1e-2 --passes 4 -o two.esp ";
  const Outcome outcome = run(kTrain + order + "--inference bp");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string last = lines(outcome.err).back();
  EXPECT_NE(last.find("approximate relative gap "), std::string::npos) << last;
  EXPECT_NE(last.find("inference is approximate, "), std::string::npos) << last;
  EXPECT_EQ(certificate("two.esp").value("approximate", false), true);
  const std::string shown = succeed("show two.esp");
  EXPECT_NE(shown.find("approximate, as all of this"), std::string::npos) << shown;
  EXPECT_NE(shown.find("inference by bp"), std::string::npos) << shown;
  EXPECT_EQ(succeed("eval two.esp dev.conllu").find("proven"), std::string::npos);

  // Bounds of sums say nothing of maxima.
  ASSERT_EQ(run(kTrain + order + "--loss svm").status, 0);
  EXPECT_EQ(certificate("two.esp").value("approximate", false), true);
  EXPECT_EQ(error(kTrain + std::string("--order 2 --inference bp -o two.esp")),
            "espalier: --inference: no effect; expected --order 2 and --structure nonprojective, or no "
            "--inference");
}

}  // namespace
}  // namespace espalier::testing::parse_test
