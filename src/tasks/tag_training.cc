#include <fmt/format.h>

#include <charconv>

#include "espalier/base/error.h"
#include "espalier/base/input.h"
#include "espalier/base/text.h"
#include "espalier/features/templates.h"
#include "espalier/learning/chain_problem.h"
#include "espalier/tasks/chunks.h"
#include "espalier/tasks/tag.h"
#include "tasks/tag_model.h"

namespace espalier {
namespace {

void set_example_weights(const std::string& option, TagInput& input) {
  if (option == "comment") {
    input.weight_comments = true;
    return;
  }
  std::size_t column = 0;
  const auto [end, error] = std::from_chars(option.data(), option.data() + option.size(), column);
  if (error != std::errc() || end != option.data() + option.size() || column == 0) {
    throw Error::in("--example-weights", in_quotes(option),
                    "expected comment, or the number of a column, from 1");
  }
  input.weight_column = column - 1;
}

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
  if (options.encoding) input.encoding = parse_encoding(*options.encoding);
  if (options.min_count == 0) throw Error::in("--min-count", "0", "expected at least 1");
  if (options.example_weights) set_example_weights(*options.example_weights, input);
  if (!options.gazetteers.empty()) {
    auto gazetteer = std::make_shared<Gazetteer>();
    for (const std::string& path : options.gazetteers) gazetteer->read(path);
    input.gazetteer = std::move(gazetteer);
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

Evaluation evaluate(const DevSet& dev, const TagInput& input, const Weights& theta) {
  ChunkScores scores;
  std::vector<float> s;
  std::vector<std::uint32_t> best;
  std::vector<std::string_view> gold, predicted;
  ConvertedTags gold_bio, predicted_bio;
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
    if (input.encoding) {
      scores.add(convert_encoding(gold, Encoding::bio, gold_bio),
                 convert_encoding(predicted, Encoding::bio, predicted_bio));
    } else {
      scores.add(gold, predicted);
    }
  }
  return scores.evaluate();
}

class TagTrainingSet final : public TrainingSet {
 public:
  TagTrainingSet(const std::string& path, const TagOptions& options) {
    model_.input = requested_input(options);
    std::optional<std::size_t> label_column;
    if (options.label_column) label_column = *options.label_column - 1;
    train_ = read_tag_growing(path, model_.input, label_column, options.first, model_.dictionaries,
                              options.min_count);
    problem_ = std::make_unique<ChainProblem>(
        ChainExamples(train_.sequences, model_.shape(), train_.labels, nullptr, train_.weights));
  }

  std::string_view task() const override { return "tag"; }
  int version() const override { return kTagVersion; }
  const Problem& problem() const override { return *problem_; }
  std::string describe() const override {
    std::string text = fmt::format("{} sequences, {} tokens, {}", grouped(train_.sequences.size()),
                                   grouped(train_.sequences.num_tokens()), model_.describe());
    if (train_.num_rare > 0) text += fmt::format(" ({} rare ones dropped)", grouped(train_.num_rare));
    return text;
  }

  TaskSections sections() const override { return model_.sections(); }

  void read_dev(const std::string& path) override { dev_ = std::make_unique<DevSet>(path, model_); }
  Evaluation evaluate_dev(const Weights& theta) const override {
    return evaluate(*dev_, model_.input, theta);
  }

 private:
  TagModel model_;
  TagExamples train_;
  std::unique_ptr<ChainProblem> problem_;
  std::unique_ptr<DevSet> dev_;
};

}  // namespace

std::unique_ptr<TrainingSet> read_tag_training(const std::string& path, const TagOptions& options) {
  return std::make_unique<TagTrainingSet>(path, options);
}

}  // namespace espalier
