// A seventh task: what kind of word a word is, by its letters. Lines are "KIND WORD". All that it takes is in
// this file.

#include <fmt/format.h>

#include <utility>

#include "base/fingerprint.h"
#include "base/input.h"
#include "base/random.h"
#include "espalier/base/error.h"
#include "espalier/features/row_features.h"
#include "espalier/tasks/registry.h"
#include "learning/multiclass_problem.h"
#include "tasks/classify/confusion.h"

namespace espalier {

struct ToyOptions {
  std::size_t letters = 2;  // at a time
  bool ends = false;        // of words are marked
  std::string tone = "calm";
};

struct ToyPredictOptions {
  bool scores = false;
};

namespace {

// What training and models have in common: how to see a word.
struct ToyView {
  std::size_t letters = 2;
  bool ends = false;
  Dictionary labels{}, attributes{};

  static constexpr std::uint32_t kUnknown = 0xffffffff;

  Json settings() const {
    Json json{{"letters", letters}, {"ends", ends}};
    json["labels"] = names(labels);
    json["attributes"] = names(attributes);
    return json;
  }
  static ToyView from(const Json& json) {
    ToyView view{json.at("letters").get<std::size_t>(), json.at("ends").get<bool>()};
    for (const Json& name : json.at("labels")) view.labels.add(name.get<std::string>());
    for (const Json& name : json.at("attributes")) view.attributes.add(name.get<std::string>());
    return view;
  }

  // Adds a word's row; of its attributes all, or those that are known.
  void append(std::string word, bool grow, SparseRows& rows) {
    if (ends) word = '^' + word + '$';
    for (std::size_t i = 0; i + letters <= word.size(); ++i) {
      const std::string name = word.substr(i, letters);
      if (const auto id = grow ? attributes.add(name) : attributes.find(name)) rows.add(*id, 1);
    }
    rows.sum_repeated();
    rows.finish_row();
  }

  struct Examples {
    SparseRows rows{};
    std::vector<std::uint32_t> labels{};
    std::vector<std::string> words{};
  };
  Examples read(const std::string& path, bool grow) {
    Examples examples;
    LineReader reader(path);
    for (std::string_view line; reader.next(line);) {
      const std::size_t space = line.find(' ');
      if (space == std::string_view::npos) reader.fail(in_quotes(line), "expected KIND WORD");
      const std::string_view label = line.substr(0, space);
      examples.words.emplace_back(line.substr(space + 1));
      examples.labels.push_back(grow ? labels.add(label) : labels.find(label).value_or(kUnknown));
      append(examples.words.back(), grow, examples.rows);
    }
    return examples;
  }

  std::vector<double> scores(const Examples& examples, std::size_t i, WeightsView theta) const {
    std::vector<double> s(labels.size());
    score_row(examples.rows.row(i), theta, 1, s);
    return s;
  }
  std::uint32_t best(const Examples& examples, std::size_t i, WeightsView theta) const {
    Workspace ws;
    const std::vector<double> s = scores(examples, i, theta);
    return Multiclass(labels.size()).decode(std::span<const double>(s), ws);
  }

 private:
  static std::vector<std::string> names(const Dictionary& dictionary) {
    std::vector<std::string> all;
    for (std::uint32_t id = 0; id < dictionary.size(); ++id) all.emplace_back(dictionary.name(id));
    return all;
  }
};

class ToyTrainingSet final : public TrainingSet {
 public:
  ToyTrainingSet(const std::string& path, const ToyOptions& options) : view_{options.letters, options.ends} {
    train_ = view_.read(path, true);
    problem_ = std::make_unique<MulticlassProblem>(
        MulticlassExamples(train_.rows, view_.attributes.size(), train_.labels, view_.labels.size()));
  }

  std::string_view task() const override { return "toy"; }
  int version() const override { return 1; }
  const Problem& problem() const override { return *problem_; }
  std::string describe() const override { return fmt::format("{} words", train_.words.size()); }
  TaskSections sections() const override { return {view_.settings(), {}}; }
  Evaluation evaluate_dev(const Weights& theta) const override {
    std::vector<std::uint32_t> all(dev_.words.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    return evaluate(dev_, all, theta);
  }
  Evaluation evaluate_examples(const Weights& theta, std::span<const std::uint32_t> examples) const override {
    return evaluate(train_, examples, theta);
  }
  float* find_weight(const WeightName& name, Weights& theta) const override {
    const auto attribute = view_.attributes.find(name.attribute), label = view_.labels.find(name.label);
    return attribute && label ? theta.row(*attribute) + *label : nullptr;
  }
  const Dictionary& labels() const override { return view_.labels; }
  const Dictionary& attributes() const override { return view_.attributes; }
  std::uint64_t fingerprint() const override {
    Fingerprint fingerprint;
    for (const std::string& word : train_.words) fingerprint.add_bytes(word + '\n');
    return fingerprint.value();
  }

 private:
  void replace_dev(const std::string& path) override { dev_ = view_.read(path, false); }
  Evaluation evaluate(const ToyView::Examples& examples, std::span<const std::uint32_t> chosen,
                      const Weights& theta) const {
    Confusion confusion(view_.labels, {});
    for (const std::uint32_t i : chosen)
      confusion.add(examples.labels[i], view_.best(examples, i, WeightsView(theta)));
    return confusion.evaluate();
  }

  ToyView view_;
  ToyView::Examples train_, dev_;
  std::unique_ptr<MulticlassProblem> problem_;
};

class ToyPredictor final : public Predictor {
 public:
  explicit ToyPredictor(const StoredTask& stored)
      : settings_(stored.settings), view_(ToyView::from(settings_)), theta_(stored.theta) {}

