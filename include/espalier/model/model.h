#pragma once

#include <memory>
#include <optional>
#include <string>

#include "espalier/base/json.h"
#include "espalier/learning/certificate.h"
#include "espalier/learning/loss.h"
#include "espalier/model/model_file.h"
#include "espalier/tasks/tagger.h"
#include "espalier/tasks/task.h"

namespace espalier {

// What a model file says of the training that made it. Models that another program trained have neither l2 nor certificate.
struct ModelInfo {
  std::string task;
  Loss loss;
  std::optional<double> l2;
  std::string solver;  // or "converted from ..."
  std::optional<Certificate> certificate;
  bool relaxed = false;  // the certificate is one of a relaxed problem (Problem::relaxed)
};

// Writes weights, certificate and whatever the task keeps into one file, atomically. The same contents give the same bytes.
void save_model(const std::string& path, const ModelInfo& info, const TrainingSet& data,
                const Weights& theta);
// The same of what a task keeps, by its version.
void save_model(const std::string& path, const ModelInfo& info, int version, const TaskSections& sections,
                const Weights& theta);

// A model file, open and checked. Throws Error where it is not one, is damaged, or was made by a newer version.
class Model {
 public:
  explicit Model(const std::string& path);

  const ModelInfo& info() const { return info_; }
  const Predictor& predictor() const { return *predictor_; }
  // For programs that tag sentences in memory. Throws Error where the model is one of another task.
  const Tagger& tagger() const;
  WeightShape weight_shape() const { return shape_; }
  // What `show --json` prints.
  Json describe() const;

 private:
  std::string path_;
  ModelFile file_;
  Json settings_;
  ModelInfo info_;
  WeightShape shape_;
  std::unique_ptr<Predictor> predictor_;
};

}  // namespace espalier
