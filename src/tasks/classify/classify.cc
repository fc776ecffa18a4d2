#include "espalier/tasks/classify.h"
#include "espalier/base/threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/fingerprint.h"
#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/features/row_features.h"
#include "fleet/list_fingerprint.h"
#include "learning/multiclass_problem.h"
#include "structures/multiclass.h"
#include "tasks/classify/builder.h"
#include "tasks/classify/column_ids.h"
#include "tasks/classify/confusion.h"
#include "tasks/classify/reader.h"
#include "tasks/classify/text_rows.h"
#include "tasks/classify/text_settings.h"
#include "tasks/common.h"
#include "tasks/costs.h"
#include "tasks/drawing.h"
#include "tasks/kernel_model.h"

namespace espalier {
namespace {

std::string describe_sizes(const Dictionary& labels, const Dictionary& attributes) {
  return fmt::format("{}, {}", counted(labels.size(), "label"), counted(attributes.size(), "attribute"));
}

// Of inputs that need not be those of training; nodes: what weights are coefficients of, or nullptr.
void score(const ClassifyExamples& examples, std::size_t i, WeightsView theta, const KernelNodes* nodes,
           std::span<double> s, Workspace& ws) {
  if (nodes) {
    nodes->score(examples.rows.range(i, i + 1), theta, s, ws);
  } else {
    score_row(examples.rows.row(i), theta, 1.0, s);
  }
}

// Those of the examples that `chosen` lists.
Evaluation evaluate(const ClassifyExamples& examples, std::span<const std::uint32_t> chosen,
                    WeightsView theta, const KernelNodes* nodes, const Dictionary& labels,
                    std::span<const float> costs) {
  const Multiclass structure(labels.size());
  Confusion confusion(labels, costs);
  std::vector<double> s(labels.size());
  Workspace ws;
  for (const std::uint32_t i : chosen) {
    score(examples, i, theta, nodes, s, ws);
    confusion.add(examples.labels[i], structure.decode(std::span<const double>(s), ws));
  }
  return confusion.evaluate();
}

Evaluation evaluate(const ClassifyExamples& examples, WeightsView theta, const KernelNodes* nodes,
                    const Dictionary& labels, std::span<const float> costs) {
  std::vector<std::uint32_t> all(examples.labels.size());
  std::iota(all.begin(), all.end(), 0u);
  return evaluate(examples, all, theta, nodes, labels, costs);
}

// nodes: what weights are coefficients of, or nullptr.
std::optional<WeightPlace> find_place(const WeightName& name, const Dictionary& attributes,
                                      const Dictionary& labels, const KernelNodes* nodes) {
  if (!name.before.empty()) return std::nullopt;
  const auto attribute =
      nodes ? find_node(*nodes, attributes, name.attribute) : attributes.find(name.attribute);
  const auto label = labels.find(name.label);
  if (!attribute || !label) return std::nullopt;
  return WeightPlace{*attribute, *label};
}

class ClassifyTrainingSet final : public TrainingSet {
 public:
  using Read = std::function<ClassifyExamples(const ClassifyReadOptions&, Dictionary&, Dictionary&)>;

