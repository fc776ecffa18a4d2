#include "cli/initial_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/error.h"
#include "espalier/base/text.h"
#include "espalier/model/model.h"

namespace espalier::cli {
namespace {

std::size_t count_common(const Dictionary& names, const Dictionary& others) {
  std::size_t common = 0;
  for (std::uint32_t id = 0; id < names.size(); ++id) common += others.find(names.name(id)) ? 1 : 0;
  return common;
}

// "8 of its 9 labels (1 new)"
std::string describe_match(std::size_t common, const Dictionary& old, const Dictionary& now,
                           std::string_view what) {
  std::string text = fmt::format("{} of its {} {}", grouped(common), grouped(old.size()), what);
  if (now.size() > common) text += fmt::format(" ({} new)", grouped(now.size() - common));
  return text;
}

}  // namespace

Training start_from_model(const std::string& path, const TrainingSet& data, const Objective& objective,
                          const SolverEntry& solver, Display& display) {
  const Model model(path);
  if (model.info().task != data.task()) {
    throw Error::in(path, fmt::format("a model of the task {}", model.info().task),
                    fmt::format("expected one of the task {}", data.task()));
  }
  const Predictor& old = model.predictor();
  const std::size_t labels = count_common(old.labels(), data.labels());
  const std::size_t attributes = count_common(old.attributes(), data.attributes());
  if (labels == 0 || attributes == 0) {
    throw Error::in(path,
                    fmt::format("none of its {} is in the training data", labels == 0 ? "labels" : "attributes"),
                    "expected a model of similar data");
  }
  Training training;
  training.theta = Weights(data.problem().weight_shape());
  old.for_each_weight([&](const WeightName& name, float weight) {
    if (float* place = data.find_weight(name, training.theta)) *place = weight;
  });
  if (solver.dual) {
    training.dual.emplace(data.problem());
    training.dual->start_at(objective, training.theta);
  }
  display.note(fmt::format("started from {}: {}, {}", path,
                           describe_match(labels, old.labels(), data.labels(), "labels"),
                           describe_match(attributes, old.attributes(), data.attributes(), "attributes")));
  return training;
}

}  // namespace espalier::cli
