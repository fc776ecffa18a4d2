// What predict and eval do for taggers besides labelling: threads, confidences, labels that are given.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/cli_test.h"

namespace espalier::testing::predict_test {
namespace {

class CliPredictTest : public CliTest {
 protected:
  void SetUp() override {
    succeed("generate tag -n 200 --seed 1 -o train.txt");
    succeed("train tag train.txt -o model.esp --quiet --gap 1e-2");
  }
  // Many blocks of sentences, most of them short.
  std::string many_sentences() const {
    std::string text;
    while (text.size() < 600'000) {
      text += read("train.txt");
      for (int i = 0; i < 200; ++i) text += "Rome\tNNP\tB-LOC\n\n";
    }
    return text;
  }
  static std::vector<std::string> split(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
    return fields;
  }
  void expect_error(const std::string& arguments, const std::string& message, const std::string& input = "") {
    const auto before = files();
    const Outcome outcome = run(arguments, input);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.err, "espalier: " + message + "\n");
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(files(), before) << arguments;
  }
};

TEST_F(CliPredictTest, ThreadsGiveTheSameBytes) {
  write("many.txt", many_sentences());
  for (const std::string options : {"", " --marginals entity --min-confidence 0.9", " --kbest 2"}) {
    const std::string one = succeed("predict model.esp many.txt" + options);
    EXPECT_GT(one.size(), 500'000u);
    for (const std::string threads : {"1", "2", "5"}) {
      EXPECT_TRUE(succeed("predict model.esp many.txt --threads " + threads + options) == one)
          << threads << options;
    }
  }
  const std::string evaluated = succeed("eval model.esp many.txt");
  for (const std::string threads : {"1", "2", "5"}) {
    EXPECT_EQ(succeed("eval model.esp many.txt --threads " + threads), evaluated);
  }
  EXPECT_EQ(succeed("predict model.esp --threads 5", ""), "");
}

TEST_F(CliPredictTest, ThreadsFailAlike) {
  const std::string text = many_sentences();
  const std::size_t middle = text.find("\n\n", text.size() / 2) + 2;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(middle), '\n');
  const std::map<std::string, std::string> mistakes{
      {"one\ttwo\tthree\tfour\n",
       "4 columns; expected 3 as in line 1; attribute files need --format crfsuite"},
      {std::string("a\0b", 3), "a NUL byte; expected a text file, plain or compressed by gzip, zstd or xz"}};
  for (const auto& [mistake, message] : mistakes) {
    write("bad.txt", text.substr(0, middle) + mistake + text.substr(middle));
    const std::string expected = fmt::format("bad.txt:{}: {}", line, message);
    const std::string before = run("predict model.esp bad.txt").out;
    EXPECT_FALSE(before.empty());
    EXPECT_TRUE(succeed("predict model.esp", text).starts_with(before));
    for (const std::string threads : {"1", "2", "5"}) {
      expect_error("predict model.esp bad.txt -o out.txt --threads " + threads, expected);
      expect_error("eval model.esp bad.txt --threads " + threads, expected);
      // Standard output cannot be taken back; it ends with a whole sentence.
      EXPECT_TRUE(run("predict model.esp bad.txt --threads " + threads).out == before) << threads;
    }
  }
  // Two mistakes: the first one in the file is told.
  const std::string two = "one\ttwo\tthree\tfour\n\n";
  write("bad.txt", two + text.substr(0, middle) + std::string("a\0b", 3));
  for (const std::string threads : {"1", "5"}) {
    expect_error("predict model.esp bad.txt --threads " + threads,
                 "bad.txt:1: 4 columns; expected 3 as in training, or 2 without the label");
  }
  expect_error("predict model.esp bad.txt --threads -1",
               "--threads: found '-1'; expected a whole number >= 0; see 'espalier predict --help'");
}

TEST_F(CliPredictTest, ConfidenceOfEntities) {
  const std::string input = "Mr\tNNP\nSmith\tNNP\nleft\tVBD\nNew\tNNP\nYork\tNNP\n";
  const std::vector<std::string> best = lines(succeed("predict model.esp", input));
  const std::vector<std::string> shown = lines(succeed("predict model.esp --marginals entity", input));
  ASSERT_EQ(shown.size(), best.size());
  double least = 1;
  std::size_t outside = 0;
  for (std::size_t i = 0; i + 1 < shown.size(); ++i) {
    const auto fields = split(shown[i]);
    ASSERT_EQ(fields.size(), 4u);
    EXPECT_EQ(shown[i].substr(0, best[i].size() + 1), best[i] + '\t');
    EXPECT_EQ(fields[2] == "O", fields[3] == "_");
    outside += fields[3] == "_";
    if (fields[2].starts_with("I-")) {
      EXPECT_EQ(fields[3], split(shown[i - 1])[3]);
    }
    if (fields[3] != "_") least = std::min(least, std::stod(fields[3]));
  }
  EXPECT_GT(outside, 0u);
  EXPECT_GT(least, 0);
  ASSERT_LT(least, 1);

  // The least probable one goes, the others stay.
  const double limit = least + 1e-6;
  const std::vector<std::string> sure =
      lines(succeed(fmt::format("predict model.esp --marginals entity --min-confidence {}", limit), input));
  std::size_t gone = 0;
  for (std::size_t i = 0; i + 1 < shown.size(); ++i) {
    const auto before = split(shown[i]), now = split(sure[i]);
    const bool goes = before[3] != "_" && std::stod(before[3]) < limit;
    EXPECT_EQ(now[2], goes ? "O" : before[2]);
    EXPECT_EQ(now[3], goes ? "_" : before[3]);
    gone += goes;
  }
  EXPECT_GT(gone, 0u);
  EXPECT_EQ(succeed("predict model.esp --min-confidence 0", input), succeed("predict model.esp", input));
}

TEST_F(CliPredictTest, ConfidenceOfTokensThatAreNoChunks) {
  write("tags.txt", "a DT\ndog NN\n\nthe DT\ncat NN\n");
  succeed("train tag tags.txt -o tags.esp --quiet --l2 0.1");
  const std::vector<std::string> marginals = lines(succeed("predict tags.esp --marginals", "dog\n"));
  const std::vector<std::string> entities = lines(succeed("predict tags.esp --marginals entity", "dog\n"));
  const auto fields = split(marginals.front());
  ASSERT_EQ(fields.size(), 4u);
  EXPECT_EQ(fields[1], "NN");
  EXPECT_EQ(entities.front(), "dog\tNN\t" + fields[3].substr(fields[3].find(':') + 1));
  EXPECT_EQ(succeed("predict tags.esp --min-confidence 1", "dog\n"), "dog\t_\n\n");
}

TEST_F(CliPredictTest, ForcedLabels) {
  const std::string free = succeed("predict model.esp", "Rome\tNNP\nis\tVBZ\nold\tJJ\n");
  const auto last = [](const std::string& text, std::size_t line) { return split(lines(text)[line]).back(); };
  const std::string all_free =
      succeed("predict model.esp --forced 3", "Rome\tNNP\t_\nis\tVBZ\t?\nold\tJJ\t_\n");
  for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(last(all_free, t), last(free, t));
  EXPECT_TRUE(all_free.starts_with("Rome\tNNP\t_\t")) << all_free;

  const std::string forced = succeed("predict model.esp --forced 3 --marginals",
                                     "Rome\tNNP\tB-PER\nis\tVBZ\tI-PER|B-ORG\nold\tJJ\t_\n");
  EXPECT_NE(forced.find("B-PER:1.000000"), std::string::npos) << forced;
  EXPECT_EQ(split(lines(forced)[0])[3], "B-PER");
  const std::string second = split(lines(forced)[1])[3];
  EXPECT_TRUE(second == "I-PER" || second == "B-ORG") << second;
  EXPECT_NE(lines(forced)[1].find("\tO:0.000000"), std::string::npos) << forced;
  double sum = 0;
  for (const std::string& line :
       lines(succeed("predict model.esp --forced 3 --kbest 1000", "Rome\tNNP\tB-PER|B-ORG|O\n"))) {
    if (line.starts_with("# ")) sum += std::stod(words(line).at(2));
  }
  EXPECT_NEAR(sum, 1, 1e-5);

  // Any column, also with the label in the file, and the label itself.
  EXPECT_EQ(split(lines(succeed("predict model.esp --forced 1", "B-PER\tRome\tNNP\n"))[0]),
            (std::vector<std::string>{"B-PER", "Rome", "NNP", "B-PER"}));
  EXPECT_EQ(split(lines(succeed("predict model.esp --forced 3", "Rome\tNNP\tB-PER\tB-LOC\n"))[0]).back(),
            "B-PER");
  EXPECT_EQ(split(lines(succeed("predict model.esp --forced label", "Rome\tNNP\tB-PER\n"))[0]).back(),
            "B-PER");
}

TEST_F(CliPredictTest, ForcedLabelsOfAttributeFiles) {
  write("items.txt", "A\tx\nB\ty\nA\tx\n");
  succeed("train tag items.txt --format crfsuite -o items.esp --quiet --l2 0.1");
  EXPECT_EQ(succeed("predict items.esp", "B\tx\n\ty\n"), "A\nB\n\n");
  EXPECT_EQ(succeed("predict items.esp --forced label", "B\tx\n\ty\n_\tx\n"), "B\nB\nA\n\n");
  expect_error("predict items.esp --forced 3 -o out.txt",
               "--forced: column 3 for a model of crfsuite; expected label");
}

// Long lists are written while they are made; they begin as short ones do, and end where there are no more.
TEST_F(CliPredictTest, LongListsOfTheBest) {
  const std::string input = "Rome\tNNP\nis\tVBZ\nold\tJJ\n\nRome\tNNP\n";
  const auto sentences = [&](const std::string& arguments) {
    std::map<std::string, std::string> all;  // by their rank; the second sentence behind the first one
    std::string rank;
    for (const std::string& line : lines(succeed("predict model.esp " + arguments, input))) {
      if (line.starts_with("# ")) rank = line.substr(2, line.find(' ', 2) - 2);
      all[rank] += line + '\n';
    }
    return all;
  };
  const auto few = sentences("--kbest 3"), many = sentences("--kbest 100000"),
             threads = sentences("--kbest 100000 --threads 3");
  const std::size_t labels =
      split(lines(succeed("predict model.esp --marginals", "a\tb\n")).front()).size() - 3;
  ASSERT_EQ(few.size(), 3u);
  EXPECT_EQ(many.size(), labels * labels * labels);
  EXPECT_EQ(std::ranges::count(many.at("0"), '#'), 2);
  for (const auto& [rank, text] : few) EXPECT_EQ(many.at(rank), text);
  EXPECT_TRUE(threads == many);

  // Far more than anyone could keep: it is not kept.
  std::string sentence;
  for (int i = 0; i < 40; ++i) sentence += "Rome\tNNP\n";
  write("long.txt", sentence);
  const Outcome head = run_shell("$E predict model.esp long.txt --kbest 99999999 | head -1");
  EXPECT_TRUE(head.out.starts_with("# 0 ")) << head.out;
}

// Lines between sentences stay where they are, also where a block of sentences ends.
TEST_F(CliPredictTest, ThreadsKeepWhatIsBetweenSentences) {
  std::string input = "\n-DOCSTART- -X-\n\n", expected = "\n-DOCSTART- -X- O\n\n";
  while (input.size() < 300'000) {
    for (int i = 0; i < 100; ++i) {
      input += "Rome\tNNP\n\n";
      expected += "Rome\tNNP\tLABEL\n\n";
    }
    input += "\n-DOCSTART- -X-\n\n";
    expected += "\n-DOCSTART- -X- O\n\n";
  }
  const std::string label = split(lines(succeed("predict model.esp", "Rome\tNNP\n")).front()).back();
  for (std::size_t at; (at = expected.find("LABEL")) != std::string::npos;) expected.replace(at, 5, label);
  for (const std::string threads : {"1", "2", "5"}) {
    EXPECT_TRUE(succeed("predict model.esp --threads " + threads, input) == expected) << threads;
  }
  EXPECT_EQ(succeed("predict model.esp --threads 2", "\n\n-DOCSTART-\n"), "\n\n-DOCSTART-\tO\n");
}

TEST_F(CliPredictTest, WritesOtherEncodings) {
  const std::string input = "Mr\tNNP\nSmith\tNNP\nleft\tVBD\nNew\tNNP\nYork\tNNP\n";
  const std::string forced = "Rome\tNNP\tB-LOC\nRome\tNNP\tB-LOC\nRome\tNNP\tI-LOC\nis\tVBZ\tO\n";
  const auto written = [&](const std::string& encoding) {
    std::string labels;
    for (const std::string& line :
         lines(succeed("predict model.esp --forced 3 --encoding " + encoding, forced))) {
      if (!line.empty()) labels += split(line).back() + ' ';
    }
    return labels;
  };
  EXPECT_EQ(written("bio"), "B-LOC B-LOC I-LOC O ");
  EXPECT_EQ(written("iob1"), "I-LOC B-LOC I-LOC O ");
  EXPECT_EQ(written("bioes"), "S-LOC B-LOC E-LOC O ");
  EXPECT_EQ(succeed("predict model.esp --encoding bio", input), succeed("predict model.esp", input));
  expect_error("predict model.esp train.txt --encoding iob -o out.txt",
               "--encoding: found 'iob'; did you mean iob1?");
  write("tags.txt", "a DT\ndog NN\n");
  succeed("train tag tags.txt -o tags.esp --quiet");
  expect_error("predict tags.esp tags.txt --encoding bio -o out.txt",
               "--encoding: a model with the label 'DT'; expected labels that are O, or a prefix (B-, I-, "
               "E-, S-, L- or U-) and a type");
}

// JSON Lines say what the text says.
TEST_F(CliPredictTest, JsonLinesOfTagging) {
  const std::string input =
      "-DOCSTART-\tX\n\nMr\tNNP\nSmith\tNNP\nleft\tVBD\n\n\"R\xc3\xb6me\\\x01\tNNP\n\nbad\xff\tNN\n";
  const auto objects = [&](const std::string& arguments, const std::string& model = "model.esp") {
    std::vector<Json> all;
    for (const std::string& line : lines(succeed("predict " + model + " --json " + arguments, input)))
      all.push_back(Json::parse(line));
    EXPECT_EQ(all.size(), 3u);
    return all;
  };
  const auto labels = [&](const std::string& arguments) {
    std::vector<std::vector<std::string>> all(1);
    for (const std::string& line : lines(succeed("predict model.esp " + arguments, input))) {
      if (line.starts_with("-DOCSTART-") || line.starts_with("# ")) continue;
      if (line.empty()) {
        if (!all.back().empty()) all.emplace_back();
      } else {
        all.back().push_back(split(line)[2]);
      }
    }
    all.pop_back();
    return all;
  };
  const auto plain = objects(""), marginals = objects("--marginals"),
             entities = objects("--marginals entity"), best = objects("--kbest 3"),
             all = objects("--kbest 2000 --threads 2");
  EXPECT_EQ(plain[0]["tokens"].dump(), R"(["Mr","Smith","left"])");
  EXPECT_EQ(plain[1]["tokens"][0].get<std::string>(), "\"R\xc3\xb6me\\\x01");
  EXPECT_EQ(plain[2]["tokens"][0].get<std::string>(), "bad\xef\xbf\xbd");
  const auto expected = labels(""), expected_best = labels("--kbest 3");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(plain[i].items().size(), 2u);
    EXPECT_EQ(plain[i]["labels"].get<std::vector<std::string>>(), expected[i]);
    EXPECT_EQ(marginals[i]["labels"], plain[i]["labels"]);
    ASSERT_EQ(marginals[i]["marginals"].size(), plain[i]["labels"].size());
    for (const Json& token : marginals[i]["marginals"]) {
      double sum = 0;
      for (const auto& [label, p] : token.items()) sum += p.get<double>();
      EXPECT_NEAR(sum, 1, 1e-12);
    }
    ASSERT_EQ(best[i]["kbest"].size(), 3u);
    EXPECT_EQ(best[i]["kbest"][0]["labels"], plain[i]["labels"]);
    for (std::size_t r = 0; r < 3; ++r) {
      EXPECT_EQ(best[i]["kbest"][r]["labels"].get<std::vector<std::string>>(), expected_best[3 * i + r]);
      EXPECT_EQ(all[i]["kbest"][r], best[i]["kbest"][r]);
    }
    EXPECT_GE(best[i]["kbest"][0]["probability"].get<double>(),
              best[i]["kbest"][1]["probability"].get<double>());
  }
  // Mr Smith, and nobody else, in a chunk of its own.
  const Json& chunk = entities[0]["chunks"][0];
  EXPECT_EQ(chunk["type"].get<std::string>(), expected[0][chunk["begin"].get<std::size_t>()].substr(2));
  EXPECT_GT(chunk["end"].get<std::size_t>(), chunk["begin"].get<std::size_t>());
  EXPECT_GT(chunk["probability"].get<double>(), 0);
  EXPECT_TRUE(objects("--marginals entity --min-confidence 1")[0]["chunks"].empty());

