#include "espalier/base/error.h"
#include "espalier/tasks/registry.h"
#include "espalier/tasks/treebank.h"
#include "generate/writers.h"
#include "tasks/predict_options.h"
#include "tasks/treebank/model.h"

namespace espalier {
namespace {

using Row = OptionOf<TreebankOptions>;

const OptionTable& options() {
  static const OptionTable table{
      Row("keep_traces", &TreebankOptions::keep_traces, "treat empty elements (-NONE-) as words"),
      Row("keep_functions", &TreebankOptions::keep_functions, "keep functions in labels: NP-SBJ"),
      Row("binarise", &TreebankOptions::binarise,
          "phrases of several children: head (outwards from the head) or right (from left to right)")
          .choices({"head", "right"})
          .value("head|right")
          .basic(),
      Row("horizontal", &TreebankOptions::horizontal,
          "number of preceding children that the next one depends on")
          .basic(),
      Row("vertical", &TreebankOptions::vertical,
          "2: phrases depend on the label of their parent; 3: on one more")
          .from(1)
          .basic(),
      Row("unaries", &TreebankOptions::unaries,
          "chains of phrases with one child each: keep them, or shorten them to their ends")
          .choices({"keep", "shorten"})
          .value("keep|shorten"),
      Row("tags", &TreebankOptions::tags, "gold (those of the input) or predicted (together with the tree)")
          .choices({"gold", "predicted"})
          .value("gold|predicted")
          .basic(),
      Row("features", &TreebankOptions::features, "spans (and rules) or rules (only)")
          .choices({"spans", "rules"})
          .value("spans|rules")
          .basic(),
      Row("hash_bits", &TreebankOptions::hash_bits, "2^N rows of weights for spans, N from 8 to 26")
          .between(kLeastHashBits, kMostHashBits)
          .only_if([](const TreebankOptions& treebank) { return treebank.features == "spans"; },
                   setting("features") + " spans"),
      Row("prune_below", &TreebankOptions::prune_below,
          "drop labels of spans that are less probable than this in a coarse grammar")
          .between(0, 1),
      Row("first", &TreebankOptions::first, "use only the first N training sentences").from(1).basic(),
      Row("longest", &TreebankOptions::longest,
          "leave longer sentences out of training and parse them in pieces of N words or fewer")
          .between(1, 65535),
  };
  return table;
}

const OptionTable& predict_options() {
  using Options = TreebankPredictOptions;
  static const OptionTable table{
      OptionOf<Options>("format", &Options::format,
                        "brackets, tagged (WORD_TAG WORD_TAG ...), words or plain text")
          .choices({"brackets", "tagged", "words", "text"})
          .basic(),
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
  TreebankOptions treebank = values.as<TreebankOptions>();
  treebank.notice = reading.notice;
  treebank.threads = reading.threads;
  treebank.stop = reading.stop;
  return read_treebank_training(files, treebank);
}

}  // namespace

TaskEntry treebank_task() {
  TaskEntry task;
  task.name = "treebank";
  task.summary = "a phrase-structure tree for each sentence: Penn brackets";
  task.version = kTreebankVersion;
  task.options = options;
  task.predict_options = predict_options;
  task.read = read;
  task.load = load_treebank_predictor;
  task.train_examples =
      "  espalier train treebank train.mrg --l2 1 --gap 1e-2 -o parser.esp\n"
      "  espalier train treebank train.mrg --dev dev.mrg --l2 auto --gap 1e-2 -o parser.esp\n"
      "  espalier train treebank train.mrg --tags predicted --loss svm --l2 10 --gap 2e-2 -o parser.esp\n";
  task.path_examples =
      "  espalier path treebank train.mrg --dev dev.mrg --gap 1e-2\n"
      "  espalier path treebank train.mrg --dev dev.mrg --l2-max 100 --l2-min 0.1 -o best.esp\n";
  task.generators = {
      {"treebank", "brackets", [](std::uint64_t seed) { return generate_sentences(seed, append_treebank); }}};
  task.demo.question = "What phrases is a sentence made of? Sentences come from a small built-in grammar.";
  task.demo.steps = {
      {"training data with trees, in brackets, and two more samples: one to monitor training, one to test on",
       "generate treebank -n 300 --seed 1 -o train.mrg"},
      {"", "generate treebank -n 100 --seed 2 -o dev.mrg"},
      {"", "generate treebank -n 200 --seed 3 -o test.mrg"},
      {"a CRF over the derivations of a grammar that is read off the trees, within 1 % of its optimum",
       "train treebank train.mrg --dev dev.mrg --gap 1e-2 --hash-bits 14 -o parser.esp"},
      {"how good is it?", "eval parser.esp test.mrg"},
      {"what did it learn, and how close to the best possible is it?", "show parser.esp --top 5"},
      {"a sentence that it has not seen", "generate treebank -n 1 --seed 4 -o new.mrg"},
      {"", "predict parser.esp new.mrg"}};
  return task;
}

}  // namespace espalier
