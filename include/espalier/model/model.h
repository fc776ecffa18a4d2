#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "espalier/base/json.h"
#include "espalier/learning/certificate.h"
#include "espalier/learning/loss.h"
#include "espalier/tasks/classify.h"
#include "espalier/tasks/graph.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/tag.h"
#include "espalier/tasks/task.h"
#include "espalier/tasks/treebank.h"

namespace espalier {

// What a model says of the training that made it. Models that another program trained have neither l2 nor
// certificate, those whose weights were rounded afterwards no certificate.
struct ModelInfo {
  std::string task;
  Loss loss;
  std::optional<double> l2;
  std::string solver;  // or "converted from ..."
  std::optional<Certificate> certificate;
  int bits = 32;  // of each weight; 16: they were rounded
  double l1 = 0;
  // Where gold outputs were not all known: the objective, which is not convex. The certificate is that of the
  // last of the convex problems that training solved.
  std::optional<double> objective{};
  bool slack_rescaling =
      false;           // the losses were rescaled slacks (Rescaling::slack), not those of the family
  std::string data{};  // what the training data are known by; empty: older models do not say
  Json reading = Json::object();  // how they were read (TrainingSet::reading)
};

// How many weights are not zero, of all that training had.
struct WeightCount {
  std::size_t nonzero, all;
};

// A model that was trained in this program or opened from a file: weights, whatever the task needs to use
// them, and the certificate that belongs to them. A value: it never changes, copies share its memory, and
// threads may share it.
class Model {
 public:
  // Opens and checks a model file, which stays mapped. Throws Error if it is not one, is damaged, or was made
  // by a newer version.
  explicit Model(const std::string& path);
  static Model load(const std::string& path) { return Model(path); }

  // Writes one file, atomically. The same model gives the same bytes, also after it was loaded.
  void save(const std::string& path) const;

  // What save() writes, in memory; valid as long as the model, or a copy of it, is. from_bytes() copies them,
  // and throws what opening a file does.
  std::string_view bytes() const;
  static Model from_bytes(std::string_view bytes);

  // The same model with the nearest weights of 16 bits, which take half the room in its file; 32: as it is.
  // A certificate belongs to the weights that it was computed for: those of 16 bits come without, unless they
  // had 16 before. train/round.h certifies them. Throws Error for other numbers.
  Model rounded(int bits) const;

  // The file that it was opened from, or, where there was none, what messages call it.
  const std::string& name() const;
  const ModelInfo& info() const;
  // Throws Error if there is none, since another program trained the model, or its weights were rounded.
  const Certificate& certificate() const;
  const Predictor& predictor() const;
  // For programs that have sentences, examples or graphs in memory. Throws Error if the model is one of
  // another task.
  const Tagger& tagger() const;
  const Classifier& classifier() const;
  const Parser& parser() const;
  const TreebankParser& treebank_parser() const;
  const GraphLabeller& graph_labeller() const;
  WeightShape weight_shape() const;
  WeightCount count_weights() const;
  // What `show --json` prints.
  Json describe() const;

 private:
  // Training and conversion make models: src/model/make_model.h.
  friend Model make_model(const ModelInfo& info, int version, const TaskSections& sections,
                          const Weights& theta, const std::optional<TrainedSize>& trained);
  friend Model with_certificate(const Model& model, const Certificate& certificate);
  friend std::string_view section_of(const Model& model, const std::string& name);
  struct Contents;
  explicit Model(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

  std::shared_ptr<const Contents> contents_;
};

// A tagger that another program trained, from its text: what `crfsuite dump` printed, a model of Wapiti, or
// the text model of `crf_learn -t`. Such a model has neither l2 nor certificate. Throws Error for what is
// none of them.
Model convert_model(const std::string& path);

}  // namespace espalier
