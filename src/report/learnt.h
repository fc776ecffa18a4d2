#pragma once

#include <string>

#include "espalier/base/json.h"
#include "espalier/model/model.h"

namespace espalier {

// What a model has learnt: "weights" (how they are distributed), "templates", and where attributes have names
// "strongest" (by label), "transitions" and "search". With labelled data (else empty) templates have their
// shares of the scores there, too.
Json learnt_of(const Model& model, const std::string& data);

// What each template of attributes contributes to the scores of labelled data: its share of the variance of
// the scores of labels at a token or example, which add up to 1. {"examples": how many were looked at,
// "shares": {template: share}}; null where the task has none.
Json template_shares(const Model& model, const std::string& data);

// What attributes without a template are called together.
inline constexpr const char* kNoTemplate = "(others)";
// What weights of steps between labels are called together.
inline constexpr const char* kTransitionTemplate = "(transitions)";

}  // namespace espalier
