#include "espalier/model/model.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/input.h"
#include "espalier/solvers/registry.h"
#include "espalier/tasks/classify.h"
#include "model/make_model.h"
#include "model/model_file.h"
#include "solvers/training.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::model_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

constexpr const char* kTrain =
    "no 1:1 3:2\nyes 2:1\nno 1:2\nyes 2:1 3:-1\nmaybe 3:1\nno 2:0.1\nyes 1:0.3 2:2\nmaybe 3:0.5 2:0.2\n";

// A trained model and all that went into it.
class ModelTest : public ::testing::Test {
 protected:
  void train(const Loss& loss, bool with_costs) {
    ClassifyOptions options;
    if (with_costs) options.costs = folder.file("costs.txt", "no yes 3\n");
    set = read_classify_training(folder.file("train.svm", kTrain), options);
    Training training;
    const Summary summary = find_solver("eg", loss).run({set->problem(), loss, 0.1}, {}, training, {});
    const Progress& last = summary.history.back();
    info = {"classify", loss, 0.1, "eg", Certificate{last.primal, last.dual, last.passes}};
    theta = training.theta;
    make_model(info, *set, theta).save(path);
  }
  void SetUp() override { train(Loss::crf(), false); }

  // The model with sections changed, added or (nullopt) removed, and sound checksums.
  std::string message_with(const std::map<std::string, std::optional<std::string>>& changes) {
    std::map<std::string, std::string> sections;
    {
      const ModelFile file(path);
      for (const char* name : {"model", "weights", "labels.bytes", "labels.offsets", "labels.table",
                               "attributes.bytes", "attributes.offsets", "attributes.table", "costs"}) {
        if (file.has(name)) sections[name] = file.section_bytes(name);
      }
    }
    for (const auto& [name, bytes] : changes) {
      if (bytes) {
        sections[name] = *bytes;
      } else {
        sections.erase(name);
      }
    }
    ModelFileWriter writer;
    for (const auto& [name, bytes] : sections) writer.add_bytes(name, bytes);
    const std::string hostile = folder.path("hostile.esp");
    writer.write(hostile);
    const std::string message = error_message([&] { Model model(hostile); });
    return message.starts_with(hostile) ? "hostile.esp" + message.substr(hostile.size()) : message;
  }
  // The same with one setting changed; null removes it.
  // `pointer` as in "/settings/format".
  std::string message_with_setting(std::string_view pointer, const Json& value) {
    Json json = settings();
    Json* place = &json;
    while (!pointer.empty()) {
      pointer.remove_prefix(1);
      const std::size_t end = std::min(pointer.find('/'), pointer.size());
      place = &(*place)[pointer.substr(0, end)];
      pointer.remove_prefix(end);
    }
    *place = value;
    return message_with({{"model", json.dump()}});
  }
  Json settings() const { return Json::parse(ModelFile(path).section_bytes("model")); }
  std::string section(const char* name) const { return std::string(ModelFile(path).section_bytes(name)); }

  TemporaryFolder folder;
  std::string path = folder.path("model.esp");
  std::unique_ptr<TrainingSet> set;
  ModelInfo info;
  Weights theta;
};

// Old models do not say by how much rounding put a dual above its primal; training has checked that it was
// rounding.
TEST_F(ModelTest, ADualAboveItsPrimalByRoundingIsAGapOfZero) {
  info.certificate = Certificate{10, 10 + 1e-14, 3};
  make_model(info, *set, theta).save(path);
  const Model model(path);
  EXPECT_EQ(model.info().certificate->dual, 10 + 1e-14);
  EXPECT_EQ(model.info().certificate->gap(), 0);
  EXPECT_EQ(model.info().certificate->relative_gap(), 0);
}

TEST_F(ModelTest, RoundTrip) {
  for (const Loss& loss : {Loss::crf(), Loss::svm(), Loss{0.3, 2}}) {
    for (const bool with_costs : {false, true}) {
      train(loss, with_costs);
      const Model model(path);
      EXPECT_EQ(model.info().task, "classify");
      EXPECT_EQ(model.info().loss, loss);
      EXPECT_EQ(model.info().l2, 0.1);
      EXPECT_EQ(model.info().solver, "eg");
      EXPECT_EQ(model.info().certificate->primal, info.certificate->primal);
      EXPECT_EQ(model.info().certificate->dual, info.certificate->dual);
      EXPECT_EQ(model.info().certificate->passes, info.certificate->passes);
      EXPECT_EQ(model.weight_shape(), theta.shape());
      const ModelFile file(path);
      EXPECT_TRUE(std::ranges::equal(file.section<float>("weights"), theta.values()));

      // What the model says of data is what the training set says with the weights in memory.
      const std::string dev = folder.file("dev.svm", "no 1:1 2:0.4\nyes 3:0.1\nmaybe 3:2 1:0.2\nother 2:1\n");
      set->read_dev(dev);
      EXPECT_EQ(model.predictor().evaluate(dev, {}).report.dump(), set->evaluate_dev(theta).report.dump());
    }
  }
}

