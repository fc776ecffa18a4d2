#pragma once

#include <cstddef>
#include <vector>

#include "espalier/structures/chain.h"
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

inline std::vector<Chain::Output> all_outputs(const Chain& structure) {
  const std::size_t labels = structure.num_labels(), length = structure.length();
  const ChainConstraints* constraints = structure.constraints();
  const auto allowed = [&](const Chain::Output& y) {
    if (!constraints) return true;
    if (!constraints->first[y.front()] || !constraints->last[y.back()]) return false;
    for (std::size_t t = 1; t < length; ++t) {
      if (!constraints->step[y[t - 1] * labels + y[t]]) return false;
    }
    return true;
  };
  std::vector<Chain::Output> outputs;
  Chain::Output y(length, 0);
  for (;;) {
    if (allowed(y)) outputs.push_back(y);
    std::size_t t = 0;
    while (t < length && ++y[t] == labels) y[t++] = 0;
    if (t == length) return outputs;
  }
}

}  // namespace espalier
