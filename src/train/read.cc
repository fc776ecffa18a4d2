#include "espalier/train/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/naming_file.h"
#include "espalier/base/error.h"
#include "espalier/solvers/eg.h"
#include "model/make_model.h"
#include "tasks/parse/training.h"

namespace espalier {
namespace {

// A model that is soon good enough: eg.
Weights train_roughly(const Problem& problem, const RoughRun& run) {
  EgOptions options;
  options.stopping.gap = run.gap;
  options.stopping.passes = run.passes;
  options.stopping.stop = run.stop;
  options.threads = run.threads;
  DualState dual(problem);
  Weights theta(problem.weight_shape());
  eg({problem, Loss::crf(), run.l2}, options, dual, theta);
  return theta;
}

// As it would be typed, so that what is wrong with it is found out.
void restore(std::string_view name, const Json& value, OptionValues& options) {
  if (value.is_array()) {
    for (const Json& one : value) restore(name, one, options);
  } else {
    options.set(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

}  // namespace

std::unique_ptr<TrainingSet> read_training(const TaskEntry& task, const InputFiles& files,
                                           const OptionValues& options, Reading reading) {
  if (!reading.train_roughly) reading.train_roughly = train_roughly;
  return naming_file(files.name(), [&] { return task.read(files, options, reading); });
}

OptionValues reading_options(const Model& model, std::span<const TypedOption> given) {
  OptionValues options(find_task(model.info().task)->options());
  const auto is_given = [&](std::string_view name) {
    return std::ranges::find(given, name, &TypedOption::name) != given.end();
  };
  Json known = model.info().reading;
  const Json settings = model.describe().at("settings");
  if (options.table().find("format") && settings.contains("format")) known["format"] = settings.at("format");
  try {
    for (const auto& [name, value] : known.items()) {
      if (!is_given(name)) restore(name, value, options);
    }
  } catch (const Error& e) {
    throw Error::in(model.name(), fmt::format("training data read with options that are none ({})", e.what()),
                    "retrain the model");
  }
  for (const TypedOption& option : given) options.set(option.name, option.text);
  if (!given.empty()) options.check_effective();
  return options;
}

std::unique_ptr<TrainingSet> read_training_of(const Model& model, const std::string& path,
                                              const OptionValues& options, Reading reading) {
  reading.loss = model.info().loss;
  reading.train_roughly = [pruner = section_of(model, "pruner")](const Problem& problem,
                                                                 const RoughRun& run) {
    Weights theta(problem.weight_shape());
    if (theta.values().size_bytes() != pruner.size()) return train_roughly(problem, run);
    std::memcpy(theta.values().data(), pruner.data(), pruner.size());
    return theta;
  };
  return read_training(*find_task(model.info().task), path, options, std::move(reading));
}

std::unique_ptr<TrainingSet> read_parse_training(const InputFiles& files, const ParseOptions& options) {
  return read_parse_training(files, options, train_roughly);
}

std::unique_ptr<TrainingSet> make_parse_training(const ParseData& data, const ParseOptions& options,
                                                 const ParseData* dev) {
  return make_parse_training(data, options, dev, train_roughly);
}

}  // namespace espalier
