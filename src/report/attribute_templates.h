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

}  // namespace espalier
