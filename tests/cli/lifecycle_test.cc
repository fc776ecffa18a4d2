// Runs that are interrupted and resumed, runs that start from a model, cross-validation, and what differs
// between models.

#include <signal.h>

#include <map>

#include "cli/cli_test.h"

namespace espalier::testing::lifecycle_test {
namespace {

class CliLifecycleTest : public CliTest {
 protected:
  void SetUp() override {
    succeed("generate tag -n 150 --seed 1 -o train.txt");
    succeed("generate tag -n 50 --seed 2 -o dev.txt");
  }
  Json certificate(const std::string& model) const {
    return json("show " + model + " --json").at("certificate");
  }
  // Two certificates enclose one optimum.
  static void expect_same_optimum(const Json& a, const Json& b) {
    EXPECT_LE(a.at("dual").get<double>(), b.at("primal").get<double>());
    EXPECT_LE(b.at("dual").get<double>(), a.at("primal").get<double>());
  }
};

using CliCheckpointTest = CliLifecycleTest;

TEST_F(CliCheckpointTest, ResumedRunsReachTheSameOptimum) {
  for (const std::string how : {"eg", "lbfgs", "eg --loss svm --l2 16"}) {
    const std::string command = "train tag train.txt --gap 5e-3 --solver " + how;
    succeed(command + " -o whole.esp");
    const Outcome first = run(command + " -o model.esp --checkpoint run.ckpt --log run.jsonl --passes 6");
    EXPECT_EQ(first.status, 0);
    EXPECT_TRUE(lines(first.err).back().ends_with("; saved model.esp; --resume continues from run.ckpt"))
        << first.err;
    EXPECT_EQ(files().count("run.ckpt"), 1u);
    const double passes = certificate("model.esp").at("passes").get<double>();
    EXPECT_GE(passes, 6);

    const Outcome second = run(command + " -o model.esp --checkpoint run.ckpt --log run.jsonl --resume");
    EXPECT_EQ(second.status, 0) << second.err;
    const std::vector<std::string> shown = lines(second.err);
    EXPECT_TRUE(shown.at(1).starts_with("resumed run.ckpt: 6.")) << second.err;
    EXPECT_TRUE(shown.back().starts_with("converged: ") && shown.back().ends_with("; saved model.esp"));
    EXPECT_EQ(files().count("run.ckpt"), 0u);
    const Json whole = certificate("whole.esp"), resumed = certificate("model.esp");
    EXPECT_LE(resumed.at("relative_gap").get<double>(), 5e-3);
    expect_same_optimum(whole, resumed);
    EXPECT_GT(resumed.at("passes").get<double>(), passes);

    // The log has both runs, and passes and seconds that only grow.
    double last_pass = 0, last_seconds = 0;
    int starts = 0, ends = 0;
    for (const std::string& line : lines(read("run.jsonl"))) {
      const Json event = Json::parse(line);
      starts += event.at("event") == "start";
      ends += event.at("event") == "end";
      if (event.at("event") != "progress") continue;
      EXPECT_GE(event.at("pass").get<double>(), last_pass);
      EXPECT_GE(event.at("seconds").get<double>(), last_seconds);
      last_pass = event.at("pass").get<double>();
      last_seconds = event.at("seconds").get<double>();
    }
    EXPECT_EQ(starts, 2);
    EXPECT_EQ(ends, 2);
    EXPECT_EQ(last_pass, resumed.at("passes").get<double>());
  }
}

TEST_F(CliCheckpointTest, AnInterruptLeavesModelAndCheckpoint) {
  const std::string options = "train tag train.txt --solver eg --l2 1e-2 -o model.esp --checkpoint run.ckpt ";
  RunningProgram program(command(options + "--gap 0 --passes 1e9 --report-every 1"), here());
  ASSERT_TRUE(program.wait_for_error_lines(3));
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 130);
  EXPECT_TRUE(lines(outcome.err).back().ends_with("; saved model.esp; --resume continues from run.ckpt"));
  const double passes = certificate("model.esp").at("passes").get<double>();
  succeed(
      "train tag train.txt --solver eg --gap 1e-2 --l2 1e-2 -o resumed.esp --checkpoint run.ckpt --resume");
  const Json resumed = certificate("resumed.esp");
  EXPECT_GE(resumed.at("passes").get<double>(), passes);
  EXPECT_LE(resumed.at("relative_gap").get<double>(), 1e-2);
  expect_same_optimum(resumed, certificate("model.esp"));
  EXPECT_EQ(files(), (std::set<std::string>{"dev.txt", "model.esp", "resumed.esp", "train.txt"}));
}

// Each solver that keeps duals continues from them, in whatever form it keeps them.
TEST_F(CliCheckpointTest, DualsOfEverySolverGoOn) {
  const std::vector<std::string> solvers{"--loss svm --solver frank-wolfe", "--loss svm --solver eg",
                                         "--loss svm --solver smo", "--solver sdca"};
  for (const std::string& solver : solvers) {
    SCOPED_TRACE(solver);
    const std::string options =
        "train tag train.txt --l2 4 " + solver + " -o model.esp --checkpoint run.ckpt --report-every 1 ";
    succeed(options + "--gap 0 --passes 8 --quiet");
    const double before = certificate("model.esp").at("dual").get<double>();
    EXPECT_GT(before, 0);
    std::filesystem::remove(folder_.path("run.jsonl"));
    const Outcome resumed = run(options + "--gap 0 --passes 4 --resume --log run.jsonl");
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    const Json first = Json::parse(lines(read("run.jsonl")).at(1));
    EXPECT_EQ(first.at("event"), "progress");
    EXPECT_GE(first.at("pass").get<double>(), 8);
    EXPECT_GT(first.at("dual").get<double>(), 0.9 * before);
    std::filesystem::remove(folder_.path("run.ckpt"));
  }
}

TEST_F(CliCheckpointTest, CheckpointsComeAtReports) {
  // Killed without a chance to say anything, a run has the checkpoint of its last report.
  RunningProgram program(
      command("train tag train.txt --solver eg --l2 1e-2 --gap 0 --passes 1e9 --report-every 1 "
              "-o model.esp --checkpoint run.ckpt --checkpoint-every 0"),
      here());
  ASSERT_TRUE(program.wait_for_error_lines(4));
  program.send(SIGKILL);
  EXPECT_EQ(program.wait().status, 128 + SIGKILL);
  const Outcome outcome =
      run("train tag train.txt --solver eg --l2 1e-2 -o model.esp --checkpoint run.ckpt --resume");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(lines(outcome.err).at(1).starts_with("resumed run.ckpt: ")) << outcome.err;
  EXPECT_LE(certificate("model.esp").at("relative_gap").get<double>(), 1e-3);
}

TEST_F(CliCheckpointTest, PathsGoOnToo) {
  const std::string path =
      "path tag train.txt --dev dev.txt --l2-max 16 --l2-min 0.2 --factor 0.25 -o model.esp --checkpoint "
      "run.ckpt ";
  const std::vector<std::string> first = lines(succeed(path + "--passes 12 --quiet"));
  ASSERT_EQ(first.size(), 4u);  // two values and an unfinished one
  const std::vector<std::string> second = lines(succeed(path + "--resume --quiet"));
  ASSERT_EQ(second.size(), 5u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(second[i], first[i]);
  EXPECT_EQ(words(second[3]).at(0), "1");
  EXPECT_LE(std::stod(words(second[3]).at(3)), 1e-3);
  EXPECT_EQ(words(second[4]).at(0), "0.25");
  double total = 0;
  for (std::size_t i = 1; i < 5; ++i) {
    total += std::stod(words(second[i]).at(1));
    EXPECT_NEAR(std::stod(words(second[i]).at(2)), total, 0.03);
  }
  EXPECT_EQ(files().count("run.ckpt"), 0u);
  EXPECT_EQ(files().count("model.esp"), 1u);
}

// Wherever it was interrupted, a search keeps the values that it has, and goes on to its end.
TEST_F(CliCheckpointTest, SearchesGoOnToo) {
  const std::string search =
      "train tag train.txt --dev dev.txt --l2 auto -o model.esp --checkpoint run.ckpt --gap 1e-4 ";
  // The rows of the table of values by their l2, without the mark of the best.
  const auto table = [](const Outcome& outcome) {
    std::map<std::string, std::vector<std::string>> rows;
    for (const std::string& line : lines(outcome.err)) {
      std::vector<std::string> row = words(line);
      if (!line.starts_with("  ") || row.at(0) == "l2") continue;
      if (row.back() == "best") row.pop_back();
      rows[row.at(0)] = row;
    }
    return rows;
  };
  for (const std::string passes : {"2", "10", "20"}) {
    const Outcome first = run(search + "--passes " + passes);
    ASSERT_EQ(first.status, 0) << first.err;
    ASSERT_EQ(files().count("run.ckpt"), 1u) << passes;
    EXPECT_NE(lines(first.err).back().find(" (out of passes before the end of the search)"),
              std::string::npos)
        << first.err;
    const Outcome second = run(search + "--resume");
    EXPECT_EQ(second.status, 0) << second.err;
    EXPECT_EQ(files().count("run.ckpt"), 0u);
    EXPECT_LE(certificate("model.esp").at("relative_gap").get<double>(), 1e-4);
    const auto before = table(first), after = table(second);
    EXPECT_GT(after.size(), 3u) << second.err;
    std::size_t kept = 0;
    for (const auto& [l2, row] : before) kept += after.contains(l2) && after.at(l2) == row ? 1 : 0;
    // All but the one that was interrupted, and the best, which has another gap at the end.
    EXPECT_GE(kept + 2, before.size()) << first.err << second.err;
  }
  succeed(search + "--passes 2 --quiet");
  EXPECT_EQ(error(search + "--l2-min 0.1 --resume"),
            "espalier: run.ckpt: a checkpoint of a run with l2 auto; expected l2 auto from 0.1 to 1000000, "
            "as in this run");
}

TEST_F(CliCheckpointTest, OtherRunsAreRefused) {
  const std::string options = " -o model.esp --checkpoint run.ckpt ";
  succeed("train tag train.txt --passes 3" + options);
  const std::string before = read("run.ckpt");
  EXPECT_EQ(error("train tag train.txt" + options),
            "espalier: run.ckpt: already exists; expected --resume to continue from it, or another name");
  EXPECT_EQ(error("train tag train.txt --l2 3 --resume" + options),
            "espalier: run.ckpt: a checkpoint of a run with l2 1.0; expected l2 3.0, as in this run");
  EXPECT_EQ(error("train tag train.txt --loss softmax-margin --resume" + options),
            "espalier: run.ckpt: a checkpoint of a run with loss crf; expected loss softmax-margin, as in "
            "this run");
  EXPECT_EQ(
      error("train tag dev.txt --resume" + options),
      "espalier: run.ckpt: a checkpoint of a run with different training data; expected those of this run");
  EXPECT_EQ(
      error("train tag train.txt --first 100 --resume" + options),
      "espalier: run.ckpt: a checkpoint of a run with different training data; expected those of this run");
  write("some.template", "U:%x[0,0]\n");
  EXPECT_EQ(error("train tag train.txt --template some.template --resume" + options),
            "espalier: run.ckpt: a checkpoint of a run with different templates; expected those of this run");
  EXPECT_EQ(error("train tag train.txt --resume -o model.esp --checkpoint no.ckpt"),
            "espalier: no.ckpt: no such file; expected the checkpoint of an interrupted run; a run that ends "
            "removes its checkpoint");
  EXPECT_EQ(error("train tag train.txt --resume -o new.esp --checkpoint model.esp"),
            "espalier: model.esp: a model; expected the checkpoint of an interrupted run");
  EXPECT_EQ(error("show run.ckpt"),
            "espalier: run.ckpt: a checkpoint, which --resume continues from; expected a model");
  EXPECT_TRUE(read("run.ckpt") == before);
}

TEST_F(CliCheckpointTest, BadNames) {
  EXPECT_EQ(
      error("train tag train.txt -o m.esp --checkpoint m.esp"),
      "espalier: m.esp: is both the output (-o) and the checkpoint (--checkpoint); expected another file for "
      "the output");
  EXPECT_EQ(error("train tag train.txt -o m.esp --checkpoint -"),
            "espalier: --checkpoint -: found standard output; expected the name of a file");
  EXPECT_EQ(error("train tag train.txt -o m.esp --checkpoint run.gz"),
            "espalier: run.gz: models are not compressed; expected another ending, such as model.esp");
  EXPECT_EQ(
      error("train tag train.txt -o m.esp --checkpoint none/run.ckpt"),
      "espalier: none/run.ckpt: cannot create: No such file or directory; expected a folder that exists and "
      "can be written");
  EXPECT_EQ(error("train tag train.txt -o m.esp --resume"),
            "espalier: --resume requires --checkpoint; see 'espalier train tag --help'");
}

using CliInitTest = CliLifecycleTest;

TEST_F(CliInitTest, SavesPassesOnTheSameData) {
  for (const std::string solver : {"eg", "lbfgs"}) {
    const std::string command = "train tag train.txt --solver " + solver;
    succeed(command + " -o cold.esp");
    const Outcome outcome = run(command + " --init cold.esp -o warm.esp");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::string note = lines(outcome.err).at(1);
    EXPECT_TRUE(note.starts_with("started from cold.esp: 9 of its 9 labels, ")) << note;
    EXPECT_EQ(note.find("new"), std::string::npos) << note;
    const Json cold = certificate("cold.esp"), warm = certificate("warm.esp");
    expect_same_optimum(cold, warm);
    EXPECT_LT(warm.at("passes").get<double>(), 0.6 * cold.at("passes").get<double>()) << solver;
  }
}

TEST_F(CliInitTest, MatchesLabelsAndAttributesByName) {
  write("old.svm", "a 1:1 2:1\nb 2:1 3:1\nc 3:1\n");
  write("new.svm", "d 4:1 2:1\nb 2:1 3:1\na 3:1\n");
  succeed("train classify old.svm -o old.esp --gap 1e-9");
  const Outcome outcome =
      run("train classify new.svm --init old.esp --solver lbfgs --passes 1e-9 -o new.esp");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(lines(outcome.err).at(1),
            "started from old.esp: 2 of its 3 labels (1 new), 2 of its 3 attributes (1 new)");
  // Nothing was trained: the weights are those of the old model where it has them, and 0 elsewhere. Attribute
  // 4 has no other and is left out.
  std::map<std::string, std::string> before;
  for (const std::string& line : lines(succeed("show old.esp --weights"))) {
    before[line.substr(0, 3)] = line.substr(4);
  }
  const std::vector<std::string> after = lines(succeed("show new.esp --weights"));
  ASSERT_EQ(after.size(), 6u);
  int kept = 0;
  for (const std::string& line : after) {
    const auto old = before.find(line.substr(0, 3));
    EXPECT_EQ(line.substr(4), old == before.end() ? "0" : old->second) << line;
    kept += old != before.end();
  }
  EXPECT_EQ(kept, 4);
}

TEST_F(CliInitTest, WhatDoesNotFit) {
  succeed("train tag train.txt -o tagger.esp --quiet");
  write("other.txt", "q1 q2 X\nq3 q4 Y\n");
  write("data.svm", "a 1:1\nb 2:1\n");
  EXPECT_EQ(error("train classify data.svm --init tagger.esp -o m.esp"),
            "espalier: tagger.esp: a model of the task tag; expected one of the task classify");
  EXPECT_EQ(
      error("train tag other.txt --init tagger.esp -o m.esp"),
      "espalier: tagger.esp: none of its labels is in the training data; expected a model of similar data");
  succeed("train classify data.svm -o classifier.esp --quiet");
  write("others.svm", "a 3:1\nb 4:1\n");
  EXPECT_EQ(
      error("train classify others.svm --init classifier.esp -o m.esp"),
      "espalier: classifier.esp: none of its attributes is in the training data; expected a model of similar "
      "data");
  EXPECT_EQ(
      error("train tag train.txt --dev dev.txt --l2 auto --init tagger.esp -o m.esp"),
      "espalier: --init: not with --l2 auto, which starts each value from another one; expected --l2 X");
  EXPECT_EQ(error("train tag train.txt --init none.esp -o m.esp"),
            "espalier: none.esp: cannot open: No such file or directory; expected a model that can be read");
}

TEST_F(CliInitTest, OtherLossesMayStartFromIt) {
  succeed("train tag train.txt -o crf.esp --quiet");
  const Outcome margin = run("train tag train.txt --loss softmax-margin --init crf.esp -o m.esp");
  EXPECT_EQ(margin.status, 0) << margin.err;
  EXPECT_LE(certificate("m.esp").at("relative_gap").get<double>(), 1e-3);
  // Solvers of a maximum have no use for weights.
  const Outcome svm = run("train tag train.txt --loss svm --l2 16 --gap 0.05 --init crf.esp -o m.esp");
  EXPECT_EQ(svm.status, 0) << svm.err;
  EXPECT_EQ(lines(svm.err).at(1), "crf.esp: not a good starting point for auto here; started from scratch");
}

using CliCrossValidateTest = CliLifecycleTest;

TEST_F(CliCrossValidateTest, PrintsATableThatThreadsDoNotChange) {
  const std::string command =
      "cross-validate tag train.txt --folds 3 --l2-max 16 --l2-min 1 --factor 0.25 --quiet ";
  const std::string one = succeed(command + "-o one.esp --log run.jsonl");
  EXPECT_EQ(succeed(command + "--threads 3"), one);
  EXPECT_NE(succeed(command + "--seed 2"), one);
  const std::vector<std::string> table = lines(one);
  ASSERT_EQ(table.size(), 4u);
  EXPECT_EQ(words(table[0]), (std::vector<std::string>{"l2", "folds", "passes", "F1", "%", "deviation"}));
  double best = 0, best_l2 = 0;
  const double l2[] = {16, 4, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<std::string> row = words(table[i + 1]);
    EXPECT_EQ(std::stod(row.at(0)), l2[i]);
    EXPECT_EQ(row.at(1), "3");
    if (std::stod(row.at(3)) > best) {
      best = std::stod(row.at(3));
      best_l2 = l2[i];
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(table[i + 1].ends_with("  best"), l2[i] == best_l2) << table[i + 1];
  }
  EXPECT_EQ(json("show one.esp --json").at("l2").get<double>(), best_l2);

  const std::vector<std::string> log = lines(read("run.jsonl"));
  ASSERT_EQ(log.size(), 2u + 9);
  EXPECT_EQ(Json::parse(log.front()).at("folds"), 3);
  std::set<int> folds;
  for (std::size_t i = 1; i < 10; ++i) folds.insert(Json::parse(log[i]).at("fold").get<int>());
  EXPECT_EQ(folds, (std::set<int>{1, 2, 3}));
  const Json end = Json::parse(log.back());
  EXPECT_EQ(end.at("l2").get<double>(), best_l2);
  EXPECT_EQ(end.at("values").size(), 3u);
  EXPECT_EQ(end.at("model"), "one.esp");
}

TEST_F(CliCrossValidateTest, ClassifiesToo) {
  generate("topics.txt", 200, 1);
  const std::vector<std::string> table =
      lines(succeed("cross-validate classify topics.txt --format crfsuite --folds 4 --l2-max 4 --l2-min 1 "
                    "--factor 0.5 --quiet"));
  ASSERT_EQ(table.size(), 4u);
  EXPECT_EQ(words(table[0]).at(3), "error");
}

TEST_F(CliCrossValidateTest, AnInterruptPrintsWhatIsDone) {
  RunningProgram program(command("cross-validate tag train.txt --folds 3 --l2-max 16 --l2-min 1e-9 --factor "
                                 "0.7 --gap 1e-5 -o model.esp"),
                         here());
  ASSERT_TRUE(program.wait_for_error_lines(5));  // a value of all folds, and another of the first
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 130);
  const std::vector<std::string> table = lines(outcome.out);
  ASSERT_GE(table.size(), 3u);
  EXPECT_EQ(words(table[1]).at(1), "3");
  EXPECT_TRUE(
      lines(outcome.err).back().ends_with(" so far; no model was saved, since not all folds were finished"))
      << outcome.err;
  EXPECT_EQ(files().count("model.esp"), 0u);
}

TEST_F(CliCrossValidateTest, SearchesByDefault) {
  const std::string command = "cross-validate tag train.txt --folds 3 ";
  const Outcome one = run(command + "-o one.esp --log run.jsonl");
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(succeed(command + "--threads 3 --quiet --l2 auto"), one.out);
  const std::vector<std::string> table = lines(one.out);
  ASSERT_GE(table.size(), 4u);
  double best = 0;
  for (std::size_t i = 1; i < table.size(); ++i) {
    EXPECT_EQ(words(table[i]).at(1), "3") << table[i];
    EXPECT_TRUE(i == 1 || std::stod(words(table[i])[0]) < std::stod(words(table[i - 1])[0])) << one.out;
    if (table[i].ends_with("  best")) best = std::stod(words(table[i])[0]);
  }
  EXPECT_EQ(json("show one.esp --json").at("l2").get<double>(), best);
  EXPECT_EQ(Json::parse(lines(read("run.jsonl")).front()).at("l2"), "auto");
  const std::vector<std::string> single = lines(succeed(command + "--l2 2 --quiet"));
  ASSERT_EQ(single.size(), 2u);
  EXPECT_EQ(words(single[1]).at(0), "2");
  EXPECT_TRUE(
      lines(run(command + "--l2-min 100 --l2-max 1000").err)
          .back()
          .ends_with(
              "; this is the smallest value of the search (--l2-min 100); smaller ones may be better"));
  EXPECT_EQ(
      error(command + "--l2 2 --factor 0.5"),
      "espalier: --l2-max, --l2-min, --factor: no effect without --l2 auto; expected --l2 auto, or none "
      "of them");
}

TEST_F(CliCrossValidateTest, GroupsStayTogether) {
  // Every document repeats its own words with labels of its own: known where a sentence of it is in training,
  // and else not. So accuracy tells whether folds cut documents.
  std::string boundaries, columns;
  for (int d = 0; d < 6; ++d) {
    boundaries += "-DOCSTART- -X-\n\n";
    for (int k = 0; k < 4; ++k) {
      const std::string id = std::to_string(d), label = std::to_string(d % 2);
      boundaries.append("w").append(id).append(" L").append(label).append("\n\n");
      columns.append("w").append(id).append(" doc").append(id).append(" L").append(label).append("\n\n");
    }
  }
  write("boundaries.txt", boundaries);
  write("columns.txt", columns);
  write("word.template", "U:%x[0,0]\n");
  const std::string options = " --template word.template --folds 3 --l2 0.1 --quiet";
  const auto accuracy = [&](const std::string& what) {
    return std::stod(words(lines(succeed("cross-validate tag " + what + options)).at(1)).at(3));
  };
  EXPECT_EQ(accuracy("boundaries.txt"), 100);
  EXPECT_LT(accuracy("boundaries.txt --group-by boundary"), 70);
  EXPECT_EQ(accuracy("columns.txt"), 100);
  EXPECT_EQ(accuracy("columns.txt --group-by 2"), accuracy("boundaries.txt --group-by boundary"));

  const auto refusal = [&](const std::string& what) { return error("cross-validate " + what); };
  EXPECT_EQ(
      refusal("tag boundaries.txt --group-by boundary --folds 7"),
      "espalier: --folds 7: found 6 groups; expected at least 2 folds, and at least one group per fold");
  EXPECT_EQ(refusal("tag columns.txt --group-by 2"),
            "espalier: --group-by: a column that the built-in attributes use; expected --template, with one "
            "that does not");
  EXPECT_EQ(refusal("tag columns.txt --template word.template --group-by 3"),
            "espalier: --group-by: column 3, which is the label; expected another column");
  EXPECT_EQ(refusal("tag columns.txt --template word.template --group-by 4"),
            "espalier: columns.txt:1: 3 columns; expected the document in column 4, as --group-by says");
  EXPECT_EQ(refusal("tag columns.txt --group-by document"),
            "espalier: --group-by: 'document'; expected boundary, or the number of a column, from 1");
  EXPECT_EQ(refusal("classify train.txt --group-by boundary"),
            "espalier: unknown option '--group-by'; see 'espalier cross-validate classify --help'");
}

TEST_F(CliCrossValidateTest, BadOptions) {
  EXPECT_EQ(error("cross-validate tag train.txt --folds 151"),
            "espalier: --folds 151: found 150 examples; expected at least 2 folds, and at least one example "
            "per fold");
  EXPECT_EQ(
      error("cross-validate tag train.txt --folds 1"),
      "espalier: --folds: found '1'; expected a whole number >= 2; see 'espalier cross-validate tag --help'");
  EXPECT_EQ(error("cross-validate tag train.txt --dev dev.txt"),
            "espalier: unknown option '--dev'; see 'espalier cross-validate tag --help'");
  EXPECT_EQ(error("cross-validate tag train.txt -o -"),
            "espalier: --output -: standard output is taken by the table; expected the name of a file");
}

using CliDiffTest = CliLifecycleTest;

TEST_F(CliDiffTest, ShowsWhatDiffers) {
  write("a.svm", "x 1:1\ny 2:1\n");
  write("b.svm", "x 1:1\nz 3:1\n");
  succeed("train classify a.svm -o a.esp --quiet");
  succeed("train classify b.svm --l2 2 -o b.esp --quiet");
  const std::vector<std::string> shown = lines(succeed("show --diff a.esp b.esp --top 1"));
  EXPECT_EQ(words(shown.at(0)), (std::vector<std::string>{"model", "a.esp", "b.esp"}));
  EXPECT_EQ(words(shown.at(2)), (std::vector<std::string>{"l2", "1.0", "2.0"}));
  const std::string all = succeed("show --diff a.esp b.esp");
  EXPECT_NE(all.find("; 1 attribute in common\nlabels only in a.esp: y\nlabels only in b.esp: z\n"),
            std::string::npos)
      << all;
  EXPECT_NE(all.find("\nlargest changes of each label\nx\n"), std::string::npos) << all;

  const Json difference = json("show --diff a.esp b.esp --json --top 1");
  EXPECT_EQ(difference.at("settings"), (Json{{"l2", {1.0, 2.0}}}));
  EXPECT_EQ(difference.at("labels_only"), (Json{{"y"}, {"z"}}));
  EXPECT_EQ(difference.at("attributes_common"), 1);
  EXPECT_EQ(difference.at("changes").size(), 3u);
  EXPECT_EQ(difference.at("models")[0], json("show a.esp --json"));
  EXPECT_EQ(json("show --diff a.esp a.esp --json").at("norm_of_difference"), 0);

  // Two labels only in each.
  write("c.svm", "x 1:1\nk 2:1\nl 3:1\n");
  write("d.svm", "x 1:1\nm 2:1\nn 3:1\n");
  succeed("train classify c.svm -o c.esp --quiet");
  succeed("train classify d.svm -o d.esp --quiet");
  EXPECT_EQ(json("show --diff c.esp d.esp --json").at("labels_only").dump(), R"([["k","l"],["m","n"]])");
}

TEST_F(CliDiffTest, NeedsTwoModels) {
  write("a.svm", "x 1:1\ny 2:1\n");
  succeed("train classify a.svm -o a.esp --quiet");
  EXPECT_EQ(error("show --diff a.esp"), "espalier: --diff requires OTHER; see 'espalier show --help'");
  EXPECT_EQ(error("show a.esp a.esp"), "espalier: OTHER requires --diff; see 'espalier show --help'");
}

}  // namespace
}  // namespace espalier::testing::lifecycle_test
