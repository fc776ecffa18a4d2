#include <cmath>
#include <iterator>

#include "espalier/base/error.h"
#include "espalier/tasks/chunks.h"
#include "espalier/tasks/tag.h"
#include "tasks/common.h"
#include "tasks/streamed_chain.h"
#include "tasks/tag_model.h"

namespace espalier {
namespace {

// What separates the fields of a line, so that one more can be added.
char separator(std::string_view line) {
  if (line.find('\t') != std::string_view::npos) return '\t';
  return line.find(' ') != std::string_view::npos ? ' ' : '\t';
}

// What `predict` writes, collected into large pieces.
class TagWriter {
 public:
  TagWriter(TagFormat format, const Dictionary& labels, const std::function<void(std::string_view)>& write)
      : format_(format), labels_(labels), write_(write) {}

  // "# RANK VALUE", above one of several labellings
  void head(std::size_t rank, double value) {
    fmt::format_to(std::back_inserter(buffer_), "# {} {:.6f}\n", rank, value);
  }
  // A labelling of the stream's sequence, and the marginals of its nodes if there are some.
  void sequence(const TagStream& stream, std::span<const std::uint32_t> y, std::span<const double> mu) {
    for (std::size_t t = 0; t < y.size(); ++t) {
      char between = '\t';
      if (format_ == TagFormat::columns) {
        between = separator(stream.line(t));
        buffer_ += stream.line(t);
        buffer_ += between;
      }
      buffer_ += labels_.name(y[t]);
      if (!mu.empty()) append_marginals(mu.subspan(t * labels_.size(), labels_.size()), between);
      buffer_ += '\n';
    }
    buffer_ += '\n';
    if (buffer_.size() >= kFull) flush();
  }
  void flush() {
    write_(buffer_);
    buffer_.clear();
  }

 private:
  void append_marginals(std::span<const double> mu, char between) {
    for (std::uint32_t label = 0; label < labels_.size(); ++label) {
      fmt::format_to(std::back_inserter(buffer_), "{}{}:{:.6f}", between, labels_.name(label), mu[label]);
    }
  }

  static constexpr std::size_t kFull = 1 << 18;
  TagFormat format_;
  const Dictionary& labels_;
  const std::function<void(std::string_view)>& write_;
  std::string buffer_;
};

class TagPredictor final : public Predictor {
 public:
  explicit TagPredictor(const StoredTask& stored)
      : theta_(stored.theta), loss_(stored.loss), model_(TagModel::load(stored)), shape_(model_.shape()) {}

  void predict(const std::string& input, const PredictOptions& options,
               const std::function<void(std::string_view)>& write) const override {
    check_marginals(options, loss_);
    check_format(options.format);
    TagStream stream(input, model_.input, model_.dictionaries, false);
    StreamedChain chain(shape_, theta_);
    TagWriter writer(model_.input.format, model_.dictionaries.labels, write);
    std::vector<std::uint32_t> best;
    std::vector<double> mu;
    Workspace ws;
    while (stream.next()) {
      chain.set(stream.sequence());
      double log_z = 0;
      if (loss_.smooth() && (options.marginals || options.kbest > 0)) {
        log_z = marginals(chain, mu, ws);
      }
      const std::span<const double> shown = options.marginals ? mu : std::span<const double>();
      if (options.kbest > 0) {
        write_kbest(stream, chain, options.kbest, log_z, shown, writer, ws);
      } else {
        decode(chain, stream.size(), best, ws);
        writer.sequence(stream, best, shown);
      }
    }
    writer.flush();
  }

  Evaluation evaluate(const std::string& gold, const std::optional<std::string>& format) const override {
    check_format(format);
    TagStream stream(gold, model_.input, model_.dictionaries, true);
    StreamedChain chain(shape_, theta_);
    ChunkScores scores;
    std::vector<std::uint32_t> best;
    std::vector<std::string_view> right, predicted;
    Workspace ws;
    std::size_t known = 0;
    while (stream.next()) {
      known += stream.sequence().tokens.num_entries();
      chain.set(stream.sequence());
      decode(chain, stream.size(), best, ws);
      right.clear();
      predicted.clear();
      for (std::size_t t = 0; t < best.size(); ++t) {
        right.push_back(stream.label(t));
        predicted.push_back(model_.dictionaries.labels.name(best[t]));
      }
      scores.add(right, predicted);
    }
    // Data of another format, or of other templates, would only look like a very bad model.
    if (known == 0 && model_.dictionaries.attributes.size() > 0) {
      throw Error::in(gold == "-" ? "standard input" : gold, "no attribute that the model knows",
                      fmt::format("expected data like that of its training, in the format {}",
                                  to_string(model_.input.format)));
    }
    return scores.evaluate();
  }

