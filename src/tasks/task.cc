#include "espalier/tasks/task.h"

#include <fmt/format.h>

#include "base/text.h"
#include "espalier/base/error.h"

namespace espalier {

std::string Predictor::all_weights() const {
  std::string text;
  for_each_weight([&](const WeightName& name, float weight) {
    text += name.attribute;
    for (const std::string_view label : name.before) append_format(text, "\t{}", label);
    append_format(text, "\t{}\t{}\n", name.label, weight);
  });
  return text;
}

void PredictOptions::refuse(std::string_view task) {
  throw Error(fmt::format("options of another task; expected those of predictions by a model of {}", task));
}

}  // namespace espalier