  // The files say which format to expect where the options do not, and are for messages.
  ClassifyTrainingSet(const InputFiles& files, const ClassifyOptions& options, const Read& read)
      : options_(options) {
    set_reading(espalier::reading_of("classify", options));
    if (!options.kernel.empty()) Kernel::parse(options.kernel);
    if (options.min_count == 0) throw Error::in(setting("min_count"), "0", "expected at least 1");
    ClassifyReadOptions reading = reading_of(files.first());
    reading.first = options.first;
    reading.min_count = options.min_count;
    if (options.kernel.empty()) reading.fleet = options.fleet;
    format_ = reading.format;
    std::vector<std::string> without_l1 = options.l1_except;
    for (std::string& name : without_l1) {
      if (name == "bias" && options.bias) name = kBiasAttribute;
      attributes_.add(name);  // so that their rows are the first
    }
    train_ = read(reading, attributes_, labels_);
    num_examples_ = sum_over(train_.fleet, train_.labels.size());
    num_without_l1_ = count_first(without_l1, attributes_, train_.rows, train_.fleet);
    // Data read in a format that it is not in often looks like this.
    if (attributes_.size() == 0) {
      throw Error::in(files.name(), "no attributes in any example",
                      fmt::format("expected some, and {} to be that of the data", setting("format")));
    }
    if (!options.costs.empty()) costs_ = read_costs(options.costs, labels_);
    if (!options.kernel.empty()) {
      kernel_ = make_kernel_matrix(options.kernel, options.kernel_memory, train_.rows, attributes_.size());
    }
    problem_ = std::make_unique<MulticlassProblem>(
        kernel_ ? MulticlassExamples(kernel_, train_.labels, labels_.size(), costs_, train_.weights)
                : MulticlassExamples(train_.rows, attributes_.size(), train_.labels, labels_.size(), costs_,
                                     train_.weights));
  }

  std::string_view task() const override { return "classify"; }
  int version() const override {
    if (format_ == ClassifyFormat::text) return kTextClassifyVersion;
    return kernel_ ? kKernelClassifyVersion : kLinearClassifyVersion;
  }
  const Problem& problem() const override { return *problem_; }
  Communicator* fleet() const override { return train_.fleet; }
  SoftThreshold l1_rows() const override { return {0, num_without_l1_}; }
  std::string describe() const override {
    std::string text =
        fmt::format("{}, {}", counted(num_examples_, "example"), describe_sizes(labels_, attributes_));
    if (train_.num_rare > 0) text += fmt::format(" ({} dropped as rare)", grouped(train_.num_rare));
    if (train_.num_bad_bytes > 0)
      text += fmt::format(", {} not UTF-8", counted(train_.num_bad_bytes, "byte that is", "bytes that are"));
    return text + describe_kernel(nodes());
  }

  TaskSections sections() const override { return sections_with(attributes_); }

  std::optional<ModelContents> model_contents(const Weights& theta) const override {
    return kernel_ ? keep_support(*nodes(), theta, sections()) : without_zeros(theta);
  }

  void replace_dev(const std::string& path) override {
    dev_ = read_classify(path, reading_of(path), attributes_, labels_);
  }
  void take_dev(const ClassifyData& dev) {
    if (dev.size() > 0 && dev.has_texts() != (format_ == ClassifyFormat::text)) {
      throw Error::in(kDataInMemory, "texts and attributes, one to train on and the other held out",
                      "expected both to be of one kind");
    }
    dev_ = take_classify(dev, reading_of(kDataInMemory), attributes_, labels_);
    name_dev(kDataInMemory);
  }
  void take_dev(const ClassifyMatrix& dev) {
    dev_ = take_classify(dev, reading_of(kDataInMemory), attributes_, labels_);
    name_dev(kDataInMemory);
  }
  Evaluation evaluate_dev(const Weights& theta) const override {
    return evaluate(dev_, theta, nodes(), labels_, costs_);
  }
  Evaluation evaluate_examples(const Weights& theta, std::span<const std::uint32_t> examples) const override {
    return evaluate(train_, examples, theta, nodes(), labels_, costs_);
  }

  float* find_weight(const WeightName& name, Weights& theta) const override {
    const auto place = find_place(name, attributes_, labels_, nodes());
    return place ? theta.row(place->row) + place->column : nullptr;
  }
  const Dictionary& labels() const override { return labels_; }
  const Dictionary& attributes() const override { return attributes_; }
  std::uint64_t fingerprint() const override {
    return list_fingerprint(train_.rows.size(), train_.fleet, [&](std::size_t i, Fingerprint& fingerprint) {
      add_row(train_.rows.row(i), fingerprint);
      if (!train_.weights.empty()) fingerprint.add_list(std::span(train_.weights).subspan(i, 1));
    });
  }

