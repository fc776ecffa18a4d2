#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "espalier/learning/problem.h"
#include "support/random_cfg_problem.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_graph_problem.h"
#include "support/random_problem.h"

namespace espalier::test_support {

// A random problem of every structure, for tests of solvers, which see only `Problem`.
class ProblemsOfAllKinds {
 public:
  struct Named {
    std::string name;
    const Problem& problem;
    double l2;  // of ordinary size for it
  };

  explicit ProblemsOfAllKinds(std::uint64_t seed)
      : multiclass_(seed, {.examples = 40, .attributes = 20, .labels = 4}),
        chain_(seed, {.sequences = 15}),
        constrained_chain_(seed, {.sequences = 15,
                                  .labels = 4,
                                  .transitions = Transitions::few,
                                  .constrained = true,
                                  .observed = true,
                                  .order = 2}),
        projective_(seed, trees({true, false, 2}, false, true)),
        nonprojective_(seed, trees({false, true, 1}, true, false)),
        graph_(seed, {.graphs = 15}),
        grammar_(seed, {.sentences = 15}) {}

  std::vector<Named> all() const {
    return {{"multi-class", multiclass_.problem, 1},
            {"chain", chain_.problem, 2},
            {"chain, order 2, constrained", constrained_chain_.problem, 2},
            {"projective trees, second order, labelled", projective_.problem, 100},
            {"grammar, words with a choice of tags", grammar_.problem, 100},
            {"nonprojective trees, one root, some arcs", nonprojective_.problem, 100},
            {"graphs, constrained", graph_.problem, 2}};
  }

 private:
  static RandomDependencyOptions trees(TreeShape shape, bool pruned, bool second_order) {
    RandomDependencyOptions options;
    options.sentences = 15;
    options.longest = 5;
    options.shape = shape;
    options.pruned = pruned;
    options.second_order = second_order;
    return options;
  }

  OwnedProblem multiclass_;
  OwnedChainProblem chain_, constrained_chain_;
  OwnedDependencyProblem projective_, nonprojective_;
  OwnedGraphProblem graph_;
  OwnedCfgProblem grammar_;
};

}  // namespace espalier::test_support
