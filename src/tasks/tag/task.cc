#include <fmt/format.h>

#include <algorithm>

#include "base/input.h"
#include "espalier/base/error.h"
#include "espalier/tasks/registry.h"
#include "espalier/tasks/tag.h"
#include "generate/writers.h"
#include "tasks/kernel_options.h"
#include "tasks/predict_options.h"
#include "tasks/tag/encoding.h"
#include "tasks/tag/layout.h"

namespace espalier {
namespace {

using Row = OptionOf<TagOptions>;

constexpr const char* kEncodingChoices = "iob1, bio (iob2), bioes (iobes) or bilou";

const OptionTable& options() {
  static const OptionTable table{
      Row("format", &TagOptions::format, "columns (CoNLL, the default), crfsuite or wapiti (attribute files)")
          .choices({"columns", "crfsuite", "wapiti"})
          .basic(),
      Row("template", &TagOptions::templates,
          "CRF++ template or Wapiti patterns; default: built-in attributes")
          .file("the template")
          .basic(),
      Row("label_column", &TagOptions::label_column, "column of the label, counted from 1; default: the last")
          .from(1)
          .basic(),
      Row("separator", &TagOptions::separator,
          "between columns: tab (fields may contain spaces), space (any white space) or auto")
          .choices({"tab", "space", "auto"}),
      Row("first", &TagOptions::first, "use only the first N training sequences").from(1),
      Row("min_count", &TagOptions::min_count, "drop attributes seen fewer than N times in training")
          .from(1)
          .logged_if_changed()
          .basic(),
      Row("encoding", &TagOptions::encoding, fmt::format("convert chunk labels to {}", kEncodingChoices))
          .choices(encoding_names())
          .basic(),
      Row("example_weights", &TagOptions::example_weights,
          "weights of sequences: comment (lines '# weight: 2'), or the column N, counted from 1")
          .value("comment|N"),
      Row("gazetteer", &TagOptions::gazetteers, "list of phrases, or of TYPE TAB phrase; may be repeated")
          .file("a gazetteer")
          .logged_as("gazetteers")
          .basic(),
      Row("features", &TagOptions::features,
          "weights of all attribute-label and label-label pairs, of observed ones, or of observed ones among "
          "the former or the latter alone")
          .choices(feature_sets())
          .basic(),
      Row("min_freq", &TagOptions::min_freq,
          "drop pairs of an attribute and a label, or of labels, whose values add up to less in training")
          .from(0)
          .logged_if_changed(),
      Row("order", &TagOptions::order,
          "number of preceding labels that a label depends on, 1 to 4; n-grams of 3 and more labels are "
          "those "
          "seen in training")
          .between(1, 4),
      Row("valid", &TagOptions::valid,
          fmt::format("allow only label sequences that are well-formed in {}", kEncodingChoices))
          .choices(encoding_names()),
      Row("transitions", &TagOptions::transitions, "list of forbidden pairs of labels, as lines BEFORE AFTER")
          .file("the list of transitions"),
      Row("invalid", &TagOptions::invalid,
          fmt::format("training sequences that {} or {} forbid: refuse or drop", setting("valid"),
                      setting("transitions")))
          .choices({"refuse", "drop"})
          .value("refuse|drop")
          .only_if(
              [](const TagOptions& tag) {
                return !tag.valid.empty() || !tag.transitions.empty() || !tag.forbidden.empty();
              },
              fmt::format("{} or {}", setting("valid"), setting("transitions"))),
      Row("costs", &TagOptions::costs, "list of costs, as lines GOLD PREDICTED COST; other errors cost 1")
          .file("the list of costs"),
      Row("l1_except", &TagOptions::l1_except,
          fmt::format("with {}: leave out an attribute, or 'transitions'; may be repeated", setting("l1")))
          .value("NAME"),
      kernel_option<TagOptions>(),
      kernel_memory_option<TagOptions>(),
      Row("partial", &TagOptions::partial, "labels may be uncertain: ? is any label, A|B|C one of these")
          .logged_if_changed(),
  };
  return table;
}

const OptionTable& predict_options() {
  using Options = TagPredictOptions;
  static const OptionTable table{
      OptionOf<Options>("format", &Options::format, "format of INPUT; default: that of the training data")
          .choices({"columns", "crfsuite", "wapiti", "text"})
          .basic(),
      OptionOf<Options>("marginals", &Options::marginals,
                        std::vector<std::pair<std::string, TagMarginals>>{{"label", TagMarginals::label},
                                                                          {"entity", TagMarginals::entity}},
                        "add the probability of every label; entity: of every predicted chunk")
          .implied("label")
          .basic(),
      kbest_option<Options>(),
      samples_option<Options>(),
      sample_seed_option<Options>(),
      entropy_option<Options>(),
      OptionOf<Options>("min_confidence", &Options::min_confidence,
                        "replace less probable chunks by O (tokens by _, unless labels are chunk tags)")
          .between(0, 1)
          .basic(),
      OptionOf<Options>("forced", &Options::forced,
                        "column of labels to keep, counted from 1, or 'label', the label's own: LABEL, A|B "
                        "for one of several, _ for any")
          .value("N|label")
          .basic(),
      OptionOf<Options>(
          "encoding", &Options::encoding,
          fmt::format("write the labels of chunks as {}; default: the model's", kEncodingChoices))
          .choices(encoding_names())
          .basic(),
      json_option<Options>(),
      threads_option<Options>(),
  };
  return table;
}

std::unique_ptr<TrainingSet> read(const InputFiles& files, const OptionValues& values,
                                  const Reading& reading) {
  TagOptions tag = values.as<TagOptions>();
  if (!tag.costs.empty() && reading.loss.gamma == 0) {
    throw Error(
        fmt::format("{0}: no effect; expected a loss with a margin, such as {1} softmax-margin, or no {0}",
                    setting("costs"), setting("loss")));
  }
  tag.notice = reading.notice;
  tag.threads = reading.threads;
  tag.fleet = reading.fleet;
  tag.group_by = reading.group_by;
  return read_tag_training(files, tag);
}

// The first sentence that `predict` found an entity in: word, gold label, predicted one.
std::string first_entity() {
  LineReader reader("tagged.txt");
  std::vector<std::vector<std::string>> sentence;
  bool entity = false;
  for (std::string_view line; reader.next(line);) {
    if (line.empty()) {
      if (entity) break;
      sentence.clear();
      continue;
    }
    sentence.emplace_back();
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find('\t', begin), line.size());
      sentence.back().emplace_back(line.substr(begin, end - begin));
      begin = end + 1;
    }
    entity = entity || sentence.back().back() != "O";
  }
  std::string text = fmt::format("{:<16} {:<12} predicted\n", "word", "gold");
  for (const auto& fields : sentence) {
    text += fmt::format("{:<16} {:<12} {}\n", fields.front(), fields.at(fields.size() - 2), fields.back());
  }
  return text;
}

}  // namespace

