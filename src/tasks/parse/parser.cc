#include "espalier/tasks/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"
#include "espalier/base/error.h"
#include "espalier/tasks/named_rows.h"
#include "structures/kbest_memory.h"
#include "tasks/common.h"
#include "tasks/parse/attachment.h"
#include "tasks/parse/model.h"
#include "tasks/pieces.h"

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
bool Parser::proves_best() const {
  return model_.second_order && !model_.shape.projective && model_.shape.inference == TreeInference::trw;
}
bool Parser::has_entropy() const { return !model_.second_order || model_.shape.projective; }

// A sentence of at most `longest` words is one piece. Whatever is `of a piece` below is that of the one which
// was looked at last.
struct Parser::Sentence::State {
  explicit State(const Parser& of)
      : parser(of), model(of.model_), features(model.features()), pruner(model.make_pruner()) {}

  std::size_t begin_of(std::size_t piece) const { return piece == 0 ? 0 : ends[piece - 1]; }
  std::size_t length_of(std::size_t piece) const { return ends[piece] - begin_of(piece); }
  std::span<const WordAtoms> words_of(std::size_t piece) const {
    return std::span(words).subspan(begin_of(piece), length_of(piece));
  }
  ArcSet arcs() const {
    return pruner || !forced.empty() ? ArcSet(arc_offsets, arc_heads) : ArcSet(length_of(scored));
  }
  DependencyTree tree() const { return {arcs(), model.shape, parts(0)}; }

  void forget() {
    ends.clear();
    scored = with_marginals = kNone;
    has_best = false;
    log_z.reset();
    forced.clear();
  }

  void divide() {
    if (!ends.empty()) return;
    if (words.empty()) throw Error("a sentence without words; expected some to parse");
    ends = ends_of_pieces(words.size(), model.longest, [&](std::size_t k) { return punctuation[k]; });
  }

  void score(std::size_t piece) {
    divide();
    if (scored == piece) return;
    scored = piece;
    if (!forced.empty()) {
      list_possible(arc_offsets, arc_heads);
      if (pruner) {
        const std::vector<std::uint32_t> offsets = arc_offsets;
        const std::vector<std::uint16_t> possible = arc_heads;
        const ArcSet arcs_of_trees(offsets, possible);
        pruner->choose(words, {}, arc_offsets, arc_heads, ws, &arcs_of_trees);
      }
    } else if (pruner) {
      pruner->choose(words_of(piece), {}, arc_offsets, arc_heads, ws);
    }
    parts.clear();
    if (model.second_order) parts.append(arcs(), model.shape.adjacent_siblings());
    s.resize(tree().num_statistics());
    features.score(words_of(piece), arcs(), parser.theta_.row(0), 1.0, std::span<double>(s), ws, parts(0));
  }

  // Arcs as ArcSet has them: where the head of a word is given, that alone.
  void list_possible(std::vector<std::uint32_t>& offsets, std::vector<std::uint16_t>& of_arcs) const {
    offsets.assign(1, 0);
    of_arcs.clear();
    for (std::uint32_t d = 1; d <= words.size(); ++d) {
      for (std::uint32_t h = 0; h <= words.size(); ++h) {
        if (h != d && forced[d - 1].value_or(h) == h) of_arcs.push_back(static_cast<std::uint16_t>(h));
      }
      offsets.push_back(static_cast<std::uint32_t>(of_arcs.size()));
    }
  }

  // Without a cycle, and with no more roots than there may be, heads are those of some tree; if no arcs may
  // cross, there has to be one by inference over all that have them.
  bool has_tree() {
    std::size_t roots = 0;
    for (std::size_t d = 1; d <= words.size(); ++d) {
      if (forced[d - 1] == 0u) ++roots;
      std::size_t steps = 0;
      for (std::size_t h = d; h != 0 && forced[h - 1]; h = *forced[h - 1]) {
        if (++steps > words.size()) return false;
      }
    }
    if (model.shape.single_root && roots > 1) return false;
    if (!model.shape.projective) return true;
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint16_t> of_arcs;
    list_possible(offsets, of_arcs);
    TreeShape shape = model.shape;
    shape.num_labels = 1;
    const DependencyTree trees(ArcSet(offsets, of_arcs), shape);
    std::vector<double> zeros(of_arcs.size()), mu(of_arcs.size());
    return std::isfinite(trees.log_partition(std::span<const double>(zeros), mu, ws));
  }