 private:
  const KernelNodes* nodes() const { return kernel_ ? &kernel_->nodes() : nullptr; }

  TaskSections sections_with(const Dictionary& attributes) const {
    TaskSections sections;
    sections.settings["format"] = to_string(format_);
    sections.settings["bias"] = options_.bias;
    sections.settings["costs"] = !costs_.empty();
    if (kernel_) sections.settings["kernel"] = nodes()->kernel().name();
    if (format_ == ClassifyFormat::text)
      sections.settings["text"] = to_json(text_settings_of(options_, format_));
    add_dictionary("labels", labels_, sections);
    add_dictionary("attributes", attributes, sections);
    if (!costs_.empty()) sections.arrays.emplace_back("costs", as_bytes(std::span<const float>(costs_)));
    if (!train_.idf.empty())
      sections.arrays.emplace_back("idf", as_bytes(std::span<const float>(train_.idf)));
    return sections;
  }

  // A model without the attributes whose weights are all zero. Not of tf-idf, where the values of a text
  // depend on all attributes that it has.
  std::optional<ModelContents> without_zeros(const Weights& theta) const {
    if (!train_.idf.empty()) return std::nullopt;
    auto kept = std::make_shared<Dictionary>();
    std::vector<std::uint32_t> ids;
    for (std::uint32_t a = 0; a < attributes_.size(); ++a) {
      const auto weights = std::span(theta.row(a), theta.shape().width);
      const bool nonzero = std::ranges::any_of(weights, [](float weight) { return weight != 0; });
      if (!nonzero && !(options_.bias && attributes_.name(a) == kBiasAttribute)) continue;
      kept->add(attributes_.name(a));
      ids.push_back(a);
    }
    if (ids.size() == attributes_.size()) return std::nullopt;
    ModelContents contents{sections_with(*kept), Weights({ids.size(), theta.shape().width})};
    for (std::size_t r = 0; r < ids.size(); ++r)
      std::copy_n(theta.row(ids[r]), theta.shape().width, contents.theta.row(r));
    contents.trained = {attributes_.size(), theta.shape().rows * theta.shape().width};
    contents.memory = kept;
    return contents;
  }

  ClassifyReadOptions reading_of(const std::string& path) const {
    ClassifyReadOptions read;
    read.format = options_.format ? parse_classify_format(*options_.format) : guess_classify_format(path);
    read.bias = options_.bias;
    read.text = text_settings_of(options_, read.format);
    read.chunks.threads = std::max<std::size_t>(options_.threads, 1);
    read.idf = train_.idf;  // empty while the training data itself is read
    return read;
  }

  ClassifyOptions options_;
  ClassifyFormat format_;
  Dictionary attributes_, labels_;
  ClassifyExamples train_, dev_;
  std::vector<float> costs_;
  std::shared_ptr<const KernelMatrix> kernel_;  // null: none
  std::unique_ptr<MulticlassProblem> problem_;
  std::size_t num_without_l1_ = 0;  // the first attributes
  std::size_t num_examples_ = 0;    // of all ranks
};

class ClassifyPredictor final : public Predictor, public Classifier {
 public:
  explicit ClassifyPredictor(const StoredTask& stored)
      : theta_(stored.theta),
        loss_(stored.loss),
        format_(stored_format(stored, parse_classify_format)),
        bias_(stored.settings.at("bias").get<bool>()),
        has_costs_(stored.settings.value("costs", false)),
        attributes_(load_dictionary("attributes", stored)),
        labels_(load_dictionary("labels", stored)),
        nodes_(load_kernel_nodes(stored, attributes_.size())),
        left_out_(leaves_out_attributes(stored, attributes_)),
        structure_(labels_.size()) {
    if (theta_.shape != WeightShape{nodes_ ? nodes_->size() : attributes_.size(), labels_.size()}) {
      throw Error::in(
          stored.file,
          fmt::format("{} x {} weights for {}", theta_.shape.rows, theta_.shape.width, describe()),
          "expected one for each pair; retrain the model");
    }
    if (format_ == ClassifyFormat::text) load_text(stored);
    if (has_costs_) costs_ = as_numbers<float>(stored.array("costs"), "costs", stored.file);
    if (has_costs_ && costs_.size() != labels_.size() * labels_.size()) {
      throw Error::in(stored.file, fmt::format("{} costs for {}", costs_.size(), describe()),
                      "expected one for each pair of labels; retrain the model");
    }
  }

