#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "learning/dependency_problem.h"

namespace espalier::test_support {

// Words out of a vocabulary; those of a few classes share tags, those of a few stems lemmas.
std::vector<WordAtoms> random_words(Random& random, std::size_t length, std::size_t vocabulary);

// Some arcs, with the memory that they lie in.
struct OwnedArcs {
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint16_t> heads;
  ArcSet view() const { return {offsets, heads}; }
};
// Each arc with this chance, and those of a tree (heads[d - 1] is the head of word d) in any case.
OwnedArcs random_arcs(Random& random, std::span<const std::uint32_t> tree, double chance);

// Everything that a problem of dependency trees is made of, so that a test may change a piece before the
// problem is built.
struct DependencyData {
  DependencyCorpus corpus;
  ArcSets arcs;
  TreePartLists parts;  // none: first order
  TreeShape shape;
  unsigned bits = 0, relation_bits = 0;
};

struct RandomDependencyOptions {
  std::size_t sentences = 12, longest = 4, vocabulary = 15;  // lengths from 1 to longest
  TreeShape shape;
  bool pruned = false;                    // about half of the arcs are not allowed
  bool second_order = false;              // siblings and grandparents, too; gold trees know nothing of them
  unsigned bits = 10, relation_bits = 7;  // so few that features meet in one weight
};

// Gold trees are the best ones of a random model of the same shape, with some noise. The same seed and
// options give the same data.
DependencyData random_dependencies(std::uint64_t seed, const RandomDependencyOptions& options = {});

// A problem with the data that it refers to. Stays where it was built.
struct OwnedDependencyProblem {
  explicit OwnedDependencyProblem(DependencyData from)
      : data(std::move(from)),
        features(data.bits, data.relation_bits, data.shape.num_labels, !data.parts.empty()),
        problem(data.parts.empty()
                    ? DependencyExamples(data.corpus, data.arcs, features, data.shape)
                    : DependencyExamples(data.corpus, data.arcs, data.parts, features, data.shape)) {}
  explicit OwnedDependencyProblem(std::uint64_t seed, const RandomDependencyOptions& options = {})
      : OwnedDependencyProblem(random_dependencies(seed, options)) {}
  OwnedDependencyProblem(const OwnedDependencyProblem&) = delete;
  OwnedDependencyProblem& operator=(const OwnedDependencyProblem&) = delete;

  DependencyTree::Output gold(std::size_t i) const {
    const auto heads = data.corpus.heads_of(i), labels = data.corpus.labels_of(i);
    return {{heads.begin(), heads.end()}, {labels.begin(), labels.end()}};
  }

  const DependencyData data;
  const DependencyFeatures features;
  const DependencyProblem problem;
};

}  // namespace espalier::test_support