  void force(std::span<const std::optional<std::uint32_t>> given) {
    ESPALIER_EXPECT(given.size() == words.size());
    forget();
    if (std::ranges::none_of(given, [](const auto& head) { return head.has_value(); })) return;
    check_one_piece();
    for (std::size_t d = 1; d <= given.size(); ++d) {
      if (!given[d - 1] || (*given[d - 1] <= given.size() && *given[d - 1] != d)) continue;
      throw Error(fmt::format("word {} of {} with the head {}; expected 0 (the root) or another word", d,
                              given.size(), *given[d - 1]));
    }
    forced.assign(given.begin(), given.end());
    if (has_tree()) return;
    forced.clear();
    throw Error(fmt::format("the given heads are of no {}tree{}; expected those of some tree",
                            model.shape.projective ? "projective " : "",
                            model.shape.single_root ? " with one root" : ""));
  }

  void check_one_piece() {
    divide();
    if (ends.size() > 1)
      throw Error(
          fmt::format("a sentence of {} words; expected at most {}, as longer ones are parsed in pieces",
                      words.size(), model.longest));
  }

  void for_each_contribution(std::size_t first, std::size_t last,
                             const std::function<void(const Contribution&)>& visit) {
    ESPALIER_EXPECT(1 <= first && first <= last && last <= words.size());
    check_one_piece();
    score(0);
    const ArcSet all = arcs();
    std::vector<std::uint32_t> offsets{0};
    std::vector<std::uint16_t> of_arcs;
    for (std::size_t d = 1; d <= words.size(); ++d) {
      for (std::size_t a = all.begin(d); a < all.end(d) && first <= d && d <= last; ++a)
        of_arcs.push_back(static_cast<std::uint16_t>(all.head(a, d)));
      offsets.push_back(static_cast<std::uint32_t>(of_arcs.size()));
    }
    // Each template by itself: its weights are where they are beside the others.
    const ArcSet some(offsets, of_arcs);
    const float* w = parser.theta_.row(0);
    const std::size_t num_labels = model.shape.num_labels;
    std::vector<double> sums(of_arcs.size() * num_labels);
    const auto visit_all = [&](std::string_view feature, std::size_t labels, bool labelled) {
      for (std::size_t d = first; d <= last; ++d) {
        for (std::size_t a = some.begin(d); a < some.end(d); ++a) {
          const auto head = static_cast<std::uint32_t>(some.head(a, d));
          for (std::uint32_t l = 0; l < labels; ++l)
            visit({feature, d, head, labelled ? std::optional(l) : std::nullopt, sums[a * labels + l]});
        }
      }
    };
    const ArcTemplates& of_arc = arc_templates();
    for (std::size_t t = 0; t < of_arc.size() + of_arc.num_between(); ++t) {
      const ArcTemplates one = of_arc.in_order(std::span(&t, 1));
      ArcFeatures(one, model.bits).score(words, some, w, 1.0, std::span(sums).first(some.size()), ws);
      visit_all(of_arc.name(t), 1, false);
    }
    if (num_labels < 2) return;
    const ArcTemplates& of_relation = relation_templates();
    for (std::size_t t = 0; t < of_relation.size(); ++t) {
      const ArcTemplates one = of_relation.in_order(std::span(&t, 1));
      std::ranges::fill(sums, 0.0);
      RelationFeatures(one, model.relation_bits, num_labels)
          .add_score(words, some, w + (std::size_t{1} << model.bits), 1.0, std::span(sums), ws);
      visit_all(of_relation.name(t), num_labels, true);
    }
  }

