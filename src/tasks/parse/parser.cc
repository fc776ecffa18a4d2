#include "espalier/tasks/parse.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "espalier/base/error.h"
#include "tasks/common.h"
#include "tasks/parse/model.h"

namespace espalier {
namespace {

std::string_view or_blank(std::string_view field) { return field.empty() ? "_" : field; }

}  // namespace

Parser::Parser(const ParseModel& model, WeightsView theta, const Loss& loss)
    : model_(model), theta_(theta), loss_(loss) {}

bool Parser::labelled() const { return model_.labelled(); }
std::size_t Parser::num_relations() const { return model_.relations.size(); }
std::string_view Parser::relation(std::uint32_t id) const { return model_.relations.name(id); }
std::optional<std::uint32_t> Parser::find_relation(std::string_view name) const {
  return model_.relations.find(name);
}
bool Parser::has_kbest() const { return !model_.second_order; }

struct Parser::Sentence::State {
  explicit State(const Parser& of)
      : parser(of), model(of.model_), features(model.features()), pruner(model.make_pruner()) {}

  ArcSet arcs() const { return pruner ? ArcSet(arc_offsets, arc_heads) : ArcSet(words.size()); }
  DependencyTree tree() const { return {arcs(), model.shape, parts(0)}; }

  void forget() { scored = has_best = has_marginals = false; }

  void score() {
    if (scored) return;
    if (words.empty()) throw Error("a sentence without words; expected some to parse");
    if (pruner) pruner->choose(words, {}, arc_offsets, arc_heads, ws);
    parts.clear();
    if (model.second_order) parts.append(arcs(), model.shape.projective);
    s.resize(tree().num_statistics());
    features.score(words, arcs(), parser.theta_.row(0), 1.0, std::span<double>(s), ws, parts(0));
    scored = true;
  }

  void find_best() {
    if (has_best) return;
    score();
    heads.resize(words.size());
    labels.resize(words.size());
    tree().decode_into(std::span<const double>(s), heads, labels, ws);
    relations.clear();
    if (model.labelled()) {
      for (const std::uint32_t label : labels) relations.push_back(model.relations.name(label));
    }
    has_best = true;
  }

  // u(y) ~ exp(beta s.chi(y)): log Z, and the sums of its marginals over labels.
  void find_marginals() {
    if (has_marginals) return;
    check_has_probabilities(parser.loss_);
    score();
    Workspace::Frame frame(ws);
    const auto scaled = frame.take<double>(s.size());
    for (std::size_t k = 0; k < s.size(); ++k) scaled[k] = parser.loss_.beta * s[k];
    const auto mu = frame.take<double>(s.size());
    log_z = tree().log_partition(std::span<const double>(scaled), mu, ws);
    const ArcSet possible = arcs();
    const std::size_t m = words.size(), num_labels = model.shape.num_labels;
    matrix.assign(arc_matrix_size(m), 0);
    for (std::size_t d = 1; d <= m; ++d) {
      for (std::size_t a = possible.begin(d); a < possible.end(d); ++a) {
        for (std::size_t l = 0; l < num_labels; ++l)
          matrix[arc_matrix_index(m, possible.head(a, d), d)] += mu[a * num_labels + l];
      }
    }
    has_marginals = true;
  }

  const Parser& parser;
  const ParseModel& model;
  DependencyFeatures features;
  std::optional<ArcPruner> pruner;
  Workspace ws;
  std::vector<WordAtoms> words;
  bool scored = false, has_best = false, has_marginals = false;
  std::vector<std::uint32_t> arc_offsets;
  std::vector<std::uint16_t> arc_heads;
  TreePartLists parts;
  std::vector<double> s;
  std::vector<std::uint32_t> heads, labels;
  std::vector<std::string_view> relations;
  std::vector<double> matrix;  // of probabilities, as arc_matrix_index() has it
  double log_z = 0;
};

Parser::Sentence::Sentence(const Parser& parser) : state_(std::make_unique<State>(parser)) {}
Parser::Sentence::~Sentence() = default;
Parser::Sentence::Sentence(Sentence&&) noexcept = default;

void Parser::Sentence::clear() {
  state_->forget();
  state_->words.clear();
}

void Parser::Sentence::add(const DependencyWord& word) {
  state_->forget();
  state_->words.push_back(word_atoms(or_blank(word.form), or_blank(word.lemma), or_blank(word.coarse),
                                     or_blank(word.fine), or_blank(word.feats)));
}

void Parser::Sentence::set(const DependencySentence& sentence) {
  clear();
  append_atoms(sentence, state_->words);
}

std::size_t Parser::Sentence::size() const { return state_->words.size(); }

std::span<const std::uint32_t> Parser::Sentence::heads() {
  state_->find_best();
  return state_->heads;
}

std::span<const std::string_view> Parser::Sentence::relations() {
  state_->find_best();
  return state_->relations;
}

std::span<const double> Parser::Sentence::head_probabilities(std::size_t word) {
  ESPALIER_EXPECT(word >= 1 && word <= size());
  state_->find_marginals();
  return std::span<const double>(state_->matrix).subspan(arc_matrix_index(size(), 0, word), size() + 1);
}

std::vector<Parser::Sentence::Scored> Parser::Sentence::kbest(std::size_t k) {
  if (!state_->parser.has_kbest())
    throw Error("the k best trees with a parser of order 2; expected a model of order 1");
  state_->score();
  std::vector<Scored> best;
  for (DependencyTree::Scored& one : state_->tree().kbest(state_->s, k)) {
    best.push_back({std::move(one.output.heads), {}, one.score});
    if (state_->parser.labelled()) best.back().relations = std::move(one.output.labels);
  }
  return best;
}

double Parser::Sentence::probability(double score) {
  state_->find_marginals();
  return std::exp(state_->parser.loss_.beta * score - state_->log_z);
}

}  // namespace espalier
