#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/json.h"

namespace espalier::serve {

// A part of a score: a weight with what it is multiplied by.
struct Reason {
  std::string attribute;
  std::vector<std::string_view> before;  // labels before that it looks at
  double value, weight;

  double contribution() const { return value * weight; }
};

// {"token": 1, "label": "B-PER", "score": 1.5, "attributes": 20, "contributions": [...]}, the largest reasons
// first. The score is what all of them add up to; of very many, the small ones are left out.
void append_explanation(std::optional<std::size_t> token, std::string_view label, std::vector<Reason> reasons,
                        std::string& to);

// A member of "explain" that counts from 0; nullopt where it is not there.
std::optional<std::size_t> explained_number(const Json& explain, const char* name);

}  // namespace espalier::serve
