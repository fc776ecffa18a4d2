#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/base/fingerprint.h"
#include "espalier/base/input.h"
#include "espalier/base/text.h"
#include "espalier/features/templates.h"
#include "espalier/learning/chain_problem.h"
#include "espalier/tasks/chunks.h"
#include "espalier/tasks/tag.h"
#include "tasks/common.h"
#include "tasks/tag_model.h"

namespace espalier {
namespace {

// What the options say of the input, before the file says the rest.
TagInput requested_input(const TagOptions& options) {
  TagInput input;
  if (options.format) input.format = parse_tag_format(*options.format);
  if (options.label_column == 0) throw Error::in("--label-column", "0", "expected at least 1");
  if (!options.templates.empty()) {
    input.templates = read_all(options.templates);
    input.template_name = options.templates;
    Templates(input.templates, input.template_name);  // an empty one would stand for the built-in attributes
  }
  return input;
}

// Held-out sequences, with gold labels that training may not have seen.
struct DevSet {
  DevSet(const std::string& path, const TagModel& model)
      : labels(copy(model.dictionaries.labels)),
        examples(read_tag(path, model.input, model.dictionaries, labels)),
        features(examples.sequences, model.shape()) {}

  static Dictionary copy(const Dictionary& names) {
    Dictionary grows;
    for (std::uint32_t id = 0; id < names.size(); ++id) grows.add(names.name(id));
    return grows;
  }

  Dictionary labels;
  TagExamples examples;
  ChainFeatures features;
};

Evaluation evaluate(const DevSet& dev, const Weights& theta) {
  ChunkScores scores;
  std::vector<float> s;
  std::vector<std::uint32_t> best;
  std::vector<std::string_view> gold, predicted;
  Workspace ws;
  const Sequences& sequences = dev.examples.sequences;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const Chain structure = chain_of(dev.features, i, nullptr);
    s.resize(structure.num_statistics());
    dev.features.score(i, theta, 1.0f, s, ws);
    best.resize(sequences.length(i));
    structure.decode_into(std::span<const float>(s), best, ws);
    gold.clear();
    predicted.clear();
    for (std::size_t t = 0; t < best.size(); ++t) {
      gold.push_back(dev.labels.name(dev.examples.labels[sequences.offsets[i] + t]));
      predicted.push_back(dev.labels.name(best[t]));
    }
    scores.add(gold, predicted);
  }
  return scores.evaluate();
}

class TagTrainingSet final : public TrainingSet {
 public:
  TagTrainingSet(const std::string& path, const TagOptions& options) {
    model_.input = requested_input(options);
    std::optional<std::size_t> label_column;
    if (options.label_column) label_column = *options.label_column - 1;
    train_ = read_tag_growing(path, model_.input, label_column, options.first, model_.dictionaries);
    problem_ = std::make_unique<ChainProblem>(ChainExamples(train_.sequences, model_.shape(), train_.labels));
  }

  std::string_view task() const override { return "tag"; }
  int version() const override { return kTagVersion; }
  const Problem& problem() const override { return *problem_; }
  std::string describe() const override {
    return fmt::format("{} sequences, {} tokens, {}", grouped(train_.sequences.size()),
                       grouped(train_.sequences.num_tokens()), model_.describe());
  }

  TaskSections sections() const override { return model_.sections(); }

  void read_dev(const std::string& path) override { dev_ = std::make_unique<DevSet>(path, model_); }
  Evaluation evaluate_dev(const Weights& theta) const override { return evaluate(*dev_, theta); }
  Evaluation evaluate_examples(const Weights& theta, std::span<const std::uint32_t> examples) const override;

  float* find_weight(const WeightName& name, Weights& theta) const override {
    const auto place = model_.find_weight(name);
    return place ? theta.row(place->row) + place->column : nullptr;
  }
  const Dictionary& labels() const override { return model_.dictionaries.labels; }
  const Dictionary& attributes() const override { return model_.dictionaries.attributes; }
  std::uint64_t fingerprint() const override {
    Fingerprint fingerprint;
    const Sequences& sequences = train_.sequences;
    fingerprint.add_list(std::span<const std::size_t>(sequences.offsets));
    fingerprint.add_list(std::span<const std::uint32_t>(sequences.transition_of));
    add_rows(sequences.tokens, fingerprint);
    add_rows(sequences.transitions, fingerprint);
    return fingerprint.value();
  }

 private:
  TagModel model_;
  TagExamples train_;
  std::unique_ptr<ChainProblem> problem_;
  std::unique_ptr<DevSet> dev_;
};

Evaluation TagTrainingSet::evaluate_examples(const Weights& theta,
                                             std::span<const std::uint32_t> examples) const {
  ChunkScores scores;
  std::vector<float> s;
  std::vector<std::uint32_t> best;
  std::vector<std::string_view> gold, predicted;
  Workspace ws;
  for (const std::uint32_t i : examples) {
    s.resize(problem_->num_statistics(i));
    problem_->score(i, theta, 1.0f, s, ws);
    const std::size_t length = train_.sequences.length(i);
    best.resize(length);
    problem_->examples().structure(i).decode_into(std::span<const float>(s), best, ws);
    gold.clear();
    predicted.clear();
    for (std::size_t t = 0; t < length; ++t) {
      gold.push_back(model_.dictionaries.labels.name(train_.labels[train_.sequences.offsets[i] + t]));
      predicted.push_back(model_.dictionaries.labels.name(best[t]));
    }
    scores.add(gold, predicted);
  }
  return scores.evaluate();
}

}  // namespace

std::unique_ptr<TrainingSet> read_tag_training(const std::string& path, const TagOptions& options) {
  return std::make_unique<TagTrainingSet>(path, options);
}

}  // namespace espalier
