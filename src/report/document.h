#pragma once

#include <string>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/model/model.h"
#include "report/run_events.h"

namespace espalier {

// What a report shows, as one JSON object: "version", "title", "model" (as `show --json` has it) and a part
// for each section of the page: "certificate" (report/certificate.h) and others, which may be missing.
// Without a model, as of a race, there are the runs alone. Throws Error for logs that are not as training
// writes them.
Json report_document(const std::string& title, const Model* model, const std::vector<RunEvents>& runs);

}  // namespace espalier
