#pragma once

#include <cstdint>
#include <string>

#include "generate/images.h"
#include "generate/sentence_generator.h"
#include "generate/sentence_pairs.h"
#include "generate/writers.h"

namespace espalier::testing {

// Sentences of the built-in grammar, as one of the writers writes them. A longer text of the same seed begins
// with a shorter one.
inline std::string generated_sentences(std::uint64_t seed, int count,
                                       void (*append)(const Sentence&, std::string&)) {
  SentenceGenerator generator(seed);
  Sentence sentence;
  std::string text;
  for (int i = 0; i < count; ++i) {
    generator.next(sentence);
    append(sentence, text);
  }
  return text;
}

// The same for noisy pictures, as JSON Lines.
inline std::string generated_graphs(std::uint64_t seed, int count) {
  NoisyImages images(seed);
  std::string text;
  for (int i = 0; i < count; ++i) append_graph(images.next(), text);
  return text;
}

}  // namespace espalier::testing
