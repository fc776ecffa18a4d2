#include "cli/task_commands.h"

#include <algorithm>

#include "cli/validators.h"
#include "espalier/tasks/registry.h"

namespace espalier::cli {
namespace {

void add_kernel_options(Command command, std::string& kernel, std::size_t& memory) {
  command.add_option("--kernel", kernel,
                     "compare tokens, examples or nodes instead of weighing their attributes: linear, "
                     "poly,DEGREE[,CONSTANT[,SCALE]] or rbf,GAMMA");
  command
      .add_option("--kernel-memory", memory,
                  "for the values of the kernel; what does not fit is computed again and again")
      .default_str("1G")
      .check(bytes());
}

void add_classify_options(Command command, TrainingOptions& options) {
  ClassifyOptions& classify = options.classify;
  command.add_option("--format", classify.format,
                     "libsvm, crfsuite, idx (given as IMAGES,LABELS); default: by the name");
  command.add_option("--first", classify.first, "use only the first N training examples")
      .check(whole_number_from(1));
  command.add_flag("--bias", classify.bias, "add a constant attribute to every example");
  command.add_option("--costs", classify.costs, "file of lines GOLD PREDICTED COST; other errors cost 1");
  add_kernel_options(command, classify.kernel, classify.kernel_memory);
}

std::unique_ptr<TrainingSet> read_classify_data(const TrainingOptions& options, const Reading&) {
  return read_classify_training(options.train, options.classify);
}

void describe_classify(const TrainingOptions& options, Json& json) {
  const ClassifyOptions& classify = options.classify;
  if (classify.format) json["format"] = *classify.format;
  if (classify.first) json["first"] = *classify.first;
  json["bias"] = classify.bias;
  if (!classify.costs.empty()) json["costs"] = classify.costs;
  if (!classify.kernel.empty())
    json.update({{"kernel", classify.kernel}, {"kernel_memory", classify.kernel_memory}});
}

void add_tag_options(Command command, TrainingOptions& options) {
  TagOptions& tag = options.tag;
  command.add_option("--format", tag.format,
                     "columns (default: CoNLL, one token a line), crfsuite or wapiti (attribute files)");
  command.add_option("--template", tag.templates,
                     "a CRF++ template or Wapiti patterns, for columns; default: built-in attributes");
  command
      .add_option("--label-column", tag.label_column,
                  "the column that has the label, counted from 1; default: the last")
      .check(whole_number_from(1));
  command.add_option("--first", tag.first, "use only the first N training sequences")
      .check(whole_number_from(1));
  command.add_option("--min-count", tag.min_count, "drop attributes seen fewer than N times in training")
      .check(whole_number_from(1));
  command.add_option("--encoding", tag.encoding, "turn the labels of chunks into iob1, bio or bioes");
  command.add_option(
      "--example-weights", tag.example_weights,
      "how much a sequence counts: comment (lines '# weight: 2'), or a column, counted from 1");
  command.add_option("--gazetteer", tag.gazetteers, "a file of phrases, or TYPE TAB phrase; may be repeated");
  command
      .add_option("--features", tag.features,
                  "all: weights for every attribute with every label; observed: for what training saw")
      .capture_default_str();
  command
      .add_option(
          "--order", tag.order,
          "how many labels before one it depends on, 1 to 4; sequences of 3 and more as training saw them")
      .capture_default_str()
      .check(whole_number_from(1));
  command.add_option("--valid", tag.valid, "allow only label sequences that are right in bio, iob1 or bioes");
  command.add_option("--transitions", tag.transitions,
                     "file of lines BEFORE AFTER: labels that do not follow one another");
  command
      .add_option("--invalid", tag.invalid,
                  "training sequences that --valid or --transitions forbid: refuse or drop")
      .capture_default_str();
  command.add_option("--costs", tag.costs, "file of lines GOLD PREDICTED COST; other wrong labels cost 1");
  add_kernel_options(command, tag.kernel, tag.kernel_memory);
  command.add_flag("--partial", tag.partial, "labels may be unsure: ? is any label, and A|B|C one of these");
  command
      .add_option("--outer-gap", options.outer.gap,
                  "--partial: stop when a round lowers the objective by less, relative to it")
      .capture_default_str()
      .check(number_from_zero());
  command.add_option("--outer-rounds", options.outer.rounds, "--partial: rounds at most")
      .capture_default_str()
      .check(whole_number_from(1));
}

std::unique_ptr<TrainingSet> read_tag_data(const TrainingOptions& options, const Reading& reading) {
  TagOptions tag = options.tag;
  tag.notice = reading.notice;
  tag.group_by = options.group_by;
  return read_tag_training(options.train, tag);
}

void describe_tag(const TrainingOptions& options, Json& json) {
  const TagOptions& tag = options.tag;
  if (tag.format) json["format"] = *tag.format;
  if (!tag.templates.empty()) json["template"] = tag.templates;
  if (tag.label_column) json["label_column"] = *tag.label_column;
  if (tag.first) json["first"] = *tag.first;
  if (tag.min_count > 1) json["min_count"] = tag.min_count;
  if (tag.encoding) json["encoding"] = *tag.encoding;
  if (tag.example_weights) json["example_weights"] = *tag.example_weights;
  if (!tag.gazetteers.empty()) json["gazetteers"] = tag.gazetteers;
  json["features"] = tag.features;
  json["order"] = tag.order;
  if (!tag.valid.empty()) json["valid"] = tag.valid;
  if (!tag.transitions.empty()) json["transitions"] = tag.transitions;
  if (!tag.valid.empty() || !tag.transitions.empty()) json["invalid"] = tag.invalid;
  if (!tag.costs.empty()) json["costs"] = tag.costs;
  if (!tag.kernel.empty()) json.update({{"kernel", tag.kernel}, {"kernel_memory", tag.kernel_memory}});
  if (tag.partial)
    json.update(
        {{"partial", true}, {"outer_gap", options.outer.gap}, {"outer_rounds", options.outer.rounds}});
}

void add_parse_options(Command command, TrainingOptions& options) {
  ParseOptions& parse = options.parse;
  command.add_option("--structure", parse.structure, "projective (arcs do not cross) or nonprojective trees")
      .capture_default_str();
  command
      .add_option("--order", parse.order,
                  "2: pairs of arcs, siblings and grandparents, have features of their own (slower)")
      .capture_default_str();
  command.add_flag("--unlabelled", parse.unlabelled, "learn heads alone, without relations");
  command.add_flag("--single-root", parse.single_root, "only one word of a sentence hangs on the root");
  command
      .add_option("--crossing", parse.crossing,
                  "gold trees that are not projective: lift (arcs are moved up), drop or refuse")
      .capture_default_str();
  command.add_option("--first", parse.first, "use only the first N training sentences")
      .check(whole_number_from(1));
  command.add_option("--hash-bits", parse.hash_bits, "2^N weights of arcs, N from 10 to 30")
      .capture_default_str()
      .check(whole_number_between(10, 30));
  command
      .add_option(
          "--prune-below", parse.prune_below,
          "with relations or --order 2: only heads with at least this part of the best one's probability")
      .capture_default_str()
      .check(probability());
  command.add_option("--most-heads", parse.most_heads, "and at most so many heads of a word")
      .capture_default_str()
      .check(whole_number_from(1));
}

std::unique_ptr<TrainingSet> read_parse_data(const TrainingOptions& options, const Reading& reading) {
  ParseOptions parse = options.parse;
  parse.group_by = options.group_by;
  parse.notice = reading.notice;
  parse.threads = reading.threads;
  parse.stop = reading.stop;
  return read_parse_training(options.train, parse);
}

void describe_parse(const TrainingOptions& options, Json& json) {
  const ParseOptions& parse = options.parse;
  json["structure"] = parse.structure;
  json["order"] = parse.order;
  json["unlabelled"] = parse.unlabelled;
  json["single_root"] = parse.single_root;
  if (parse.structure == "projective") json["crossing"] = parse.crossing;
  if (parse.first) json["first"] = *parse.first;
  json["hash_bits"] = parse.hash_bits;
  if (!parse.unlabelled || parse.order == 2)
    json.update({{"prune_below", parse.prune_below}, {"most_heads", parse.most_heads}});
}

void add_treebank_options(Command command, TrainingOptions& options) {
  TreebankOptions& treebank = options.treebank;
  command.add_flag("--keep-traces", treebank.keep_traces, "empty elements (-NONE-) are words like others");
  command.add_flag("--keep-functions", treebank.keep_functions,
                   "labels with what stands behind the category: NP-SBJ");
  command
      .add_option("--binarise", treebank.binarise,
                  "phrases of many children: head (outwards from it) or right (from left to right)")
      .capture_default_str();
  command
      .add_option("--horizontal", treebank.horizontal, "so many children before are remembered by the next")
      .capture_default_str()
      .check(whole_number_from(0));
  command.add_option("--vertical", treebank.vertical, "2: a phrase remembers its parent's label; 3, one more")
      .capture_default_str()
      .check(whole_number_from(1));
  command
      .add_option("--unaries", treebank.unaries,
                  "phrases over one phrase over one: keep the chain, or shorten it to its ends")
      .capture_default_str();
  command.add_option("--tags", treebank.tags, "gold (those of the input) or predicted (found with the tree)")
      .capture_default_str();
  command.add_option("--features", treebank.features, "spans (and rules) or rules (alone)")
      .capture_default_str();
  command.add_option("--hash-bits", treebank.hash_bits, "2^N rows of weights of spans, N from 8 to 26")
      .capture_default_str()
      .check(whole_number_between(8, 26));
  command
      .add_option("--prune-below", treebank.prune_below,
                  "leave out labels over spans that a coarse grammar finds less probable")
      .capture_default_str()
      .check(probability());
  command.add_option("--first", treebank.first, "use only the first N training sentences")
      .check(whole_number_from(1));
}

std::unique_ptr<TrainingSet> read_treebank_data(const TrainingOptions& options, const Reading& reading) {
  TreebankOptions treebank = options.treebank;
  treebank.notice = reading.notice;
  treebank.threads = reading.threads;
  treebank.stop = reading.stop;
  return read_treebank_training(options.train, treebank);
}

void describe_treebank(const TrainingOptions& options, Json& json) {
  const TreebankOptions& treebank = options.treebank;
  json["keep_traces"] = treebank.keep_traces;
  json["keep_functions"] = treebank.keep_functions;
  json["binarise"] = treebank.binarise;
  json["horizontal"] = treebank.horizontal;
  json["vertical"] = treebank.vertical;
  json["unaries"] = treebank.unaries;
  json["tags"] = treebank.tags;
  json["features"] = treebank.features;
  json["hash_bits"] = treebank.hash_bits;
  json["prune_below"] = treebank.prune_below;
  if (treebank.first) json["first"] = *treebank.first;
}

void add_graph_options(Command command, TrainingOptions& options) {
  GraphOptions& graph = options.graph;
  command
      .add_option(
          "--inference", graph.inference,
          "exact (junction tree), bp (loopy belief propagation), trw (tree-reweighted: an upper bound), "
          "or auto: exact where --memory allows it, else trw")
      .capture_default_str();
  command.add_option("--memory", graph.memory, "that the tables of exact inference may take")
      .default_str("2G")
      .check(bytes());
  command.add_flag("--nodes-only", graph.nodes_only,
                   "leave cliques out: each node for itself, to compare with");
  command.add_option("--first", graph.first, "use only the first N training graphs")
      .check(whole_number_from(1));
  add_kernel_options(command, graph.kernel, graph.kernel_memory);
}

std::unique_ptr<TrainingSet> read_graph_data(const TrainingOptions& options, const Reading&) {
  GraphOptions graph = options.graph;
  graph.maxima = !options.checked_loss().smooth();
  return read_graph_training(options.train, graph);
}

void describe_graph(const TrainingOptions& options, Json& json) {
  const GraphOptions& graph = options.graph;
  json.update({{"inference", graph.inference}, {"memory", graph.memory}, {"nodes_only", graph.nodes_only}});
  if (graph.first) json["first"] = *graph.first;
  if (!graph.kernel.empty()) json.update({{"kernel", graph.kernel}, {"kernel_memory", graph.kernel_memory}});
}

constexpr TaskCommand kTasks[] = {
    {"tag", add_tag_options, read_tag_data, describe_tag,
     "  espalier train tag train.txt --l2 1 -o model.esp\n"
     "  espalier train tag train.txt --template template.txt --dev dev.txt --l2 auto -o model.esp\n"
     "  espalier train tag train.crfsuite.gz --format crfsuite --loss svm --l2 20 --gap 2e-2 -o model.esp\n",
     "  espalier path tag train.txt --dev dev.txt\n"
     "  espalier path tag train.txt --dev dev.txt --l2-max 100 --l2-min 0.1 --factor 0.5 -o best.esp\n",
     "keep the sequences of a document in one fold: boundary (-DOCSTART- lines), or the column, counted from "
     "1, that names it"},
    {"classify", add_classify_options, read_classify_data, describe_classify,
     "  espalier train classify train.svm --l2 1 -o model.esp\n"
     "  espalier train classify train.svm --loss svm --l2 10 -o model.esp\n"
     "  espalier train classify train.svm.gz --dev dev.svm.gz --l2 auto -o model.esp\n"
     "  espalier train classify train-images.gz,train-labels.gz --gap 1e-6 -o digits.esp\n",
     "  espalier path classify train.svm --dev dev.svm\n"
     "  espalier path classify train.svm --dev dev.svm --l2-max 100 --l2-min 0.1 --factor 0.5 -o best.esp\n"},
    {"parse", add_parse_options, read_parse_data, describe_parse,
     "  espalier train parse train.conllu --l2 10 -o parser.esp\n"
     "  espalier train parse train.conllu --dev dev.conllu --l2 auto -o parser.esp\n"
     "  espalier train parse train.conll --structure nonprojective --unlabelled --loss svm --l2 100 -o "
     "parser.esp\n",
     "  espalier path parse train.conllu --dev dev.conllu\n"
     "  espalier path parse train.conll --dev dev.conll --unlabelled --l2-max 100 --l2-min 1 -o best.esp\n",
     "keep the sentences of a document in one fold: boundary ('# newdoc' lines)"},
    {"treebank", add_treebank_options, read_treebank_data, describe_treebank,
     "  espalier train treebank train.mrg --l2 1 --gap 1e-2 -o parser.esp\n"
     "  espalier train treebank train.mrg --dev dev.mrg --l2 auto --gap 1e-2 -o parser.esp\n"
     "  espalier train treebank train.mrg --tags predicted --loss svm --l2 10 --gap 2e-2 -o parser.esp\n",
     "  espalier path treebank train.mrg --dev dev.mrg --gap 1e-2\n"
     "  espalier path treebank train.mrg --dev dev.mrg --features rules --l2-max 100 --l2-min 0.1 -o "
     "best.esp\n"},
    {"graph", add_graph_options, read_graph_data, describe_graph,
     "  espalier train graph train.jsonl --l2 1 -o model.esp\n"
     "  espalier train graph train.jsonl --inference trw --dev dev.jsonl --l2 auto -o model.esp\n"
     "  espalier train graph train.jsonl --nodes-only -o without-cliques.esp\n",
     "  espalier path graph train.jsonl --dev dev.jsonl\n"
     "  espalier path graph train.jsonl --dev dev.jsonl --l2-max 10 --l2-min 0.01 -o best.esp\n"},
};

}  // namespace

std::span<const TaskCommand> task_commands() { return kTasks; }

const TaskCommand& task_command(std::string_view name) {
  return *std::find_if(std::begin(kTasks), std::end(kTasks),
                       [name](const TaskCommand& task) { return task.name == name; });
}

std::string task_summary(std::string_view name) {
  const auto tasks = task_table();
  return std::string(std::find_if(tasks.begin(), tasks.end(), [name](const TaskEntry& task) {
                       return task.name == name;
                     })->summary);
}

}  // namespace espalier::cli
