#pragma once

#include <cmath>

namespace espalier {

// What roundings of numbers come to together, unless they conspire, from the sum of the squares of those
// numbers.
inline double sure_rounding(double squares) { return 10 * 0x1p-53 * std::sqrt(squares); }

}  // namespace espalier
