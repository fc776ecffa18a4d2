// Trains a tagger on sentences that are in memory already: no files, no names.

#include <espalier/espalier.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace {

// Attributes and labels are numbers from 0; what they mean is the program's own affair. Here an attribute is a word, and
// whether a word is a noun or a verb is for its neighbours to say.
constexpr std::array<std::string_view, 7> kWords{"the", "a", "dogs", "we", "walk", "watch", "fish"};
enum Label : std::uint32_t { kDeterminer, kNoun, kPronoun, kVerb, kNumLabels };
constexpr std::array<std::string_view, kNumLabels> kLabels{"determiner", "noun", "pronoun", "verb"};
constexpr std::uint32_t kTransition = 0;  // the one attribute of every step from a token to the next

using Sentence = std::vector<std::pair<std::string_view, Label>>;

void add_sentence(const Sentence& sentence, espalier::Sequences& sequences) {
  for (const auto& token : sentence) {
    for (std::uint32_t word = 0; word < kWords.size(); ++word) {
      if (kWords[word] == token.first) sequences.tokens.add(word, 1);
    }
    sequences.tokens.finish_row();
  }
  sequences.offsets.push_back(sequences.tokens.size());
}

// All steps are alike: one row of attributes serves them all, and transition_of stays empty.
void add_transition(espalier::Sequences& sequences) {
  sequences.transitions.add(kTransition, 1);
  sequences.transitions.finish_row();
}

}  // namespace

int main() {
  const std::vector<Sentence> sentences{
      {{"we", kPronoun}, {"walk", kVerb}, {"the", kDeterminer}, {"dogs", kNoun}},
      {{"the", kDeterminer}, {"walk", kNoun}},
      {{"dogs", kNoun}, {"watch", kVerb}, {"a", kDeterminer}, {"watch", kNoun}},
      {{"we", kPronoun}, {"watch", kVerb}, {"the", kDeterminer}, {"fish", kNoun}},
      {{"we", kPronoun}, {"fish", kVerb}},
      {{"a", kDeterminer}, {"watch", kNoun}}};
  espalier::Sequences sequences;
  std::vector<std::uint32_t> gold;
  for (const Sentence& sentence : sentences) {
    add_sentence(sentence, sequences);
    for (const auto& token : sentence) gold.push_back(token.second);
  }
  add_transition(sequences);

  // The problem refers to the sequences, the objective to the problem: keep them.
  const espalier::ChainShape shape{kWords.size(), /*num_transition_attributes=*/1, kNumLabels};
  const espalier::ChainProblem problem(espalier::ChainExamples(sequences, shape, gold));
  const espalier::Objective objective{problem, espalier::Loss::crf(), /*l2=*/0.1};

  espalier::EgOptions options;
  options.stopping.gap = 1e-6;
  espalier::DualState dual(problem);
  espalier::Weights theta;
  const espalier::Summary summary = espalier::eg(objective, options, dual, theta);
  fmt::print("{}\n", summary.message);

  // The certificate does not rest on the solver's word: this computes both sides anew.
  const espalier::Certificate certificate = espalier::certify(objective, theta, dual);
  fmt::print("objective {:.6f}, gap {:.1e}\n", certificate.primal, certificate.gap());

  // A new sentence, whose labels nobody looks at: its scores, and the best labels under them.
  const Sentence unseen{{"we", kNoun}, {"fish", kNoun}, {"a", kNoun}, {"walk", kNoun}};
  espalier::Sequences today;
  add_sentence(unseen, today);
  add_transition(today);
  const espalier::Chain chain(unseen.size(), kNumLabels);
  std::vector<double> scores(chain.num_statistics());
  const std::vector<std::uint32_t> tables{0};  // the rows of today.transitions that the sentence needs
  espalier::Workspace workspace;
  espalier::score_sequence(today, tables, shape, theta, /*kernel=*/nullptr, std::span<double>(scores),
                           workspace);
  const espalier::Chain::Output best = chain.decode(std::span<const double>(scores), workspace);
  for (std::size_t t = 0; t < best.size(); ++t) fmt::print("{} {}\n", unseen[t].first, kLabels[best[t]]);

  const bool certified = certificate.gap() >= 0 && certificate.relative_gap() <= 1e-6;
  return certified && best == espalier::Chain::Output{kPronoun, kVerb, kDeterminer, kNoun} ? 0 : 1;
}
