#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "base/fingerprint.h"
#include "base/input.h"
#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/tasks/tag.h"
#include "features/sequences.h"
#include "features/templates.h"
#include "fleet/file_share.h"
#include "fleet/list_fingerprint.h"
#include "learning/chain_latent_gold.h"
#include "learning/chain_problem.h"
#include "tasks/common.h"
#include "tasks/costs.h"
#include "tasks/kernel_model.h"
#include "tasks/tag/gold.h"
#include "tasks/tag/label_constraints.h"
#include "tasks/tag/model.h"
#include "tasks/tag/scores.h"
#include "tasks/tag/without_zeros.h"

namespace espalier {
namespace {

// A column, counted from 0, of an option that is either `word` or the number of a column, from 1.
std::optional<std::size_t> column_unless(const char* word, const std::string& name,
                                         const std::string& option) {
  if (option == word) return std::nullopt;
  std::size_t column = 0;
  const auto [end, error] = std::from_chars(option.data(), option.data() + option.size(), column);
  if (error != std::errc() || end != option.data() + option.size() || column == 0) {
    throw Error::in(name, in_quotes(option),
                    fmt::format("expected {}, or the number of a column, from 1", word));
  }
  return column - 1;
}

void set_example_weights(const std::string& option, TagInput& input) {
  input.weight_column = column_unless("comment", setting("example_weights"), option);
  input.weight_comments = !input.weight_column;
}

void set_groups(const TagOptions& options, TagInput& input) {
  input.group_column = column_unless("boundary", setting("group_by"), options.group_by);
  input.group_documents = !input.group_column;
  if (input.group_column && options.templates.empty() && input.format == TagFormat::columns) {
    throw Error::in(setting("group_by"), "a column that the built-in attributes use",
                    fmt::format("expected {}, with one that does not", setting("template")));
  }
}

// What the options say of the input, before the file says the rest.
TagInput requested_input(const TagOptions& options) {
  TagInput input;
  if (options.format) input.format = parse_tag_format(*options.format);
  if (options.separator && *options.separator != "tab" && *options.separator != "space" &&
      *options.separator != "auto") {
    throw Error::in(setting("separator"), in_quotes(*options.separator), "expected tab, space or auto");
  }
  input.tabs = options.separator == "tab";
  input.separator_assumed = options.separator.value_or("auto") == "auto";
  input.format_assumed = !options.format && options.templates.empty() && !options.label_column;
  if (options.label_column == 0) throw Error::in(setting("label_column"), "0", "expected at least 1");
  if (!options.templates.empty()) {
    input.templates = read_all(options.templates);
    input.template_name = options.templates;
    Templates(input.templates, input.template_name);  // an empty one would stand for the built-in attributes
  }
  if (options.encoding) input.encoding = parse_encoding(*options.encoding);
  if (options.min_count == 0) throw Error::in(setting("min_count"), "0", "expected at least 1");
  if (options.example_weights) set_example_weights(*options.example_weights, input);
  if (!options.group_by.empty()) set_groups(options, input);
  if (!options.gazetteers.empty()) {
    auto gazetteer = std::make_shared<Gazetteer>();
    for (const std::string& path : options.gazetteers) gazetteer->read(path);
    input.gazetteer = std::move(gazetteer);
  }
  return input;
}

// Held-out sequences, with gold labels that training may not have seen.
struct DevSet {
  // read(labels) has them, with labels that begin with those of the model.
  template <class Read>
  DevSet(const TagModel& model, std::size_t threads, const Read& read)
      : labels(copy(model.dictionaries.labels)),
        examples(read(labels)),
        bare(model.kernel ? without_tokens(examples.sequences) : Sequences()),
        features(model.kernel ? bare : examples.sequences, model.shape(), nullptr, threads),
        kernel(model.kernel.get()),
        constraints(model.chain_constraints()) {}

  static Dictionary copy(const Dictionary& names) {
    Dictionary grows;
    for (std::uint32_t id = 0; id < names.size(); ++id) grows.add(names.name(id));
    return grows;
  }

  // Tokens whose attributes are not those that weights have.
  static Sequences without_tokens(const Sequences& sequences) {
    Sequences bare;
    bare.offsets = sequences.offsets;
    bare.transitions = sequences.transitions;
    bare.transition_of = sequences.transition_of;
    for (std::size_t t = 0; t < sequences.num_tokens(); ++t) bare.tokens.finish_row();
    return bare;
  }

  void score(std::size_t i, const Weights& theta, std::span<float> s, Workspace& ws) const {
    features.score(i, theta, 1.0f, s, ws);
    const auto& offsets = examples.sequences.offsets;
    if (kernel) kernel->score(examples.sequences.tokens.range(offsets[i], offsets[i + 1]), theta, s, ws);
  }

