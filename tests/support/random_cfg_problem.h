#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "learning/cfg_problem.h"
#include "support/all_outputs.h"
#include "support/random_grammar.h"

namespace espalier::test_support {

struct RandomCfgOptions {
  std::size_t sentences = 12, longest = 4, vocabulary = 10;  // lengths from 1 to longest
  std::size_t most_derivations = 200;                        // of a sentence
  bool spans = true;
  bool tags = true;                 // some words have a choice of tags
  unsigned bits = 8, tag_bits = 6;  // so few that features meet in one row
};

// Sentences of a random grammar, each with one of its derivations. Stays where it was built.
struct OwnedCfgProblem {
  explicit OwnedCfgProblem(std::uint64_t seed, const RandomCfgOptions& options = {})
      : random(seed),
        index(random_grammar(random)),
        features(
            index,
            {.spans = options.spans, .bits = options.bits, .tag_bits = options.tags ? options.tag_bits : 0}),
        sentences(draw_sentences(options)),
        problem(CfgExamples(sentences, features)) {}
  OwnedCfgProblem(const OwnedCfgProblem&) = delete;
  OwnedCfgProblem& operator=(const OwnedCfgProblem&) = delete;

  std::vector<CfgSentence> draw_sentences(const RandomCfgOptions& options) {
    std::vector<CfgSentence> drawn;
    while (drawn.size() < options.sentences) {
      TagSets tags = random_tags(random, draw(random, 1, options.longest), index.grammar().num_tags);
      std::vector<SpanWord> words;
      for (auto& of_word : tags) {
        if (!options.tags) of_word.resize(1);
        const std::string tag = of_word.size() == 1 ? std::to_string(of_word[0]) : "";
        words.push_back(span_word("w" + std::to_string(random.below(options.vocabulary)), tag));
      }
      Cfg forest(index, tags);
      if (!forest.possible()) continue;
      const auto outputs = all_outputs(forest);
      if (outputs.size() > options.most_derivations) continue;
      drawn.push_back({std::move(words), std::move(forest), outputs[random.below((outputs.size() + 1) / 2)]});
    }
    return drawn;
  }

  Random random;
  const GrammarIndex index;
  const CfgFeatures features;
  const std::vector<CfgSentence> sentences;
  const CfgProblem problem;
};

}  // namespace espalier::test_support
