#pragma once

#include <optional>

#include "espalier/model/model.h"

namespace espalier {

class ConvertedTagger;

// Models in memory. Internal: whoever makes one answers for the certificate being that of these very weights,
// which a model promises. The sections are copied. Nothing is loaded before somebody asks for the predictor.
// Requires weights of no more bits than the model is said to have.
Model make_model(const ModelInfo& info, int version, const TaskSections& sections, const Weights& theta,
                 const std::optional<TrainedSize>& trained = {});
// The same of what training data keeps.
Model make_model(const ModelInfo& info, const TrainingSet& data, const Weights& theta);
// And of what another program trained.
Model make_model(const ConvertedTagger& tagger);

// The model with a certificate that was computed for its weights.
Model with_certificate(const Model& model, const Certificate& certificate);
// What its file has of this name; empty where it has nothing. Valid as long as the model, or a copy, is.
std::string_view section_of(const Model& model, const std::string& name);

// Bytes that opening a model takes: the file, and weights that are not in it as they are used.
double memory_to_open(const std::string& path);

}  // namespace espalier
