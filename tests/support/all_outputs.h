#pragma once

#include <cstddef>
#include <vector>

#include "espalier/structures/multiclass.h"

// all_outputs(structure) lists every output of Y once. It is all that the checks by enumeration need to know
// of a structure beyond its own interface; a new structure adds an overload, found through the structure's
// namespace.
namespace espalier {

inline std::vector<Multiclass::Output> all_outputs(const Multiclass& structure) {
  std::vector<Multiclass::Output> outputs;
  for (std::size_t y = 0; y < structure.num_statistics(); ++y) {
    outputs.push_back(static_cast<Multiclass::Output>(y));
  }
  return outputs;
}

}  // namespace espalier
