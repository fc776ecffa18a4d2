#include "espalier/tasks/tag.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/random.h"
#include "espalier/base/error.h"
#include "structures/chain_kbest.h"
#include "structures/kbest_memory.h"
#include "tasks/tag/chunk_labels.h"
#include "tasks/tag/label_constraints.h"
#include "tasks/tag/model.h"
#include "tasks/tag/parser.h"
#include "tasks/tag/streamed_chain.h"

namespace espalier {
namespace {

constexpr double kExcluded = -std::numeric_limits<double>::infinity();

}  // namespace

namespace {

// Weights of observed pairs as rows, where that pays; else none.
Weights by_rows(const TagModel& model, WeightsView theta) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 26;
  const ChainShape pairs = model.shape();
  if (pairs.by_rows || !rows_pay(pairs, kMostBytes)) return {};
  ChainShape shape = pairs;
  shape.by_rows = true;
  Weights rows(shape.weights());
  for (std::size_t a = 0; a < shape.num_attributes; ++a) {
    const float* weight = theta.row(pairs.tokens->begin(a));
    for (const std::uint32_t label : pairs.tokens->labels(a)) rows.row(a)[label] = *weight++;
  }
  for (std::size_t k = 0; k < shape.num_ngrams(); ++k) {
    const WeightPlace to = shape.ngram_weight(k);
    rows.row(to.row)[to.column] = theta.at(pairs.ngram_weight(k));
  }
  return rows;
}

}  // namespace

ChainShape Tagger::shape() const {
  ChainShape shape = model_.shape();
  shape.by_rows = shape.by_rows || rows_.shape().rows > 0;
  return shape;
}

Tagger::Tagger(const TagModel& model, WeightsView theta, const Loss& loss)
    : model_(model),
      rows_(by_rows(model, theta)),
      theta_(rows_.shape().rows > 0 ? WeightsView(rows_) : theta),
      loss_(loss),
      chunks_(std::make_unique<ChunkLabels>(model.dictionaries.labels)) {}
Tagger::~Tagger() = default;

TagFormat Tagger::format() const { return model_.input.format; }
std::size_t Tagger::num_columns() const {
  return format() == TagFormat::columns ? model_.input.num_columns - 1 : 0;
}
std::size_t Tagger::num_labels() const { return model_.dictionaries.labels.size(); }
std::string_view Tagger::label(std::uint32_t id) const { return model_.dictionaries.labels.name(id); }
std::optional<std::uint32_t> Tagger::find_label(std::string_view name) const {
  return model_.dictionaries.labels.find(name);
}
bool Tagger::labels_are_chunk_tags() const { return chunks_->are_chunk_tags(); }

struct Tagger::Sentence::State {
  explicit State(const Tagger& of)
      : tagger(of), chain(of.shape(), of.theta_, of.model_.chain_constraints(), of.model_.kernel.get()) {}

  const Tagger& tagger;
  // A sentence that is added token by token.
  std::unique_ptr<TagParser> parser;  // made when it is first needed
  std::vector<std::string_view> fields;
  SequenceFile file{"sentence", {}, 1};  // for messages, where lines are tokens
  StringBuffer no_lines;
  Sequences own;
  bool open = false;  // tokens may come; `own` is not complete

  const Sequences* sequence = nullptr;
  StreamedChain chain;
  std::vector<std::uint8_t> allowed;  // tokens x labels; empty: all
  Workspace ws;
  // What was computed of this sentence.
  bool is_set = false, has_best = false, has_marginals = false;
  double best_score = 0, log_z = 0;
  std::vector<std::uint32_t> best;
  std::vector<double> scaled;  // beta times the scores
  std::vector<double> mu, other_mu;
  std::vector<Chunk> chunks;

  std::size_t num_labels() const { return tagger.num_labels(); }
  std::size_t size() const {
    if (!open) return sequence->num_tokens();
    return tagger.format() == TagFormat::columns ? fields.size() / tagger.model_.input.num_columns
                                                 : own.tokens.size();
  }

  void forget() {
    is_set = has_best = has_marginals = false;
    allowed.clear();
  }

