#pragma once

#include <string_view>

#include "espalier/tasks/classify.h"
#include "features/text_attributes.h"
#include "tasks/classify/reader.h"

namespace espalier {

// How text becomes attributes, as the options of training say, and as a model keeps it.

// Throws Error for options that cannot be, or that are given for another format than text.
TextSettings text_settings_of(const ClassifyOptions& options, ClassifyFormat format);

Json to_json(const TextSettings& settings);
// Throws Error where the model does not say how to read text.
TextSettings stored_text_settings(const StoredTask& stored);

}  // namespace espalier