TEST_F(ModelTest, Describes) {
  const Json json = Model(path).describe();
  EXPECT_EQ(json["task"], "classify");
  EXPECT_EQ(json["loss"], "crf");
  EXPECT_EQ(json["l2"], 0.1);
  EXPECT_EQ(json["solver"], "eg");
  EXPECT_EQ(json["certificate"]["primal"], info.certificate->primal);
  EXPECT_EQ(json["certificate"]["gap"], info.certificate->gap());
  EXPECT_EQ(json["certificate"]["relative_gap"], info.certificate->relative_gap());
  EXPECT_EQ(json["rows"], 3);
  EXPECT_EQ(json["width"], 3);
  EXPECT_EQ(json["settings"]["format"], "libsvm");
}

// Another program's model: nobody knows its l2, and nothing certifies it.
TEST_F(ModelTest, WithoutACertificate) {
  info.l2.reset();
  info.solver = "converted from elsewhere";
  info.certificate.reset();
  make_model(info, *set, theta).save(path);
  const Model model(path);
  EXPECT_FALSE(model.info().l2.has_value());
  EXPECT_FALSE(model.info().certificate.has_value());
  EXPECT_EQ(model.info().solver, "converted from elsewhere");
  const Json json = model.describe();
  EXPECT_FALSE(json.contains("l2"));
  EXPECT_FALSE(json.contains("certificate"));
}

TEST_F(ModelTest, TheSameContentsGiveTheSameBytes) {
  make_model(info, *set, theta).save(folder.path("again.esp"));
  EXPECT_EQ(read_all(path), read_all(folder.path("again.esp")));
}

TEST_F(ModelTest, AChangeOfNothingIsFine) { EXPECT_EQ(message_with({}), "(no error)"); }

TEST_F(ModelTest, RefusesOtherTasksAndNewerOnes) {
  EXPECT_EQ(
      message_with_setting("/task", "fly"),
      "hostile.esp: a model of the task 'fly'; this program does not know it; expected a newer espalier");
  EXPECT_EQ(
      message_with_setting("/task_version", 4),
      "hostile.esp: version 4 of classify models; this program reads up to 3; expected a newer espalier");
}

TEST_F(ModelTest, RefusesShapesThatDoNotFit) {
  EXPECT_EQ(message_with_setting("/rows", 4),
            "hostile.esp: 12 weights for 4 rows of 3; expected as many as the rows hold; retrain the model");
  EXPECT_EQ(message_with_setting("/width", 8),
            "hostile.esp: 12 weights for 3 rows of 8; expected as many as the rows hold; retrain the model");
  EXPECT_EQ(message_with_setting("/width", 0),
            "hostile.esp: 12 weights for 3 rows of 0; expected as many as the rows hold; retrain the model");
  EXPECT_EQ(message_with_setting("/width", 18446744073709551615ULL),
            "hostile.esp: 12 weights for 3 rows of 18446744073709551615; expected as many as the rows hold; "
            "retrain the model");
  // The same stride, but not the labels.
  EXPECT_EQ(
      message_with_setting("/width", 4),
      "hostile.esp: 3 x 4 weights for 3 labels, 3 attributes; expected one for each pair; retrain the model");
  EXPECT_EQ(message_with({{"weights", section("weights").substr(0, 40)}}),
            "hostile.esp: 10 weights for 3 rows of 3; expected as many as the rows hold; retrain the model");
  EXPECT_EQ(message_with({{"weights", section("weights").substr(0, 47)}}),
            "hostile.esp: section 'weights' has the wrong size; copy the model again or retrain it");
}

TEST_F(ModelTest, RefusesMissingSections) {
  for (const char* name : {"model", "weights", "labels.bytes", "labels.offsets", "labels.table",
                           "attributes.bytes", "attributes.offsets", "attributes.table"}) {
    EXPECT_EQ(message_with({{name, std::nullopt}}),
              "hostile.esp: no section '" + std::string(name) +
                  "'; expected a model of another kind, or of this version of the program");
  }
}

