#include <charconv>
#include <utility>

#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/tasks/tag.h"
#include "tasks/blocks.h"
#include "tasks/common.h"
#include "tasks/drawing.h"
#include "tasks/fields.h"
#include "tasks/json_lines.h"
#include "tasks/tag/model.h"
#include "tasks/tag/parser.h"
#include "tasks/tag/scores.h"
#include "tasks/tag/text_columns.h"
#include "tasks/tag/weights.h"
#include "tasks/text_sentences.h"

namespace espalier {
namespace {

// What separates the fields of a line, so that one more can be added. Where TABs do, a space is part of a
// field.
char separator(std::string_view line, Separator of_file) {
  if (of_file == Separator::tab || line.find('\t') != std::string_view::npos) return '\t';
  return line.find(' ') != std::string_view::npos ? ' ' : '\t';
}

// Where the labels of a column file are; nullopt where it has none, or where a line that is no token lacks
// them.
std::optional<std::size_t> find_label_column(const TagInput& input, TagLabels labels,
                                             const SequenceFile& file, std::string_view line) {
  const std::size_t columns = count_columns(file.first_line, separator_of(input)),
                    forced = labels.forced_column ? 1 : 0;
  if (columns < input.num_columns + forced || count_columns(line, separator_of(input)) != columns)
    return std::nullopt;
  if (input.more_columns) return columns - 1;
  return input.label_column + (forced > 0 && *labels.forced_column <= input.label_column ? 1 : 0);
}

// The first column of a file that is neither its label nor its forced label or weight.
std::size_t find_word_column(const TagInput& input, TagLabels labels, const SequenceFile& file) {
  const auto label = find_label_column(input, labels, file, file.first_line);
  std::size_t column = 0;
  while (column == label || column == labels.forced_column || column == input.weight_column) ++column;
  return column;
}

std::string_view find_field(const TagInput& input, std::string_view line, std::size_t column) {
  std::string_view found;
  std::size_t at = 0;
  for_each_field(line, separator_of(input), [&](std::string_view field) {
    if (at++ == column) found = field;
  });
  return found;
}

// Where forced labels are, as --forced says.
TagLabels forced_labels(const std::optional<std::string>& forced, TagFormat format) {
  TagLabels labels;
  if (!forced) return labels;
  if (*forced == "label") {
    labels.required = format == TagFormat::columns;
    return labels;
  }
  std::size_t column = 0;
  const char* end = forced->data() + forced->size();
  const auto result = std::from_chars(forced->data(), end, column);
  if (result.ec != std::errc() || result.ptr != end || column == 0) {
    throw Error::in(setting("forced"), in_quotes(*forced), "expected label, or a column counted from 1");
  }
  if (format != TagFormat::columns) {
    throw Error::in(setting("forced"), fmt::format("column {} for a model of {}", column, to_string(format)),
                    "expected label");
  }
  labels.forced_column = column - 1;
  return labels;
}

// The sequences of a file that one worker looks at together, and what comes of them.
struct TagBlock {
  static constexpr std::size_t kFull = std::size_t{1} << 16;

  SequenceBlock sequences;
  std::size_t first = 0;       // sequences of the file before them
  std::size_t num_known = 0;   // attributes
  std::size_t num_tokens = 0;  // all of them
  // Prediction.
  std::string text;
  TextStretch stretch;                       // of plain text, whose sentences these are then,
  std::vector<TextSentences::Place> places;  // and where their tokens are in it
  // Evaluation.
  StringBuffer gold;
  std::vector<std::uint32_t> predicted;

  auto results() { return std::tie(text, num_known, num_tokens, gold, predicted); }
};

// One thread's: turns lines into sentences and labels them.
class TagWorker {
 public:
  TagWorker(const TagModel& model, const Tagger& tagger, TagLabels labels, std::optional<Encoding> encoding)
      : tagger_(tagger),
        input_(model.input),
        file_labels_(labels),
        encoding_(encoding),
        parser_(make_tag_parser(
            model.input, {NameIds(model.dictionaries.attributes), NameIds(model.dictionaries.transitions)},
            labels)),
        sentence_(tagger) {}

