#pragma once

#include "espalier/base/json.h"
#include "report/run_events.h"

namespace espalier {

// A run as a report shows it: its settings, its reports as series of numbers, and, by what it was, a path
// ("path"), folds ("folds") or a race ("race"). Throws Error for events that are not as training logs them.
Json summary_of(const RunEvents& run);

}  // namespace espalier
