#pragma once

#include <string>

#include "espalier/base/json.h"
#include "espalier/selection/race.h"

namespace espalier::cli {

// What a race found, for people: passes and seconds to each gap, two lines per solver. `metric` is what the
// values on held-out data are, empty without any.
std::string race_table(const Race& race, const std::string& metric);
// The same numbers for programs.
Json race_json(const Race& race, const std::string& metric);
// As SVG: gap against passes, and against seconds. Requires a run with a report.
std::string race_picture(const Race& race, const std::string& title);

}  // namespace espalier::cli