  succeed("train tag train.txt -o svm.esp --quiet --loss svm --l2 16 --gap 0.1");
  EXPECT_TRUE(objects("--kbest 2", "svm.esp")[0]["kbest"][1].contains("score"));
}

TEST_F(CliPredictTest, JsonLinesOfOtherTasks) {
  const auto object = [&](const std::string& arguments, const std::string& input) {
    const auto all = lines(succeed("predict " + arguments, input));
    EXPECT_EQ(all.size(), 1u);
    return Json::parse(all.at(0));
  };
  write("classes.txt", "A\tx\nB\ty\n\"B\tz\n");
  succeed("train classify classes.txt --format crfsuite -o classes.esp --quiet");
  const Json label = object("classes.esp --json --marginals --kbest 9", "\tz\n");
  EXPECT_EQ(label["label"], "\"B");
  EXPECT_EQ(label["marginals"].items().size(), 3u);
  EXPECT_EQ(label["kbest"].size(), 3u);
  EXPECT_EQ(label["kbest"][0]["label"], "\"B");
  EXPECT_EQ(label["kbest"][0]["probability"], label["marginals"]["\"B"]);
  EXPECT_EQ(object("classes.esp --json", "\tz\n").dump(), R"({"label":"\"B"})");

  succeed("generate parse -n 50 --seed 1 -o train.conllu");
  succeed("train parse train.conllu -o parser.esp --quiet --hash-bits 14 --gap 1e-2");
  const std::string sentence = "1\tIt\t_\tPRON\tPRP\t_\n2\truns\t_\tVERB\tVBZ\t_\n";
  const Json tree = object("parser.esp --json --marginals --kbest 5", sentence);
  EXPECT_EQ(tree["words"].dump(), R"(["It","runs"])");
  ASSERT_EQ(tree["heads"].size(), 2u);
  ASSERT_EQ(tree["relations"].size(), 2u);
  EXPECT_EQ(tree["kbest"][0]["heads"], tree["heads"]);
  EXPECT_EQ(tree["kbest"][0]["relations"], tree["relations"]);
  EXPECT_EQ(tree["marginals"].size(), 2u);
  const auto text = lines(succeed("predict parser.esp", sentence));
  EXPECT_EQ(text[0], "1\tIt\t_\tPRON\tPRP\t_\t" + tree["heads"][0].dump() + '\t' +
                         tree["relations"][0].get<std::string>());
  write("sentence.conllu", sentence);
  expect_error("predict parser.esp sentence.conllu --json --format tree",
               "--json: given with --format tree; expected one of the two");

  succeed("generate treebank -n 30 --seed 1 -o train.mrg");
  succeed("train treebank train.mrg -o phrases.esp --quiet --hash-bits 10 --gap 0.1");
  const std::string brackets = lines(read("train.mrg")).front();
  const Json phrases = object("phrases.esp --json --kbest 2", brackets + '\n');
  EXPECT_EQ(phrases["tree"].get<std::string>() + '\n', succeed("predict phrases.esp", brackets + '\n'));
  EXPECT_EQ(phrases["kbest"][0]["tree"], phrases["tree"]);
  EXPECT_TRUE(phrases["kbest"][0].contains("probability"));

  const std::string graph = R"({"nodes": [{"features": ["f"]}, {"features": ["g"]}], "labels": ["A", "B"]})";
  write("graphs.jsonl", graph + '\n');
  succeed("train graph graphs.jsonl -o graphs.esp --quiet");
  EXPECT_EQ(succeed("predict graphs.esp graphs.jsonl --json"), succeed("predict graphs.esp graphs.jsonl"));
}

