#include "espalier/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/naming_file.h"
#include "base/output.h"
#include "espalier/base/error.h"
#include "espalier/tasks/registry.h"
#include "espalier/tasks/tag.h"
#include "model/make_model.h"
#include "model/model_file.h"
#include "model/weight_coding.h"
#include "tasks/tag/convert.h"

namespace espalier {
namespace {

// Settings of models that have them.
constexpr const char* kWeights = "weights";  // how they are kept (weight_coding.h)
constexpr const char* kTrained = "trained";  // what training had
// For messages.
constexpr const char* kModelInMemory = "the model in memory";

Json to_json(const Certificate& certificate) {
  Json json{{"primal", certificate.primal},
            {"dual", certificate.dual},
            {"gap", certificate.gap()},
            {"relative_gap", certificate.relative_gap()},
            {"passes", certificate.passes}};
  if (certificate.approximate()) json["approximate"] = true;
  if (certificate.inference == Inference::relaxed) json["relaxed"] = true;
  return json;
}

// JSON has no infinity: beta is written as text, by the loss's own name.
Json to_json(const ModelInfo& info) {
  Json json;
  json["task"] = info.task;
  json["loss"] = info.loss.name();
  if (info.l2) json["l2"] = *info.l2;
  if (info.l1 > 0) json["l1"] = info.l1;
  json["solver"] = info.solver;
  if (info.certificate) json["certificate"] = to_json(*info.certificate);
  if (info.slack_rescaling) json["rescaling"] = "slack";
  if (info.objective) json["objective"] = *info.objective;
  if (!info.data.empty()) json["data"] = info.data;
  if (!info.reading.empty()) json["reading"] = info.reading;
  return json;
}

Loss loss_from(const std::string& name, const std::string& file) {
  try {
    return Loss::parse(name);
  } catch (const Error&) {
    throw Error::in(file, fmt::format("a model of the loss {}", in_quotes(name)), "retrain the model");
  }
}

Inference inference_from(const Json& certificate) {
  if (certificate.value("approximate", false)) return Inference::approximate;
  return certificate.value("relaxed", false) ? Inference::relaxed : Inference::exact;
}

ModelInfo info_from(const Json& json, const std::string& file) {
  ModelInfo info;
  info.task = json.at("task").get<std::string>();
  info.loss = loss_from(json.at("loss").get<std::string>(), file);
  info.solver = json.at("solver").get<std::string>();
  if (json.contains(kWeights)) info.bits = json.at(kWeights).at("bits").get<int>();
  if (!json.contains("l2") && !json.contains("certificate")) return info;
  info.l2 = json.at("l2").get<double>();
  info.l1 = json.value("l1", 0.0);
  info.slack_rescaling = json.value("rescaling", std::string()) == "slack";
  if (json.contains("objective")) info.objective = json.at("objective").get<double>();
  info.data = json.value("data", std::string());
  info.reading = json.value("reading", Json::object());
  if (!json.contains("certificate") && info.bits < 32) return info;
  const Json& certificate = json.at("certificate");
  info.certificate = Certificate{certificate.at("primal").get<double>(), certificate.at("dual").get<double>(),
                                 certificate.at("passes").get<double>(), inference_from(certificate)};
  // Training checked it: a dual above its primal is above it by rounding, and so is a gap that was said to be
  // 0.
  const double gap = info.certificate->gap();
  if (!info.certificate->approximate() && (gap < 0 || certificate.value("gap", gap) == 0))
    info.certificate->rounding = std::abs(gap);
  return info;
}

const TaskEntry& task_of(std::string_view name, const std::string& file) {
  if (const TaskEntry* entry = find_task(name)) return *entry;
  throw Error::in(file, fmt::format("a model of the task {}", in_quotes(name)),
                  "this program does not know it; expected a newer espalier");
}

WeightShape shape_from(const Json& settings) {
  return {settings.at("rows").get<std::size_t>(), settings.at("width").get<std::size_t>()};
}

std::optional<TrainedSize> trained_from(const Json& settings) {
  if (!settings.contains(kTrained)) return std::nullopt;
  const Json& trained = settings.at(kTrained);
  return TrainedSize{trained.at("attributes").get<std::size_t>(), trained.at("weights").get<std::size_t>()};
}

Json parse_settings(const ModelFile& file) {
  // The checksums hold, so whatever is wrong was written that way: a file made by hand, or by another
  // program.
  if (file.has("checkpoint")) {
    throw Error::in(file.path(), fmt::format("a checkpoint, which {} continues from", setting("resume")),
                    "expected a model");
  }
  return Json::parse(file.section_bytes("model"));
}

// The weights, in the file or, where they are kept in another way, in `expanded`.
WeightsView load_weights(const ModelFile& file, const Json& settings, Weights& expanded) {
  const WeightShape shape = shape_from(settings);
  if (settings.contains(kWeights)) {
    expanded = expand_weights(file, settings.at(kWeights), shape);
    return expanded;
  }
  const auto weights = file.numbers<float>("weights");
  const std::size_t stride = row_stride(shape.width);
  if (stride == 0 || weights.size() % stride != 0 || weights.size() / stride != shape.rows) {
    throw Error::in(file.path(),
                    fmt::format("{} weights for {} rows of {}", weights.size(), shape.rows, shape.width),
                    "expected as many as the rows hold; retrain the model");
  }
  return WeightsView(weights.data(), shape);
}

std::unique_ptr<Predictor> load_predictor(const ModelFile& file, const Json& settings, const ModelInfo& info,
                                          const TaskEntry& task, WeightsView theta) {
  const StoredTask stored{settings.at("settings"),
                          [&file](std::string_view name) { return file.section_bytes(name); },
                          theta,
                          info.loss,
                          file.path(),
                          trained_from(settings)};
  return task.load(stored);
}

const TaskEntry& checked_task(const ModelFile& file, const Json& settings, const ModelInfo& info) {
  const TaskEntry& task = task_of(info.task, file.path());
  const int version = settings.at("task_version").get<int>();
  if (version > task.version) {
    throw Error::in(file.path(), fmt::format("version {} of {} models", version, task.name),
                    fmt::format("this program reads up to {}; expected a newer espalier", task.version));
  }
  return task;
}

// Calls `read`, which looks at settings, for a model that may be damaged.
template <class Read>
auto reading(const std::string& path, const Read& read) {
  try {
    return naming_file(path, read);
  } catch (const JsonError& e) {
    throw Error::in(path, fmt::format("an unreadable model section ({})", e.what()), "retrain the model");
  }
}

// What only models of one task have.
template <class Use>
const Use& of_task(const Use* use, const Model& model, std::string_view task) {
  if (use != nullptr) return *use;
  throw Error::in(model.name(), fmt::format("a model of {}", model.info().task),
                  fmt::format("expected a model of {}", task));
}

}  // namespace

struct Model::Contents {
  explicit Contents(ModelFile of_model)
      : file(std::move(of_model)),
        settings(reading(file.path(), [&] { return parse_settings(file); })),
        info(reading(file.path(), [&] { return info_from(settings, file.path()); })) {}

