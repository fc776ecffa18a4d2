#include <fmt/format.h>

#include "espalier/base/error.h"
#include "generate/writers.h"
#include "tasks/parse/training.h"
#include "tasks/predict_options.h"

namespace espalier {
namespace {

using Row = OptionOf<ParseOptions>;

bool prunes(const ParseOptions& parse) { return !parse.unlabelled || parse.order == 2; }
std::string pruned_where() { return fmt::format("relations, or {} 2", setting("order")); }

const OptionTable& options() {
  static const OptionTable table{
      Row("structure", &ParseOptions::structure, "projective (arcs do not cross) or nonprojective trees")
          .choices({"projective", "nonprojective"})
          .basic(),
      Row("order", &ParseOptions::order,
          "2: also features of pairs of arcs, siblings and grandparents (slower)")
          .between(1, 2)
          .basic(),
      Row("inference", &ParseOptions::inference,
          fmt::format("with {} 2, nonprojective: trw (convex upper bounds) or bp (loopy; estimates)",
                      setting("order")))
          .choices({"trw", "bp"})
          .only_if(
              [](const ParseOptions& parse) {
                return parse.order == 2 && parse.structure == "nonprojective";
              },
              fmt::format("{} 2 and {} nonprojective", setting("order"), setting("structure"))),
      Row("unlabelled", &ParseOptions::unlabelled, "learn heads only, without relations").basic(),
      Row("single_root", &ParseOptions::single_root, "exactly one word of a sentence depends on the root")
          .basic(),
      Row("crossing", &ParseOptions::crossing,
          "training trees that are not projective: lift (move arcs up), drop or refuse")
          .choices({"lift", "drop", "refuse"})
          .value("lift|drop|refuse")
          .basic()
          .only_if([](const ParseOptions& parse) { return parse.structure == "projective"; },
                   setting("structure") + " projective"),
      Row("first", &ParseOptions::first, "use only the first N training sentences").from(1),
      Row("longest", &ParseOptions::longest,
          fmt::format("leave longer sentences out of training and parse them in pieces of N words or fewer "
                      "(default: {}; with {} 2: {})",
                      kLongestParsed[0], setting("order"), kLongestParsed[1]))
          .between(1, 65535),
      Row("hash_bits", &ParseOptions::hash_bits, "2^N weights for arcs, N from 10 to 30").between(10, 30),
      Row("prune_below", &ParseOptions::prune_below,
          fmt::format(
              "with relations or {} 2: keep heads with at least this share of the best one's probability",
              setting("order")))
          .between(0, 1)
          .only_if(prunes, pruned_where()),
      Row("most_heads", &ParseOptions::most_heads,
          fmt::format("with relations or {} 2: keep at most this many heads per word", setting("order")))
          .from(1)
          .only_if(prunes, pruned_where()),
  };
  return table;
}

const OptionTable& predict_options() {
  using Options = ParsePredictOptions;
  static const OptionTable table{
      OptionOf<Options>("format", &Options::format, "conll; tree: drawings to look at; text: read plain text")
          .choices({"conll", "tree", "text"})
          .basic(),
      OptionOf<Options>(
          "keep_heads", &Options::keep_heads,
          "words that have a head in the input keep it; the others get the best ones given that"),
      marginals_option<Options>("add the probability of every likely head"),
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
  ParseOptions parse = values.as<ParseOptions>();
  parse.group_by = reading.group_by;
  parse.notice = reading.notice;
  parse.threads = reading.threads;
  parse.stop = reading.stop;
  parse.maxima = !reading.loss.smooth();
  return read_parse_training(files, parse, reading.train_roughly);
}

}  // namespace

TaskEntry parse_task() {
  TaskEntry task;
  task.name = "parse";
  task.summary = "a head for each word, and its relation to it: CoNLL-X and CoNLL-U treebanks";
  task.version = kParseVersion;
  task.options = options;
  task.predict_options = predict_options;
  task.read = read;
  task.load = load_parse_predictor;
  task.groups = "keep the sentences of a document in one fold: boundary ('# newdoc' lines)";
  task.group_value = "boundary";
  task.train_examples =
      "  espalier train parse train.conllu --l2 10 -o parser.esp\n"
      "  espalier train parse train.conllu --dev dev.conllu --l2 auto -o parser.esp\n"
      "  espalier train parse train.conll --structure nonprojective --loss svm --l2 100 -o parser.esp\n";
  task.path_examples =
      "  espalier path parse train.conllu --dev dev.conllu\n"
      "  espalier path parse train.conll --dev dev.conll --unlabelled --l2-max 100 --l2-min 1 -o best.esp\n";
  task.generators = {
      {"parse", "CoNLL-U", [](std::uint64_t seed) { return generate_sentences(seed, append_parse); }}};
  task.demo.question =
      "Which word does each word depend on, and how? Sentences come from a small built-in grammar.";
  task.demo.steps = {
      {"training data with trees, in CoNLL-U, and two more samples: one to monitor training, one to test on",
       "generate parse -n 500 --seed 1 -o train.conllu"},
      {"", "generate parse -n 100 --seed 2 -o dev.conllu"},
      {"", "generate parse -n 200 --seed 3 -o test.conllu"},
      {"a CRF over projective trees with their relations, within 0.1 % of its optimum",
       "train parse train.conllu --dev dev.conllu --l2 10 --hash-bits 20 -o parser.esp"},
      {"how good is it?", "eval parser.esp test.conllu"},
      {"and how close to the best possible?", "show parser.esp"},
      {"a sentence that it has not seen", "generate parse -n 1 --seed 4 -o new.conllu"},
      {"", "predict parser.esp new.conllu --format tree"}};
  return task;
}

}  // namespace espalier
