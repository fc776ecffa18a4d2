// Tagging, from training to prediction.

#include <signal.h>

#include <algorithm>
#include <cmath>

#include "base/output.h"
#include "cli/cli_test.h"
#include "model/model_file.h"

namespace espalier::testing::tag_test {
namespace {

class CliTagTest : public CliTest {
 protected:
  void SetUp() override {
    generate_sentences("train.txt", 200, 1);
    generate_sentences("dev.txt", 60, 2);
    generate_sentences("test.txt", 60, 3);
  }
  void generate_sentences(const std::string& name, int sentences, int seed) const {
    succeed("generate tag -n " + std::to_string(sentences) + " --seed " + std::to_string(seed) + " -o " +
            name);
  }
  void train(const std::string& options = "") const {
    succeed("train tag train.txt -o model.esp --quiet " + options);
  }
  void pack(const std::string& name, const std::string& contents) const {
    OutputFile file(folder_.path(name));
    file.write(contents);
    file.commit();
  }
  static std::vector<std::string> split(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
    return fields;
  }
  static std::string without_last_column(const std::string& text) {
    std::string shorter;
    for (const std::string& line : lines(text)) shorter += line.substr(0, line.rfind('\t')) + '\n';
    return shorter;
  }
  static std::string with_crlf(const std::string& text) {
    std::string longer;
    for (const std::string& line : lines(text)) longer += line + "\r\n";
    return longer;
  }
  Json certificate() const { return json("show model.esp --json").at("certificate"); }
  double f1(const std::string& data) const {
    return json("eval model.esp --json " + data).at("f1").get<double>();
  }
};

TEST_F(CliTagTest, TrainsToTheGapAndEvaluates) {
  const Outcome outcome = run("train tag train.txt --dev dev.txt -o model.esp --gap 1e-4");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("read train.txt: 200 sequences, ")) << outcome.err;
  EXPECT_NE(outcome.err.find("  dev F1 "), std::string::npos);
  EXPECT_TRUE(lines(outcome.err).back().ends_with("; saved model.esp"));
  EXPECT_LE(certificate().at("relative_gap").get<double>(), 1e-4);