  void predict(const SequenceFile& file, const TagPredictOptions& options, TagBlock& block,
               const EarlyWriter& write_early) {
    block.text.clear();
    block.num_known = block.num_tokens = 0;
    places_ = block.places;
    for (std::size_t i = 0; i < block.sequences.size(); ++i) {
      const SequenceLines lines = block.sequences.sequence(file, i);
      if (!options.json) append_between(block.sequences.before(i), file, options, block.text);
      labels_.clear();
      parse(lines, labels_);
      block.num_known += sequence_.tokens.num_entries();
      block.num_tokens += lines.size();
      if (options.forced) force(lines);
      const auto marginals =
          options.marginals == TagMarginals::label ? sentence_.marginals() : std::span<const double>();
      const std::uint64_t seed = seed_of_item(options.seed, block.first + i);
      if (options.json) {
        append_object(lines, marginals, options, seed, block.text, write_early);
        if (!places_.empty()) places_ = places_.subspan(lines.size());
        continue;
      }
      if (options.entropy) append_entropy_comment(sentence_.entropy(), block.text);
      if (list_length(options) == 0) {
        write(lines, sentence_.labels(), marginals, options, block.text);
        continue;
      }
      std::size_t rank = 0;
      for_each_listed(options, seed, [&](std::span<const std::uint32_t> y, double score) {
        append_format(block.text, "# {} {:.6f}\n", rank++,
                      tagger_.has_probabilities() ? sentence_.probability(score) : score);
        write(lines, y, marginals, options, block.text);
        write_early(block.text);
      });
    }
    if (!options.json) append_between(block.sequences.after(), file, options, block.text);
  }

  // Plain text, by columns as text_columns() has them.
  void read_text(std::span<const ColumnTagger> taggers, std::span<const TextColumn> columns,
                 TagBlock& block) {
    if (!text_) text_.emplace(taggers);
    text_->split(block.stretch);
    block.sequences.clear();
    std::string line;
    for (std::size_t i = 0; i < text_->size(); ++i) {
      for (std::size_t t = text_->begin(i); t < text_->begin(i + 1); ++t) {
        line.clear();
        for (const TextColumn& column : columns) {
          if (!line.empty()) line += '\t';
          line += column.at(*text_, t);
        }
        block.sequences.add_line(line);
      }
      block.sequences.end_sequence(block.stretch.first_line);
    }
    block.places.assign(text_->places().begin(), text_->places().end());
  }

  void evaluate(const SequenceFile& file, TagBlock& block) {
    block.num_known = 0;
    block.gold.clear();
    block.predicted.clear();
    for (std::size_t i = 0; i < block.sequences.size(); ++i) {
      const SequenceLines lines = block.sequences.sequence(file, i);
      labels_.clear();
      parse(lines, labels_);
      right_.clear();
      for (std::size_t t = 0; t < lines.size(); ++t) right_.push_back(labels_[t]);
      check_labels(input_.encoding, lines, right_);
      for (const std::string_view label : right_) block.gold.add(label);
      block.num_known += sequence_.tokens.num_entries();
      const auto best = sentence_.labels();
      block.predicted.insert(block.predicted.end(), best.begin(), best.end());
    }
  }

 private:
  // The k best labellings, or those that are drawn.
  template <class Visit>
  void for_each_listed(const TagPredictOptions& options, std::uint64_t seed, const Visit& visit) {
    if (options.samples == 0) return sentence_.for_each_best(options.kbest, visit);
    for (const auto& [labels, score] : sentence_.samples(options.samples, seed)) visit(labels, score);
  }

  void parse(const SequenceLines& lines, StringBuffer& labels) {
    sequence_.clear();
    parser_->append(lines, sequence_, labels);
    parser_->finish(sequence_);
    sentence_.set(sequence_);
  }

