#pragma once

#include <string>

#include "espalier/base/json.h"

namespace espalier {

// How good predictions are, for people and for programs.
struct Evaluation {
  Json rates;            // "error": 0.074, ...: what a run's log has for each report; fractions
  Json report;           // what `eval --json` prints: the rates and whatever belongs to them
  std::string text;      // what `eval` prints; ends with a newline
  std::string headline;  // "error 7.42 %", for progress lines and tables
  double dev_error = 0;  // what selection minimises on held-out data: an error rate, 1 - F1 or a mean cost
  std::string metric;    // what people call it: "F1 %", "error %"
  double value = 0;      // in that unit
};

}  // namespace espalier
