#pragma once

// Models of every task that earlier versions wrote (tests/golden/make), with what they were asked and what
// they answered.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace espalier::testing {

inline std::string golden(const std::string& name) {
  return std::string(ESPALIER_SOURCE_DIR) + "/tests/golden/" + name;
}

// Without the ending .esp, in order.
inline std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(golden(""))) {
    if (file.path().extension() == ".esp") names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace espalier::testing