  void force(const SequenceLines& lines) {
    for (std::size_t t = 0; t < lines.size(); ++t) {
      if (find_allowed(lines, t)) sentence_.allow(t, allowed_);
    }
    if (sentence_.possible()) return;
    // It is the first one that leaves no labelling, together with those before.
    sentence_.set(sequence_);
    for (std::size_t t = 0; t < lines.size(); ++t) {
      if (!find_allowed(lines, t)) continue;
      sentence_.allow(t, allowed_);
      if (!sentence_.possible()) {
        lines.fail(t, fmt::format("the forced label {}", in_quotes(labels_[t])),
                   "expected one that the model's constraints allow with those before it");
      }
    }
  }

  // The labels that the text names, "A" or "A|B|C", into allowed_. False where every label is allowed.
  bool find_allowed(const SequenceLines& lines, std::size_t t) {
    std::string_view text = labels_[t];
    if (text.empty() || text == "_" || text == "?") return false;
    allowed_.clear();
    if (const auto whole = tagger_.find_label(text)) {
      allowed_.push_back(*whole);
      return true;
    }
    for (bool more = true; more;) {
      const std::size_t bar = text.find('|');
      const std::string_view name = text.substr(0, bar);
      const auto label = tagger_.find_label(name);
      if (!label) {
        lines.fail(t, fmt::format("the forced label {}", in_quotes(name)),
                   "expected a label of the model, several of them as 'A|B', or '_' for any");
      }
      allowed_.push_back(*label);
      more = bar != std::string_view::npos;
      if (more) text.remove_prefix(bar + 1);
    }
    return true;
  }

  // The labels as they are written, without chunks that are too improbable; and, where they are asked for,
  // the confidence of each token's chunk.
  std::span<const std::string_view> written_labels(std::span<const std::uint32_t> y,
                                                   const TagPredictOptions& options) {
    const bool confidences = options.marginals == TagMarginals::entity || options.min_confidence > 0;
    confidences_.assign(y.size(), kOutside);
    if (confidences) find_confidences(y);
    names_.clear();
    for (std::size_t t = 0; t < y.size(); ++t) {
      if (confidences_[t] == kOutside || confidences_[t] >= options.min_confidence) {
        names_.push_back(tagger_.label(y[t]));
      } else {
        names_.push_back(tagger_.labels_are_chunk_tags() ? "O" : "_");
        confidences_[t] = kOutside;
      }
    }
    return encoding_ ? convert_encoding(names_, *encoding_, converted_)
                     : std::span<const std::string_view>(names_);
  }

  void write(const SequenceLines& lines, std::span<const std::uint32_t> y, std::span<const double> marginals,
             const TagPredictOptions& options, std::string& to) {
    const auto names = written_labels(y, options);
    for (std::size_t t = 0; t < y.size(); ++t) {
      char between = '\t';
      if (tagger_.format() != TagFormat::crfsuite) {
        between = separator(lines.line(t), separator_of(input_));
        to += lines.line(t);
        to += between;
      }
      to += names[t];
      if (options.marginals == TagMarginals::entity) append_confidence(confidences_[t], between, to);
      if (!marginals.empty()) {
        append_marginals(marginals.subspan(t * tagger_.num_labels(), tagger_.num_labels()), between, to);
      }
      to += '\n';
    }
    to += '\n';
  }

  // {"tokens": [...], "labels": [...], "chunks": [...], "marginals": [...], "entropy": ..., "kbest": [...]}
  void append_object(const SequenceLines& lines, std::span<const double> marginals,
                     const TagPredictOptions& options, std::uint64_t seed, std::string& to,
                     const EarlyWriter& write_early) {
    to += '{';
    if (tagger_.format() == TagFormat::columns) {
      const std::size_t word = find_word_column(input_, file_labels_, lines.file());
      to += "\"tokens\":";
      append_json_list(lines.size(), to,
                       [&](std::size_t t) { append_json(find_field(input_, lines.line(t), word), to); });
      to += ',';
    }
    if (!places_.empty()) {
      append_offsets(places_.first(lines.size()), to);
      to += ',';
    }
    append_labels(sentence_.labels(), options, to);
    if (!marginals.empty()) {
      const std::size_t width = tagger_.num_labels();
      to += ",\"marginals\":";
      append_json_list(lines.size(), to, [&](std::size_t t) {
        for (std::uint32_t label = 0; label < width; ++label) {
          to += label == 0 ? '{' : ',';
          append_json(tagger_.label(label), to);
          to += ':';
          append_json(marginals[t * width + label], to);
        }
        to += '}';
      });
    }
    if (options.entropy) append_entropy_json(sentence_.entropy(), to);
    if (list_length(options) > 0) {
      append_format(to, ",\"{}\":[", list_name(options));
      bool first = true;
      for_each_listed(options, seed, [&](std::span<const std::uint32_t> y, double score) {
        if (!std::exchange(first, false)) to += ',';
        to += '{';
        append_labels(y, options, to);
        const bool probability = tagger_.has_probabilities();
        append_json_value(probability, probability ? sentence_.probability(score) : score, to);
        to += '}';
        write_early(to);
      });
      to += ']';
    }
    to += "}\n";
  }