TaskEntry tag_task() {
  TaskEntry task;
  task.name = "tag";
  task.summary =
      "one label per token: CoNLL columns with built-in attributes or CRF++ templates, or CRFsuite files";
  task.version = kTagVersion;
  task.options = options;
  task.predict_options = predict_options;
  task.read = read;
  task.load = load_tag_predictor;
  task.latent = "partial";
  task.groups =
      "keep the sequences of a document in one fold: boundary (-DOCSTART- lines), or the column N with its "
      "name, counted from 1";
  task.group_value = "boundary|N";
  task.train_examples =
      "  espalier train tag train.txt --l2 1 -o model.esp\n"
      "  espalier train tag train.txt --template template.txt --dev dev.txt --l2 auto -o model.esp\n"
      "  espalier train tag train.crfsuite.gz --format crfsuite --loss svm --l2 20 --gap 2e-2 -o model.esp\n";
  task.path_examples =
      "  espalier path tag train.txt --dev dev.txt\n"
      "  espalier path tag train.txt --dev dev.txt --l2-max 100 --l2-min 0.1 --factor 0.5 -o best.esp\n";
  task.generators = {
      {"tag", "entities", [](std::uint64_t seed) { return generate_sentences(seed, append_tag); }},
      {"supertag", "hundreds of labels",
       [](std::uint64_t seed) { return generate_sentences(seed, append_supertag); }}};
  task.demo.question =
      "Which words name persons, places and the like? Sentences come from a small built-in grammar.";
  task.demo.steps = {
      {"training data, and two more samples: one to monitor training, one to test on",
       "generate tag -n 2000 --seed 1 -o train.txt"},
      {"", "generate tag -n 500 --seed 2 -o dev.txt"},
      {"", "generate tag -n 500 --seed 3 -o test.txt"},
      {"a CRF with built-in attributes (words, neighbours, affixes, shapes), within 0.1 % of its optimum",
       "train tag train.txt --dev dev.txt -o entities.esp"},
      {"how good is it?", "eval entities.esp test.txt"},
      {"what did it learn, and how close to the best possible is it?", "show entities.esp --top 3"},
      {"use it", "predict entities.esp test.txt -o tagged.txt"}};
  task.demo.outcome = first_entity;
  task.demo.next = "formats and options";
  return task;
}

}  // namespace espalier
