#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/tasks/align.h"
#include "espalier/tasks/registry.h"
#include "generate/sentence_pairs.h"
#include "generate/writers.h"
#include "tasks/align/pair_reader.h"
#include "tasks/predict_options.h"

namespace espalier {
namespace {

using Row = OptionOf<AlignOptions>;

const OptionTable& options() {
  static const OptionTable table{
      Row("links", &AlignOptions::links, "maximum number of links of a word")
          .between(1, PairReader::kMostWords)
          .basic(),
      Row("dictionary", &AlignOptions::dictionary,
          "association scores of words: lines SOURCE TARGET SCORE, with scores from 0 to 1")
          .file("dictionary")
          .basic(),
      Row("missing_cost", &AlignOptions::missing_cost,
          "cost of a missing link, for losses with a cost; a wrong one costs 1: above 1 for recall")
          .above(0)
          .basic(),
      Row("pair_count", &AlignOptions::pair_count,
          "words, and pairs of words, have weights of their own if at least N sentence pairs have them")
          .from(1),
      Row("first", &AlignOptions::first, "use only the first N training pairs").from(1),
      Row("longest", &AlignOptions::longest, "leave training pairs with a sentence of more than N words out")
          .between(1, PairReader::kMostWords),
  };
  return table;
}

const OptionTable& predict_options() {
  using Options = AlignPredictOptions;
  static const OptionTable table{
      OptionOf<Options>("format", &Options::format, "pairs, or links alone")
          .choices({"pairs", "links"})
          .basic(),
      marginals_option<Options>("add the probability of every likely link"),
      kbest_option<Options>(),
      json_option<Options>(),
      threads_option<Options>(),
  };
  return table;
}

std::unique_ptr<TrainingSet> read(const InputFiles& files, const OptionValues& values,
                                  const Reading& reading) {
  AlignOptions align = values.as<AlignOptions>();
  align.maxima = !reading.loss.smooth();
  return read_align_training(files, align);
}

std::function<void(std::string&)> generate(std::uint64_t seed) {
  return generate_sentences(seed, append_align);
}

}  // namespace

TaskEntry align_task() {
  TaskEntry task;
  task.name = "align";
  task.summary = "which words of two sentences translate each other: SOURCE ||| TARGET ||| LINKS";
  task.version = kAlignVersion;
  task.options = options;
  task.predict_options = predict_options;
  task.read = read;
  task.load = load_align_predictor;
  task.train_examples =
      "  espalier train align train.txt --loss svm --l2 10 -o aligner.esp\n"
      "  espalier train align train.txt --dev dev.txt --links 2 --l2 auto -o aligner.esp\n"
      "  espalier train align train.txt --dictionary scores.txt -o aligner.esp\n";
  task.path_examples =
      "  espalier path align train.txt --dev dev.txt\n"
      "  espalier path align train.txt --dev dev.txt --loss svm --l2-max 100 --l2-min 1 -o best.esp\n";
  task.generators = {{"align", "English with an invented language, Pharaoh's links", generate}};
  task.demo.question =
      "Which words translate each other? An invented language says English in another order, and glues "
      "articles to nouns.";
  task.demo.steps = {
      {"sentence pairs with their links, and two more samples: one to monitor training, one to test on",
       "generate align -n 300 --seed 1 -o train.txt"},
      {"", "generate align -n 100 --seed 2 -o dev.txt"},
      {"", "generate align -n 200 --seed 3 -o test.txt"},
      {"a max-margin model, within 1 % of its optimum",
       "train align train.txt --dev dev.txt --loss svm --l2 10 --gap 1e-2 -o aligner.esp"},
      {"how good is it?", "eval aligner.esp test.txt"},
      {"and how close to the best possible?", "show aligner.esp --top 5"},
      {"a sentence pair that it has not seen", "generate align -n 1 --seed 4 -o new.txt"},
      {"", "predict aligner.esp new.txt"}};
  return task;
}

}  // namespace espalier