  void append_labels(std::span<const std::uint32_t> y, const TagPredictOptions& options, std::string& to) {
    to += "\"labels\":";
    append_json_list(written_labels(y, options), to);
    if (options.marginals != TagMarginals::entity) return;
    to += ",\"chunks\":[";
    bool first = true;
    for (const Tagger::Chunk& chunk : chunks_) {
      if (chunk.probability < options.min_confidence) continue;
      if (!std::exchange(first, false)) to += ',';
      to += "{\"type\":";
      append_json(chunk.type, to);
      append_format(to, ",\"begin\":{},\"end\":{}", chunk.begin, chunk.end);
      append_json_value(true, chunk.probability, to);
      to += '}';
    }
    to += ']';
  }

  // What is between sequences, as it is. Lines that begin a document get as many more columns as tokens do:
  // programs such as conlleval stop at a line with another number of columns.
  void append_between(std::string_view lines, const SequenceFile& file, const TagPredictOptions& options,
                      std::string& to) const {
    while (!lines.empty()) {
      const std::size_t end = lines.find('\n');
      const std::string_view line = lines.substr(0, end);
      to += line;
      if (tagger_.format() == TagFormat::columns && begins_document(line)) {
        const char between =
            separator(count_columns(line) > 1 ? line : file.first_line, separator_of(input_));
        to += between;
        append_document_label(file, line, to);
        const std::size_t more = options.marginals == TagMarginals::entity  ? 1
                                 : options.marginals == TagMarginals::label ? tagger_.num_labels()
                                                                            : 0;
        for (std::size_t k = 0; k < more; ++k) {
          to += between;
          to += '_';
        }
      }
      to += '\n';
      lines.remove_prefix(end + 1);
    }
  }

  // Its own label, or O.
  void append_document_label(const SequenceFile& file, std::string_view line, std::string& to) const {
    const auto label_column = find_label_column(input_, file_labels_, file, line);
    if (!label_column) {
      to += 'O';
      return;
    }
    to += find_field(input_, line, *label_column);
  }

  // Of each token's chunk.
  void find_confidences(std::span<const std::uint32_t> y) {
    chunks_ = sentence_.chunks(y);
    for (const Tagger::Chunk& chunk : chunks_) {
      for (std::size_t t = chunk.begin; t < chunk.end; ++t) confidences_[t] = chunk.probability;
    }
  }

  static void append_confidence(double confidence, char between, std::string& to) {
    to += between;
    if (confidence == kOutside) {
      to += '_';
    } else {
      append_format(to, "{:.6f}", confidence);
    }
  }

  void append_marginals(std::span<const double> mu, char between, std::string& to) const {
    for (std::uint32_t label = 0; label < mu.size(); ++label) {
      append_format(to, "{}{}:{:.6f}", between, tagger_.label(label), mu[label]);
    }
  }