  void check_format(bool columns) const {
    ESPALIER_EXPECT(open);
    if ((tagger.format() == TagFormat::columns) != columns) {
      throw Error(fmt::format("{} for a model of {}; expected {}", columns ? "columns" : "attributes",
                              to_string(tagger.format()), columns ? "attributes" : "columns"));
    }
  }

  void make_parser() {
    if (parser) return;
    const TagDictionaries& names = tagger.model_.dictionaries;
    parser =
        make_tag_parser(tagger.model_.input, {NameIds(names.attributes), NameIds(names.transitions)}, {});
  }

  void prepare() {
    if (is_set) return;
    if (open) complete();
    if (sequence->num_tokens() > 0) chain.set(*sequence);
    is_set = true;
  }

  void complete() {
    make_parser();
    if (tagger.format() == TagFormat::columns) {
      parser->append_table(SequenceLines(file, no_lines, 0, size(), 1, 1),
                           {fields, tagger.model_.input.num_columns}, own);
    } else {
      own.offsets.push_back(own.tokens.size());
    }
    parser->finish(own);
    sequence = &own;
    open = false;
  }

  template <class Real>
  void exclude(std::span<Real> scores) const {
    for (std::size_t k = 0; k < allowed.size(); ++k) {
      if (!allowed[k]) scores[k] = -std::numeric_limits<Real>::infinity();
    }
  }

  void find_best() {
    prepare();
    if (has_best) return;
    best.resize(size());
    best_score = 0;
    if (!best.empty()) {
      const std::span<float> scores = chain.scores(ws);
      exclude(scores);
      best_score = chain.structure().decode_into(std::span<const float>(scores), best, ws);
    }
    has_best = true;
  }

  void require_probabilities() const {
    if (tagger.has_probabilities()) return;
    throw Error(fmt::format("a model of loss {} has no probabilities; expected one with a finite beta",
                            tagger.loss_.name()));
  }
  void require_possible() const {
    if (has_best && best_score == kExcluded) {
      throw Error(
          "a sentence whose allowed labels exclude each other; expected labels that can follow each other");
    }
  }

  // u(y) ~ exp(beta s.chi(y))
  void compute_marginals() {
    if (has_marginals) return;
    require_probabilities();
    if (!allowed.empty()) find_best();  // where no labelling is left, there are no probabilities
    require_possible();
    prepare();
    if (size() > 0) {
      const std::span<double> scores = chain.double_scores(ws);
      exclude(scores);
      scaled.resize(scores.size());
      for (std::size_t k = 0; k < scores.size(); ++k) scaled[k] = tagger.loss_.beta * scores[k];
      mu.resize(scores.size());
      other_mu.resize(scores.size());
      log_z = chain.structure().log_partition(scaled, mu, ws);
    }
    has_marginals = true;
  }

  // The labels of the chunk's tokens are these; the token before does not begin it, the one after does not
  // continue with it.
  double chunk_probability(std::span<const std::uint32_t> labels, std::size_t begin, std::size_t end) {
    const std::size_t width = num_labels();
    const std::size_t first = begin > 0 ? begin - 1 : begin, last = std::min(end + 1, labels.size());
    Workspace::Frame frame(ws);
    const auto kept = frame.take<double>((last - first) * width);
    const auto nodes = std::span(scaled).subspan(first * width, kept.size());
    std::copy(nodes.begin(), nodes.end(), kept.begin());

    const ChunkLabels& chunk = *tagger.chunks_;
    for (std::size_t t = first; t < last; ++t) {
      for (std::uint32_t j = 0; j < width; ++j) {
        const bool possible = t < begin  ? !chunk.continues(j, labels[begin])
                              : t >= end ? !chunk.continues(labels[end - 1], j)
                                         : j == labels[t];
        if (!possible) scaled[t * width + j] = kExcluded;
      }
    }
    const double constrained = chain.structure().log_partition(scaled, other_mu, ws);
    std::copy(kept.begin(), kept.end(), nodes.begin());
    return std::exp(constrained - log_z);
  }