  Dictionary labels;
  TagExamples examples;
  Sequences bare;  // with a kernel, steps alone; its tokens are scored by themselves
  ChainFeatures features;
  const KernelNodes* kernel;
  const ChainConstraints* constraints;
};

// Where constraints come from, for messages: "bio and transitions.txt".
std::string rules_of(const TagOptions& options, const std::string& valid = "",
                     const std::string& transitions = "") {
  std::string text = options.valid.empty() ? "" : valid + options.valid;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : " and ") + more; };
  if (!options.transitions.empty()) add(transitions + options.transitions);
  if (!options.forbidden.empty()) add("forbidden pairs of labels");
  return text;
}
// The same with the settings: "valid bio and transitions transitions.txt".
std::string source_of(const TagOptions& options) {
  return rules_of(options, setting("valid") + ' ', setting("transitions") + ' ');
}

std::optional<ChainConstraints> read_constraints(const TagOptions& options, const Dictionary& labels) {
  if (options.invalid != "refuse" && options.invalid != "drop") {
    throw Error::in(setting("invalid"), "found " + in_quotes(options.invalid), "expected refuse or drop");
  }
  if (options.valid.empty() && options.transitions.empty() && options.forbidden.empty()) return std::nullopt;
  ChainConstraints constraints = all_allowed(labels.size());
  if (!options.valid.empty()) forbid_by_scheme(options.valid, labels, constraints);
  if (!options.transitions.empty()) forbid_listed(options.transitions, labels, constraints);
  forbid_pairs(options.forbidden, labels, constraints);
  if (const auto length = impossible_length(constraints)) {
    throw Error::in(source_of(options),
                    fmt::format("no sequence of {} label{} is left", *length, *length == 1 ? "" : "s"),
                    "expected some of every length");
  }
  return constraints;
}

