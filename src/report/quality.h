#pragma once

#include <string>

#include "espalier/base/json.h"
#include "espalier/model/model.h"

namespace espalier {

// How good a model is on labelled data: what `eval` says, and where it is wrong. "task", "data" (the file),
// "headline", "report" (that of Evaluation), and by the task "confusion", "lengths", "calibration", "errors"
// and others. Throws Error for data that the model cannot be measured on.
Json quality_of(const Model& model, const std::string& data);

// The parts of single tasks.
void add_tag_quality(const Model& model, const std::string& data, Json& quality);
void add_classify_quality(const Model& model, const std::string& data, Json& quality);
void add_parse_quality(const Model& model, const std::string& data, Json& quality);
void add_treebank_quality(const Model& model, const std::string& data, Json& quality);
void add_graph_quality(const Model& model, const std::string& data, Json& quality);

}  // namespace espalier