  void predict(const std::string& input, const PredictOptions& of_task,
               const std::function<void(std::string_view)>& write) const override {
    const auto options = of_task.of<ClassifyPredictOptions>("classify");
    check_probabilities(options.marginals, setting("marginals"), loss_);
    check_drawing(options, loss_);
    const ClassifyExamples examples = read(input, options.format, false, Threads::of(options.threads));
    check_known({num_known(examples), examples.labels.size(), left_out_}, name_of(input),
                options.format.value_or(to_string(format_)), of_task.warning);
    std::vector<double> s(labels_.size()), mu(labels_.size());
    std::string line;
    Workspace ws;
    for (std::size_t i = 0; i < examples.labels.size(); ++i) {
      score(examples, i, theta_, nodes_.get(), s, ws);
      const auto best = structure_.decode(std::span<const double>(s), ws);
      line.clear();
      const std::uint64_t seed = seed_of_item(options.seed, i);
      if (options.json) {
        append_object(s, best, options, seed, line, ws);
        write(line);
        continue;
      }
      if (list_length(options) > 0) {
        append_list(s, mu, options, seed, line, ws);
      } else {
        line += labels_.name(best);
      }
      if (options.marginals) {
        probabilities(s, mu, ws);
        for (std::uint32_t y = 0; y < labels_.size(); ++y)
          line += fmt::format("\t{}:{:.6f}", labels_.name(y), mu[y]);
      }
      if (options.entropy) line += fmt::format("\tentropy={:.6f}", rounded_entropy(entropy(s, ws)));
      line += '\n';
      write(line);
    }
  }

  const Classifier* classifier() const override { return this; }
  std::size_t num_labels() const override { return labels_.size(); }
  std::string_view label(std::uint32_t id) const override { return labels_.name(id); }
  std::optional<std::uint32_t> find_label(std::string_view name) const override { return labels_.find(name); }
  bool has_probabilities() const override { return loss_.smooth(); }
  std::uint32_t classify(std::span<const Attribute> attributes) const override {
    Workspace ws;
    return structure_.decode(std::span<const double>(scores(attributes)), ws);
  }
  std::vector<double> scores(std::span<const Attribute> attributes) const override {
    const ClassifyReadOptions reading = reading_of(ClassifyFormat::crfsuite, false);  // names may come twice
    ClassifyBuilder builder(reading, attributes_, labels_);
    for (const auto& [name, value] : attributes) {
      if (!std::isfinite(value)) {
        throw Error(fmt::format("the value {} of {}; expected a finite number", value, in_quotes(name)));
      }
      builder.add(builder.attribute(name), value);
    }
    return scores_of_example(builder);
  }
  std::vector<double> probabilities(std::span<const Attribute> attributes) const override {
    check_has_probabilities(loss_);
    return probabilities_of(scores(attributes));
  }

  void score_rows(const NumberedRows& rows, std::span<const std::string> columns,
                  std::span<double> scores) const override {
    ColumnIds ids(rows, columns);
    // As many at a time as stay in cache.
    constexpr std::size_t kBlock = 64;
    const ClassifyReadOptions reading = reading_of(ClassifyFormat::libsvm, false);
    Workspace ws;
    for (std::size_t begin = 0; begin < rows.size(); begin += kBlock) {
      const std::size_t end = std::min(begin + kBlock, rows.size());
      ClassifyBuilder builder(reading, attributes_, labels_);
      for (std::size_t i = begin; i < end; ++i) {
        ids.add_row(i, builder);
        builder.finish_example(std::nullopt);
      }
      const ClassifyExamples examples = builder.finish(kDataInMemory);
      for (std::size_t i = begin; i < end; ++i)
        score(examples, i - begin, theta_, nodes_.get(), scores.subspan(i * labels_.size(), labels_.size()),
              ws);
    }
  }
  void rows_to_probabilities(std::span<double> scores) const override {
    check_has_probabilities(loss_);
    std::vector<double> mu(labels_.size());
    Workspace ws;
    for (std::size_t begin = 0; begin < scores.size(); begin += mu.size()) {
      const auto row = scores.subspan(begin, mu.size());
      probabilities(row, mu, ws);
      std::ranges::copy(mu, row.begin());
    }
  }