TEST_F(ModelTest, RefusesBadJson) {
  const std::string start = "hostile.esp: an unreadable model section (", end = "); retrain the model";
  for (const std::string bad : {"", "{", "[]", "null", "7", "{}", "\xff\xfe", R"({"task":1})"}) {
    const std::string message = message_with({{"model", bad}});
    EXPECT_TRUE(message.starts_with(start) && message.ends_with(end)) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  // Every setting is needed, and has its type.
  for (const char* name :
       {"task", "loss", "l2", "solver", "certificate", "task_version", "rows", "width", "settings"}) {
    Json json = settings();
    json.erase(name);
    std::string message = message_with({{"model", json.dump()}});
    EXPECT_TRUE(message.starts_with(start) && message.ends_with(end)) << name << ": " << message;
    message = message_with_setting("/" + std::string(name), nullptr);
    EXPECT_TRUE(message.starts_with(start) && message.ends_with(end)) << name << ": " << message;
  }
  for (const char* pointer :
       {"/settings/format", "/settings/bias", "/settings/costs", "/certificate/primal"}) {
    const std::string message = message_with_setting(pointer, Json::array());
    EXPECT_TRUE(message.starts_with(start) && message.ends_with(end)) << pointer << ": " << message;
  }
  // Deep enough to exhaust the stack of a parser that recurses.
  const std::string message = message_with({{"model", std::string(1000000, '[')}});
  EXPECT_TRUE(message.starts_with(start) && message.ends_with(end)) << message.substr(0, 200);
}

TEST_F(ModelTest, RefusesUnknownNames) {
  EXPECT_EQ(message_with_setting("/loss", "hinge"),
            "hostile.esp: a model of the loss 'hinge'; retrain the model");
  EXPECT_EQ(message_with_setting("/settings/format", "csv"),
            "hostile.esp: a model of the format 'csv'; retrain the model");
}

TEST_F(ModelTest, RefusesBadDictionaries) {
  const auto damaged = [](const std::string& what) {
    return "hostile.esp: damaged dictionary: " + what + "; retrain the model";
  };
  EXPECT_EQ(message_with({{"labels.bytes", "x"}}), damaged("its names do not fill their place"));
  EXPECT_EQ(message_with({{"labels.offsets", ""}}), damaged("its names do not fill their place"));
  EXPECT_EQ(message_with({{"labels.offsets", "1234567"}}),
            "hostile.esp: section 'labels' has 7 bytes; expected a multiple of 8");
  EXPECT_EQ(message_with({{"attributes.table", ""}}), damaged("its table has the wrong size"));
  EXPECT_EQ(message_with({{"attributes.table", std::string(16 * 8, '\0')}}),
            damaged("its table does not hold its names"));
  EXPECT_EQ(message_with({{"attributes.table", std::string(16 * 8, '\xff')}}),
            damaged("its table does not hold its names"));
  // Offsets that go down in the middle.
  std::string offsets = section("labels.offsets");
  offsets[8] = '\x7f';
  EXPECT_EQ(message_with({{"labels.offsets", offsets}}), damaged("its names overlap"));
}

TEST_F(ModelTest, RefusesCostsThatDoNotFit) {
  train(Loss::crf(), true);
  EXPECT_EQ(message_with({}), "(no error)");
  EXPECT_EQ(
      message_with({{"costs", std::nullopt}}),
      "hostile.esp: no section 'costs'; expected a model of another kind, or of this version of the program");
  EXPECT_EQ(message_with({{"costs", std::string(32, '\0')}}),
            "hostile.esp: 8 costs for 3 labels, 3 attributes; expected one for each pair of labels; retrain "
            "the model");
  EXPECT_EQ(message_with({{"costs", std::string(35, '\0')}}),
            "hostile.esp: section 'costs' has 35 bytes; expected a multiple of 4");
}

TEST_F(ModelTest, RefusesADamagedFile) {
  std::string bytes = read_all(path);
  bytes[bytes.size() - 1] ^= 1;
  const std::string damaged = folder.file("damaged.esp", bytes);
  EXPECT_TRUE(error_message([&] { Model model(damaged); }).starts_with(damaged + ": corrupt section "));
}

TEST_F(ModelTest, SavesNothingWhereItCannot) {
  EXPECT_NE(error_message([&] { make_model(info, *set, theta).save(folder.path("none/model.esp")); }),
            "(no error)");
  EXPECT_FALSE(std::filesystem::exists(folder.path("none")));
}

TEST_F(ModelTest, BytesAreThoseOfItsFile) {
  const Model model = make_model(info, *set, theta);
  const std::string file = read_all(path);
  EXPECT_EQ(model.bytes(), file);
  const Model again = Model::from_bytes(file);
  EXPECT_EQ(again.bytes(), file);
  EXPECT_EQ(again.describe(), model.describe());
  EXPECT_EQ(
      error_message([] { Model::from_bytes(""); }),
      "the model in memory: truncated: 0 bytes, less than a header; copy the model again or retrain it");
  std::string damaged = file;
  damaged.back() ^= 1;
  EXPECT_TRUE(error_message([&] {
                Model::from_bytes(damaged);
              }).starts_with("the model in memory: corrupt section "));
}

}  // namespace
}  // namespace espalier::model_test
