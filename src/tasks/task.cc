#include "espalier/tasks/task.h"

#include <fmt/format.h>

#include <iterator>

namespace espalier {

std::string Predictor::all_weights() const {
  std::string text;
  const auto out = std::back_inserter(text);
  for_each_weight([&](const WeightName& name, float weight) {
    text += name.attribute;
    for (const std::string_view label : name.before) fmt::format_to(out, "\t{}", label);
    fmt::format_to(out, "\t{}\t{}\n", name.label, weight);
  });
  return text;
}

}  // namespace espalier