  void predict(const std::string& input, const PredictOptions& of_task,
               const std::function<void(std::string_view)>& write) const override {
    const auto options = of_task.of<ToyPredictOptions>("toy");
    ToyView view = ToyView::from(settings_);
    const ToyView::Examples examples = view.read(input, false);
    for (std::size_t i = 0; i < examples.words.size(); ++i) {
      const std::uint32_t best = view_.best(examples, i, theta_);
      write(view_.labels.name(best));
      if (options.scores) write(fmt::format(" {:.3f}", view_.scores(examples, i, theta_)[best]));
      write("\n");
    }
  }
  Evaluation evaluate(const std::string& gold, const EvaluateOptions&) const override {
    ToyView view = ToyView::from(settings_);
    const ToyView::Examples examples = view.read(gold, false);
    Confusion confusion(view_.labels, {});
    for (std::size_t i = 0; i < examples.words.size(); ++i)
      confusion.add(examples.labels[i], view_.best(examples, i, theta_));
    return confusion.evaluate();
  }
  std::string describe() const override { return fmt::format("{} kinds of words", view_.labels.size()); }
  std::string strongest(std::size_t) const override { return ""; }
  void for_each_weight(
      const std::function<void(const WeightName& name, float weight)>& visit) const override {
    for (std::uint32_t a = 0; a < view_.attributes.size(); ++a) {
      for (std::uint32_t y = 0; y < view_.labels.size(); ++y)
        visit({view_.attributes.name(a), {}, view_.labels.name(y)}, theta_.row(a)[y]);
    }
  }
  std::optional<float> find_weight(const WeightName& name) const override {
    const auto attribute = view_.attributes.find(name.attribute), label = view_.labels.find(name.label);
    if (!attribute || !label) return std::nullopt;
    return theta_.row(*attribute)[*label];
  }
  const Dictionary& labels() const override { return view_.labels; }
  const Dictionary& attributes() const override { return view_.attributes; }

 private:
  Json settings_;
  ToyView view_;
  WeightsView theta_;
};

const OptionTable& options() {
  using Row = OptionOf<ToyOptions>;
  static const OptionTable table{
      Row("letters", &ToyOptions::letters, "how many are looked at together").between(1, 3).basic(),
      Row("ends", &ToyOptions::ends, "mark where words begin and end").logged_if_changed().basic(),
      Row("tone", &ToyOptions::tone, "of nothing in particular").choices({"calm", "shrill"}),
  };
  return table;
}

const OptionTable& predict_options() {
  static const OptionTable table{
      OptionOf<ToyPredictOptions>("scores", &ToyPredictOptions::scores, "of the kinds, behind them")};
  return table;
}

std::function<void(std::string&)> generate(std::uint64_t seed) {
  return [random = Random(seed)](std::string& to) mutable {
    const bool vowels = random.below(2) == 0;
    to += vowels ? "vowels " : "consonants ";
    for (int k = 0; k < 6; ++k) to += (vowels ? "aeiouy" : "bcdfgh")[random.below(6)];
    to += '\n';
  };
}

}  // namespace

TaskEntry toy_task() {
  TaskEntry task;
  task.name = "toy";
  task.summary = "what kind of word a word is: lines KIND WORD";
  task.options = options;
  task.predict_options = predict_options;
  task.read = [](const InputFiles& files, const OptionValues& values,
                 const Reading&) -> std::unique_ptr<TrainingSet> {
    return std::make_unique<ToyTrainingSet>(files.first(), values.as<ToyOptions>());
  };
  task.load = [](const StoredTask& stored) -> std::unique_ptr<Predictor> {
    return std::make_unique<ToyPredictor>(stored);
  };
  task.train_examples = "  espalier train toy words.txt --letters 1 -o toy.esp\n";
  task.path_examples = "  espalier path toy words.txt --dev dev.txt\n";
  task.generators = {{"toy", "words of vowels and of consonants", generate}};
  task.demo.question = "Is a word made of vowels?";
  task.demo.steps = {{"words", "generate toy -n 50 -o words.txt"},
                     {"learn them", "train toy words.txt -o toy.esp --quiet"},
                     {"right?", "eval toy.esp words.txt"}};
  return task;
}

}  // namespace espalier