Evaluation evaluate(const DevSet& dev, const TagInput& input, const Weights& theta) {
  TagScores scores(input.encoding);
  std::vector<float> s;
  std::vector<std::uint32_t> best;
  std::vector<std::string_view> gold, predicted;
  Workspace ws;
  const Sequences& sequences = dev.examples.sequences;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const Chain structure = chain_of(dev.features, i, dev.constraints);
    s.resize(structure.num_statistics());
    dev.score(i, theta, s, ws);
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
  using Read = std::function<TagExamples(TagInput&, TagDictionaries&)>;

  // `name` is for messages.
  TagTrainingSet(const std::string& name, const TagOptions& options, const Read& read)
      : threads_(std::max<std::size_t>(options.threads, 1)) {
    set_reading(reading_of("tag", options));
    check_layout(options);
    model_.input = requested_input(options);
    std::vector<std::string> attributes_without_l1;
    for (const std::string& attribute : options.l1_except) {
      if (attribute == kTransitions) {
        transitions_without_l1_ = true;
      } else {
        attributes_without_l1.push_back(attribute);
        model_.dictionaries.attributes.add(attribute);  // so that their rows are the first
      }
    }
    train_ = read(model_.input, model_.dictionaries);
    count_sequences();
    attributes_without_l1_ = count_first(attributes_without_l1, model_.dictionaries.attributes,
                                         train_.sequences.tokens, train_.fleet);
    notice_endless_sequences(options);
    const LabelSets sets = options.partial ? LabelSets::split(name, train_, model_.dictionaries.labels)
                                           : LabelSets::of_labels(model_.dictionaries.labels.size());
    model_.constraints = read_constraints(options, model_.dictionaries.labels);
    select_sequences(name, options, sets);
    const std::size_t num_labels = model_.dictionaries.labels.size();
    std::vector<float> costs;
    if (!options.costs.empty()) costs = read_costs(options.costs, model_.dictionaries.labels);
    for (const std::uint32_t field : train_.labels) unsure_ += sets.of[field].size() > 1 ? 1 : 0;
    const auto partial = take_labels(sets, num_labels, costs, train_);

    count_sequences();  // some may have been dropped
    model_.layout = TagLayout(options, train_, model_.dictionaries);
    model_.by_rows = rows_pay(model_.shape(), std::size_t{1} << 27);
    std::shared_ptr<const KernelMatrix> kernel;
    if (!options.kernel.empty()) {
      kernel = make_kernel_matrix(options.kernel, options.kernel_memory, train_.sequences.tokens,
                                  model_.dictionaries.attributes.size());
      model_.kernel = std::shared_ptr<const KernelNodes>(kernel, &kernel->nodes());
    }
    ChainExamples examples(train_.sequences, model_.shape(), train_.labels, model_.chain_constraints(),
                           train_.weights, kernel, threads_);
    examples.set_costs(std::move(costs));
    examples.set_partial(partial);
    problem_ = std::make_unique<ChainProblem>(std::move(examples));
    if (partial) latent_ = std::make_unique<ChainLatentGold>(*problem_, partial);
  }

  std::string_view task() const override { return "tag"; }
  int version() const override { return model_.kernel ? kTagVersion : kLinearTagVersion; }
  const Problem& problem() const override { return *problem_; }
  LatentGold* latent_gold() const override { return latent_.get(); }
  Communicator* fleet() const override { return train_.fleet; }
  std::string describe() const override {
    std::string text = fmt::format("{}, {}, {}{}", counted(num_sequences_, "sequence"),
                                   counted(num_tokens_, "token"), describe_columns(), model_.describe());
    if (train_.num_rare > 0) text += fmt::format(" ({} dropped as rare)", grouped(train_.num_rare));
    if (unsure_ > 0) text += fmt::format(", {} with an uncertain label", counted(unsure_, "token"));
    return text + dropped_;
  }

  TaskSections sections() const override { return model_.sections(); }
  std::optional<ModelContents> model_contents(const Weights& theta) const override {
    if (model_.kernel) return keep_support(*model_.kernel, theta, sections());
    return without_zeros(model_, theta);
  }

  void replace_dev(const std::string& path) override {
    dev_ = std::make_unique<DevSet>(model_, threads_, [&](Dictionary& labels) {
      return read_tag(path, model_.input, model_.dictionaries, labels, {threads_});
    });
  }
  void take_dev(const TagData& dev) {
    dev_ = std::make_unique<DevSet>(model_, threads_, [&](Dictionary& labels) {
      return take_tag(dev, model_.input, model_.dictionaries, labels);
    });
    name_dev(kDataInMemory);
  }
  Evaluation evaluate_dev(const Weights& theta) const override {
    return evaluate(*dev_, model_.input, theta);
  }
  Evaluation evaluate_examples(const Weights& theta, std::span<const std::uint32_t> examples) const override;

  std::span<const std::uint32_t> groups() const override { return train_.groups; }

  float* find_weight(const WeightName& name, Weights& theta) const override {
    const auto place = model_.find_weight(name);
    return place ? theta.row(place->row) + place->column : nullptr;
  }
  const Dictionary& labels() const override { return model_.dictionaries.labels; }
  const Dictionary& attributes() const override { return model_.dictionaries.attributes; }
  SoftThreshold l1_rows() const override {
    const ChainShape shape = model_.shape();
    SoftThreshold rows;
    rows.first = shape.by_pairs() ? shape.tokens->begin(attributes_without_l1_) : attributes_without_l1_;
    if (transitions_without_l1_) rows.last = shape.by_pairs() ? shape.tokens->size() : shape.num_attributes;
    return rows;
  }
  std::uint64_t fingerprint() const override {
    const Sequences& sequences = train_.sequences;
    return list_fingerprint(sequences.size(), train_.fleet, [&](std::size_t i, Fingerprint& fingerprint) {
      const std::size_t length = sequences.length(i);
      fingerprint.add_list(std::span<const std::size_t>(&length, 1));
      for (std::size_t t = sequences.offsets[i]; t < sequences.offsets[i + 1]; ++t) {
        add_row(sequences.tokens.row(t), fingerprint);
        // No step leads into a first token. Sets of attributes have other numbers on other ranks.
        if (t == sequences.offsets[i]) continue;
        add_row(sequences.transitions.row(sequences.transition_of.empty() ? 0 : sequences.transition_of[t]),
                fingerprint);
      }
    });
  }

 private:
  static constexpr std::string_view kTransitions = "transitions";
  // How columns were understood, so that nobody trains on the wrong column without seeing it.
  std::string describe_columns() const {
    if (model_.input.format != TagFormat::columns) return {};
    return fmt::format("label in column {} of {}: ", model_.input.label_column + 1, model_.input.num_columns);
  }

  void count_sequences() {
    num_sequences_ = sum_over(train_.fleet, train_.sequences.size());
    num_tokens_ = sum_over(train_.fleet, train_.sequences.num_tokens());
  }

  // Leaves out sequences that training cannot use, or refuses them.
  void select_sequences(const std::string& name, const TagOptions& options, const LabelSets& sets) {
    const auto drop_others = [&](const std::vector<bool>& keep, const std::string& why) {
      const auto dropped = static_cast<std::size_t>(std::count(keep.begin(), keep.end(), false));
      if (dropped == 0) return;
      if (dropped == keep.size()) {
        throw Error::in(name, "no sequence is left: " + why, "expected at least one");
      }
      keep_sequences(keep, train_);
      dropped_ += fmt::format("; {} dropped: {}", counted(dropped, "sequence"), why);
    };
    if (options.partial) {
      drop_others(find_informative(sets, train_, model_.dictionaries.labels.size()), "no label is known");
    }
    if (!model_.constraints) return;
    if (options.invalid == "drop") {
      drop_others(find_allowed(*model_.constraints, sets, train_), "labels violate " + rules_of(options));
    } else {
      const auto refuse = [&] {
        refuse_broken(*model_.constraints, source_of(options), sets, train_, model_.dictionaries.labels);
      };
      if (train_.fleet != nullptr) {
        do_on_shares(*train_.fleet, refuse);
      } else {
        refuse();
      }
    }
  }

  // A file without the blank lines between its sentences reads as one sentence, and trains as slowly as that.
  void notice_endless_sequences(const TagOptions& options) const {
    constexpr std::size_t kLong =
        1000;  // tokens on average; the longest sentences of treebanks have some 200
    if (!options.notice || num_tokens_ <= kLong * num_sequences_) return;
    const std::string length = grouped(num_tokens_ / num_sequences_);
    options.notice(
        num_sequences_ == 1
            ? fmt::format("one sequence of {} tokens; sentences are separated by blank lines", length)
            : fmt::format("{} sequences of {} tokens on average; sentences are separated by blank lines",
                          grouped(num_sequences_), length));
  }

  std::size_t threads_;                             // that read
  std::size_t num_sequences_ = 0, num_tokens_ = 0;  // of all ranks
  TagModel model_;
  TagExamples train_;
  std::size_t attributes_without_l1_ = 0;  // the first ones
  bool transitions_without_l1_ = false;
  std::size_t unsure_ = 0;  // tokens whose label is one of several
  std::string dropped_;     // what became of sequences that are not used
  std::unique_ptr<ChainProblem> problem_;
  std::unique_ptr<ChainLatentGold> latent_;
  std::unique_ptr<DevSet> dev_;
};