  std::uint32_t classify_text(std::string_view text) const override {
    Workspace ws;
    return structure_.decode(std::span<const double>(text_scores(text)), ws);
  }
  std::vector<double> text_scores(std::string_view text) const override {
    if (format_ != ClassifyFormat::text) {
      throw Error("a text for a model that was trained on attributes; expected a model trained on texts");
    }
    const ClassifyReadOptions reading = reading_of(ClassifyFormat::text, false);
    ClassifyBuilder builder(reading, attributes_, labels_);
    TextRows(reading, builder).add(text);
    return scores_of_example(builder);
  }
  std::vector<double> text_probabilities(std::string_view text) const override {
    check_has_probabilities(loss_);
    return probabilities_of(text_scores(text));
  }

  void for_each_labelled(const std::string& path,
                         const std::function<bool(const Labelled&)>& visit) const override {
    const ClassifyExamples examples = read(path, {}, true, Threads::of(0));
    std::vector<double> s(labels_.size()), mu(loss_.smooth() ? labels_.size() : 0);
    Workspace ws;
    for (std::size_t i = 0; i < examples.labels.size(); ++i) {
      score(examples, i, theta_, nodes_.get(), s, ws);
      if (loss_.smooth()) probabilities(s, mu, ws);
      const std::uint32_t gold = examples.labels[i];
      const SparseRows::Row row = examples.rows.row(i);
      if (!visit(
              {gold == kUnknownLabel ? std::string_view() : labels_.name(gold), row.ids, row.values, s, mu}))
        return;
    }
  }

  Evaluation evaluate(const std::string& gold, const EvaluateOptions& options) const override {
    const ClassifyExamples examples = read(gold, options.format, true, Threads::of(options.threads));
    refuse_unknown({num_known(examples), examples.labels.size(), left_out_}, name_of(gold),
                   options.format.value_or(to_string(format_)), options.warning);
    if (std::ranges::count(examples.labels, kUnknownLabel) == std::ssize(examples.labels))
      refuse_unknown_labels(name_of(gold), labels_);
    return espalier::evaluate(examples, theta_, nodes_.get(), labels_, costs_);
  }

  std::string describe() const override {
    return describe_sizes(labels_, attributes_) + describe_kernel(nodes_.get());
  }

  std::string strongest(std::size_t top) const override {
    std::string text;
    if (nodes_) return text;
    for (std::uint32_t y = 0; y < labels_.size(); ++y) {
      text += fmt::format("{}\n", labels_.name(y));
      append_heaviest(
          attributes_.size(), top, [&](std::uint32_t a) { return weight(a, y); },
          [&](std::uint32_t a) { return attributes_.name(a); }, text);
    }
    return text;
  }

  void for_each_weight(
      const std::function<void(const WeightName& name, float weight)>& visit) const override {
    for (std::uint32_t row = 0; row < theta_.shape.rows; ++row) {
      const std::string node = nodes_ ? node_name(*nodes_, attributes_, row) : std::string();
      const std::string_view attribute = nodes_ ? node : attributes_.name(row);
      for (std::uint32_t y = 0; y < labels_.size(); ++y)
        visit({attribute, {}, labels_.name(y)}, weight(row, y));
    }
  }
  std::optional<float> find_weight(const WeightName& name) const override {
    const auto place = find_place(name, attributes_, labels_, nodes_.get());
    if (!place) return std::nullopt;
    return weight(place->row, place->column);
  }
  const Dictionary& labels() const override { return labels_; }
  const Dictionary& attributes() const override { return attributes_; }

