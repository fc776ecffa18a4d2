#include "espalier/learning/loss.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
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
  if (text == "crf") return crf();
  if (text == "svm") return svm();
  if (text == "softmax-margin") return softmax_margin();
  if (text == "perceptron") return perceptron();
  const std::size_t comma = text.find(',');
  Loss loss;
  if (comma == std::string_view::npos || !parse_number(text.substr(0, comma), loss.beta) ||
      !parse_number(text.substr(comma + 1), loss.gamma) || !(loss.beta > 0) || !(loss.gamma >= 0) ||
      !std::isfinite(loss.gamma)) {
    const std::vector<std::string> names{"crf", "svm", "softmax-margin", "perceptron"};
    throw Error::in(
        setting("loss"), "unknown loss " + in_quotes(text),
        nearest_name(text, names)
            ? name_hint(text, names)
            : "expected crf, svm, softmax-margin, perceptron, or BETA,GAMMA with BETA in (0, inf] "
              "and GAMMA >= 0");
  }
  return loss;
}

std::string Loss::name() const {
  if (*this == crf()) return "crf";
  if (*this == svm()) return "svm";
  if (*this == softmax_margin()) return "softmax-margin";
  if (*this == perceptron()) return "perceptron";
  return fmt::format("{},{}", beta, gamma);
}

}  // namespace espalier