  void find_chunks(std::span<const std::uint32_t> labels) {
    compute_marginals();
    chunks.clear();
    const ChunkLabels& chunk = *tagger.chunks_;
    for (std::size_t t = 0; t < labels.size();) {
      const std::size_t begin = t++;
      if (!chunk.in_chunk(labels[begin])) continue;
      while (t < labels.size() && chunk.continues(labels[t - 1], labels[t])) ++t;
      chunks.push_back({begin, t, chunk.type(labels[begin]), chunk_probability(labels, begin, t)});
    }
  }
};

Tagger::Sentence::Sentence(const Tagger& tagger) : state_(std::make_unique<State>(tagger)) { clear(); }
Tagger::Sentence::~Sentence() = default;
Tagger::Sentence::Sentence(Sentence&&) noexcept = default;

void Tagger::Sentence::clear() {
  state_->forget();
  state_->own.clear();
  state_->fields.clear();
  state_->open = true;
}

void Tagger::Sentence::set(const Sequences& sequence) {
  ESPALIER_EXPECT(sequence.size() <= 1);
  state_->forget();
  state_->sequence = &sequence;
  state_->open = false;
}

void Tagger::Sentence::add_columns(std::span<const std::string_view> columns) {
  State& state = *state_;
  state.check_format(true);
  const Tagger& tagger = state.tagger;
  if (columns.size() != tagger.num_columns()) {
    throw Error(fmt::format("a token of {} columns; expected {} as in training, without the label",
                            columns.size(), tagger.num_columns()));
  }
  state.make_parser();
  const auto label = columns.begin() + static_cast<std::ptrdiff_t>(tagger.model_.input.label_column);
  state.fields.insert(state.fields.end(), columns.begin(), label);
  state.fields.emplace_back();
  state.fields.insert(state.fields.end(), label, columns.end());
}

void Tagger::Sentence::add_attributes(std::span<const Attribute> attributes) {
  state_->check_format(false);
  for (const Attribute& attribute : attributes) {
    if (!std::isfinite(attribute.value)) {
      throw Error(fmt::format("value {} of attribute {}; expected a finite number", attribute.value,
                              in_quotes(attribute.name)));
    }
  }
  state_->make_parser();
  state_->parser->append_token(attributes, state_->own);
}

void Tagger::Sentence::allow(std::size_t t, std::span<const std::uint32_t> labels) {
  ESPALIER_EXPECT(t < size() && !labels.empty());
  State& state = *state_;
  state.prepare();
  if (state.allowed.empty()) state.allowed.assign(size() * state.num_labels(), 1);
  const auto row = std::span(state.allowed).subspan(t * state.num_labels(), state.num_labels());
  std::fill(row.begin(), row.end(), std::uint8_t{0});
  for (const std::uint32_t label : labels) row[label] = 1;
  state.has_best = state.has_marginals = false;
}

bool Tagger::Sentence::possible() {
  state_->find_best();
  return state_->best_score != kExcluded;
}

std::size_t Tagger::Sentence::size() const { return state_->size(); }

std::span<const std::uint32_t> Tagger::Sentence::labels() {
  state_->find_best();
  state_->require_possible();
  return state_->best;
}

std::span<const double> Tagger::Sentence::marginals() {
  state_->compute_marginals();
  return std::span(state_->mu).first(size() * state_->num_labels());
}

std::span<const Tagger::Chunk> Tagger::Sentence::chunks(std::span<const std::uint32_t> labels) {
  ESPALIER_EXPECT(labels.size() == size());
  state_->find_chunks(labels);
  return state_->chunks;
}

double Tagger::Sentence::score(std::span<const std::uint32_t> labels) {
  ESPALIER_EXPECT(labels.size() == size());
  State& state = *state_;
  state.prepare();
  if (labels.empty()) return 0;
  const std::span<double> scores = state.chain.double_scores(state.ws);
  state.exclude(scores);
  const Chain chain = state.chain.structure();
  if (const ChainConstraints* constraints = chain.constraints()) {
    const auto one = [&](std::size_t t) { return labels.subspan(t, 1); };
    if (first_break(*constraints, labels.size(), one)) return kExcluded;
  }
  Workspace::Frame frame(state.ws);
  const auto chi = frame.take<double>(scores.size());
  std::fill(chi.begin(), chi.end(), 0.0);
  chain.add_indicator(labels, 1.0, chi);
  double sum = 0;
  for (std::size_t k = 0; k < chi.size(); ++k) {
    if (chi[k] != 0) sum += chi[k] * scores[k];
  }
  return sum;
}

