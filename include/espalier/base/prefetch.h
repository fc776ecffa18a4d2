#pragma once

namespace espalier {

// Two hints that an example is visited soon. Where its data lies must be known before it can be asked for, so
// a solver gives the first hint well ahead and the second one when the location has had time to arrive.
enum class Prefetch { location, contents };

}  // namespace espalier
