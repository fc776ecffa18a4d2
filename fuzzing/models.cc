// Models: files of ours whose checksums are right, checkpoints, and text that other programs wrote.

#include <unistd.h>

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "espalier/model/model.h"
#include "espalier/solvers/registry.h"
#include "espalier/tasks/registry.h"
#include "espalier/tasks/tag.h"
#include "fuzzing/targets.h"
#include "model/checkpoint.h"
#include "model/make_model.h"
#include "model/model_file.h"
#include "tasks/tag/convert.h"

namespace espalier::fuzz {
namespace {

// Something to predict, of each task.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kInputs{
    {{"tag", "tests/golden/tag.in"},
     {"classify", "tests/golden/classify.in"},
     {"parse", "tests/golden/parse.in"},
     {"treebank", "tests/golden/treebank.in"},
     {"graph", "tests/golden/graph.in"},
     {"align", "tests/golden/align.in"}}};

const std::string& input_for(const std::string& task) {
  static const auto paths = [] {
    std::map<std::string, std::string, std::less<>> all;
    for (std::size_t i = 0; i < kInputs.size(); ++i)
      all.emplace(kInputs[i].first,
                  memory_file(i + 1).write(repository_file(std::string(kInputs[i].second))));
    return all;
  }();
  return paths.at(task);
}

AlignedVector<char> aligned(std::string_view bytes) { return {bytes.begin(), bytes.end()}; }

void use(const Model& model) {
  std::string text = model.describe().dump();
  model.count_weights();
  text += model.predictor().describe() + model.predictor().strongest(3);
  model.predictor().for_each_weight(
      [](const WeightName& name, float) { expect(name.label.size() < 1 << 20, "a label of a weight"); });
  message_of([&] {
    model.predictor().predict(input_for(model.info().task), {}, [&](std::string_view more) { text += more; });
  });
  message_of([&] {
    const Model rounded = model.rounded(16);
    expect(Model::from_bytes(rounded.bytes()).describe().dump() == rounded.describe().dump(),
           "a model that is read as it was written");
  });
}

}  // namespace

// Weights that are zero need not be in a file: how much memory all of them take is in docs/formats.md.
bool is_small(const Json& settings) {
  constexpr double kSmall = 1 << 20;
  const auto rows = settings.value("rows", 0.0), width = settings.value("width", 0.0);
  return rows < kSmall && width < kSmall && rows * width < kSmall;
}

void model(std::string_view bytes) {
  message_of([&] { ModelFile("model", aligned(bytes)); });
  const std::string mended = with_checksums(bytes);
  message_of([&] {
    const ModelFile file("model", aligned(mended));
    try {
      if (!file.has("model") || !is_small(Json::parse(file.section_bytes("model")))) return;
    } catch (const JsonError&) {
    }
    use(Model::from_bytes(mended));
  });
}

// Whatever a converted model is, its file can be read.
void dumps(std::string_view bytes) {
  const std::string path = memory_file().write(bytes);
  message_of([&] {
    const ConvertedTagger tagger(path);
    if (tagger.theta().values().size() > 1 << 20) return;
    use(Model::from_bytes(make_model(tagger).bytes()));
  });
}

void checkpoint(std::string_view bytes) {
  static const auto data =
      read_tag_training(memory_file(1).write("a x\nb y\n\nb x\na z\na y\n\n"), TagOptions{});
  static const Json identity = run_identity(*data, Loss::crf(), 1, "eg");
  static const Json other = run_identity(*data, Loss::crf(), Json::array({1, 0.5}), "eg");
  const std::string path = memory_file(0).write(with_checksums(bytes));
  for (const Json* run : {&identity, &other}) {
    message_of([&] {
      const Checkpoint state = load_checkpoint(path, *run, data->problem());
      // What was taken in can be kept, and taken in again: a file on a disk takes long.
      if (!turn_of_slow()) return;
      static const std::string kept = "/tmp/espalier-fuzz-" + std::to_string(::getpid());
      save_checkpoint(kept, *run, state);
      load_checkpoint(kept, *run, data->problem());
      remove_checkpoint(kept);
    });
  }
}

// New data for a model of ours, labelled by one thread and by two: the same text and the same error.
void predict(std::string_view bytes) {
  Choices choices(bytes);
  static const auto models = [] {
    std::vector<Model> all;
    for (const char* name :
         {"tag-words", "classify", "parse", "treebank", "graph", "tag-order", "classify-text"})
      all.push_back(Model::from_bytes(repository_file(std::string("tests/golden/") + name + ".esp")));
    return all;
  }();
  const Model& model = models[choices.below(models.size())];
  OptionValues options(find_task(model.info().task)->predict_options());
  if (choices.flag()) options.set("kbest", "2");
  if (choices.flag()) options.set("json", "true");
  const std::string path = memory_file().write(bytes);
  const auto predicted = [&](const char* threads) {
    options.set("threads", threads);
    std::string text;
    const std::string message = message_of(
        [&] { model.predictor().predict(path, options, [&](std::string_view more) { text += more; }); });
    return text + message;
  };
  const std::string expected = predicted("1");
  if (turn_of_slow()) expect(predicted("2") == expected, "the same by two threads");
}

}  // namespace espalier::fuzz
