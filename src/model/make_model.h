#pragma once

#include "espalier/model/model.h"

namespace espalier {

class ConvertedTagger;

// Models in memory. Internal: whoever makes one answers for the certificate being that of these very weights,
// which a model promises. The sections are copied. Nothing is loaded before somebody asks for the predictor.
Model make_model(const ModelInfo& info, int version, const TaskSections& sections, const Weights& theta);
// The same of what training data keeps.
Model make_model(const ModelInfo& info, const TrainingSet& data, const Weights& theta);
// And of what another program trained.
Model make_model(const ConvertedTagger& tagger);

}  // namespace espalier