  static constexpr double kOutside = -1;  // no probability: the token is in no chunk
  const Tagger& tagger_;
  const TagInput& input_;
  TagLabels file_labels_;
  std::optional<Encoding> encoding_;  // of what is written, where it is not the model's
  std::unique_ptr<TagParser> parser_;
  Tagger::Sentence sentence_;
  Sequences sequence_;
  StringBuffer labels_;
  std::vector<std::string_view> right_, names_;
  ConvertedTags converted_;
  std::vector<std::uint32_t> allowed_;
  std::span<const Tagger::Chunk> chunks_;  // of the labels whose confidences were found last
  std::vector<double> confidences_;
  std::optional<TextSentences> text_;
  std::span<const TextSentences::Place> places_;  // of the tokens from this sentence on, of plain text
};

class TagPredictor final : public Predictor {
 public:
  explicit TagPredictor(const StoredTask& stored)
      : theta_(stored.theta),
        loss_(stored.loss),
        model_(TagModel::load(stored)),
        left_out_(leaves_out_attributes(stored, model_.dictionaries.attributes)),
        tagger_(model_, theta_, loss_) {}

  const Tagger* tagger() const override { return &tagger_; }

  void predict(const std::string& input, const PredictOptions& of_task,
               const std::function<void(std::string_view)>& write) const override {
    const auto options = of_task.of<TagPredictOptions>("tag");
    check_probabilities(options.marginals != TagMarginals::none, setting("marginals"), loss_);
    check_probabilities(options.min_confidence > 0, setting("min_confidence"), loss_);
    check_drawing(options, loss_);
    if (options.format == kTextFormat) return predict_text(input, options, of_task, write);
    check_columns(of_task.columns, false, {}, {});
    check_format(options.format);
    const TagLabels labels = forced_labels(options.forced, model_.input.format);
    SequenceReader reader(input, model_.input, SequenceReader::Between::keep);
    const std::size_t workers = workers_for(Threads::of(options.threads), list_length(options));
    const EarlyWriter write_early(workers, write);
    std::size_t known = 0, tokens = 0;
    for_each_block([&](TagBlock& block) { return read_block(reader, block); }, workers, labels,
                   output_encoding(options.encoding),
                   [&](TagWorker& worker, TagBlock& block) {
                     worker.predict(reader.file(), options, block, write_early);
                   },
                   [&](const TagBlock& block) {
                     write(block.text);
                     known += block.num_known;
                     tokens += block.num_tokens;
                   });
    if (model_.dictionaries.attributes.size() > 0)
      check_known({known, tokens, left_out_}, reader.name(), to_string(model_.input.format), of_task.warning);
  }

  Evaluation evaluate(const std::string& gold, const EvaluateOptions& options) const override {
    check_format(options.format);
    SequenceReader reader(gold, model_.input);
    TagScores scores(model_.input.encoding);
    std::vector<std::string_view> right, predicted;
    std::size_t sequences = 0, known = 0;
    bool known_label = model_.input.encoding.has_value();  // which may have others for the same chunks
    for_each_block([&](TagBlock& block) { return read_block(reader, block); }, Threads::of(options.threads),
                   {true, {}}, {},
                   [&](TagWorker& worker, TagBlock& block) { worker.evaluate(reader.file(), block); },
                   [&](const TagBlock& block) {
                     std::size_t token = 0;
                     for (std::size_t i = 0; i < block.sequences.size(); ++i) {
                       right.clear();
                       predicted.clear();
                       for (const std::size_t end = token + block.sequences.length(i); token < end; ++token) {
                         right.push_back(block.gold[token]);
                         known_label = known_label || tagger_.find_label(right.back());
                         predicted.push_back(tagger_.label(block.predicted[token]));
                       }
                       scores.add(right, predicted);
                     }
                     sequences += block.sequences.size();
                     known += block.num_known;
                   });
    if (sequences == 0) fail_without_sequences(reader.name());
    if (model_.dictionaries.attributes.size() > 0)
      refuse_unknown({known, sequences, left_out_}, reader.name(), to_string(model_.input.format),
                     options.warning);
    if (!known_label) refuse_unknown_labels(reader.name(), model_.dictionaries.labels);
    return scores.evaluate();
  }

  std::string describe() const override { return model_.describe(); }

  std::string strongest(std::size_t top) const override { return describe_strongest(model_, theta_, top); }
  void for_each_weight(
      const std::function<void(const WeightName& name, float weight)>& visit) const override {
    espalier::for_each_weight(model_, theta_, visit);
  }
  std::optional<float> find_weight(const WeightName& name) const override {
    const auto place = model_.find_weight(name);
    if (!place) return std::nullopt;
    return theta_.at(*place);
  }
  const Dictionary& labels() const override { return model_.dictionaries.labels; }
  const Dictionary& attributes() const override { return model_.dictionaries.attributes; }

