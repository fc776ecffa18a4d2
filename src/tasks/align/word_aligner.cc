#include <optional>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/tasks/align.h"
#include "espalier/tasks/named_rows.h"
#include "tasks/align/model.h"
#include "tasks/align/pair_aligner.h"
#include "tasks/align/pairs_in_memory.h"
#include "tasks/common.h"

namespace espalier {

struct WordAligner::Pair::State {
  explicit State(const WordAligner& of) : of_aligner(of), aligner(of.model_, of.theta_, of.loss_) {}

  void check() const {
    if (!pair) throw Error("no sentence pair; expected one to align");
  }
  std::vector<WordLink> links_of(const Matching::Output& places) const {
    std::vector<WordLink> links;
    const auto n = static_cast<std::uint32_t>(pair->target.size());
    for (const std::uint32_t e : places) links.push_back({e / n, e % n});
    return links;
  }

  const WordAligner& of_aligner;
  PairAligner aligner;
  std::size_t num_seen = 0;
  std::optional<SentencePair> pair;
};

Evaluation WordAligner::evaluate(const AlignData& gold) const {
  if (gold.size() == 0) throw Error::in(kDataInMemory, "no sentence pairs", "expected some");
  AlignmentScores scores;
  PairAligner aligner(model_, theta_, loss_);
  for (std::size_t i = 0; i < gold.size(); ++i) {
    const SentencePair pair = checked_pair(gold.pair(i), i + 1);
    aligner.set(pair);
    scores.add(pair, aligner.best());
  }
  return scores.evaluation();
}

WordAligner::Pair::Pair(const WordAligner& aligner) : state_(std::make_unique<State>(aligner)) {}
WordAligner::Pair::~Pair() = default;
WordAligner::Pair::Pair(Pair&&) noexcept = default;

void WordAligner::Pair::set(const SentencePair& pair) {
  State& state = *state_;
  state.pair.reset();
  SentencePair words;
  words.source = pair.source;
  words.target = pair.target;
  words = checked_pair(words, ++state.num_seen);
  state.aligner.set(words);
  state.pair = std::move(words);
}

std::vector<WordLink> WordAligner::Pair::links() {
  state_->check();
  return state_->links_of(state_->aligner.best());
}

std::vector<WordAligner::Pair::Scored> WordAligner::Pair::kbest(std::size_t k) {
  state_->check();
  std::vector<Scored> result;
  for (const auto& [places, score] : state_->aligner.kbest(k))
    result.push_back({state_->links_of(places), score});
  return result;
}

double WordAligner::Pair::probability(double score) {
  state_->check();
  check_has_probabilities(state_->of_aligner.loss_);
  return state_->aligner.probability(score);
}

double WordAligner::Pair::marginal(std::size_t source, std::size_t target) {
  state_->check();
  check_has_probabilities(state_->of_aligner.loss_);
  ESPALIER_EXPECT(source < state_->pair->source.size() && target < state_->pair->target.size());
  return state_->aligner.marginal(source * state_->pair->target.size() + target);
}

}  // namespace espalier