  std::string describe() const override { return model_.describe(); }

  std::string strongest(std::size_t top) const override {
    std::string text;
    for (std::uint32_t y = 0; y < num_labels(); ++y) {
      text += fmt::format("{}\n", label(y));
      append_heaviest(
          shape_.num_attributes, top, [&](std::uint32_t a) { return theta_.row(a)[y]; },
          [&](std::uint32_t a) { return model_.dictionaries.attributes.name(a); }, text);
    }
    if (shape_.num_transition_attributes == 0) return text;
    text += "transitions\n";
    append_heaviest(
        num_transitions(), top, [&](std::uint32_t k) { return transition(k).weight; },
        [&](std::uint32_t k) { return describe(transition(k)); }, text);
    return text;
  }

  void for_each_weight(
      const std::function<void(const WeightName& name, float weight)>& visit) const override {
    for (std::uint32_t a = 0; a < shape_.num_attributes; ++a) {
      for (std::uint32_t y = 0; y < num_labels(); ++y) {
        visit({model_.dictionaries.attributes.name(a), {}, label(y)}, theta_.row(a)[y]);
      }
    }
    for (std::uint32_t k = 0; k < num_transitions(); ++k) {
      const Transition step = transition(k);
      const std::string_view before = label(step.before);
      visit({model_.dictionaries.transitions.name(step.attribute), {&before, 1}, label(step.after)},
            step.weight);
    }
  }
  std::optional<float> find_weight(const WeightName& name) const override {
    const auto place = model_.find_weight(name);
    if (!place) return std::nullopt;
    return theta_.row(place->row)[place->column];
  }
  const Dictionary& labels() const override { return model_.dictionaries.labels; }
  const Dictionary& attributes() const override { return model_.dictionaries.attributes; }

 private:
  struct Transition {
    std::uint32_t attribute, before, after;
    float weight;
  };

  std::size_t num_labels() const { return shape_.num_labels; }
  std::string_view label(std::uint32_t y) const { return model_.dictionaries.labels.name(y); }
  std::size_t num_transitions() const {
    return shape_.num_transition_attributes * num_labels() * num_labels();
  }
  // The k-th of them: those of an attribute are L x L.
  Transition transition(std::size_t k) const {
    const std::size_t row = k / num_labels(), after = k % num_labels();
    return {static_cast<std::uint32_t>(row / num_labels()), static_cast<std::uint32_t>(row % num_labels()),
            static_cast<std::uint32_t>(after), theta_.row(shape_.num_attributes + row)[after]};
  }

  // Where all steps are alike, the name of what they have in common says nothing.
  std::string describe(const Transition& step) const {
    std::string pair = fmt::format("{} -> {}", label(step.before), label(step.after));
    if (shape_.num_transition_attributes == 1) return pair;
    return fmt::format("{}  {}", pair, model_.dictionaries.transitions.name(step.attribute));
  }

  // Attributes of one format mean nothing in the other.
  void check_format(const std::optional<std::string>& format) const {
    if (!format || parse_tag_format(*format) == model_.input.format) return;
    throw Error::in("--format", fmt::format("{} for a model of {}", *format, to_string(model_.input.format)),
                    "expected the format that the model was trained on");
  }

  static void decode(StreamedChain& chain, std::size_t length, std::vector<std::uint32_t>& best,
                     Workspace& ws) {
    best.resize(length);
    chain.structure().decode_into(chain.scores(ws), best, ws);
  }

  // Under u(y) ~ exp(beta s.chi(y)). Returns log Z.
  double marginals(StreamedChain& chain, std::vector<double>& mu, Workspace& ws) const {
    const std::span<const double> s = chain.double_scores(ws);
    Workspace::Frame frame(ws);
    const auto scaled = frame.take<double>(s.size());
    for (std::size_t k = 0; k < s.size(); ++k) scaled[k] = loss_.beta * s[k];
    mu.resize(s.size());
    return chain.structure().log_partition(scaled, mu, ws);
  }

  void write_kbest(const TagStream& stream, StreamedChain& chain, std::size_t k, double log_z,
                   std::span<const double> mu, TagWriter& writer, Workspace& ws) const {
    std::size_t rank = 0;
    for (const auto& [y, score] : chain.structure().kbest(chain.double_scores(ws), k)) {
      writer.head(rank++, loss_.smooth() ? std::exp(loss_.beta * score - log_z) : score);
      writer.sequence(stream, y, mu);
    }
  }

  WeightsView theta_;
  Loss loss_;
  TagModel model_;
  ChainShape shape_;
};

}  // namespace

std::unique_ptr<Predictor> load_tag_predictor(const StoredTask& stored) {
  return std::make_unique<TagPredictor>(stored);
}

}  // namespace espalier
