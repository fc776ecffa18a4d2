#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/learning/loss.h"
#include "espalier/tasks/sampling.h"
#include "tasks/common.h"
#include "tasks/json_lines.h"

namespace espalier {

// Outputs that are drawn from a model's distribution, and its entropy, as `predict` has them of every task.

// Throws Error where a model or other options have no way with them.
template <class Options>
void check_drawing(const Options& options, const Loss& loss) {
  check_probabilities(options.samples > 0, setting("samples"), loss);
  check_probabilities(options.entropy, setting("entropy"), loss);
  if (options.samples > 0 && options.kbest > 0) {
    throw Error::in(setting("samples"), fmt::format("given with {}", setting("kbest")),
                    "expected one of the two");
  }
}

// How many outputs come with each item.
template <class Options>
std::size_t list_length(const Options& options) {
  return options.samples > 0 ? options.samples : options.kbest;
}

// What lists are called in JSON.
template <class Options>
std::string_view list_name(const Options& options) {
  return options.samples > 0 ? "samples" : "kbest";
}

// Rounding may leave next to nothing of either sign where there is but one output.
inline double rounded_entropy(double entropy) {
  constexpr double kDigits = 1e9;
  return std::round(entropy * kDigits) / kDigits + 0.0;
}
inline void append_entropy_comment(double entropy, std::string& to) {
  append_format(to, "# entropy {:.6f}\n", rounded_entropy(entropy));
}
// ,"entropy":0.693147181
inline void append_entropy_json(double entropy, std::string& to) {
  to += ",\"entropy\":";
  append_json(rounded_entropy(entropy), to);
}

}  // namespace espalier