  void find_best() {
    if (has_best) return;
    divide();
    heads.resize(words.size());
    labels.resize(words.size());
    best_score = 0;
    proven = true;
    for (std::size_t piece = 0; piece < ends.size(); ++piece) {
      score(piece);
      const std::size_t begin = begin_of(piece), length = length_of(piece);
      const auto of_piece = std::span(heads).subspan(begin, length);
      const auto best = tree().best_into(std::span<const double>(s), of_piece,
                                         std::span(labels).subspan(begin, length), ws);
      best_score += best.score;
      proven = proven && best.optimal;
      for (std::uint32_t& head : of_piece) head += head == 0 ? 0 : static_cast<std::uint32_t>(begin);
    }
    if (model.shape.single_root && ends.size() > 1) join_roots(heads, labels);
    relations.clear();
    if (model.labelled()) {
      for (const std::uint32_t label : labels) relations.push_back(model.relations.name(label));
    }
    has_best = true;
  }

  // Every piece has a root of its own: where a sentence has one, each hangs on that of the piece before. Such
  // arcs cross no others, as all between their ends depends on one of the two.
  void join_roots(std::span<std::uint32_t> heads, std::span<std::uint32_t> labels) {
    const auto root_of = [&](std::size_t piece) {
      std::size_t d = begin_of(piece);
      while (heads[d] != 0) ++d;
      return d;
    };
    std::size_t before = root_of(0);
    for (std::size_t piece = 1; piece < ends.size(); ++piece) {
      const std::size_t root = root_of(piece);
      heads[root] = static_cast<std::uint32_t>(before + 1);
      if (model.labelled()) labels[root] = best_label(before, root);
      before = root;
    }
  }

  // The best relation of a word to one that comes before it.
  std::uint32_t best_label(std::size_t head, std::size_t modifier) {
    const auto between = std::span<const WordAtoms>(words).subspan(head, modifier - head + 1);
    std::vector<std::uint32_t> offsets(between.size() + 1, 0);
    offsets.back() = 1;
    const std::uint16_t first[] = {1};
    std::vector<double> of_labels(model.shape.num_labels);
    features.score(between, ArcSet(offsets, first), parser.theta_.row(0), 1.0, std::span(of_labels), ws);
    return static_cast<std::uint32_t>(std::max_element(of_labels.begin(), of_labels.end()) -
                                      of_labels.begin());
  }

  // beta s, of a piece.
  std::vector<double> scaled_scores(std::size_t piece) {
    score(piece);
    std::vector<double> scaled(s);
    for (double& x : scaled) x *= parser.loss_.beta;
    return scaled;
  }

