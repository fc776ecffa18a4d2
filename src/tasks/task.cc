#include "espalier/tasks/task.h"

#include <fmt/format.h>

#include "base/text.h"
#include "espalier/base/error.h"

namespace espalier {

namespace {

// A field of a line, whatever it contains.
void append_field(std::string_view field, std::string& text) {
  for (const char c : field) {
    switch (c) {
      case '\t':
        text += "\\t";
        break;
      case '\n':
        text += "\\n";
        break;
      case '\r':
        text += "\\r";
        break;
      case '\\':
        text += "\\\\";
        break;
      default:
        text += c;
    }
  }
}

}  // namespace

std::string Predictor::all_weights() const {
  std::string text;
  for_each_weight([&](const WeightName& name, float weight) {
    append_field(name.attribute, text);
    for (const std::string_view label : name.before) {
      text += '\t';
      append_field(label, text);
    }
    text += '\t';
    append_field(name.label, text);
    append_format(text, "\t{}\n", weight);
  });
  return text;
}

void PredictOptions::refuse(std::string_view task) {
  throw Error(fmt::format("options of another task; expected those of predictions by a model of {}", task));
}

}  // namespace espalier
