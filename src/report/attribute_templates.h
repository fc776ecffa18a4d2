#pragma once

#include <string_view>

namespace espalier {

// "w[0]=The" and "U02:The" are of the templates w[0] and U02; "suffix" has a name alone, and "," and "=" as
// words of texts have no template.
struct TemplateParts {
  std::string_view name, value;  // without a name: the whole attribute is the value
};
inline TemplateParts template_parts(std::string_view attribute) {
  const std::size_t end = attribute.find_first_of("=:");
  if (end == std::string_view::npos || end == 0 || end + 1 == attribute.size()) return {{}, attribute};
  return {attribute.substr(0, end), attribute.substr(end + 1)};
}

// Those of graphs begin with the type of their nodes: "cell:0,1=B" is of cell:0,1, and "pixel:dark" of pixel.
inline std::string_view graph_template(std::string_view attribute) {
  const std::size_t type = attribute.find(':');
  if (type == std::string_view::npos) return {};
  const std::string_view feature = template_parts(attribute.substr(type + 1)).name;
  return attribute.substr(0, feature.empty() ? type : type + 1 + feature.size());
}

}  // namespace espalier
