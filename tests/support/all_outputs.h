#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "structures/cfg.h"
#include "structures/chain.h"
#include "structures/dependency_tree.h"
#include "structures/multiclass.h"
#include "support/all_trees.h"

// all_outputs(structure) lists every output of Y once. It is all that the checks by enumeration need to know
// of a structure beyond its own interface; a new structure adds an overload, found through the structure's
// namespace.
namespace espalier {

inline std::vector<Multiclass::Output> all_outputs(const Multiclass& structure) {
  std::vector<Multiclass::Output> outputs;
  for (std::size_t y = 0; y < structure.num_statistics(); ++y) {
    outputs.push_back(static_cast<Multiclass::Output>(y));
  }
  return outputs;
}

inline std::vector<Chain::Output> all_outputs(const Chain& structure) {
  const std::size_t labels = structure.num_labels(), length = structure.length();
  const ChainConstraints* constraints = structure.constraints();
  const auto allowed = [&](const Chain::Output& y) {
    if (!constraints) return true;
    if (!constraints->first[y.front()] || !constraints->last[y.back()]) return false;
    for (std::size_t t = 1; t < length; ++t) {
      if (!constraints->step[y[t - 1] * labels + y[t]]) return false;
    }
    return true;
  };
  std::vector<Chain::Output> outputs;
  Chain::Output y(length, 0);
  for (;;) {
    if (allowed(y)) outputs.push_back(y);
    std::size_t t = 0;
    while (t < length && ++y[t] == labels) y[t++] = 0;
    if (t == length) return outputs;
  }
}

inline std::vector<DependencyTree::Output> all_outputs(const DependencyTree& structure) {
  const std::size_t words = structure.num_words();
  const TreeShape& shape = structure.shape();
  std::vector<DependencyTree::Output> outputs;
  for (const auto& heads : test_support::all_trees(words, shape.projective, shape.single_root)) {
    bool allowed = true;
    for (std::size_t d = 1; d <= words; ++d)
      allowed = allowed && structure.arcs().find(heads[d - 1], d) != ArcSet::kNone;
    DependencyTree::Output y{heads, std::vector<std::uint32_t>(words, 0)};
    for (std::size_t d = 0; allowed && d < words;) {
      outputs.push_back(y);
      for (d = 0; d < words && ++y.labels[d] == shape.num_labels; ++d) y.labels[d] = 0;
    }
  }
  return outputs;
}

// By ranking them, which cfg_test.cc checks against the rules alone.
inline std::vector<Derivation> all_outputs(const Cfg& structure) {
  constexpr std::size_t kAll = 1000000;
  std::vector<Derivation> outputs;
  const std::vector<double> zero(structure.num_statistics(), 0.0);
  for (const Cfg::Scored& ranked : structure.kbest(zero, kAll)) outputs.push_back(ranked.output);
  return outputs;
}

}  // namespace espalier