 private:
  float weight(std::uint32_t attribute, std::uint32_t label) const { return theta_.row(attribute)[label]; }

  static std::string name_of(const std::string& path) { return path == "-" ? "standard input" : path; }

  // Attributes, but for the constant one, which every example has.
  std::size_t num_known(const ClassifyExamples& examples) const {
    return examples.rows.num_entries() - (bias_ ? examples.rows.size() : 0);
  }

  ClassifyExamples read(const std::string& path, const std::optional<std::string>& format,
                        bool labels_required, std::size_t threads) const {
    const ClassifyFormat of_file = format ? parse_classify_format(*format) : format_;
    if (of_file == ClassifyFormat::text && format_ != ClassifyFormat::text) {
      throw Error::in(setting("format"),
                      fmt::format("text for a model that was trained on the format {}", to_string(format_)),
                      "expected a model trained on text");
    }
    ClassifyReadOptions reading = reading_of(of_file, labels_required);
    reading.chunks.threads = threads;
    return read_classify(path, reading, attributes_, labels_);
  }

  ClassifyReadOptions reading_of(ClassifyFormat format, bool labels_required) const {
    ClassifyReadOptions reading;
    reading.format = format;
    reading.bias = bias_;
    reading.labels_required = labels_required;
    reading.text = text_;
    reading.idf = idf_;
    return reading;
  }

  void load_text(const StoredTask& stored) {
    text_ = stored_text_settings(stored);
    if (text_.weighting != TextWeighting::tf_idf) return;
    idf_ = as_numbers<float>(stored.array("idf"), "idf", stored.file);
    if (idf_.size() != attributes_.size()) {
      throw Error::in(stored.file, fmt::format("{} idf for {}", idf_.size(), describe()),
                      "expected one for each attribute; retrain the model");
    }
  }

  // Of the one example in the builder, whose attributes are all there.
  std::vector<double> scores_of_example(ClassifyBuilder& builder) const {
    builder.finish_example(std::nullopt);
    std::vector<double> s(labels_.size());
    Workspace ws;
    score(builder.finish("example"), 0, theta_, nodes_.get(), s, ws);
    return s;
  }

  std::vector<double> probabilities_of(const std::vector<double>& s) const {
    std::vector<double> mu(s.size());
    Workspace ws;
    probabilities(s, mu, ws);
    return mu;
  }

  // u(y) ~ exp(beta s_y)
  void probabilities(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
    Workspace::Frame frame(ws);
    const auto scaled = frame.take<double>(s.size());
    for (std::size_t k = 0; k < s.size(); ++k) scaled[k] = loss_.beta * s[k];
    structure_.log_partition(scaled, mu, ws);
  }

  double entropy(std::span<const double> s, Workspace& ws) const {
    std::vector<double> mu(s.size());
    probabilities(s, mu, ws);
    return structure_.clique_entropy(mu);
  }

  // The k best labels, or those that are drawn.
  std::vector<Multiclass::Scored> listed(std::span<const double> s, const ClassifyPredictOptions& options,
                                         std::uint64_t seed, Workspace& ws) const {
    if (options.samples == 0) return structure_.kbest(s, options.kbest);
    std::vector<double> scaled(s.begin(), s.end());
    for (double& x : scaled) x *= loss_.beta;
    Random random(seed);
    std::vector<Multiclass::Scored> drawn;
    for (std::size_t k = 0; k < options.samples; ++k) {
      const Multiclass::Output y = structure_.sample(scaled, random, ws);
      drawn.push_back({y, s[y]});
    }
    return drawn;
  }

