#include "espalier/learning/loss.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/names.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

bool parse_number(std::string_view text, double& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() && !std::isnan(value);
}

}  // namespace

Loss Loss::parse(std::string_view text) {
  static const std::pair<std::string_view, Loss> kNamed[] = {
      {"crf", crf()},   {"svm", svm()},   {"softmax-margin", softmax_margin()}, {"perceptron", perceptron()},
      {"ramp", ramp()}, {"risk", risk()},
  };
  for (const auto& [name, loss] : kNamed) {
    if (text == name) return loss;
  }
  constexpr std::string_view kDifference = "delta,";
  Loss loss;
  loss.difference = text.starts_with(kDifference);
  const std::string_view numbers = loss.difference ? text.substr(kDifference.size()) : text;
  const std::size_t comma = numbers.find(',');
  if (comma == std::string_view::npos || !parse_number(numbers.substr(0, comma), loss.beta) ||
      !parse_number(numbers.substr(comma + 1), loss.gamma) || !(loss.beta > 0) || !(loss.gamma >= 0) ||
      !std::isfinite(loss.gamma)) {
    std::vector<std::string> names;
    for (const auto& named : kNamed) names.emplace_back(named.first);
    throw Error::in(
        setting("loss"), "unknown loss " + in_quotes(text),
        nearest_name(text, names)
            ? name_hint(text, names)
            : fmt::format("expected {}, or [delta,]BETA,GAMMA with BETA in (0, inf] and GAMMA >= 0",
                          fmt::join(names, ", ")));
  }
  if (loss.difference && loss.gamma == 0) {
    throw Error::in(setting("loss"), in_quotes(text) + ", which is zero for all weights",
                    "expected a GAMMA > 0");
  }
  return loss;
}

std::string Loss::name() const {
  if (*this == crf()) return "crf";
  if (*this == svm()) return "svm";
  if (*this == softmax_margin()) return "softmax-margin";
  if (*this == perceptron()) return "perceptron";
  if (*this == ramp()) return "ramp";
  if (*this == risk()) return "risk";
  return fmt::format("{}{},{}", difference ? "delta," : "", beta, gamma);
}

}  // namespace espalier
