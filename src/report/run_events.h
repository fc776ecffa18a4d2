#pragma once

#include <string>
#include <vector>

#include "espalier/base/json.h"

namespace espalier {

// What a run logged (train --log), line by line.
struct RunEvents {
  std::string name;  // the file, or what else messages call it
  std::vector<Json> events;
};

// A run that goes on may have written half of its last line: that is left out. Throws Error for what is no
// log of a run.
RunEvents read_run_events(const std::string& path);

}  // namespace espalier
