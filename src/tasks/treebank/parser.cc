#include "espalier/tasks/treebank.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>

#include "espalier/base/error.h"
#include "espalier/tasks/named_rows.h"
#include "tasks/common.h"
#include "tasks/treebank/model.h"
#include "tasks/treebank/parseval.h"
#include "tasks/treebank/reader.h"

namespace espalier {

bool TreebankParser::predicts_tags() const { return model_.predicts_tags(); }

struct TreebankParser::Sentence::State {
  explicit State(const TreebankParser& of) : parser(of), worker(of.model_, of.theta_) {}

  void forget() {
    tree.reset();
    log_z.reset();
  }
  void parse() {
    if (tree) return;
    if (words.empty()) throw Error("a sentence without words; expected some to parse");
    tree = worker.parse(words);
  }

  const TreebankParser& parser;
  TreebankWorker worker;
  std::vector<TaggedWord> words;
  std::optional<BracketTree> tree;
  std::optional<double> log_z;
};

TreebankParser::Sentence::Sentence(const TreebankParser& parser) : state_(std::make_unique<State>(parser)) {}
TreebankParser::Sentence::~Sentence() = default;
TreebankParser::Sentence::Sentence(Sentence&&) noexcept = default;

void TreebankParser::Sentence::clear() {
  state_->forget();
  state_->words.clear();
}

void TreebankParser::Sentence::add(std::string_view word, std::string_view tag) {
  if (word.empty()) throw Error("an empty word; expected one");
  if (tag.empty() && !state_->parser.predicts_tags())
    throw Error(fmt::format("the word {} without a tag; expected one: the model does not predict tags",
                            in_quotes(word)));
  state_->forget();
  state_->words.push_back({without_brackets(word), without_brackets(tag)});
}

void TreebankParser::Sentence::set(std::span<const TaggedWord> words) {
  state_->forget();
  state_->words.assign(words.begin(), words.end());
}

std::size_t TreebankParser::Sentence::size() const { return state_->words.size(); }

const BracketTree& TreebankParser::Sentence::tree() {
  state_->parse();
  return *state_->tree;
}

bool TreebankParser::Sentence::parsed() {
  state_->parse();
  return in_grammar(state_->worker.pieces());
}

std::size_t TreebankParser::Sentence::pieces() {
  state_->parse();
  return state_->worker.pieces().size();
}

std::vector<TreebankParser::Sentence::Scored> TreebankParser::Sentence::kbest(std::size_t k) {
  state_->parse();
  return state_->worker.kbest(state_->words, k);
}

double TreebankParser::Sentence::probability(double score) {
  const Loss& loss = state_->parser.loss_;
  check_has_probabilities(loss);
  state_->parse();
  if (!state_->log_z) state_->log_z = state_->worker.log_partition(loss.beta);
  return std::exp(loss.beta * score - *state_->log_z);
}

std::vector<TreebankParser::Sentence::Constituent> TreebankParser::Sentence::constituents(double least) {
  const Loss& loss = state_->parser.loss_;
  check_has_probabilities(loss);
  state_->parse();
  return state_->worker.constituents(loss.beta, least);
}

void TreebankParser::Sentence::for_each_contribution(const std::function<void(const Contribution&)>& visit) {
  state_->parse();
  state_->worker.for_each_contribution(visit);
}

std::vector<TreebankParser::Sentence::Scored> TreebankParser::Sentence::samples(std::size_t n,
                                                                                std::uint64_t seed) {
  const Loss& loss = state_->parser.loss_;
  check_has_probabilities(loss);
  state_->parse();
  Random random(seed);
  return state_->worker.samples(state_->words, loss.beta, n, random);
}

double TreebankParser::Sentence::entropy() {
  const Loss& loss = state_->parser.loss_;
  check_has_probabilities(loss);
  state_->parse();
  return state_->worker.entropy(loss.beta);
}

Evaluation TreebankParser::evaluate(const TreebankData& gold) const {
  if (gold.size() == 0) throw Error::in(kDataInMemory, "no trees", "expected some");
  ParsevalScores scores;
  Sentence parsed(*this);
  std::vector<TaggedWord> words;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    BracketTree tree = gold.tree(i);
    if (!normalise(tree, model_.norm()))
      throw Error::at(kDataInMemory, i + 1, "a tree that has only traces", "expected words");
    words.clear();
    append_words(tree, words);
    parsed.set(words);
    scores.add(count_brackets(tree, parsed.tree()));
    if (!parsed.parsed()) scores.add_unparsed();
    if (parsed.pieces() > 1) scores.add_in_pieces();
  }
  return scores.evaluation();
}

}  // namespace espalier
