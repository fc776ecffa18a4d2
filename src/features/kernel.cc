#include "features/kernel.h"

#include <fmt/format.h>

#include <vector>

#include "base/parse_number.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr int kHighestDegree = 10;

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    fields.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

[[noreturn]] void refuse(std::string_view text, std::string_view expected) {
  throw Error::in(setting("kernel"), in_quotes(text), expected);
}

}  // namespace

Kernel Kernel::parse(std::string_view text) {
  const std::vector<std::string_view> fields = split(text);
  const auto number = [&](std::size_t k) {
    const auto value = parse_float(fields[k]);
    return value ? *value : -1.0f;
  };
  Kernel kernel;
  if (fields[0] == "linear" && fields.size() == 1) return kernel;
  if (fields[0] == "rbf") {
    kernel.kind = Kind::rbf;
    if (fields.size() == 2) kernel.gamma = number(1);
    if (fields.size() != 2 || !(kernel.gamma > 0)) refuse(text, "expected rbf,GAMMA with a number > 0");
    return kernel;
  }
  if (fields[0] != "poly")
    refuse(text, "expected linear, poly,DEGREE[,CONSTANT[,SCALE]] or rbf,GAMMA, such as poly,3");
  kernel.kind = Kind::poly;
  if (fields.size() < 2 || fields.size() > 4) refuse(text, "expected poly,DEGREE[,CONSTANT[,SCALE]]");
  kernel.degree = static_cast<int>(number(1));
  if (kernel.degree < 1 || kernel.degree > kHighestDegree || number(1) != static_cast<float>(kernel.degree))
    refuse(text, fmt::format("expected a whole number from 1 to {} as the degree", kHighestDegree));
  if (fields.size() > 2) kernel.constant = number(2);
  if (!(kernel.constant >= 0)) refuse(text, "expected a number >= 0 as the constant");
  if (fields.size() > 3) kernel.scale = number(3);
  if (!(kernel.scale > 0)) refuse(text, "expected a number > 0 as the scale");
  return kernel;
}

std::string Kernel::name() const {
  switch (kind) {
    case Kind::linear:
      return "linear";
    case Kind::poly:
      return fmt::format("poly,{},{},{}", degree, constant, scale);
    case Kind::rbf:
      return fmt::format("rbf,{}", gamma);
  }
  return "unknown";
}

}  // namespace espalier
