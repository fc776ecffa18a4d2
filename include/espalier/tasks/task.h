#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/base/options.h"
#include "espalier/features/dictionary.h"
#include "espalier/learning/loss.h"
#include "espalier/learning/problem.h"

namespace espalier {

class Classifier;
class Communicator;
class GraphLabeller;
class LatentGold;
class Parser;
class Tagger;
class TreebankParser;

// What a task keeps in a model file besides the weights: settings, and arrays by name. The bytes belong to
// the task.
struct TaskSections {
  Json settings;
  std::vector<std::pair<std::string, std::string_view>> arrays;
};

// What training had, where a model leaves out what is zero. An attribute that it left out is not one that
// training never saw.
struct TrainedSize {
  std::size_t attributes, weights;
};

// All that a model file keeps of training.
struct ModelContents {
  TaskSections sections;
  Weights theta;
  std::shared_ptr<const void> memory{};  // of arrays that the task does not have itself
  std::optional<TrainedSize> trained{};  // where something that is zero was left out
};

// What a model file has of a task, with what the task needs of the rest of the model.
struct StoredTask {
  const Json& settings;
  std::function<std::string_view(std::string_view name)> array;  // throws Error if there is none
  WeightsView theta;
  Loss loss;
  std::string file;  // for messages
  std::optional<TrainedSize> trained{};
};

// One weight by its names, which mean the same in every model of a task: an attribute with a label, or, in a
// chain, with the labels before it, the farthest first. The names are valid as long as their owner says.
struct WeightName {
  std::string_view attribute;
  std::span<const std::string_view> before;  // none: an attribute of a token or an example
  std::string_view label;
};

// How good predictions are, for people and for programs.
struct Evaluation {
  Json rates;            // "error": 0.074, ...: what a run's log has for each report; fractions
  Json report;           // what `eval --json` prints: the rates and whatever belongs to them
  std::string text;      // what `eval` prints; ends with a newline
  std::string headline;  // "error 7.42 %", for progress lines and tables
  double dev_error = 0;  // what selection minimises on held-out data: an error rate, 1 - F1 or a mean cost
  std::string metric;    // what people call it: "F1 %", "error %"
  double value = 0;      // in that unit
};

// Training data of some task, turned into a Problem.
class TrainingSet {
 public:
  virtual ~TrainingSet() = default;
  virtual std::string_view task() const = 0;
  virtual int version() const = 0;  // of what sections() writes
  virtual const Problem& problem() const = 0;
  // Where gold outputs are not all known: then the problem is one of a sequence (CccpRound). Else nullptr.
  virtual LatentGold* latent_gold() const { return nullptr; }
  // The ranks, where each has a share of the examples alone: problem(), groups() and evaluate_examples() know
  // that of this one, and all else is of the examples of all. nullptr: all examples are here.
  virtual Communicator* fleet() const { return nullptr; }
  // "59,000 examples, 10 labels, 717 attributes"
  virtual std::string describe() const = 0;
  virtual TaskSections sections() const = 0;
  // Where a model does not keep all weights, since a kernel or zeros leave some out: what it keeps of these.
  virtual std::optional<ModelContents> model_contents(const Weights& /*theta*/) const { return std::nullopt; }

  // Held-out data, and the file that it was read from last, or what messages call data in memory; empty:
  // there is none.
  void read_dev(const std::string& path) {
    replace_dev(path);
    dev_ = path;
  }
  const std::string& dev() const { return dev_; }
  // Requires held-out data.
  virtual Evaluation evaluate_dev(const Weights& theta) const = 0;
  // How good weights are on some of the training examples: those that they were not trained on. Thread-safe.
  virtual Evaluation evaluate_examples(const Weights& theta,
                                       std::span<const std::uint32_t> examples) const = 0;

  // Which examples belong together, such as the sentences of a document: a number for each, where the options
  // asked for it.
  virtual std::span<const std::uint32_t> groups() const { return {}; }

  // The rows of weights that l1 is for: all, unless the options of the task leave some out. Throws Error
  // where the weights are none that l1 is for, such as those of a kernel.
  virtual SoftThreshold l1_rows() const { return {}; }