Evaluation TagTrainingSet::evaluate_examples(const Weights& theta,
                                             std::span<const std::uint32_t> examples) const {
  TagScores scores(model_.input.encoding);
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

// Whether a rank needs no other examples than those of its share to make its problem.
bool can_be_shared(const TagOptions& options) {
  const bool some_only = options.first || (options.invalid == "drop" && !rules_of(options).empty());
  return !some_only && !options.partial && options.kernel.empty() && options.group_by.empty();
}

}  // namespace

std::unique_ptr<TrainingSet> read_tag_training(const InputFiles& files, const TagOptions& options) {
  std::optional<std::size_t> label_column;
  if (options.label_column) label_column = *options.label_column - 1;
  return std::make_unique<TagTrainingSet>(
      files.name(), options, [&](TagInput& input, TagDictionaries& names) {
        if (options.fleet != nullptr && can_be_shared(options)) {
          auto share = read_tag_share(files, input, label_column, names, options.min_count, {options.threads},
                                      *options.fleet);
          if (share) return std::move(*share);
        }
        return read_tag_growing(files, input, label_column, options.first, names, options.min_count,
                                {options.threads});
      });
}

std::unique_ptr<TrainingSet> make_tag_training(const TagData& data, const TagOptions& options,
                                               const TagData* dev) {
  const auto refuse = [](const char* setting, const char* expected) {
    throw Error::in(setting, "given with data in memory", expected);
  };
  TagOptions of_data = options;
  of_data.format = to_string(data.num_columns() > 0 ? TagFormat::columns : TagFormat::crfsuite);
  if (options.format && options.format != of_data.format) {
    throw Error::in("format", fmt::format("{} given with data in memory", *options.format),
                    fmt::format("expected none, or {}", *of_data.format));
  }
  if (options.label_column) refuse("label_column", "expected none: a token comes with its label");
  if (options.separator) refuse("separator", "expected none: columns come one by one");
  if (options.example_weights) refuse("example_weights", "expected none: a sentence comes with its weight");
  if (!options.group_by.empty()) refuse("group_by", "expected none");
  auto set =
      std::make_unique<TagTrainingSet>(kDataInMemory, of_data, [&](TagInput& input, TagDictionaries& names) {
        return take_tag_growing(data, input, options.first, names, options.min_count);
      });
  if (dev != nullptr) set->take_dev(*dev);
  return set;
}

}  // namespace espalier