// A model that knows nothing of a file would answer the same for everything.
TEST_F(CliPredictTest, FilesOfWhichTheModelKnowsNothing) {
  std::string columns;
  for (int i = 0; i < 10; ++i) columns += fmt::format("word{}\tNN\tO\n", i);
  write("columns.txt", columns);
  write("few.txt", "word1\tNN\tO\nword2\tNN\tO\n");
  const std::string crfsuite =
      ": no attribute that the model knows; expected data like that of its training, in the format crfsuite";
  write("classes.txt", "A\tx\nB\ty\n");
  for (const std::string bias : {"", " --bias"}) {
    succeed("train classify classes.txt --format crfsuite -o classes.esp --quiet" + bias);
    expect_error("predict classes.esp columns.txt", "columns.txt" + crfsuite);
    expect_error("predict classes.esp -o out.txt", "standard input" + crfsuite, columns);
    expect_error("eval classes.esp columns.txt", "columns.txt" + crfsuite);
    expect_error("eval classes.esp few.txt", "few.txt" + crfsuite);
    expect_error(
        "eval classes.esp -",
        "standard input: no label that the model knows; expected data like that of its training, with "
        "labels such as 'A'",
        "C\tx\nD\ty\n");
    // A few may just be new, and one that is known is enough.
    const Outcome few = run("predict classes.esp few.txt");
    EXPECT_EQ(few.status, 0);
    EXPECT_EQ(few.err, "espalier: few.txt" + crfsuite + "\n");
    EXPECT_EQ(lines(few.out).size(), 2u);
    const Outcome known = run("predict classes.esp", columns + "A\tx\n");
    EXPECT_EQ(known.status, 0);
    EXPECT_EQ(known.err, "");
    EXPECT_EQ(run("predict classes.esp", "").err, "");
  }

  write("template.txt", "U:%x[0,0]\n");
  write("tags.txt", "a\tX\tX\nb\tY\tY\n");
  succeed("train tag tags.txt --template template.txt -o tags.esp --quiet");
  const std::string as_columns =
      ": no attribute that the model knows; expected data like that of its training, in the format columns";
  expect_error("predict tags.esp columns.txt -o out.txt", "columns.txt" + as_columns);
  expect_error("eval tags.esp few.txt", "few.txt" + as_columns);
  expect_error("eval tags.esp -",
               "standard input: no label that the model knows; expected data like that of its training, with "
               "labels such as 'X'",
               "a\tX\tO\nb\tY\tP\n");
  EXPECT_EQ(run("predict tags.esp few.txt").err, "espalier: few.txt" + as_columns + "\n");
  EXPECT_EQ(run("predict tags.esp few.txt").status, 0);
  EXPECT_EQ(run("predict tags.esp", columns + "a\tX\tX\n").err, "");

  const auto graph = [](const std::string& feature, int nodes) {
    std::string text, labels;
    for (int i = 0; i < nodes; ++i) {
      text += (i > 0 ? ", " : "") + fmt::format(R"({{"features": ["{}{}"]}})", feature, i % 2);
      labels += (i > 0 ? ", " : "") + fmt::format(R"("L{}")", i % 2);
    }
    return fmt::format(R"({{"nodes": [{}], "labels": [{}]}})", text, labels) + '\n';
  };
  write("graphs.jsonl", graph("f", 4));
  succeed("train graph graphs.jsonl -o graphs.esp --quiet");
  write("others.jsonl", graph("g", 10));
  write("few.jsonl", graph("g", 3));
  const std::string jsonl =
      ": no attribute that the model knows; expected data like that of its training, in the format jsonl";
  expect_error("predict graphs.esp others.jsonl -o out.txt", "others.jsonl" + jsonl);
  expect_error("eval graphs.esp few.jsonl", "few.jsonl" + jsonl);
  EXPECT_EQ(run("predict graphs.esp few.jsonl").err, "espalier: few.jsonl" + jsonl + "\n");
  EXPECT_EQ(run("predict graphs.esp graphs.jsonl").err, "");
}

