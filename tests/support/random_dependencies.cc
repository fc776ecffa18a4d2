#include "support/random_dependencies.h"

#include <string>

#include "base/random.h"
#include "structures/dependency_tree.h"

namespace espalier::test_support {
namespace {

double between(Random& random, double low, double high) { return low + (high - low) * random.uniform(); }

}  // namespace

std::vector<WordAtoms> random_words(Random& random, std::size_t length, std::size_t vocabulary) {
  constexpr std::size_t kFine = 6, kCoarse = 3, kMorphology = 4;
  std::vector<WordAtoms> words;
  for (std::size_t k = 0; k < length; ++k) {
    const std::size_t word = random.below(vocabulary);
    const auto name = [&](const char* kind, std::size_t number) { return kind + std::to_string(number); };
    words.push_back(word_atoms(name("form", word), name("lemma", word / 2), name("c", word % kCoarse),
                               name("p", word % kFine), name("m", word % kMorphology)));
  }
  return words;
}

OwnedArcs random_arcs(Random& random, std::span<const std::uint32_t> tree, double chance) {
  OwnedArcs arcs;
  arcs.offsets.push_back(0);
  for (std::size_t d = 1; d <= tree.size(); ++d) {
    for (std::size_t h = 0; h <= tree.size(); ++h) {
      const bool drawn = random.uniform() < chance;
      if (h != d && (drawn || h == tree[d - 1])) arcs.heads.push_back(static_cast<std::uint16_t>(h));
    }
    arcs.offsets.push_back(static_cast<std::uint32_t>(arcs.heads.size()));
  }
  return arcs;
}

DependencyData random_dependencies(std::uint64_t seed, const RandomDependencyOptions& options) {
  Random random(seed);
  DependencyData data;
  data.shape = options.shape;
  data.bits = options.bits;
  data.relation_bits = options.relation_bits;
  DependencyCorpus& corpus = data.corpus;
  const DependencyFeatures features(options.bits, options.relation_bits, options.shape.num_labels);
  DoubleWeights model(features.weight_shape());
  for (double& w : model.values()) w = between(random, -1, 1);
  Workspace ws;
  for (std::size_t i = 0; i < options.sentences; ++i) {
    const auto words = random_words(random, 1 + random.below(options.longest), options.vocabulary);
    const ArcSet all(words.size());
    const DependencyTree tree(all, options.shape);
    std::vector<double> s(tree.num_statistics());
    features.score<double, double>(words, all, model.row(0), 1.0, s, ws);
    for (double& x : s) x += between(random, -10, 10);
    const DependencyTree::Output gold = tree.decode(std::span<const double>(s), ws);
    corpus.words.insert(corpus.words.end(), words.begin(), words.end());
    corpus.heads.insert(corpus.heads.end(), gold.heads.begin(), gold.heads.end());
    corpus.labels.insert(corpus.labels.end(), gold.labels.begin(), gold.labels.end());
    corpus.offsets.push_back(corpus.words.size());
    OwnedArcs some;
    if (options.pruned) {
      some = random_arcs(random, gold.heads, 0.5);
      data.arcs.append(some.offsets, some.heads);
    }
    if (options.second_order)
      data.parts.append(options.pruned ? some.view() : all, options.shape.adjacent_siblings());
  }
  return data;
}

}  // namespace espalier::test_support
