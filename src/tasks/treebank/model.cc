#include "tasks/treebank/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "espalier/base/error.h"
#include "structures/kbest_memory.h"
#include "tasks/common.h"
#include "tasks/pieces.h"

namespace espalier {
namespace {

// Where pruning leaves a sentence without a derivation, it is tried again with this part of the threshold;
// where tags are predicted, then with the tags of rare words for all words but punctuation.
constexpr double kSecondTry = 1e-3;
// What contributions of rules are called.
constexpr std::string_view kRuleFeature = "(rule)";
// 2^N rows of features of tags; there are far fewer of those than of spans.
constexpr unsigned kTagBits = 15;

// One of two names.
bool is_second(const std::string& option, std::string_view name, std::string_view first,
               std::string_view second) {
  if (name == first) return false;
  if (name == second) return true;
  throw Error::in(option, in_quotes(name), fmt::format("expected {} or {}", first, second));
}

Json settings_of(const TreebankOptions& options) {
  Json settings;
  settings["traces"] = options.keep_traces;
  settings["functions"] = options.keep_functions;
  settings["binarise"] = options.binarise;
  settings["horizontal"] = options.horizontal;
  settings["vertical"] = options.vertical;
  settings["unaries"] = options.unaries;
  settings["tags"] = options.tags;
  settings["features"] = options.features;
  settings["hash_bits"] = options.hash_bits;
  settings["prune_below"] = options.prune_below;
  settings["longest"] = options.longest;
  return settings;
}

BinariseOptions binarise_options(const TreebankOptions& options) {
  BinariseOptions result;
  result.side = is_second(setting("binarise"), options.binarise, "right", "head")
                    ? BinariseOptions::Side::head
                    : BinariseOptions::Side::right;
  result.horizontal = options.horizontal;
  result.vertical = options.vertical;
  result.shorten = is_second(setting("unaries"), options.unaries, "keep", "shorten");
  return result;
}

CfgFeatureOptions feature_options(std::string_view features, std::string_view tags, std::size_t bits) {
  CfgFeatureOptions result;
  result.spans = is_second(setting("features"), features, "rules", "spans");
  result.bits = static_cast<unsigned>(bits);
  result.tag_bits = is_second(setting("tags"), tags, "gold", "predicted") ? kTagBits : 0;
  return result;
}

std::optional<TagLexicon> make_lexicon(std::span<const BracketTree> trees, std::string_view tags,
                                       const Dictionary& names) {
  if (!is_second(setting("tags"), tags, "gold", "predicted")) return std::nullopt;
  std::vector<std::vector<TaggedWord>> sentences;
  for (const BracketTree& tree : trees) append_words(tree, sentences.emplace_back());
  return TagLexicon(sentences, names);
}

CfgFeatureOptions load_feature_options(const StoredTask& stored) {
  const auto bits = stored.settings.at("hash_bits").get<std::size_t>();
  if (bits < kLeastHashBits || bits > kMostHashBits)
    throw Error::in(stored.file, fmt::format("2^{} rows of weights for spans", bits), "retrain the model");
  try {
    return feature_options(stored.settings.at("features").get<std::string>(),
                           stored.settings.at("tags").get<std::string>(), bits);
  } catch (const Error& e) {
    throw Error::in(stored.file, fmt::format("unknown settings ({})", e.what()), "retrain the model");
  }
}

TreeGrammar load_grammar(const StoredTask& stored) {
  const auto numbers = [&](const char* name) {
    return as_array<std::uint32_t>(stored.array(name), name, stored.file);
  };
  return TreeGrammar(load_dictionary("tags", stored), load_dictionary("symbols", stored), numbers("binaries"),
                     numbers("unaries"), numbers("between"), stored.file);
}

// Rules come by their parents, which are no tags.
void check_coarse(std::span<const PcfgPruner::Binary> binaries, std::span<const PcfgPruner::Unary> unaries,
                  const Grammar& grammar, const std::string& file) {
  const auto fits = [&](const auto& rules) {
    std::uint32_t before = grammar.num_tags;
    for (const auto& rule : rules) {
      if (rule.parent < before || !(rule.probability > 0 && rule.probability <= 1)) return false;
      before = rule.parent;
    }
    return true;
  };
  if (!fits(binaries) || !fits(unaries))
    throw Error::in(file, "rules of a coarse grammar out of order, or without a probability",
                    "retrain the model");
}

// Parent, left and right of the binary rules, parent and child of the unary ones, and the probabilities of
// both.
PcfgPruner load_pruner(const Grammar& grammar, const StoredTask& stored) {
  const auto binaries =
      as_array<std::uint32_t>(stored.array("coarse.binaries"), "coarse.binaries", stored.file);
  const auto unaries = as_array<std::uint32_t>(stored.array("coarse.unaries"), "coarse.unaries", stored.file);
  const auto probabilities =
      as_numbers<double>(stored.array("coarse.probabilities"), "coarse.probabilities", stored.file);
  const std::size_t symbols = grammar.num_tags + grammar.num_labels + 2;
  const auto fits = [symbols](std::uint32_t symbol) { return symbol < symbols; };
  if (binaries.size() % 3 != 0 || unaries.size() % 2 != 0 ||
      probabilities.size() != binaries.size() / 3 + unaries.size() / 2 ||
      !std::all_of(binaries.begin(), binaries.end(), fits) ||
      !std::all_of(unaries.begin(), unaries.end(), fits))
    throw Error::in(stored.file, "a coarse grammar that does not fit the fine one", "retrain the model");
  std::vector<PcfgPruner::Binary> binary_rules;
  std::vector<PcfgPruner::Unary> unary_rules;
  auto probability = probabilities.begin();
  for (std::size_t k = 0; k < binaries.size(); k += 3)
    binary_rules.push_back({binaries[k], binaries[k + 1], binaries[k + 2], *probability++});
  for (std::size_t k = 0; k < unaries.size(); k += 2)
    unary_rules.push_back({unaries[k], unaries[k + 1], *probability++});
  check_coarse(binary_rules, unary_rules, grammar, stored.file);
  return PcfgPruner(grammar, binary_rules, unary_rules);
}

Dictionary names_of_rules(const TreeGrammar& grammar) {
  Dictionary names;
  for (std::size_t r = 0; r < grammar.grammar().binaries.size() + grammar.grammar().unaries.size(); ++r)
    names.add(grammar.rule_name(r));
  return names;
}

void make_set(std::vector<std::uint32_t>& tags) {
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
}

std::string text(const StoredTask& stored, const char* key) {
  return stored.settings.at(key).get<std::string>();
}

}  // namespace

TreebankModel::TreebankModel(std::span<const BracketTree> trees, const TreebankOptions& options,
                             std::vector<Derivation>& derivations)
    : settings_(settings_of(options)),
      norm_{options.keep_traces, options.keep_functions},
      prune_below_(options.prune_below),
      longest_(options.longest),
      grammar_(trees, binarise_options(options), derivations),
      binaries_(grammar_.flat_binaries()),
      unaries_(grammar_.flat_unaries()),
      between_(grammar_.flat_between()),
      lexicon_(make_lexicon(trees, options.tags, grammar_.tags())),
      index_(grammar_.grammar()),
      pruner_(grammar_.grammar(), derivations),
      features_(index_, feature_options(options.features, options.tags, options.hash_bits)),
      rule_names_(names_of_rules(grammar_)) {
  for (const PcfgPruner::Binary& rule : pruner_.binaries()) {
    coarse_binaries_.insert(coarse_binaries_.end(), {rule.parent, rule.left, rule.right});
    coarse_probabilities_.push_back(rule.probability);
  }
  for (const PcfgPruner::Unary& rule : pruner_.unaries()) {
    coarse_unaries_.insert(coarse_unaries_.end(), {rule.parent, rule.child});
    coarse_probabilities_.push_back(rule.probability);
  }
}

TreebankModel::TreebankModel(const StoredTask& stored)
    : settings_(stored.settings),
      norm_{stored.settings.at("traces").get<bool>(), stored.settings.at("functions").get<bool>()},
      prune_below_(stored.settings.at("prune_below").get<double>()),
      longest_(stored.settings.value("longest", TreebankOptions().longest)),
      grammar_(load_grammar(stored)),
      index_(grammar_.grammar()),
      pruner_(load_pruner(grammar_.grammar(), stored)),
      features_(index_, load_feature_options(stored)),
      rule_names_(names_of_rules(grammar_)) {
  // As the options have it: places of words have 16 bits.
  if (longest_ == 0 || longest_ > 65535)
    throw Error::in(stored.file, fmt::format("pieces of {} words", longest_), "retrain the model");
  if (!(prune_below_ >= 0 && prune_below_ <= 1))
    throw Error::in(stored.file, fmt::format("labels of a probability from {}", prune_below_),
                    "retrain the model");
  if (rule_names_.size() != grammar_.grammar().binaries.size() + grammar_.grammar().unaries.size())
    throw Error::in(stored.file, "a rule twice", "retrain the model");
  if (text(stored, "tags") == "predicted") lexicon_ = TagLexicon::load(stored, grammar_.tags().size());
  if (stored.theta.shape != features_.weight_shape())
    throw Error::in(stored.file,
                    fmt::format("{} x {} weights for {} rules", stored.theta.shape.rows,
                                stored.theta.shape.width, index_.num_rules()),
                    "retrain the model");
}

TaskSections TreebankModel::sections() const {
  TaskSections sections;
  sections.settings = settings_;
  add_dictionary("tags", grammar_.tags(), sections);
  add_dictionary("symbols", grammar_.symbols(), sections);
  const auto add = [&](const char* name, const std::vector<std::uint32_t>& numbers) {
    sections.arrays.emplace_back(name, as_bytes(std::span(numbers)));
  };
  add("binaries", binaries_);
  add("unaries", unaries_);
  add("between", between_);
  add("coarse.binaries", coarse_binaries_);
  add("coarse.unaries", coarse_unaries_);
  sections.arrays.emplace_back("coarse.probabilities", as_bytes(std::span(coarse_probabilities_)));
  if (lexicon_) lexicon_->add_sections(sections);
  return sections;
}

std::vector<SpanWord> TreebankModel::span_words(std::span<const TaggedWord> words) const {
  std::vector<SpanWord> result;
  for (const TaggedWord& word : words)
    result.push_back(span_word(word.word, predicts_tags() ? "" : word.tag));
  return result;
}

std::vector<TaggedWord> TreebankModel::output_words(std::span<const TaggedWord> words) const {
  std::vector<TaggedWord> result(words.begin(), words.end());
  if (predicts_tags()) {
    for (TaggedWord& word : result) word.tag.clear();
  }
  return result;
}

BracketTree TreebankModel::flat_tree(std::span<const TaggedWord> words) const {
  std::vector<TaggedWord> written(words.begin(), words.end());
  if (lexicon_) {
    for (TaggedWord& word : written) word.tag = grammar_.tags().name(lexicon_->tags(word.word).front());
  }
  return grammar_.flat_tree(written);
}

std::vector<std::uint32_t> TreebankModel::all_tags() const {
  std::vector<std::uint32_t> tags(grammar_.tags().size());
  std::iota(tags.begin(), tags.end(), 0u);
  return tags;
}

// A tag that training did not have may be any.
TagSets TreebankModel::tag_sets(std::span<const TaggedWord> words) const {
  TagSets sets;
  for (const TaggedWord& word : words) {
    if (lexicon_) {
      const auto tags = lexicon_->tags(word.word);
      sets.emplace_back(tags.begin(), tags.end());
      make_set(sets.back());
    } else if (const auto tag = grammar_.tags().find(word.tag)) {
      sets.push_back({*tag});
    } else {
      sets.push_back(all_tags());
    }
  }
  return sets;
}

std::vector<TreebankPiece> TreebankModel::pieces(std::span<const TaggedWord> words, Workspace& ws,
                                                 const std::shared_ptr<SpanKinds>& kinds) const {
  std::vector<TreebankPiece> result;
  std::size_t begin = 0;
  for (const std::size_t end : ends_of_pieces(
           words.size(), longest_, [&](std::size_t k) { return !has_letter_or_digit(words[k].word); })) {
    const auto of_piece = words.subspan(begin, end - begin);
    result.push_back({begin, end, span_words(of_piece), forest(of_piece, ws, kinds)});
    begin = end;
  }
  return result;
}

std::optional<Cfg> TreebankModel::forest(std::span<const TaggedWord> words, Workspace& ws,
                                         const std::shared_ptr<SpanKinds>& kinds) const {
  const auto try_with = [&](const TagSets& tags, double threshold) -> std::optional<Cfg> {
    const SpanMask mask = pruner_.mask(tags, threshold, ws);
    Cfg forest(index_, tags, &mask, kinds);
    if (!forest.possible()) return std::nullopt;
    return forest;
  };
  const TagSets tags = tag_sets(words);
  auto forest = try_with(tags, prune_below_);
  if (!forest) forest = try_with(tags, kSecondTry * prune_below_);
  if (!forest && lexicon_) {
    TagSets wider = tags;
    const auto open = lexicon_->open_tags();
    for (std::size_t t = 0; t < words.size(); ++t) {
      if (!has_letter_or_digit(words[t].word)) continue;
      wider[t].insert(wider[t].end(), open.begin(), open.end());
      make_set(wider[t]);
    }
    forest = try_with(wider, prune_below_);
  }
  return forest;
}

Cfg TreebankModel::forest(std::span<const TaggedWord> words, const Derivation& gold, PruningReport& report,
                          Workspace& ws, const std::shared_ptr<SpanKinds>& kinds) const {
  const TagSets tags = tag_sets(words);
  SpanMask mask = pruner_.mask(tags, prune_below_, ws);
  report.note(grammar_.grammar(), mask, gold);
  mask.allow(grammar_.grammar(), gold);
  return Cfg(index_, tags, &mask, kinds);
}

bool in_grammar(std::span<const TreebankPiece> pieces) {
  return std::all_of(pieces.begin(), pieces.end(),
                     [](const TreebankPiece& piece) { return piece.forest.has_value(); });
}

void TreebankWorker::score(const TreebankPiece& piece) {
  s_.resize(piece.forest->num_statistics());
  model_.features().score(piece.seen, *piece.forest, theta_.values, 1.0, std::span<double>(s_), ws_);
}

BracketTree TreebankWorker::parse(std::span<const TaggedWord> words) {
  pieces_ = model_.pieces(words, ws_);
  return parse(words, pieces_);
}

BracketTree TreebankWorker::parse(std::span<const TaggedWord> words, std::span<const TreebankPiece> pieces) {
  std::vector<BracketTree> trees;
  best_ = 0;
  for (const TreebankPiece& piece : pieces) {
    const auto of_piece = words.subspan(piece.begin, piece.end - piece.begin);
    if (!piece.forest) {
      trees.push_back(model_.flat_tree(of_piece));
      continue;
    }
    score(piece);
    const Derivation best = piece.forest->decode(std::span<const double>(s_), ws_);
    piece.forest->for_each_statistic(best, [&](std::size_t k) { best_ += s_[k]; });
    trees.push_back(model_.grammar().tree(best, model_.output_words(of_piece)));
  }
  return trees.size() == 1 ? std::move(trees.front()) : model_.grammar().joined(std::move(trees));
}

std::vector<TreebankWorker::Scored> TreebankWorker::kbest(std::span<const TaggedWord> words, std::size_t k) {
  std::vector<Scored> result;
  if (k == 0) return result;
  if (pieces_.size() > 1 || !pieces_.front().forest) {
    BracketTree best = parse(words, pieces_);
    result.push_back({std::move(best), best_});
    return result;
  }
  const std::vector<TaggedWord> written = model_.output_words(words);
  const Cfg& forest = *pieces_.front().forest;
  // A derivation has a node for each word but the first, and one above it.
  KbestMemory::check(forest, s_, k, sizeof(Scored) + words.size() * sizeof(Derivation::Node), ws_);
  KbestMemory memory;
  for (const Cfg::Scored& one : forest.kbest(s_, k)) {
    memory.add(one.output.nodes.size() * sizeof(BracketTree));
    result.push_back({model_.grammar().tree(one.output, written), one.score});
  }
  return result;
}

double TreebankWorker::log_partition(double beta) {
  double sum = 0;
  for (const TreebankPiece& piece : pieces_) {
    if (!piece.forest) continue;
    if (pieces_.size() > 1) score(piece);
    Workspace::Frame frame(ws_);
    const auto scaled = frame.take<double>(s_.size()), mu = frame.take<double>(s_.size());
    for (std::size_t k = 0; k < s_.size(); ++k) scaled[k] = beta * s_[k];
    sum += piece.forest->log_partition(std::span<const double>(scaled), mu, ws_);
  }
  return sum;
}

std::vector<TreebankParser::Sentence::Constituent> TreebankWorker::constituents(double beta, double least) {
  std::vector<TreebankParser::Sentence::Constituent> result;
  const Dictionary& names = model_.grammar().labels();
  for (const TreebankPiece& piece : pieces_) {
    if (!piece.forest) continue;
    const std::vector<double> scaled = scaled_scores(piece, beta);
    std::vector<double> mu(scaled.size());
    piece.forest->log_partition(std::span<const double>(scaled), mu, ws_);
    piece.forest->for_each_span([&](const Cfg::Place& place) {
      for (std::size_t k = 0; k < place.labels.size(); ++k) {
        const bool part = place.labels[k] >= model_.grammar().grammar().num_constituents;
        if (const double p = mu[place.first + k]; !part && p >= least)
          result.push_back(
              {piece.begin + place.begin, piece.begin + place.end, names.name(place.labels[k]), p});
      }
    });
  }
  return result;
}

void TreebankWorker::for_each_contribution(
    const std::function<void(const TreebankParser::Sentence::Contribution&)>& visit) {
  if (pieces_.size() > 1)
    throw Error(
        fmt::format("a sentence of {} words; expected at most {}, as longer ones are parsed in pieces",
                    pieces_.back().end, model_.longest()));
  const TreebankPiece& piece = pieces_.front();
  if (!piece.forest) return;
  const Cfg& forest = *piece.forest;
  score(piece);
  std::vector<double> chi(s_.size());
  forest.argmax(std::span<const double>(s_), chi, ws_);
  const auto rules = forest.rules();
  for (std::size_t k = 0; k < rules.size(); ++k)
    visit({kRuleFeature, 0, 0, model_.rule_names().name(rules[k]),
           theta_.at(model_.features().rule_place(rules[k])), chi[k]});
  const TreeGrammar& grammar = model_.grammar();
  const std::size_t first_tagged = forest.num_tagged() > 0 ? forest.tagged(0).first : s_.size();
  model_.features().for_each_feature(
      piece.seen, forest,
      [&](std::string_view feature, const Cfg::Place& place, std::size_t k, const WeightPlace& weight) {
        const Dictionary& names = place.first >= first_tagged ? grammar.tags() : grammar.labels();
        visit({feature, place.begin, place.end, names.name(place.labels[k]), theta_.at(weight),
               chi[place.first + k]});
      });
}

std::vector<double> TreebankWorker::scaled_scores(const TreebankPiece& piece, double beta) {
  score(piece);
  std::vector<double> scaled(s_);
  for (double& x : scaled) x *= beta;
  return scaled;
}

std::vector<TreebankWorker::Scored> TreebankWorker::samples(std::span<const TaggedWord> words, double beta,
                                                            std::size_t n, Random& random) {
  std::vector<std::vector<BracketTree>> trees(n);  // of each piece
  std::vector<Scored> drawn(n);
  for (const TreebankPiece& piece : pieces_) {
    const auto of_piece = words.subspan(piece.begin, piece.end - piece.begin);
    if (!piece.forest) {
      for (auto& of_sample : trees) of_sample.push_back(model_.flat_tree(of_piece));
      continue;
    }
    Random draws(random.next());
    const std::vector<double> scaled = scaled_scores(piece, beta);
    const std::vector<TaggedWord> written = model_.output_words(of_piece);
    const auto derivations = piece.forest->samples(scaled, n, draws);
    for (std::size_t k = 0; k < n; ++k) {
      piece.forest->for_each_statistic(derivations[k], [&](std::size_t j) { drawn[k].score += s_[j]; });
      trees[k].push_back(model_.grammar().tree(derivations[k], written));
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    drawn[k].tree =
        trees[k].size() == 1 ? std::move(trees[k].front()) : model_.grammar().joined(std::move(trees[k]));
  }
  return drawn;
}

double TreebankWorker::entropy(double beta) {
  double sum = 0;
  for (const TreebankPiece& piece : pieces_) {
    if (piece.forest) sum += piece.forest->entropy(scaled_scores(piece, beta), ws_);
  }
  return sum;
}

}  // namespace espalier
