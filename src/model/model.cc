#include "espalier/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/output.h"
#include "espalier/base/error.h"
#include "espalier/tasks/registry.h"
#include "espalier/tasks/tag.h"
#include "model/make_model.h"
#include "model/model_file.h"
#include "tasks/tag/convert.h"

namespace espalier {
namespace {

// JSON has no infinity: beta is written as text, by the loss's own name.
Json to_json(const ModelInfo& info) {
  Json json;
  json["task"] = info.task;
  json["loss"] = info.loss.name();
  if (info.l2) json["l2"] = *info.l2;
  if (info.l1 > 0) json["l1"] = info.l1;
  json["solver"] = info.solver;
  if (info.certificate) {
    json["certificate"] = {{"primal", info.certificate->primal},
                           {"dual", info.certificate->dual},
                           {"gap", info.certificate->gap()},
                           {"relative_gap", info.certificate->relative_gap()},
                           {"passes", info.certificate->passes}};
    if (info.certificate->approximate()) json["certificate"]["approximate"] = true;
    if (info.certificate->inference == Inference::relaxed) json["certificate"]["relaxed"] = true;
  }
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
  if (!json.contains("l2") && !json.contains("certificate")) return info;
  info.l2 = json.at("l2").get<double>();
  info.l1 = json.value("l1", 0.0);
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

Json parse_settings(const ModelFile& file) {
  // The checksums hold, so whatever is wrong was written that way: a file made by hand, or by another
  // program.
  if (file.has("checkpoint")) {
    throw Error::in(file.path(), fmt::format("a checkpoint, which {} continues from", setting("resume")),
                    "expected a model");
  }
  return Json::parse(file.section_bytes("model"));
}

std::unique_ptr<Predictor> load_predictor(const ModelFile& file, const Json& settings,
                                          const ModelInfo& info) {
  const std::string& path = file.path();
  const WeightShape shape = shape_from(settings);
  const TaskEntry& task = task_of(info.task, path);
  if (settings.at("task_version").get<int>() > task.version) {
    throw Error::in(path,
                    fmt::format("version {} of {} models", settings.at("task_version").get<int>(), task.name),
                    fmt::format("this program reads up to {}; expected a newer espalier", task.version));
  }
  const auto weights = file.section<float>("weights");
  const std::size_t stride = row_stride(shape.width);
  if (stride == 0 || weights.size() % stride != 0 || weights.size() / stride != shape.rows) {
    throw Error::in(path,
                    fmt::format("{} weights for {} rows of {}", weights.size(), shape.rows, shape.width),
                    "expected as many as the rows hold; retrain the model");
  }
  const StoredTask stored{settings.at("settings"),
                          [&file](std::string_view name) { return file.section_bytes(name); },
                          WeightsView(weights.data(), shape), info.loss, path};
  return task.load(stored);
}

// Calls `read`, which looks at settings, for a model that may be damaged.
template <class Read>
auto reading(const std::string& path, const Read& read) {
  try {
    return read();
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
    std::call_once(loaded, [&] {
      loaded_predictor = reading(file.path(), [&] { return load_predictor(file, settings, info); });
    });
    return *loaded_predictor;
  }

  ModelFile file;
  Json settings;
  ModelInfo info;

 private:
  mutable std::once_flag loaded;
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

const Certificate& Model::certificate() const {
  if (!info().certificate) {
    throw Error::in(name(), fmt::format("a model {}, which has no certificate", info().solver),
                    "expected one that was trained here");
  }
  return *info().certificate;
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

Json Model::describe() const {
  Json json = to_json(info());
  json["rows"] = weight_shape().rows;
  json["width"] = weight_shape().width;
  json["settings"] = contents_->settings.at("settings");
  return json;
}

Model make_model(const ModelInfo& info, int version, const TaskSections& sections, const Weights& theta) {
  Json settings = to_json(info);
  settings["task_version"] = version;
  settings["rows"] = theta.shape().rows;
  settings["width"] = theta.shape().width;
  settings["settings"] = sections.settings;
  const std::string text = settings.dump();

  ModelFileWriter writer;
  writer.add_bytes("model", text);
  writer.add("weights", theta.values());
  for (const auto& [name, bytes] : sections.arrays) writer.add_bytes(name, bytes);
  return Model(std::make_shared<Model::Contents>(ModelFile("the model in memory", writer.image())));
}

Model make_model(const ModelInfo& info, const TrainingSet& data, const Weights& theta) {
  if (const auto contents = data.model_contents(theta)) {
    return make_model(info, data.version(), contents->sections, contents->theta);
  }
  return make_model(info, data.version(), data.sections(), theta);
}

Model make_model(const ConvertedTagger& tagger) {
  return make_model({"tag", Loss::crf(), {}, fmt::format("converted from {}", tagger.program()), {}},
                    kLinearTagVersion, tagger.sections(), tagger.theta());
}

Model convert_model(const std::string& path) { return make_model(ConvertedTagger(path)); }

}  // namespace espalier
