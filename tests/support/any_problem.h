#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "espalier/learning/problem.h"
#include "support/random_cfg_problem.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_graph_problem.h"
#include "support/random_problem.h"

namespace espalier::test_support {

// A problem of a few small examples, of any structure. To be made inside a property.
class AnyProblem {
 public:
  AnyProblem() {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto size = *rc::gen::inRange<std::size_t>(1, 7);
    switch (*rc::gen::inRange(0, 7)) {
      case 0:
        hold<OwnedProblem>(seed, RandomDataOptions{.examples = size, .attributes = 6, .labels = 3});
        break;
      case 1:
        hold<OwnedChainProblem>(seed, RandomChainOptions{.sequences = size, .longest = 5});
        break;
      case 2:
        hold<OwnedChainProblem>(
            seed, RandomChainOptions{
                      .sequences = size, .longest = 4, .transitions = Transitions::few, .constrained = true});
        break;
      case 3:
        hold<OwnedGraphProblem>(seed, RandomGraphOptions{.graphs = size});
        break;
      case 4:
        hold<OwnedDependencyProblem>(seed,
                                     RandomDependencyOptions{.sentences = size, .shape = {true, false, 2}});
        break;
      case 5:
        hold<OwnedDependencyProblem>(seed,
                                     RandomDependencyOptions{.sentences = size, .shape = {false, true, 1}});
        break;
      default:
        hold<OwnedCfgProblem>(seed, RandomCfgOptions{.sentences = size});
    }
  }
  const Problem& problem() const { return *problem_; }

 private:
  template <class Owned, class Options>
  void hold(std::uint64_t seed, const Options& options) {
    const auto owned = std::make_shared<Owned>(seed, options);
    problem_ = &owned->problem;
    owner_ = owned;
  }

  std::shared_ptr<void> owner_;
  const Problem* problem_ = nullptr;
};

}  // namespace espalier::test_support
