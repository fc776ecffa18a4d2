#include <fmt/format.h>

#include <algorithm>

#include "base/input.h"
#include "espalier/tasks/classify.h"
#include "espalier/tasks/registry.h"
#include "generate/writers.h"
#include "tasks/kernel_options.h"
#include "tasks/predict_options.h"

namespace espalier {
namespace {

using Row = OptionOf<ClassifyOptions>;

std::vector<std::string> formats() { return {"libsvm", "crfsuite", "idx", "named", "text"}; }

const OptionTable& options() {
  static const OptionTable table{
      Row("format", &ClassifyOptions::format,
          "text, libsvm, named, crfsuite or idx; default: libsvm, or idx by content")
          .choices(formats())
          .basic(),
      Row("first", &ClassifyOptions::first, "use only the first N training examples").from(1),
      Row("bias", &ClassifyOptions::bias, "add a constant attribute to every example").basic(),
      Row("min_count", &ClassifyOptions::min_count, "drop attributes seen in fewer than N training examples")
          .from(1)
          .logged_if_changed()
          .basic(),
      Row("ngrams", &ClassifyOptions::ngrams, "text: sequences of 1 to N words; 0: none")
          .between(0, 16)
          .logged_if_changed()
          .basic(),
      Row("char_ngrams", &ClassifyOptions::char_ngrams,
          "text: also sequences of 2 to N characters within words; 0: none")
          .between(0, 64)
          .logged_if_changed(),
      Row("keep_case", &ClassifyOptions::keep_case, "text: distinguish upper and lower case")
          .logged_if_changed(),
      Row("weighting", &ClassifyOptions::weighting, "text: values of words: count, binary or tf-idf")
          .choices({"count", "binary", "tf-idf"})
          .logged_if_changed()
          .basic(),
      Row("costs", &ClassifyOptions::costs,
          "list of costs, as lines GOLD PREDICTED COST; other errors cost 1")
          .file("the list of costs"),
      Row("l1_except", &ClassifyOptions::l1_except,
          fmt::format("with {}: leave out an attribute; may be repeated", setting("l1")))
          .value("NAME"),
      kernel_option<ClassifyOptions>().basic(),
      kernel_memory_option<ClassifyOptions>(),
  };
  return table;
}

const OptionTable& predict_options() {
  using Options = ClassifyPredictOptions;
  static const OptionTable table{
      OptionOf<Options>("format", &Options::format, "format of INPUT; default: that of the training data")
          .choices(formats())
          .basic(),
      marginals_option<Options>("add the probability of every label"),
      kbest_option<Options>(),
      samples_option<Options>(),
      sample_seed_option<Options>(),
      entropy_option<Options>(),
      json_option<Options>(),
      threads_option<Options>(),
  };
  return table;
}

std::unique_ptr<TrainingSet> read(const InputFiles& files, const OptionValues& values,
                                  const Reading& reading) {
  ClassifyOptions classify = values.as<ClassifyOptions>();
  classify.threads = reading.threads;
  classify.fleet = reading.fleet;
  return read_classify_training(files, classify);
}

// The first few predictions beside what they were made from.
std::string first_labels() {
  LineReader sentences("test.txt"), predicted("labels.txt");
  std::string_view sentence, label;
  std::string text = fmt::format("{:<12} {:<12} words\n", "predicted", "gold");
  for (std::size_t i = 0; i < 5 && sentences.next(sentence) && predicted.next(label); ++i) {
    const std::size_t tab = sentence.find('\t');
    std::string words(sentence.substr(std::min(tab + 1, sentence.size())));
    std::ranges::replace(words, '\t', ' ');
    text += fmt::format("{:<12} {:<12} {:.70}\n", label, sentence.substr(0, tab), words);
  }
  return text;
}

}  // namespace

TaskEntry classify_task() {
  TaskEntry task;
  task.name = "classify";
  task.summary = "one label per example: text, LIBSVM, CRFsuite or IDX (MNIST) files";
  task.version = kClassifyVersion;
  task.options = options;
  task.predict_options = predict_options;
  task.read = read;
  task.load = load_classify_predictor;
  task.train_examples =
      "  espalier train classify train.tsv --format text --l2 1 -o model.esp\n"
      "  espalier train classify train.svm --l2 1 -o model.esp\n"
      "  espalier train classify train.svm --loss svm --l2 10 -o model.esp\n"
      "  espalier train classify train.svm.gz --dev dev.svm.gz --l2 auto -o model.esp\n"
      "  espalier train classify train-images.gz,train-labels.gz --gap 1e-6 -o digits.esp\n";
  task.path_examples =
      "  espalier path classify train.svm --dev dev.svm\n"
      "  espalier path classify train.svm --dev dev.svm --l2-max 100 --l2-min 0.1 --factor 0.5 -o best.esp\n";
  task.generators = {{"classify", "topics, CRFsuite format",
                      [](std::uint64_t seed) { return generate_sentences(seed, append_classify); }},
                     {"text", "topics, label TAB text",
                      [](std::uint64_t seed) { return generate_sentences(seed, append_text); }}};
  task.demo.question =
      "Which of eight topics is a sentence about? Sentences come from a small built-in grammar.";
  task.demo.steps = {
      {"training data, and two more samples: one to choose l2 on, one to test on",
       "generate classify -n 20000 --seed 1 -o train.txt"},
      {"", "generate classify -n 2000 --seed 2 -o dev.txt"},
      {"", "generate classify -n 2000 --seed 3 -o test.txt"},
      {"a CRF (here: multinomial logistic regression); l2 is chosen on dev.txt, each model is within 0.1 % "
       "of its optimum",
       "train classify train.txt --format crfsuite --dev dev.txt --l2 auto -o topics.esp"},
      {"how good is it?", "eval topics.esp test.txt"},
      {"what did it learn, and how close to the best possible is it?", "show topics.esp --top 3"},
      {"use it", "predict topics.esp test.txt -o labels.txt"}};
  task.demo.outcome = first_labels;
  task.demo.next = "formats and options";
  return task;
}

}  // namespace espalier
