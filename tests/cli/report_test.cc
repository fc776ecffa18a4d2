// `espalier report`: what is in the document, where it goes, and what is refused.

#include <algorithm>

#include "cli/cli_test.h"

namespace espalier::testing::report_test {
namespace {

class CliReportTest : public CliTest {
 protected:
  void SetUp() override {
    succeed("generate tag -n 60 --seed 1 -o train.txt");
    succeed("generate tag -n 20 --seed 2 -o dev.txt");
  }
  void train() const {
    succeed("train tag train.txt --dev dev.txt --report-every 1 --quiet -o m.esp --log run.jsonl");
  }
  static Json document_of(const std::string& page) {
    const std::string begin = "<script type=\"application/json\" id=\"document\">";
    const std::size_t from = page.find(begin) + begin.size();
    return Json::parse(page.substr(from, page.find("</script>", from) - from));
  }
};

TEST_F(CliReportTest, ThePageHasWhatJsonHas) {
  train();
  EXPECT_EQ(succeed("report m.esp --log run.jsonl -o r.html"), "");
  const std::string page = read("r.html");
  EXPECT_EQ(succeed("report m.esp --log run.jsonl"), page);
  const Json document = json("report m.esp --log run.jsonl --json");
  EXPECT_EQ(document_of(page), document);
  EXPECT_EQ(document.at("title"), "m.esp");
  EXPECT_EQ(document.at("model"), json("show m.esp --json"));
  const Json& certificate = document.at("certificate");
  EXPECT_EQ(certificate.at("numbers"), document.at("model").at("certificate"));
  EXPECT_EQ(certificate.at("model").at("training data"), document.at("model").at("data"));
  const Json& run = certificate.at("runs")[0];
  EXPECT_EQ(run.at("title"), "Training: tag, train.txt");
  EXPECT_EQ(run.at("command"),
            "espalier train tag train.txt --dev dev.txt --report-every 1 --quiet -o m.esp --log run.jsonl");
  const std::vector<std::string> log = lines(read("run.jsonl"));
  EXPECT_EQ(run.at("series")[0].at("passes").size(), log.size() - 2);
  EXPECT_NEAR(run.at("series")[0].at("primal").back().get<double>(),
              certificate.at("numbers").at("primal").get<double>(), 1e-3);
}

TEST_F(CliReportTest, TheSentenceSaysWhatIsCertain) {
  train();
  const auto sentence = [&](const std::string& model) {
    return json("report " + model + " --json").at("certificate").at("sentence").get<std::string>();
  };
  EXPECT_TRUE(sentence("m.esp").starts_with("The objective at these weights is "));
  EXPECT_NE(sentence("m.esp").find("more training can lower it by at most 0.0"), std::string::npos);
  write("dumped.txt", "FEATURES = {\n}\n");
  succeed("generate tag -n 60 --seed 1 -o t.txt");
  succeed("train tag t.txt --loss svm --gap 1e-2 --quiet -o svm.esp");
  EXPECT_TRUE(sentence("svm.esp").starts_with("The objective at these weights is "));
}

TEST_F(CliReportTest, PathsFoldsAndRaces) {
  succeed(
      "path tag train.txt --dev dev.txt --l2-max 10 --l2-min 1 --factor 0.1 --quiet -o m.esp --log "
      "path.jsonl");
  succeed(
      "cross-validate tag train.txt --folds 3 --l2-max 10 --l2-min 1 --factor 0.1 --quiet --log folds.jsonl");
  succeed("race tag train.txt --solvers eg,lbfgs --quiet --log race.jsonl");
  const Json runs =
      json("report m.esp --log path.jsonl folds.jsonl race.jsonl --json").at("certificate").at("runs");
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].at("path").at("points").size(), 2u);
  EXPECT_EQ(runs[0].at("path").at("chosen"), json("show m.esp --json").at("l2"));
  EXPECT_EQ(runs[1].at("folds").at("each").size(), 3u);
  const Json mean = runs[1].at("folds").at("values")[0].at("mean");
  double sum = 0;
  for (const Json& fold : runs[1].at("folds").at("each")) {
    EXPECT_EQ(fold.at("points")[0][0], 10);
    sum += fold.at("points")[0][1].get<double>();
  }
  EXPECT_NEAR(sum / 3, mean.get<double>(), 1e-4);
  EXPECT_EQ(runs[2].at("race").size(), 2u);
  EXPECT_EQ(runs[2].at("series").size(), 2u);
}

// Names from files and data are data.
TEST_F(CliReportTest, HostileNames) {
  const std::string label = "\"><img/src=x/onerror=alert(1)>", word = "</script><script>alert(1)</script>";
  write("evil.txt", word + " " + label + "\nb O\n\n" + word + " " + label + "\nc O\n");
  const std::string model = "<script>alert(1)<!--.esp", log = "a&b<i>.jsonl";
  succeed("train tag evil.txt --quiet -o " + model + " --log " + log);
  const std::string page = succeed("report " + model + " --log " + log);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  const Json document = document_of(page);
  EXPECT_EQ(document.at("title"), model);
  EXPECT_EQ(document.at("certificate").at("runs")[0].at("command"),
            "espalier train tag evil.txt --quiet -o '" + model + "' --log '" + log + "'");
}

TEST_F(CliReportTest, Refuses) {
  train();
  EXPECT_EQ(error("report m.esp --log train.txt -o r.html"),
            "espalier: train.txt:1: no JSON object; expected a run log, as training writes it");
  EXPECT_EQ(error("report m.esp --log missing.jsonl -o r.html").substr(0, 24), "espalier: missing.jsonl:");
  EXPECT_EQ(error("report m.esp -o m.esp"),
            "espalier: m.esp: is both the output (-o) and the model; expected another file for the output");
  EXPECT_EQ(error("report m.esp --log run.jsonl -o run.jsonl"),
            "espalier: run.jsonl: is both the output (-o) and the log (--log); expected another file for the "
            "output");
  EXPECT_EQ(files().count("r.html"), 0u);
}

}  // namespace
}  // namespace espalier::testing::report_test
