#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "structures/matching.h"

namespace espalier {

// Every matching of a small structure once (support/all_outputs.h says what for).
inline std::vector<Matching::Output> all_outputs(const Matching& structure) {
  const std::size_t n = structure.targets();
  std::vector<Matching::Output> outputs{{}};
  const auto links_of = [n](const Matching::Output& y, std::size_t word, bool source) {
    std::size_t links = 0;
    for (const std::uint32_t e : y) links += (source ? e / n : e % n) == word ? 1 : 0;
    return links;
  };
  for (std::uint32_t e = 0; e < structure.num_statistics(); ++e) {
    const std::size_t without = outputs.size();
    for (std::size_t k = 0; k < without; ++k) {
      if (links_of(outputs[k], e / n, true) == structure.most() ||
          links_of(outputs[k], e % n, false) == structure.most())
        continue;
      Matching::Output with = outputs[k];
      with.push_back(e);
      outputs.push_back(std::move(with));
    }
  }
  return outputs;
}

}  // namespace espalier