  const Predictor& predictor() const {
    load();
    return *loaded_predictor;
  }
  const WeightsView& theta() const {
    load();
    return *loaded_theta;
  }

  // Those of the task.
  TaskSections sections() const {
    TaskSections sections;
    file.for_each_section([&](const std::string& name, std::string_view bytes) {
      if (name != "model" && name != kWeights && !name.starts_with("weights."))
        sections.arrays.emplace_back(name, bytes);
    });
    return sections;
  }

  ModelFile file;
  Json settings;
  ModelInfo info;

 private:
  void load() const {
    std::call_once(loaded, [&] {
      reading(file.path(), [&] {
        const TaskEntry& task = checked_task(file, settings, info);
        loaded_theta = load_weights(file, settings, expanded);
        loaded_predictor = load_predictor(file, settings, info, task, *loaded_theta);
      });
    });
  }

  mutable std::once_flag loaded;
  mutable Weights expanded;  // where the file does not have them as they are
  mutable std::optional<WeightsView> loaded_theta;
  mutable std::unique_ptr<Predictor> loaded_predictor;
};

Model::Model(const std::string& path) : contents_(std::make_shared<Contents>(ModelFile(path))) {
  predictor();  // a file that does not fit together is refused now
}

const std::string& Model::name() const { return contents_->file.path(); }
const ModelInfo& Model::info() const { return contents_->info; }
const Predictor& Model::predictor() const { return contents_->predictor(); }
WeightShape Model::weight_shape() const { return shape_from(contents_->settings); }

void Model::save(const std::string& path) const {
  check_model_name(path);
  OutputFile file(path);
  file.write(contents_->file.bytes());
  file.commit();
}

std::string_view Model::bytes() const { return contents_->file.bytes(); }

Model Model::from_bytes(std::string_view bytes) {
  AlignedVector<char> image(bytes.begin(), bytes.end());
  Model model(std::make_shared<Contents>(ModelFile(kModelInMemory, std::move(image))));
  model.predictor();  // bytes that do not fit together are refused now
  return model;
}

const Certificate& Model::certificate() const {
  if (info().certificate) return *info().certificate;
  if (info().l2) {
    throw Error::in(name(), fmt::format("no certificate (weights were rounded to {} bits)", info().bits),
                    "expected the model before, or one that was certified after it");
  }
  throw Error::in(name(), fmt::format("a model {}, which has no certificate", info().solver),
                  "expected one that was trained here");
}

const Tagger& Model::tagger() const { return of_task(predictor().tagger(), *this, "tag"); }
const Classifier& Model::classifier() const { return of_task(predictor().classifier(), *this, "classify"); }
const Parser& Model::parser() const { return of_task(predictor().parser(), *this, "parse"); }
const TreebankParser& Model::treebank_parser() const {
  return of_task(predictor().treebank_parser(), *this, "treebank");
}
const GraphLabeller& Model::graph_labeller() const {
  return of_task(predictor().graph_labeller(), *this, "graph");
}

WeightCount Model::count_weights() const {
  const WeightsView& theta = contents_->theta();
  WeightCount count{0, theta.shape.rows * theta.shape.width};
  for (std::size_t r = 0; r < theta.shape.rows; ++r) {
    const auto row = std::span(theta.row(r), theta.shape.width);
    count.nonzero += row.size() - static_cast<std::size_t>(std::count(row.begin(), row.end(), 0.0f));
  }
  if (const auto trained = trained_from(contents_->settings)) count.all = trained->weights;
  return count;
}

Json Model::describe() const {
  Json json = to_json(info());
  json["rows"] = weight_shape().rows;
  json["width"] = weight_shape().width;
  const WeightCount count = count_weights();
  json[kWeights] = {{"nonzero", count.nonzero}, {"all", count.all}, {"bits", info().bits}};
  if (const auto trained = trained_from(contents_->settings))
    json["trained_attributes"] = trained->attributes;
  json["settings"] = contents_->settings.at("settings");
  json["labels"] = Json::array();
  const Dictionary& labels = predictor().labels();
  for (std::uint32_t id = 0; id < labels.size(); ++id) json["labels"].push_back(labels.name(id));
  return json;
}

double memory_to_open(const std::string& path) {
  const ModelFile file(path);
  return reading(path, [&] {
    const Json settings = parse_settings(file);
    const auto bytes = static_cast<double>(file.bytes().size());
    if (!settings.contains(kWeights)) return bytes;
    const WeightShape shape = shape_from(settings);
    return bytes + static_cast<double>(sizeof(float)) * static_cast<double>(shape.rows) *
                       static_cast<double>(row_stride(shape.width));
  });
}

std::string_view section_of(const Model& model, const std::string& name) {
  const ModelFile& file = model.contents_->file;
  return file.has(name) ? file.section_bytes(name) : std::string_view();
}

namespace {

// How `settings` say that weights are kept, they do not know yet.
ModelFile in_memory(Json settings, const TaskSections& sections, const Weights& theta, int bits) {
  const CodedWeights coded(theta, bits);
  if (!coded.settings().is_null()) settings[kWeights] = coded.settings();
  const std::string text = settings.dump();
  ModelFileWriter writer(coded.settings().is_null() ? kPlainFormatVersion : kModelFormatVersion);
  writer.add_bytes("model", text);
  coded.add_to(writer);
  for (const auto& [name, bytes] : sections.arrays) writer.add_bytes(name, bytes);
  return ModelFile(kModelInMemory, writer.image());
}

}  // namespace

Model Model::rounded(int bits) const {
  const WeightsView& view = contents_->theta();
  Weights theta(view.shape);
  std::copy_n(view.values, theta.values().size(), theta.values().begin());
  theta = rounded_weights(theta, bits);
  if (bits >= info().bits) return *this;
  Json settings = contents_->settings;
  settings.erase("certificate");
  settings.erase("objective");
  settings.erase(kWeights);
  return Model(std::make_shared<Contents>(in_memory(settings, contents_->sections(), theta, bits)));
}

Model with_certificate(const Model& model, const Certificate& certificate) {
  Json settings;
  for (const auto& [key, value] : model.contents_->settings.items()) {
    if (key != "certificate") settings[key] = value;
    if (key == "solver") settings["certificate"] = to_json(certificate);  // where training has it
  }
  const std::string text = settings.dump();
  ModelFileWriter writer(settings.contains(kWeights) ? kModelFormatVersion : kPlainFormatVersion);
  model.contents_->file.for_each_section([&](const std::string& name, std::string_view bytes) {
    writer.add_bytes(name, name == "model" ? text : bytes);
  });
  return Model(std::make_shared<Model::Contents>(ModelFile(kModelInMemory, writer.image())));
}

Model make_model(const ModelInfo& info, int version, const TaskSections& sections, const Weights& theta,
                 const std::optional<TrainedSize>& trained) {
  Json settings = to_json(info);
  settings["task_version"] = version;
  settings["rows"] = theta.shape().rows;
  settings["width"] = theta.shape().width;
  settings["settings"] = sections.settings;
  if (trained) settings[kTrained] = {{"attributes", trained->attributes}, {"weights", trained->weights}};
  return Model(std::make_shared<Model::Contents>(in_memory(std::move(settings), sections, theta, info.bits)));
}

Model make_model(const ModelInfo& info, const TrainingSet& data, const Weights& theta) {
  if (const auto contents = data.model_contents(theta))
    return make_model(info, data.version(), contents->sections, contents->theta, contents->trained);
  return make_model(info, data.version(), data.sections(), theta);
}

Model make_model(const ConvertedTagger& tagger) {
  return make_model({"tag", Loss::crf(), {}, fmt::format("converted from {}", tagger.program()), {}},
                    kLinearTagVersion, tagger.sections(), tagger.theta());
}

Model convert_model(const std::string& path) { return make_model(ConvertedTagger(path)); }

}  // namespace espalier
