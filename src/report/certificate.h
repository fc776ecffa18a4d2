#pragma once

#include <span>
#include <string>

#include "espalier/base/json.h"
#include "espalier/model/model.h"
#include "report/run_events.h"

namespace espalier {

// What a certificate says, in a sentence.
std::string certificate_sentence(const ModelInfo& info);

// The part of a report that shows how near the optimum a model is, and how its runs got there. Without a
// model: the runs alone, as of a race. Throws Error for logs that are not as training writes them.
Json certificate_of(const Model* model, std::span<const RunEvents> runs);

}  // namespace espalier