  // Where theta has the weight of this name; nullptr where this data has no such weight.
  virtual float* find_weight(const WeightName& name, Weights& theta) const = 0;
  virtual const Dictionary& labels() const = 0;
  virtual const Dictionary& attributes() const = 0;  // of tokens or examples
  // Of the attributes and values of all examples. What they are called is in sections(). Where there is a
  // fleet, its ranks call it at the same time.
  virtual std::uint64_t fingerprint() const = 0;

  // How it was read: the options of the task that are not at their defaults, by name. A model keeps them, so
  // that it can be verified. An empty object: as options are, or nobody said.
  const Json& reading() const { return reading_; }

 protected:
  // Of held-out data that is there without read_dev().
  void name_dev(const std::string& name) { dev_ = name; }
  void set_reading(Json reading) { reading_ = std::move(reading); }

 private:
  virtual void replace_dev(const std::string& path) = 0;

  std::string dev_;
  Json reading_ = Json::object();
};

// A tagger that fills a column of the words of plain text, such as their parts of speech. It has to outlive
// the prediction.
struct ColumnTagger {
  std::string name;  // of the column, as the task calls it
  const Tagger* tagger = nullptr;
};

// What a prediction may be told: a struct of the task's own, such as TagPredictOptions, or nothing for its
// defaults.
class PredictOptions {
 public:
  PredictOptions() = default;
  template <class Options>
  requires(std::is_aggregate_v<Options>) PredictOptions(Options options) : options_(std::move(options)) {}
  // Of the table that the task has for them (TaskEntry::predict_options).
  PredictOptions(const OptionValues& values) : options_(values.object()) {}

  // Told what looks wrong and does not end the prediction; may be empty.
  std::function<void(const std::string&)> warning{};
  // Of plain text, in the order in which they are asked: each sees the columns that are filled before it.
  std::vector<ColumnTagger> columns{};

  // Throws Error if they are those of another task.
  template <class Options>
  Options of(std::string_view task) const {
    if (!options_.has_value()) return {};
    if (const auto* own = std::any_cast<Options>(&options_)) return *own;
    refuse(task);
  }

 private:
  [[noreturn]] static void refuse(std::string_view task);

  std::any options_;
};

struct EvaluateOptions {
  std::optional<std::string> format;  // default: the one that the model was trained on
  std::size_t threads = 0;            // 0: one for each processor; the result does not depend on it
  // Told what looks wrong and does not end the evaluation; may be empty.
  std::function<void(const std::string&)> warning{};
};

// A trained model of some task, ready to use. Const and thread-safe.
class Predictor {
 public:
  virtual ~Predictor() = default;
  // Reads the file `input` and hands what `predict` writes to `write`, piece by piece.
  virtual void predict(const std::string& input, const PredictOptions& options,
                       const std::function<void(std::string_view)>& write) const = 0;
  virtual Evaluation evaluate(const std::string& gold, const EvaluateOptions& options) const = 0;
  // For programs that have sentences in memory; nullptr where the model does not tag.
  virtual const Tagger* tagger() const { return nullptr; }
  // The same for examples; nullptr where the model does not classify.
  virtual const Classifier* classifier() const { return nullptr; }
  // And so on: for sentences to parse, and for graphs.
  virtual const Parser* parser() const { return nullptr; }
  virtual const TreebankParser* treebank_parser() const { return nullptr; }
  virtual const GraphLabeller* graph_labeller() const { return nullptr; }

  // "10 labels, 717 attributes"
  virtual std::string describe() const = 0;
  // The `top` heaviest features of each label, for people.
  virtual std::string strongest(std::size_t top) const = 0;
  // Every weight, for programs: lines ATTRIBUTE TAB LABEL... TAB WEIGHT, where \t, \n, \r and \\ stand for
  // characters that names may have, and weights have as many digits as tell them from all others.
  std::string all_weights() const;

  // Every weight, attributes of tokens or examples first; the labels of an attribute follow each other. The
  // names are valid during the call.
  virtual void for_each_weight(
      const std::function<void(const WeightName& name, float weight)>& visit) const = 0;
  // nullopt where the model has no such weight.
  virtual std::optional<float> find_weight(const WeightName& name) const = 0;
  virtual const Dictionary& labels() const = 0;
  virtual const Dictionary& attributes() const = 0;  // of tokens or examples
};

}  // namespace espalier