  const Json report = json("eval model.esp test.txt --json");
  for (const char* key : {"accuracy", "precision", "recall", "f1"}) {
    EXPECT_GT(report.at(key).get<double>(), 0.5) << key;
    EXPECT_LE(report.at(key).get<double>(), 1) << key;
  }
  EXPECT_TRUE(succeed("eval model.esp test.txt").starts_with("accuracy "));
}

TEST_F(CliTagTest, PredictAddsAColumn) {
  train();
  const std::string input = read("test.txt"), out = succeed("predict model.esp test.txt");
  EXPECT_EQ(without_last_column(out), input);
  std::size_t right = 0, tokens = 0;
  for (const std::string& line : lines(out)) {
    const std::vector<std::string> fields = split(line);
    if (fields.empty()) continue;
    ASSERT_EQ(fields.size(), 4u);
    right += fields[2] == fields[3];
    ++tokens;
  }
  EXPECT_DOUBLE_EQ(json("eval model.esp test.txt --json").at("accuracy").get<double>(),
                   static_cast<double>(right) / static_cast<double>(tokens));
  // Without the label, the label is what comes in its place.
  std::string expected;
  for (const std::string& line : lines(out)) {
    const std::vector<std::string> fields = split(line);
    expected += fields.empty() ? "\n" : fields[0] + '\t' + fields[1] + '\t' + fields[3] + '\n';
  }
  EXPECT_EQ(succeed("predict model.esp -", without_last_column(input)), expected);
}

TEST_F(CliTagTest, FilesComeInManyWays) {
  train();
  const std::string model = read("model.esp"), out = succeed("predict model.esp test.txt");
  pack("train.txt.gz", read("train.txt"));
  pack("test.txt.zst", read("test.txt"));
  succeed("train tag train.txt.gz -o packed.esp --quiet");
  EXPECT_TRUE(read("packed.esp") == model);
  EXPECT_EQ(succeed("predict model.esp test.txt.zst"), out);
  EXPECT_EQ(succeed("predict model.esp", read("test.txt")), out);
  succeed("predict model.esp test.txt -o out.txt.gz");
  EXPECT_EQ(read("out.txt.gz"), out);
  write("windows.txt", with_crlf(read("train.txt")));
  succeed("train tag windows.txt -o windows.esp --quiet");
  EXPECT_TRUE(read("windows.esp") == model);
  EXPECT_EQ(succeed("predict model.esp -", with_crlf(read("test.txt"))), out);
  const Outcome piped = run_shell(
      "cat train.txt | $E train tag - --quiet -o - > piped.esp && cat test.txt | $E predict piped.esp | cat");
  EXPECT_EQ(piped.out, out) << piped.err;
  EXPECT_TRUE(read("piped.esp") == model);
  EXPECT_EQ(succeed("eval model.esp -", read("test.txt")), succeed("eval model.esp test.txt"));
}

TEST_F(CliTagTest, TheSameSeedGivesTheSameBytes) {
  for (const std::string solver : {"eg", "lbfgs", "sgd"}) {
    const std::string command = "train tag train.txt --quiet --passes 10 --solver " + solver;
    succeed(command + " --seed 7 -o one.esp");
    succeed(command + " --seed 7 -o two.esp");
    EXPECT_TRUE(read("one.esp") == read("two.esp")) << solver;
    if (solver == "lbfgs") continue;  // nothing in it is random
    succeed(command + " --seed 8 -o other.esp");
    EXPECT_FALSE(read("one.esp") == read("other.esp")) << solver;
  }
}

TEST_F(CliTagTest, EveryLoss) {
  for (const std::string loss : {"crf", "softmax-margin", "1,1", "2,0.5"}) {
    train("--gap 1e-3 --loss " + loss);
    EXPECT_LE(certificate().at("relative_gap").get<double>(), 1e-3) << loss;
    EXPECT_GT(f1("test.txt"), 0.5) << loss;
  }
  train("--gap 5e-2 --l2 5 --loss svm");
  EXPECT_LE(certificate().at("relative_gap").get<double>(), 5e-2);
  EXPECT_GT(f1("test.txt"), 0.5);
  EXPECT_EQ(run("predict model.esp test.txt --marginals").err,
            "espalier: --marginals: a model of loss svm has no probabilities; expected one trained with a "
            "finite beta, such as --loss crf\n");
}

TEST_F(CliTagTest, MarginalsAddUp) {
  train();
  const std::vector<std::string> labels = lines(succeed("predict model.esp test.txt"));
  const std::vector<std::string> out = lines(succeed("predict model.esp test.txt --marginals"));
  ASSERT_EQ(out.size(), labels.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_TRUE(out[i].starts_with(labels[i]));
    const std::vector<std::string> fields = split(out[i]);
    double sum = 0;
    for (std::size_t k = 4; k < fields.size(); ++k)
      sum += std::stod(fields[k].substr(fields[k].rfind(':') + 1));
    EXPECT_NEAR(sum, fields.empty() ? 0 : 1, 1e-5) << out[i];
  }
}

TEST_F(CliTagTest, KbestBeginsWithTheBest) {
  train();
  const std::string input = "The\tDT\ntrain\tNN\nleft\tVBD\n";
  const std::string best = succeed("predict model.esp", input);
  const std::string three = succeed("predict model.esp --kbest 3", input);
  std::vector<double> probabilities;
  for (const std::string& line : lines(three)) {
    if (!line.starts_with("# ")) continue;
    EXPECT_EQ(words(line).at(1), std::to_string(probabilities.size()));
    probabilities.push_back(std::stod(words(line).at(2)));
  }
  ASSERT_EQ(probabilities.size(), 3u);
  EXPECT_TRUE(std::is_sorted(probabilities.rbegin(), probabilities.rend()));
  EXPECT_GT(probabilities.front(), 0);
  const std::size_t body = three.find('\n') + 1;
  EXPECT_EQ(three.substr(body, best.size()), best);
  EXPECT_EQ(lines(three).size(), 3u * 5);
  // All labellings of one token have a probability of 1 together.
  double sum = 0;
  for (const std::string& line : lines(succeed("predict model.esp --kbest 1000", "Rome\tNNP\n"))) {
    if (line.starts_with("# ")) sum += std::stod(words(line).at(2));
  }
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST_F(CliTagTest, PathChoosesTheBest) {
  const Outcome outcome = run(
      "path tag train.txt --dev dev.txt --l2-max 100 --l2-min 1 --factor 0.1 -o best.esp --log run.jsonl");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::vector<std::string> table = lines(outcome.out);
  ASSERT_EQ(table.size(), 4u);
  double best = 0, highest = -1;
  for (std::size_t i = 1; i < table.size(); ++i) {
    const std::vector<std::string> row = words(table[i]);  // l2 passes total gap primal F1 X %
    ASSERT_EQ(row.size(), 8u) << table[i];
    EXPECT_EQ(row[5], "F1");
    if (std::stod(row[6]) > highest) {
      highest = std::stod(row[6]);
      best = std::stod(row[0]);
    }
  }
  EXPECT_DOUBLE_EQ(json("show best.esp --json").at("l2").get<double>(), best);
  EXPECT_NEAR(100 * json("eval best.esp dev.txt --json").at("f1").get<double>(), highest, 0.005);
  const Json start = Json::parse(lines(read("run.jsonl")).front());
  EXPECT_EQ(start.at("task"), "tag");
  EXPECT_FALSE(start.contains("bias"));
  const Json progress = Json::parse(lines(read("run.jsonl")).at(1));
  for (const char* key : {"accuracy", "precision", "recall", "f1"}) {
    EXPECT_TRUE(progress.at("dev").contains(key)) << key;
  }
}

TEST_F(CliTagTest, TemplateAndLabelColumn) {
  write("template", "U00:%x[0,0]\nU01:%x[-1,1]/%x[0,1]\nB\n");
  write("swapped.txt", [&] {
    std::string text;
    for (const std::string& line : lines(read("train.txt"))) {
      const auto fields = split(line);
      text += fields.empty() ? "\n" : fields[0] + '\t' + fields[2] + '\t' + fields[1] + '\n';
    }
    return text;
  }());
  train("--template template --log run.jsonl");
  const Json shown = json("show model.esp --json");
  EXPECT_EQ(shown.at("settings"), (Json{{"format", "columns"}, {"columns", 3}, {"label_column", 3}}));
  EXPECT_EQ(Json::parse(lines(read("run.jsonl")).front()).at("template"), "template");
  EXPECT_GT(f1("test.txt"), 0.3);
  EXPECT_NE(succeed("show model.esp --weights").find("U01:"), std::string::npos);

  // The second column holds the label: the third one is then what the template's column 2 is.
  write("template", "U00:%x[0,0]\nU01:%x[-1,2]/%x[0,2]\nB\n");
  succeed("train tag swapped.txt --template template --label-column 2 -o swapped.esp --quiet");
  const Json other = json("show swapped.esp --json");
  EXPECT_EQ(other.at("settings").at("label_column"), 2);
  EXPECT_EQ(other.at("certificate").at("primal"), shown.at("certificate").at("primal"));
  EXPECT_GT(json("eval swapped.esp swapped.txt --json").at("f1").get<double>(), 0.3);
}

TEST_F(CliTagTest, CrfsuiteFiles) {
  write("items.txt", "A\tx\ty:0.5\nB\ty\n\nB\ty\tx\\:1\nA\tx\n");
  succeed("train tag items.txt --format crfsuite -o model.esp --quiet --gap 1e-6 --l2 0.01");
  EXPECT_EQ(succeed("predict model.esp items.txt"), "A\nB\n\nB\nA\n\n");
  EXPECT_EQ(json("show model.esp --json").at("settings"), (Json{{"format", "crfsuite"}}));
  EXPECT_EQ(json("eval model.esp items.txt --json").at("accuracy"), 1);
}

TEST_F(CliTagTest, ObservedFeaturesAndHigherOrders) {
  train();
  const double all = f1("test.txt");
  const std::size_t weights = lines(succeed("show model.esp --weights")).size();
  for (const char* options : {"--features observed", "--order 2", "--features observed --order 3"}) {
    train(std::string(options) + " --dev dev.txt");
    EXPECT_LE(certificate().at("relative_gap").get<double>(), 1e-3) << options;
    EXPECT_GT(f1("test.txt"), all - 0.1) << options;
    const std::size_t found = lines(succeed("show model.esp --weights")).size();
    if (std::string(options).find("observed") != std::string::npos) {
      EXPECT_LT(found, weights) << options;
    } else {
      EXPECT_GT(found, weights) << options;
    }
    EXPECT_NE(succeed("show model.esp --top 3").find("transitions\n"), std::string::npos) << options;
    EXPECT_EQ(without_last_column(succeed("predict model.esp test.txt")), read("test.txt")) << options;
  }
  const Json settings = json("show model.esp --json").at("settings");
  EXPECT_EQ(settings.at("features"), "observed");
  EXPECT_EQ(settings.at("order"), 3);
}

TEST_F(CliTagTest, OneTokenSentences) {
  write("train.txt", "Rome B\n\nran O\n\nRome B\n\nsat O\n");
  const Outcome outcome = run("train tag train.txt --l2 0.1 -o model.esp");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(
      outcome.err.starts_with("read train.txt: 4 sequences, 4 tokens, label in column 2 of 2: 2 labels, "))
      << outcome.err;
  EXPECT_EQ(succeed("predict model.esp", "Rome\n\nran\n"), "Rome\tB\n\nran\tO\n\n");
}

TEST_F(CliTagTest, AnUnseenLabelIsAnError) {
  write("train.txt", "Rome B-LOC\nfell O\n\nRome B-LOC\nis O\n");
  write("test.txt", "Rome B-CITY\nfell O\n\nRome B-LOC\nfell O\n");
  succeed("train tag train.txt --dev test.txt --l2 0.1 -o model.esp --quiet");
  const Json report = json("eval model.esp test.txt --json");
  EXPECT_EQ(report.at("accuracy"), 0.75);
  EXPECT_EQ(report.at("precision"), 0.5);
  EXPECT_EQ(report.at("recall"), 0.5);
  EXPECT_EQ(report.at("f1"), 0.5);
}

TEST_F(CliTagTest, ShowTellsTransitions) {
  train();
  const std::string shown = succeed("show model.esp --top 2");
  EXPECT_NE(shown.find("\ntask         tag: "), std::string::npos);
  EXPECT_NE(shown.find("\ntransitions\n"), std::string::npos);
  EXPECT_NE(shown.find(" -> "), std::string::npos);
}

class CliTagInterruptTest : public CliTagTest, public ::testing::WithParamInterface<int> {};

TEST_P(CliTagInterruptTest, SavesWhatItHas) {
  RunningProgram program(command(std::string("train tag train.txt ") + kEndless +
                                 "--report-every 2 -o model.esp --log run.jsonl"),
                         here());
  ASSERT_TRUE(program.wait_for_error_lines(2));
  program.send(GetParam());
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 130);
  const std::string last = lines(outcome.err).back();
  EXPECT_TRUE(last.starts_with("stopped: relative gap ")) << last;
  EXPECT_TRUE(last.ends_with(" passes; saved model.esp")) << last;
  const Json saved = certificate();
  EXPECT_GT(saved.at("relative_gap").get<double>(), 0);
  const std::vector<std::string> log = lines(read("run.jsonl"));
  ASSERT_GE(log.size(), 3u);
  EXPECT_EQ(Json::parse(log[log.size() - 2]).at("primal"), saved.at("primal"));
  EXPECT_EQ(lines(succeed("predict model.esp test.txt")).size(), lines(read("test.txt")).size());
  EXPECT_EQ(files(), (std::set<std::string>{"dev.txt", "model.esp", "run.jsonl", "test.txt", "train.txt"}));
}

INSTANTIATE_TEST_SUITE_P(Signals, CliTagInterruptTest, ::testing::Values(SIGINT, SIGTERM),
                         [](const ::testing::TestParamInfo<int>& info) {
                           return info.param == SIGINT ? "Interrupt" : "Terminate";
                         });

// Each with its one line, and nothing left behind.
TEST_F(CliTagTest, Mistakes) {
  write("template", "U00:%x[0,0]\nB\n");
  write("empty", "");
  write("other.txt", "xyzzy NN O\n");
  train();
  succeed("train tag train.txt --template template -o plain.esp --quiet");
  const auto before = files();
  const std::string see = "; see 'espalier train tag --help'";
  const auto expect = [&](const std::string& arguments, const std::string& message) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.err, "espalier: " + message + "\n");
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(files(), before) << arguments;
  };
  expect("train tag train.txt --format crfsuite --template template -o out.esp",
         "--template: given for --format crfsuite; expected --format columns");
  expect("train tag train.txt --format crfsuite --label-column 1 -o out.esp",
         "--label-column: given for --format crfsuite; expected --format columns");
  expect("train tag train.txt --format csv -o out.esp",
         "--format: found 'csv'; expected columns, crfsuite or wapiti; see 'espalier train tag --help'");
  expect("train tag train.txt --features some -o out.esp",
         "--features: found 'some'; expected all, observed, observed-attributes or observed-transitions; see "
         "'espalier train tag --help'");
  expect("train tag train.txt --order 5 -o out.esp",
         "--order: found '5'; expected a whole number from 1 to 4; see 'espalier train tag --help'");
  expect("train tag train.txt --template none -o out.esp",
         "none: cannot open: No such file or directory; expected a file that can be read");
  expect("train tag train.txt --template empty -o out.esp",
         "empty: no templates; expected at least one line that begins with U or B");
  expect("train tag train.txt --label-column 0 -o out.esp",
         "--label-column: found '0'; expected a whole number >= 1" + see);
  expect("train tag train.txt --label-column last -o out.esp",
         "--label-column: found 'last'; expected a whole number >= 1" + see);
  expect("train tag train.txt --first 0 -o out.esp",
         "--first: found '0'; expected a whole number >= 1" + see);
  expect("train tag train.txt --bias -o out.esp", "unknown option '--bias'; did you mean --bits?");
  expect("train tag -o out.esp", "TRAIN is required" + see);
  expect("path tag train.txt", "--dev is required; see 'espalier path tag --help'");
  expect("path tag train.txt --dev dev.txt -o -",
         "--output -: standard output is taken by the table; expected the name of a file");
  expect("train tag empty -o out.esp", "empty: no sequences; expected at least one");
  expect("train tag train.txt --dev empty -o out.esp", "empty: no sequences; expected at least one");
  expect("eval model.esp empty", "empty: no sequences; expected at least one");
  expect("eval plain.esp other.txt",
         "other.txt: no attribute that the model knows; expected data like that of its training, in the "
         "format columns");
  expect("predict model.esp test.txt --format crfsuite",
         "--format: crfsuite for a model of columns; expected the format that the model was trained on");
  expect("eval model.esp test.txt --format csv",
         "--format: unknown format 'csv'; expected columns, crfsuite or wapiti");
  expect("train tag none.txt -o out.esp",
         "none.txt: cannot open: No such file or directory; expected a file that can be read");
}

