#include "serve/served_model.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <new>

#include "base/input.h"
#include "espalier/base/error.h"
#include "espalier/version.h"

namespace espalier::serve {
namespace {

// A mapped file that somebody shortens ends the program, so these are read. Messages name the file.
Model read_model(const std::string& path) {
  const std::string bytes = read_all(path);
  try {
    return Model::from_bytes(bytes);
  } catch (const Error&) {
    return Model(path);  // which says the same of the file by its name
  }
}

Json info_of(const Model& model, const std::string& path, std::span<const ColumnTagger> taggers) {
  const Json all = model.describe();
  Json info = Json::object();
  info["name"] = std::filesystem::path(path).filename().string();
  info["version"] = ESPALIER_VERSION;
  for (const char* name :
       {"task", "loss", "l2", "l1", "certificate", "data", "weights", "settings", "labels"}) {
    if (all.contains(name)) info[name] = all.at(name);
  }
  Json columns = Json::array();
  for (const ColumnTagger& tagger : taggers) columns.push_back(tagger.name);
  info["columns"] = columns;
  info["probabilities"] = model.info().loss.smooth();
  return info;
}

}  // namespace

LoadedModel::LoadedModel(const std::string& path, const std::vector<ColumnFile>& columns)
    : model_(read_model(path)) {
  const std::string& task = model_.info().task;
  if (!columns.empty() && task != "tag" && task != "parse" && task != "treebank") {
    throw Error::in(setting("columns"), fmt::format("given for a model of {}", task),
                    "expected a model of tag, parse or treebank");
  }
  for (const ColumnFile& column : columns) {
    column_models_.push_back(read_model(column.path));
    if (column_models_.back().info().task != "tag")
      throw Error::in(column.path, fmt::format("a model of {}", column_models_.back().info().task),
                      "expected a tagger");
  }
  for (std::size_t k = 0; k < columns.size(); ++k)
    taggers_.push_back({columns[k].name, &column_models_[k].tagger()});
  info_ = info_of(model_, path, taggers_);
  give_back(take());  // which finds out whether the taggers fit
}

std::unique_ptr<Predictions> LoadedModel::take() {
  {
    std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      auto last = std::move(spare_.back());
      spare_.pop_back();
      return last;
    }
  }
  return make_predictions(model_, taggers_);
}

void LoadedModel::give_back(std::unique_ptr<Predictions> predictions) {
  std::lock_guard lock(mutex_);
  spare_.push_back(std::move(predictions));
}

ServedModel::ServedModel(std::string path, std::vector<ColumnFile> columns)
    : path_(std::move(path)),
      columns_(std::move(columns)),
      seen_(marks()),
      current_(std::make_shared<LoadedModel>(path_, columns_)) {}

std::shared_ptr<LoadedModel> ServedModel::current() const {
  std::lock_guard lock(mutex_);
  return current_;
}

std::vector<ServedModel::Mark> ServedModel::marks() const {
  std::vector<Mark> found;
  const auto add = [&](const std::string& path) {
    struct stat status {};
    Mark mark;
    if (::stat(path.c_str(), &status) == 0) {
      mark = {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec,
              status.st_mtim.tv_nsec};
    }
    found.push_back(mark);
  };
  add(path_);
  for (const ColumnFile& column : columns_) add(column.path);
  return found;
}

ServedModel::Change ServedModel::look(std::string& problem) {
  std::vector<Mark> now = marks();
  if (now == seen_) return Change::none;
  try {
    auto loaded = std::make_shared<LoadedModel>(path_, columns_);
    if (marks() != now) return Change::none;  // somebody is still writing
    seen_ = std::move(now);
    std::lock_guard lock(mutex_);
    current_ = std::move(loaded);
    return Change::loaded;
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (marks() != now) return Change::none;
  seen_ = std::move(now);
  return Change::failed;
}

}  // namespace espalier::serve
