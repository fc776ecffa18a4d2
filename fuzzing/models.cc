// Models: files of ours whose checksums are right, checkpoints, and text that other programs wrote.

#include <unistd.h>

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "espalier/learning/dual_state.h"
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

namespace {

// The JSON value that the bytes lead to, and what they make of it.
void change(Json& json, std::string_view& bytes) {
  const auto below = [&](std::size_t n) {
    const std::size_t value = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front()) % n;
    bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 1));
    return value;
  };
  if (json.is_object() && !json.empty() && below(8) > 0) {
    const std::string key = json.items()[below(json.size())].key;
    if (below(16) == 0) return json.erase(key);
    return change(json[key], bytes);
  }
  if (json.is_array() && !json.empty() && below(4) > 0) {
    const std::size_t i = below(json.size());
    return below(16) == 0 ? static_cast<void>(json.push_back(json[i])) : change(json[i], bytes);
  }
  static const Json kValues = Json::parse(
      R"([0, 1, -1, 2, 3, 9, 30, 62, 64, 255, 65536, 65537, 16777217, 4294967295, 4294967296, 9223372036854775807,
          18446744073709551615, 0.5, -0.5, 1e-300, 1e300, null, true, false, "", "x", "auto", "all", "rbf,0.5", "poly,3,1", "rbf,-1",
          "bio", "bioes", "columns", "crfsuite", "wapiti", "text", "idx", "libsvm", "named", "exact", "trw", "bp", "nonprojective",
          "projective", "comment", "tf-idf", [], {}, [0], [1, 0], [7, 7], ["a", "a"]])");
  json = kValues[below(kValues.size())];
}

// The same of a section: shorter, longer, or with other numbers in it.
std::string changed(std::string_view section, std::string_view& bytes) {
  std::string result(section);
  if (bytes.size() < 4) return result;
  const std::size_t place = static_cast<unsigned char>(bytes[1]) + 256 * static_cast<unsigned char>(bytes[2]);
  const int what = static_cast<unsigned char>(bytes[0]) % 8;
  const char to = bytes[3];
  bytes.remove_prefix(4);
  if (what == 0) {
    result.resize(place % (result.size() + 1));
  } else if (what == 1) {
    result.append(8, to);
  } else if (!result.empty()) {
    // One byte, or the eight of a number.
    const std::size_t at = what < 5 ? place % result.size() : place % result.size() / 8 * 8;
    const std::size_t size = what < 5 ? 1 : std::min<std::size_t>(8, result.size() - at);
    result.replace(at, size, size, to);
  }
  return result;
}

}  // namespace

// A model of ours with other settings, or other numbers in its sections.
void remodel(std::string_view bytes) {
  static const auto models = [] {
    std::vector<std::string> all;
    for (const char* name :
         {"tag", "tag-words", "tag-kernel", "tag-order", "tag-steps", "classify", "classify-text",
          "classify-kernel", "classify-numbers", "parse", "parse-order", "parse-unlabelled", "treebank",
          "treebank-tags", "graph", "graph-kernel", "align", "align-dictionary"})
      all.push_back(repository_file(std::string("tests/golden/") + name + ".esp"));
    return all;
  }();
  if (bytes.size() < 3) return;
  const ModelFile file("model", aligned(models[static_cast<unsigned char>(bytes[0]) % models.size()]));
  const std::size_t changes = static_cast<unsigned char>(bytes[1]) % 4;
  bytes.remove_prefix(2);
  std::vector<std::pair<std::string, std::string>> sections;
  file.for_each_section(
      [&](const std::string& name, std::string_view section) { sections.emplace_back(name, section); });
  for (std::size_t k = 0; k <= changes && !bytes.empty(); ++k) {
    auto& [name, section] = sections[static_cast<unsigned char>(bytes.front()) % sections.size()];
    bytes.remove_prefix(1);
    if (name == "model") {
      Json settings = Json::parse(section);
      change(settings, bytes);
      if (!settings.is_object()) return;
      section = settings.dump();
    } else {
      section = changed(section, bytes);
    }
  }
  ModelFileWriter writer(kModelFormatVersion);
  for (const auto& [name, section] : sections) writer.add_bytes(name, section);
  const auto image = writer.image();
  message_of([&] {
    try {
      const ModelFile changed("model", image);
      if (!is_small(Json::parse(changed.section_bytes("model")))) return;
    } catch (const JsonError&) {
    }
    use(Model::from_bytes({image.data(), image.size()}));
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

namespace {

// A checkpoint of this run from what its JSON says ("identity" is that of the run): with the duals or the
// weights that the run begins with. As it is where the bytes are no such JSON.
std::string checkpoint_of(std::string_view text, const Json& identity, const Problem& problem) {
  Json state;
  try {
    state = Json::parse(text);
    state["identity"] = identity;
  } catch (const JsonError&) {
    return std::string(text);
  }
  const std::string json = state.dump();
  const DualState dual(problem);
  const std::vector<float> curvatures = dual.curvatures();
  const Weights theta(problem.weight_shape());
  ModelFileWriter writer;
  writer.add_bytes("checkpoint", json);
  if (text.size() % 4 == 0) {
    writer.add("weights", theta.values());
  } else {
    writer.add("scores", dual.scores());
    writer.add("curvatures", std::span<const float>(curvatures));
  }
  writer.add("best", theta.values());
  writer.add("best_on_dev", theta.values());
  if (text.size() % 4 == 1) writer.add("best_weights", theta.values());
  const auto image = writer.image();
  return {image.begin(), image.end()};
}

// The same checkpoint as several ranks keep it: their duals are in files of their own, here in one, beside
// it. `name` is for both. Nothing where there are no duals.
bool write_as_ranks(const std::string& mended, const std::string& name) {
  bool written = false;
  message_of([&] {
    const ModelFile file("checkpoint", aligned(mended));
    if (!file.has("checkpoint") || !file.has("scores") || !file.has("curvatures")) return;
    try {
      Json state = Json::parse(file.section_bytes("checkpoint"));
      state["generation"] = 0;
      state["ranks"] = Json::array({Json{{"file", name.substr(name.rfind('/') + 1) + ".0.0-of-1"},
                                         {"scores", file.section<float>("scores").size()},
                                         {"examples", file.section<float>("curvatures").size()}}});
      const std::string text = state.dump();
      ModelFileWriter whole, part;
      file.for_each_section([&](const std::string& section, std::string_view contents) {
        (section == "checkpoint" ? whole : part)
            .add_bytes(section, section == "checkpoint" ? text : contents);
      });
      whole.write(name);
      part.write(name + ".0.0-of-1");
      written = true;
    } catch (const JsonError&) {
    }
  });
  return written;
}

}  // namespace

void checkpoint(std::string_view bytes) {
  static const auto data =
      read_tag_training(memory_file(1).write("a x\nb y\n\nb x\na z\na y\n\n"), TagOptions{});
  static const Json identity = run_identity(*data, Loss::crf(), 1, "eg");
  static const Json other = run_identity(*data, Loss::crf(), Json::array({1, 0.5}), "eg");
  const std::string mended =
      bytes.starts_with('{') ? checkpoint_of(bytes, identity, data->problem()) : with_checksums(bytes);
  const std::string path = memory_file(0).write(mended);
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
  const std::string of_ranks = "/tmp/espalier-fuzz-ranks-" + std::to_string(::getpid());
  if (!turn_of_slow() || !write_as_ranks(mended, of_ranks)) return;
  message_of([&] { load_checkpoint(of_ranks, identity, data->problem()); });
  remove_checkpoint(of_ranks);
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
