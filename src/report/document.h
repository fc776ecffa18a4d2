#pragma once

#include <string>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/model/model.h"
#include "report/run_events.h"

namespace espalier {

// What a report shows, as one JSON object: "version", "title", "model" (as `show --json` has it) and a part
// for each section of the page: "certificate" (report/certificate.h), "quality" where there are labelled data
// (a file; else empty; report/quality.h), and "learnt" (report/learnt.h). Without a model, as of a race,
// there are the runs alone. Throws Error for logs that are not as training writes them, and for data that the
// model cannot be measured on.
Json report_document(const std::string& title, const Model* model, const std::vector<RunEvents>& runs,
                     const std::string& data = {});

}  // namespace espalier