// A model whose sections do not fit together, with sound checksums.
TEST_F(CliTagTest, DamagedModels) {
  write("template", "U00:%x[0,0]\nB\n");
  write("train.txt", "x A\ny B\n\nx A\n");
  train("--template template");
  const auto message_with = [&](const std::string& changed, const std::string& bytes) {
    std::vector<std::pair<std::string, std::string>> sections;
    {
      const ModelFile model(folder_.path("model.esp"));
      for (const std::string name :
           {"model", "weights", "templates", "labels.bytes", "labels.offsets", "labels.table",
            "attributes.bytes", "attributes.offsets", "attributes.table", "transitions.bytes",
            "transitions.offsets", "transitions.table"}) {
        sections.emplace_back(name, model.section_bytes(name));
        if (name == changed) sections.back().second = bytes;
        if (name == changed && bytes == "(none)") sections.pop_back();
      }
    }
    ModelFileWriter writer;
    for (const auto& [name, contents] : sections) writer.add_bytes(name, contents);
    writer.write(folder_.path("hostile.esp"));
    const Outcome outcome = run("predict hostile.esp", "x\n");
    EXPECT_EQ(outcome.status, outcome.err.empty() ? 0 : 2);
    return outcome.err.empty() ? outcome.out : outcome.err;
  };
  const auto settings = [&](const char* key, const Json& value) {
    Json all = Json::parse(ModelFile(folder_.path("model.esp")).section_bytes("model"));
    all["settings"][key] = value;
    return all.dump();
  };
  EXPECT_EQ(message_with("", ""), "x\tA\n\n");
  EXPECT_EQ(message_with("model", settings("label_column", 7)),
            "espalier: hostile.esp: label column 7 of 2; retrain the model\n");
  EXPECT_EQ(message_with("model", settings("format", "csv")),
            "espalier: hostile.esp: a model of the format 'csv'; retrain the model\n");
  EXPECT_TRUE(message_with("model", settings("columns", "many"))
                  .starts_with("espalier: hostile.esp: an unreadable model section ("));
  for (const std::string section : {"templates", "transitions.table", "labels.bytes"}) {
    EXPECT_EQ(message_with(section, "(none)"),
              "espalier: hostile.esp: no section '" + section +
                  "'; expected a model of another kind, or of this version of the program\n");
  }
  EXPECT_EQ(message_with("transitions.table", ""),
            "espalier: hostile.esp: damaged dictionary: its table has the wrong size; retrain the model\n");
}

}  // namespace
}  // namespace espalier::testing::tag_test
