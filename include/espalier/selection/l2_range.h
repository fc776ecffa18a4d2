#pragma once

#include <string>
#include <vector>

namespace espalier {

// Where a search for l2 may look. The defaults are further than anybody has wanted to go.
struct L2Range {
  double min = 1e-6, max = 1e6;

  // Throws Error where there is nothing between these.
  void check() const;
  // "auto", with the range where it is not the default.
  std::string name() const;
  // Where a search begins: the decade, or the end of the range, that is nearest to 10.
  double start() const;
  // The values that a search may try, the largest first: four in a decade, with two digits, and the ends of the range.
  std::vector<double> values() const;
};

}  // namespace espalier
