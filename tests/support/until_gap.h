#pragma once

namespace espalier::test_support {

// The options of a run that ends at this gap or after so many passes. No run gets to a gap of -1.
template <class Options>
Options until_gap(double gap, double passes) {
  Options options;
  options.stopping.gap = gap;
  options.stopping.passes = passes;
  return options;
}

}  // namespace espalier::test_support