  std::vector<Scored> samples(std::size_t n, std::uint64_t seed) {
    divide();
    Random random(seed);
    std::vector<Scored> drawn(
        n, {std::vector<std::uint32_t>(words.size()), std::vector<std::uint32_t>(words.size()), 0});
    for (std::size_t piece = 0; piece < ends.size(); ++piece) {
      Random of_piece(random.next());
      const std::vector<double> scaled = scaled_scores(piece);
      const auto begin = static_cast<std::uint32_t>(begin_of(piece));
      const DependencyTree structure = tree();
      const auto trees = structure.samples(scaled, n, of_piece);
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t d = 1; d <= structure.num_words(); ++d) {
          const std::uint32_t head = trees[k].heads[d - 1], label = trees[k].labels[d - 1];
          drawn[k].heads[begin + d - 1] = head + (head == 0 ? 0 : begin);
          drawn[k].relations[begin + d - 1] = label;
          drawn[k].score += s[structure.arcs().find(head, d) * structure.num_labels() + label];
        }
      }
    }
    for (Scored& one : drawn) {
      if (model.shape.single_root && ends.size() > 1) join_roots(one.heads, one.relations);
      if (!model.labelled()) one.relations.clear();
    }
    return drawn;
  }

  double entropy() {
    divide();
    double sum = 0;
    for (std::size_t piece = 0; piece < ends.size(); ++piece) {
      const std::vector<double> scaled = scaled_scores(piece);
      sum += tree().entropy(scaled, ws);
    }
    return sum;
  }

  // u(y) ~ exp(beta s.chi(y)): log Z, and the sums of its marginals over labels.
  void find_marginals(std::size_t piece) {
    if (with_marginals == piece) return;
    check_has_probabilities(parser.loss_);
    score(piece);
    Workspace::Frame frame(ws);
    const auto scaled = frame.take<double>(s.size());
    for (std::size_t k = 0; k < s.size(); ++k) scaled[k] = parser.loss_.beta * s[k];
    const auto mu = frame.take<double>(s.size());
    log_z_of_piece = tree().log_partition(std::span<const double>(scaled), mu, ws);
    const ArcSet possible = arcs();
    const std::size_t m = length_of(piece), num_labels = model.shape.num_labels;
    matrix.assign(arc_matrix_size(m), 0);
    for (std::size_t d = 1; d <= m; ++d) {
      for (std::size_t a = possible.begin(d); a < possible.end(d); ++a) {
        for (std::size_t l = 0; l < num_labels; ++l)
          matrix[arc_matrix_index(m, possible.head(a, d), d)] += mu[a * num_labels + l];
      }
    }
    with_marginals = piece;
  }

  std::span<const double> head_probabilities(std::size_t word) {
    divide();
    const auto piece =
        static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), word) - ends.begin());
    find_marginals(piece);
    const std::size_t m = length_of(piece), begin = begin_of(piece);
    const auto row = std::span<const double>(matrix).subspan(arc_matrix_index(m, 0, word - begin), m + 1);
    if (ends.size() == 1) return row;
    of_all_words.assign(words.size() + 1, 0);
    of_all_words[0] = row[0];
    std::copy(row.begin() + 1, row.end(), of_all_words.begin() + static_cast<std::ptrdiff_t>(begin) + 1);
    return of_all_words;
  }

  double log_partition() {
    divide();
    if (log_z) return *log_z;
    double sum = 0;
    for (std::size_t piece = 0; piece < ends.size(); ++piece) {
      find_marginals(piece);
      sum += log_z_of_piece;
    }
    log_z = sum;
    return sum;
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const Parser& parser;
  const ParseModel& model;
  DependencyFeatures features;
  std::optional<ArcPruner> pruner;
  Workspace ws;
  std::vector<WordAtoms> words;
  std::vector<bool> punctuation;                     // of each word
  std::vector<std::size_t> ends;                     // of pieces; none before they are known
  std::vector<std::optional<std::uint32_t>> forced;  // heads; empty: none
  bool has_best = false;
  std::vector<std::uint32_t> heads, labels;
  double best_score = 0;
  bool proven = false;
  std::vector<std::string_view> relations;
  std::optional<double> log_z;
  // Of a piece.
  std::size_t scored = kNone, with_marginals = kNone;
  std::vector<std::uint32_t> arc_offsets;
  std::vector<std::uint16_t> arc_heads;
  TreePartLists parts;
  std::vector<double> s;
  std::vector<double> matrix;  // of probabilities, as arc_matrix_index() has it
  double log_z_of_piece = 0;
  std::vector<double> of_all_words;  // a row of it, for a whole sentence
};

Parser::Sentence::Sentence(const Parser& parser) : state_(std::make_unique<State>(parser)) {}
Parser::Sentence::~Sentence() = default;
Parser::Sentence::Sentence(Sentence&&) noexcept = default;

void Parser::Sentence::clear() {
  state_->forget();
  state_->words.clear();
  state_->punctuation.clear();
}

