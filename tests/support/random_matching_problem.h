#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "learning/matching_problem.h"

namespace espalier::test_support {

struct RandomMatchingOptions {
  std::size_t pairs = 8, longest = 4, most = 1;  // sentences of 1 to `longest` words
  bool maxima = false;                           // as MatchingExamples takes it
};

// Pairs of sentences whose gold links follow the features, with noise. The same seed and options give the
// same data.
struct RandomMatchings {
  RandomMatchings(std::uint64_t seed, const RandomMatchingOptions& options);
  GraphFeatures features;
  std::vector<MatchingExample> examples;
};

// A problem with the data that it refers to. Stays where it was built.
struct OwnedMatchingProblem {
  explicit OwnedMatchingProblem(std::uint64_t seed, const RandomMatchingOptions& options = {})
      : data(seed, options), problem(MatchingExamples(data.features, data.examples, options.maxima)) {}
  OwnedMatchingProblem(const OwnedMatchingProblem&) = delete;
  OwnedMatchingProblem& operator=(const OwnedMatchingProblem&) = delete;

  const RandomMatchings data;
  const MatchingProblem problem;
};

}  // namespace espalier::test_support
