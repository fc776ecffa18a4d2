#pragma once

#include <string>
#include <utility>
#include <vector>

#include "espalier/base/options.h"
#include "espalier/solvers/eg.h"
#include "solvers/schedule.h"

namespace espalier {

// What the values of an enum are called.
template <class Enum>
using Words = std::vector<std::pair<std::string, Enum>>;

// Options that several solvers have. They mean the same wherever they have the same name and help.

template <class Tuning>
OptionOf<Tuning> sampling_row() {
  return {"sampling", &Tuning::sampling,
          Words<Sampling>{{"gap", Sampling::gap},
                          {"random", Sampling::random},
                          {"shuffled", Sampling::shuffled},
                          {"cyclic", Sampling::cyclic}},
          "how examples are picked"};
}

template <class Tuning>
OptionOf<Tuning> start_row() {
  return {"start", &Tuning::start, Words<EgStart>{{"gold", EgStart::gold}, {"uniform", EgStart::uniform}},
          "initial duals"};
}

// The rules of each solver are its own.
template <class Tuning, class Rule>
OptionOf<Tuning> step_row(Rule Tuning::*rule, const Words<Rule>& rules) {
  return {"step", rule, rules, "how steps are chosen"};
}

template <class Tuning>
OptionOf<Tuning> recompute_row(const std::string& help) {
  return OptionOf<Tuning>("recompute", &Tuning::recompute, help).logged_if_changed();
}

}  // namespace espalier