TEST_F(CliPredictTest, Mistakes) {
  const std::string see = "; see 'espalier predict --help'";
  write("new.txt", "Rome\tNNP\n");
  expect_error(
      "predict model.esp --marginals new.txt",
      "--marginals: found 'new.txt'; expected label or entity; put file names before --marginals" + see);
  expect_error("predict model.esp new.txt --min-confidence 1.5",
               "--min-confidence: found '1.5'; expected a probability, a number from 0 to 1" + see);
  expect_error("predict model.esp new.txt --forced x",
               "--forced: 'x'; expected label, or a column counted from 1");
  expect_error("predict model.esp new.txt --forced 0",
               "--forced: '0'; expected label, or a column counted from 1");
  expect_error("predict model.esp new.txt --forced 3 -o out.txt",
               "new.txt:1: 2 columns; expected the forced labels in column 3, as --forced says");
  expect_error("predict model.esp new.txt --forced 2",
               "new.txt:1: 2 columns; expected 4 as in training, and the forced one, or 3 without the label");
  expect_error("predict model.esp new.txt --forced label", "new.txt:1: 2 columns; expected 3 as in training");
  write("new.txt", "Rome\tNNP\t_\n\nis\tVBZ\tO|VERB\n");
  expect_error(
      "predict model.esp new.txt --forced 3 -o out.txt",
      "new.txt:3: the forced label 'VERB'; expected a label of the model, several of them as 'A|B', or "
      "'_' for any");

  succeed("train tag train.txt -o svm.esp --quiet --loss svm --l2 16 --gap 0.1");
  for (const std::string option : {"--marginals entity", "--min-confidence 0.5"}) {
    expect_error(
        "predict svm.esp new.txt " + option,
        option.substr(0, option.find(' ')) +
            ": a model of loss svm has no probabilities; expected one trained with a finite beta, such as "
            "--loss crf");
  }
  train_model();  // a classifier
  for (const std::string option :
       {"--marginals entity", "--min-confidence 0.5", "--forced label", "--encoding bio"}) {
    const std::string name = option == "--marginals entity" ? option : option.substr(0, option.find(' '));
    expect_error("predict model.esp test.txt " + option,
                 name + ": given for a model of classify; expected a model of tag");
  }
}

}  // namespace
}  // namespace espalier::testing::predict_test
