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
  double badness = 0;    // what selection minimises
  std::string metric;    // what that is to people: "F1 %", "error %"
  double value = 0;      // in that unit
};

}  // namespace espalier
