#include "espalier/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "espalier/base/error.h"
#include "espalier/tasks/registry.h"

namespace espalier {
namespace {

// JSON has no infinity: beta is written as text, by the loss's own name.
Json to_json(const ModelInfo& info) {
  Json json;
  json["task"] = info.task;
  json["loss"] = info.loss.name();
  if (info.l2) json["l2"] = *info.l2;
  json["solver"] = info.solver;
  if (info.certificate) {
    json["certificate"] = {{"primal", info.certificate->primal},
                           {"dual", info.certificate->dual},
                           {"gap", info.certificate->gap()},
                           {"relative_gap", info.certificate->relative_gap()},
                           {"passes", info.certificate->passes}};
    if (info.certificate->approximate) json["certificate"]["approximate"] = true;
    if (info.relaxed) json["certificate"]["relaxed"] = true;
  }
  return json;
}

Loss loss_from(const std::string& name, const std::string& file) {
  try {
    return Loss::parse(name);
  } catch (const Error&) {
    throw Error::in(file, fmt::format("a model of the loss {}", in_quotes(name)), "train the model anew");
  }
}

ModelInfo info_from(const Json& json, const std::string& file) {
  ModelInfo info;
  info.task = json.at("task").get<std::string>();
  info.loss = loss_from(json.at("loss").get<std::string>(), file);
  info.solver = json.at("solver").get<std::string>();
  if (!json.contains("l2") && !json.contains("certificate")) return info;
  info.l2 = json.at("l2").get<double>();
  const Json& certificate = json.at("certificate");
  info.certificate =
      Certificate{certificate.at("primal").get<double>(), certificate.at("dual").get<double>(),
                  certificate.at("passes").get<double>(), certificate.value("approximate", false)};
  // Training checked it: a dual above its primal is above it by rounding.
  if (!info.certificate->approximate)
    info.certificate->rounding = std::max(0.0, info.certificate->dual - info.certificate->primal);
  info.relaxed = certificate.value("relaxed", false);
  return info;
}

const TaskEntry& find_task(std::string_view name, const std::string& file) {
  for (const TaskEntry& entry : task_table()) {
    if (entry.name == name) return entry;
  }
  throw Error::in(file, fmt::format("a model of the task {}", in_quotes(name)),
                  "this program does not know it; expected a newer espalier");
}

}  // namespace

void save_model(const std::string& path, const ModelInfo& info, const TrainingSet& data,
                const Weights& theta) {
  if (const auto contents = data.model_contents(theta)) {
    save_model(path, info, data.version(), contents->sections, contents->theta);
  } else {
    save_model(path, info, data.version(), data.sections(), theta);
  }
}

void save_model(const std::string& path, const ModelInfo& info, int version, const TaskSections& sections,
                const Weights& theta) {
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
  writer.write(path);
}

Model::Model(const std::string& path) : path_(path), file_(path) {
  // The checksums hold, so whatever is wrong below was written that way: a file made by hand, or by another program.
  if (file_.has("checkpoint")) {
    throw Error::in(path, "a checkpoint, which 'espalier train --resume' goes on from", "expected a model");
  }
  try {
    settings_ = Json::parse(file_.section_bytes("model"));
    info_ = info_from(settings_, path);
    shape_ = {settings_.at("rows").get<std::size_t>(), settings_.at("width").get<std::size_t>()};
    const TaskEntry& task = find_task(info_.task, path);
    if (settings_.at("task_version").get<int>() > task.version) {
      throw Error::in(
          path, fmt::format("version {} of {} models", settings_.at("task_version").get<int>(), task.name),
          fmt::format("this program reads up to {}; expected a newer espalier", task.version));
    }
    const auto weights = file_.section<float>("weights");
    const std::size_t stride = row_stride(shape_.width);
    if (stride == 0 || weights.size() % stride != 0 || weights.size() / stride != shape_.rows) {
      throw Error::in(path,
                      fmt::format("{} weights for {} rows of {}", weights.size(), shape_.rows, shape_.width),
                      "expected as many as the rows hold; train the model anew");
    }
    const StoredTask stored{settings_.at("settings"),
                            [this](std::string_view name) { return file_.section_bytes(name); },
                            WeightsView(weights.data(), shape_), info_.loss, path};
    predictor_ = task.load(stored);
  } catch (const JsonError& e) {
    throw Error::in(path, fmt::format("a model section that does not read ({})", e.what()),
                    "train the model anew");
  }
}

const Tagger& Model::tagger() const {
  const Tagger* tagger = predictor_->tagger();
  if (tagger == nullptr) {
    throw Error::in(path_, fmt::format("a model of {}", info_.task), "expected a model of tag");
  }
  return *tagger;
}

Json Model::describe() const {
  Json json = to_json(info_);
  json["rows"] = shape_.rows;
  json["width"] = shape_.width;
  json["settings"] = settings_.at("settings");
  return json;
}

}  // namespace espalier