 private:
  void predict_text(const std::string& input, const TagPredictOptions& options, const PredictOptions& of_task,
                    const std::function<void(std::string_view)>& write) const {
    if (options.forced)
      throw Error::in(setting("forced"), "given for plain text", "expected input with a column of labels");
    const std::vector<TextColumn> columns = text_columns(model_.input, of_task.columns);
    TextReader reader(input);
    // All of its lines have the columns of this one.
    SequenceFile file{reader.name(), "word", 1};
    for (std::size_t k = 1; k < columns.size(); ++k) file.first_line += "\tcolumn";
    const std::size_t workers = workers_for(Threads::of(options.threads), list_length(options));
    const EarlyWriter write_early(workers, write);
    std::size_t known = 0, tokens = 0, stretches = 0;
    // How many sentences a stretch has is known only once it was split.
    const auto next = [&](TagBlock& block) {
      block.first = stretches++ << 32;
      return reader.next(block.stretch);
    };
    for_each_block(
        next, workers, {}, output_encoding(options.encoding),
        [&](TagWorker& worker, TagBlock& block) {
          worker.read_text(of_task.columns, columns, block);
          worker.predict(file, options, block, write_early);
        },
        [&](const TagBlock& block) {
          write(block.text);
          known += block.num_known;
          tokens += block.num_tokens;
        });
    if (model_.dictionaries.attributes.size() > 0)
      check_known({known, tokens, left_out_}, reader.name(), kTextFormat, of_task.warning);
  }

  // Attributes of one format mean nothing in the other.
  void check_format(const std::optional<std::string>& format) const {
    if (!format || parse_tag_format(*format) == model_.input.format) return;
    throw Error::in(setting("format"),
                    fmt::format("{} for a model of {}", *format, to_string(model_.input.format)),
                    "expected the format that the model was trained on");
  }

  // Only what are chunks all over can be spelt in another way.
  std::optional<Encoding> output_encoding(const std::optional<std::string>& name) const {
    if (!name) return std::nullopt;
    const Encoding encoding = parse_encoding(*name);
    for (std::uint32_t y = 0; y < tagger_.num_labels(); ++y) {
      if (is_chunk_tag(tagger_.label(y))) continue;
      throw Error::in(setting("encoding"),
                      fmt::format("a model with the label {}", in_quotes(tagger_.label(y))),
                      "expected labels that are O, or a prefix (B-, I-, E-, S-, L- or U-) and a type");
    }
    return encoding;
  }

  // The file in blocks, one worker for each thread. What `write` sees comes in the order of the file.
  void for_each_block(const std::function<bool(TagBlock&)>& next, std::size_t threads, TagLabels labels,
                      std::optional<Encoding> encoding,
                      const std::function<void(TagWorker&, TagBlock&)>& work,
                      const std::function<void(const TagBlock&)>& write) const {
    std::vector<TagWorker> workers;
    workers.reserve(threads);
    for (std::size_t w = 0; w < threads; ++w) workers.emplace_back(model_, tagger_, labels, encoding);
    std::size_t sequences = 0;
    const auto read = [&](TagBlock& block) {
      block.first = sequences;
      const bool more = next(block);
      sequences += block.sequences.size();
      return more;
    };
    run_blocks<TagBlock>(workers, read, work, write);
  }

  static bool read_block(SequenceReader& reader, TagBlock& block) {
    block.sequences.clear();
    while (block.sequences.num_bytes() < TagBlock::kFull && reader.append_next(block.sequences)) {
    }
    return block.sequences.size() > 0 || !block.sequences.after().empty();
  }

  WeightsView theta_;
  Loss loss_;
  TagModel model_;
  bool left_out_;  // attributes whose weights are zero
  Tagger tagger_;
};

}  // namespace

std::unique_ptr<Predictor> load_tag_predictor(const StoredTask& stored) {
  return std::make_unique<TagPredictor>(stored);
}

}  // namespace espalier