  void append_list(std::span<const double> s, std::span<double> mu, const ClassifyPredictOptions& options,
                   std::uint64_t seed, std::string& line, Workspace& ws) const {
    if (loss_.smooth()) probabilities(s, mu, ws);
    bool first = true;
    for (const auto& [y, score] : listed(s, options, seed, ws)) {
      if (!std::exchange(first, false)) line += '\t';
      line += fmt::format("{}:{:.6f}", labels_.name(y), loss_.smooth() ? mu[y] : score);
    }
  }

  // {"label": ..., "marginals": {...}, "entropy": ..., "kbest": [...]}
  void append_object(std::span<const double> s, std::uint32_t best, const ClassifyPredictOptions& options,
                     std::uint64_t seed, std::string& line, Workspace& ws) const {
    std::vector<double> mu(labels_.size());
    if (loss_.smooth()) probabilities(s, mu, ws);
    Json object{{"label", labels_.name(best)}};
    for (std::uint32_t y = 0; options.marginals && y < labels_.size(); ++y)
      object["marginals"][labels_.name(y)] = mu[y];
    if (options.entropy) object["entropy"] = rounded_entropy(entropy(s, ws));
    if (list_length(options) > 0) {
      Json& list = object[std::string(list_name(options))] = Json::array();
      for (const auto& [y, score] : listed(s, options, seed, ws)) {
        Json one{{"label", labels_.name(y)}};
        one[loss_.smooth() ? "probability" : "score"] = loss_.smooth() ? mu[y] : score;
        list.push_back(std::move(one));
      }
    }
    line += object.dump() + '\n';
  }

  WeightsView theta_;
  Loss loss_;
  ClassifyFormat format_;
  bool bias_, has_costs_;
  Dictionary attributes_, labels_;
  std::shared_ptr<const KernelNodes> nodes_;  // what weights are coefficients of; null: of attributes
  bool left_out_;                             // attributes whose weights are zero
  Multiclass structure_;
  std::span<const float> costs_;
  TextSettings text_;           // where the format is text
  std::span<const float> idf_;  // by attribute; empty: none
};

}  // namespace

std::unique_ptr<TrainingSet> read_classify_training(const InputFiles& files, const ClassifyOptions& options) {
  return std::make_unique<ClassifyTrainingSet>(
      files, options, [&](const ClassifyReadOptions& reading, Dictionary& attributes, Dictionary& labels) {
        return read_classify_growing(files, reading, attributes, labels);
      });
}

namespace {

// Data in memory is of one format, whatever its kind is: the options may say so, and nothing else.
template <class Data>
std::unique_ptr<TrainingSet> make_training(const Data& data, ClassifyFormat format,
                                           const ClassifyOptions& options, const Data* dev) {
  ClassifyOptions of_data = options;
  of_data.format = to_string(format);
  if (options.format && options.format != of_data.format) {
    throw Error::in("format", fmt::format("{} given with data in memory", *options.format),
                    fmt::format("expected none, or {}", *of_data.format));
  }
  auto set = std::make_unique<ClassifyTrainingSet>(
      kDataInMemory, of_data,
      [&](const ClassifyReadOptions& reading, Dictionary& attributes, Dictionary& labels) {
        return take_classify_growing(data, reading, attributes, labels);
      });
  if (dev != nullptr) set->take_dev(*dev);
  return set;
}

}  // namespace

std::unique_ptr<TrainingSet> make_classify_training(const ClassifyData& data, const ClassifyOptions& options,
                                                    const ClassifyData* dev) {
  return make_training(data, data.has_texts() ? ClassifyFormat::text : ClassifyFormat::crfsuite, options,
                       dev);
}

std::unique_ptr<TrainingSet> make_classify_training(const ClassifyMatrix& data,
                                                    const ClassifyOptions& options,
                                                    const ClassifyMatrix* dev) {
  return make_training(data, data.columns.empty() ? ClassifyFormat::libsvm : ClassifyFormat::named, options,
                       dev);
}

std::unique_ptr<Predictor> load_classify_predictor(const StoredTask& stored) {
  return std::make_unique<ClassifyPredictor>(stored);
}

}  // namespace espalier
