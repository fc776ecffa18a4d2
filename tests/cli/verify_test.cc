// `espalier verify`, as a user runs it.

#include "cli/cli_test.h"
#include "support/changed_model.h"

namespace espalier::testing::verify_test {
namespace {

class CliVerifyTest : public CliTest {
 protected:
  void SetUp() override {
    succeed("generate tag -n 40 --seed 1 -o train.txt");
    succeed("train tag train.txt --features observed --order 2 --min-count 2 -q -o model.esp");
  }
  void change(const std::string& name, const std::function<void(ChangedModel&)>& changed) const {
    ChangedModel model(folder_.path("model.esp"));
    changed(model);
    model.write(folder_.path(name));
  }
};

// The options of its training are in the model.
TEST_F(CliVerifyTest, SaysWhatItProved) {
  const std::vector<std::string> said = lines(succeed("verify model.esp train.txt"));
  ASSERT_EQ(said.size(), 7u);
  EXPECT_EQ(said[0], "model        model.esp");
  EXPECT_TRUE(said[1].starts_with("data         train.txt: 40 sequences, ")) << said[1];
  EXPECT_EQ(said[2], "             those that the model was trained on");
  EXPECT_TRUE(said[6].starts_with("verdict      agrees: the objective is what the file says, and at most "))
      << said[6];
  const Json found = json("verify model.esp train.txt --json --threads 2"),
             shown = json("show model.esp --json");
  EXPECT_EQ(found.at("verdict"), "agrees");
  EXPECT_EQ(found.at("same_data"), true);
  EXPECT_EQ(found.at("claimed"), shown.at("certificate"));
  EXPECT_EQ(found.at("claimed_objective"), shown.at("certificate").at("primal"));
  EXPECT_LE(found.at("proven").at("gap").get<double>(), 3 * found.at("claimed").at("gap").get<double>());
  EXPECT_EQ(shown.at("reading").dump(), R"({"min_count":2,"features":"observed","order":2})");
  EXPECT_GT(shown.at("labels").size(), 1u);
}

TEST_F(CliVerifyTest, GivenOptionsTakeThePlaceOfThoseOfTheModel) {
  const Outcome other = run("verify model.esp train.txt --min-count 1 --passes 0");
  EXPECT_EQ(other.status, 4);
  EXPECT_TRUE(lines(other.out).back().starts_with("verdict      these are not the data")) << other.out;
  EXPECT_EQ(run("verify model.esp train.txt --min-count 2").status, 0);
  EXPECT_EQ(error("verify model.esp train.txt --hash-bits 12"),
            "espalier: --hash-bits: given for a model of tag; expected a model of parse or treebank");
  EXPECT_EQ(error("verify model.esp train.txt --invalid drop"),
            "espalier: --invalid: no effect; expected --valid or --transitions, or no --invalid");
}

TEST_F(CliVerifyTest, FindsOutWhatIsWrong) {
  succeed("generate tag -n 40 --seed 2 -o other.txt");
  const Outcome other = run("verify model.esp other.txt --json --passes 0");
  // Or it has a weight that the data have no place for.
  EXPECT_TRUE(other.status == 4 || other.status == 2) << other.out << other.err;
  change("better.esp", [](ChangedModel& model) {
    Json all = model.settings();
    all["certificate"]["dual"] = all["certificate"]["primal"];
    model.set_settings(all);
  });
  const Outcome better = run("verify better.esp train.txt");
  EXPECT_EQ(better.status, 4) << better.out;
  EXPECT_TRUE(lines(better.out).back().starts_with("verdict      there are weights with an objective of "))
      << better.out;
  change("primal.esp", [](ChangedModel& model) {
    Json all = model.settings();
    all["certificate"]["primal"] = all["certificate"]["primal"].get<double>() * (1 - 1e-6);
    model.set_settings(all);
  });
  const Outcome primal = run("verify primal.esp train.txt");
  EXPECT_EQ(primal.status, 4);
  EXPECT_EQ(lines(primal.out).back(),
            "verdict      the objective at these weights is not what the file says");
  EXPECT_EQ(error("verify train.txt model.esp").substr(0, 20), "espalier: train.txt:");
  succeed("convert --bits 16 model.esp -o small.esp");
  const Outcome silent = run("verify small.esp train.txt");
  EXPECT_EQ(silent.status, 3);
  EXPECT_EQ(lines(silent.out).back(), "verdict      the file says nothing to compare this with");
  succeed("convert --bits 16 --data train.txt model.esp -o small.esp");
  EXPECT_EQ(run("verify small.esp train.txt").status, 0);
}

// The model of a run that was killed and went on from its checkpoint is one like others.
TEST_F(CliVerifyTest, AResumedRun) {
  const std::string train =
      "train tag train.txt -q --solver eg --gap 1e-6 --checkpoint run --checkpoint-every 0 -o resumed.esp ";
  // A run that ends too early leaves its checkpoint, as one that is killed does.
  succeed(train + "--passes 3 --report-every 1");
  succeed(train + "--resume");
  EXPECT_EQ(run("verify resumed.esp train.txt").status, 0);
}

// Options that name files are read again.
TEST_F(CliVerifyTest, ReadsTemplatesAgain) {
  write("template", "U00:%x[0,0]\nB\n");
  succeed("train tag train.txt --template template -q -o template.esp");
  EXPECT_EQ(run("verify template.esp train.txt").status, 0);
  std::filesystem::remove(folder_.path("template"));
  EXPECT_EQ(error("verify template.esp train.txt"),
            "espalier: template: cannot open: No such file or directory; expected a file that can be read");
}

TEST_F(CliVerifyTest, KernelsHaveNames) {
  write("xor.svm", "a 1:1\nb 2:1\na 1:1 2:1 3:0.5\nb 3:0.25\n");
  succeed("train classify xor.svm --kernel poly,2,1,1 -q -o xor.esp");
  const std::vector<std::string> weights = lines(succeed("show xor.esp --weights"));
  ASSERT_FALSE(weights.empty());
  EXPECT_TRUE(weights[0].starts_with("node 1\ta\t")) << weights[0];
  EXPECT_EQ(run("verify xor.esp xor.svm").status, 0);
}

TEST_F(CliVerifyTest, NamesThatWouldEndAField) {
  write("odd.txt", "X\ta\\\\b\tw=1\nY\tw=2\n\n");
  succeed("train tag odd.txt --format crfsuite -q -o odd.esp");
  const std::string weights = succeed("show odd.esp --weights");
  EXPECT_NE(weights.find("a\\\\b\tX\t"), std::string::npos) << weights;
}

}  // namespace
}  // namespace espalier::testing::verify_test