void Parser::Sentence::add(const DependencyWord& word) {
  state_->forget();
  state_->words.push_back(word_atoms(or_blank(word.form), or_blank(word.lemma), or_blank(word.coarse),
                                     or_blank(word.fine), or_blank(word.feats)));
  state_->punctuation.push_back(!has_letter_or_digit(word.form));
}

void Parser::Sentence::set(const DependencySentence& sentence) {
  clear();
  append_atoms(sentence, state_->words);
  for (const DependencyWord& word : sentence.words)
    state_->punctuation.push_back(!has_letter_or_digit(word.form));
}

std::size_t Parser::Sentence::size() const { return state_->words.size(); }

void Parser::Sentence::force_heads(std::span<const std::optional<std::uint32_t>> heads) {
  state_->force(heads);
}

std::span<const std::uint32_t> Parser::Sentence::heads() {
  state_->find_best();
  return state_->heads;
}

std::span<const std::string_view> Parser::Sentence::relations() {
  state_->find_best();
  return state_->relations;
}

std::size_t Parser::Sentence::pieces() {
  state_->divide();
  return state_->ends.size();
}

bool Parser::Sentence::proven_best() {
  state_->find_best();
  return state_->proven;
}

std::span<const double> Parser::Sentence::head_probabilities(std::size_t word) {
  ESPALIER_EXPECT(word >= 1 && word <= size());
  return state_->head_probabilities(word);
}

void Parser::Sentence::for_each_contribution(std::size_t first, std::size_t last,
                                             const std::function<void(const Contribution&)>& visit) {
  state_->for_each_contribution(first, last, visit);
}

std::vector<Parser::Sentence::Scored> Parser::Sentence::kbest(std::size_t k) {
  if (!state_->parser.has_kbest())
    throw Error("the k best trees with a parser of order 2; expected a model of order 1");
  const bool labelled = state_->parser.labelled();
  std::vector<Scored> best;
  if (pieces() > 1) {
    if (k == 0) return best;
    state_->find_best();
    best.push_back({state_->heads, {}, state_->best_score});
    if (labelled) best.back().relations = state_->labels;
    return best;
  }
  state_->score(0);
  KbestMemory::check(state_->tree(), state_->s, k,
                     sizeof(Scored) + size() * (labelled ? 2 : 1) * sizeof(std::uint32_t), state_->ws);
  for (DependencyTree::Scored& one : state_->tree().kbest(state_->s, k)) {
    best.push_back({std::move(one.output.heads), {}, one.score});
    if (labelled) best.back().relations = std::move(one.output.labels);
  }
  return best;
}

double Parser::Sentence::probability(double score) {
  check_has_probabilities(state_->parser.loss_);
  return std::exp(state_->parser.loss_.beta * score - state_->log_partition());
}

std::vector<Parser::Sentence::Scored> Parser::Sentence::samples(std::size_t n, std::uint64_t seed) {
  check_has_probabilities(state_->parser.loss_);
  if (!state_->parser.has_kbest())
    throw Error("trees drawn from a parser of order 2; expected a model of order 1");
  return state_->samples(n, seed);
}

double Parser::Sentence::entropy() {
  check_has_probabilities(state_->parser.loss_);
  if (!state_->parser.has_entropy())
    throw Error("the entropy of a non-projective parser of order 2; expected exact inference");
  return state_->entropy();
}

Evaluation Parser::evaluate(const ParseData& gold) const {
  if (gold.size() == 0) throw Error::in(kDataInMemory, "no sentences", "expected some");
  AttachmentScores scores;
  Sentence parsed(*this);
  for (std::size_t i = 0; i < gold.size(); ++i) {
    parsed.set(gold.sentence(i));
    scores.add(gold.sentence(i), parsed.heads(), parsed.relations());
    if (parsed.pieces() > 1) scores.add_in_pieces();
    if (proves_best()) scores.add_proofs(parsed.proven_best() ? 1 : 0, 1);
  }
  return scores.evaluation();
}

}  // namespace espalier