void Tagger::Sentence::for_each_contribution(std::size_t t, std::span<const std::uint32_t> labels,
                                             const std::function<void(const Contribution&)>& visit) {
  ESPALIER_EXPECT(t < size() && labels.size() == size());
  State& state = *state_;
  state.prepare();
  const TagModel& model = state.tagger.model_;
  if (model.kernel) {
    throw Error(
        "contributions of attributes: asked of a model of a kernel, which has no weights of them; expected "
        "one without a kernel");
  }
  const ChainShape shape = state.tagger.shape();
  const WeightsView theta = state.tagger.theta_;
  const Sequences& sequence = *state.sequence;
  const auto add = [&](const Dictionary& names, const SparseRows::Row& row,
                       std::span<const std::uint32_t> before, const auto& place_of) {
    for (std::size_t j = 0; j < row.ids.size(); ++j) {
      if (const std::optional<WeightPlace> place = place_of(row.ids[j]))
        visit({names.name(row.ids[j]), before, row.value(j), theta.at(*place)});
    }
  };
  add(model.dictionaries.attributes, sequence.tokens.row(t), {},
      [&](std::uint32_t a) { return shape.token_weight(a, labels[t]); });
  if (t > 0 && shape.has_tables()) {
    const std::size_t row = sequence.transition_of.empty() ? 0 : sequence.transition_of[t];
    add(model.dictionaries.transitions, sequence.transitions.row(row), labels.subspan(t - 1, 1),
        [&](std::uint32_t a) { return shape.step_weight(a, labels[t - 1], labels[t]); });
  }
  for (std::size_t n = 2; shape.ngrams && n <= shape.ngrams->order() + 1 && n <= t + 1; ++n) {
    const auto ngram = labels.subspan(t + 1 - n, n);
    if (const auto k = shape.ngrams->find(ngram))
      visit({model.ngram_attribute(), ngram.first(n - 1), 1, theta.at(shape.ngram_weight(*k))});
  }
}

void Tagger::Sentence::for_each_best(
    std::size_t k, const std::function<void(std::span<const std::uint32_t> labels, double score)>& visit) {
  State& state = *state_;
  if (!state.allowed.empty()) state.find_best();
  state.require_possible();
  state.prepare();
  if (size() == 0) return;
  const std::span<double> scores = state.chain.double_scores(state.ws);
  state.exclude(scores);
  // A copy: whoever visits may ask for probabilities, which take the scores anew.
  espalier::for_each_best(state.chain.structure(), std::vector<double>(scores.begin(), scores.end()), k,
                          visit);
}

std::vector<Tagger::Sentence::Scored> Tagger::Sentence::kbest(std::size_t k) {
  std::vector<Scored> best;
  KbestMemory memory;
  for_each_best(k, [&](std::span<const std::uint32_t> labels, double score) {
    memory.add(sizeof(Scored) + labels.size_bytes());
    best.push_back({{labels.begin(), labels.end()}, score});
  });
  return best;
}

std::vector<Tagger::Sentence::Scored> Tagger::Sentence::samples(std::size_t n, std::uint64_t seed) {
  State& state = *state_;
  state.compute_marginals();  // which leaves the scaled scores
  Random random(seed);
  std::vector<Scored> drawn;
  if (size() == 0) return drawn;
  for (Chain::Output& y : state.chain.structure().samples(state.scaled, n, random, state.ws)) {
    const double of_labels = score(y);
    drawn.push_back({std::move(y), of_labels});
  }
  return drawn;
}

double Tagger::Sentence::entropy() {
  State& state = *state_;
  state.compute_marginals();
  double sum = size() > 0 ? state.log_z : 0;
  for (std::size_t k = 0; k < state.mu.size() && size() > 0; ++k)
    sum -= state.mu[k] > 0 ? state.mu[k] * state.scaled[k] : 0;
  return sum;
}

double Tagger::Sentence::probability(double score) {
  state_->compute_marginals();
  return std::exp(state_->tagger.loss_.beta * score - state_->log_z);
}

}  // namespace espalier
