#include "../examples/subset.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "../examples/subset_examples.h"
#include "support/enumeration.h"
#include "support/feature_checks.h"
#include "support/random_scores.h"

namespace example {

// All that the generic checks need to know.
std::vector<Subset::Output> all_outputs(const Subset& structure) {
  std::vector<Subset::Output> outputs;
  for (std::size_t bits = 0; bits < std::size_t{1} << structure.num_statistics(); ++bits) {
    Subset::Output y(structure.num_statistics());
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = (bits >> k & 1) != 0;
    outputs.push_back(y);
  }
  return outputs;
}

namespace {

using namespace espalier::test_support;

RC_GTEST_PROP(Subset, InferenceIsThatOfEnumeration, ()) {
  const Subset structure(*rc::gen::inRange<std::size_t>(1, 8));
  const auto s = *scores(structure.num_statistics());
  const std::vector<float> rounded(s.begin(), s.end());
  RC_ASSERT(check_inference<double>(structure, std::span(s), 1e-13) == "");
  RC_ASSERT(check_inference<float>(structure, std::span(rounded), 1e-6) == "");
}

TEST(Subset, ZeroScoresCountTheOutputs) {
  EXPECT_EQ(check_uniform<float>(Subset(5), 1e-6), "");
  EXPECT_EQ(check_uniform<double>(Subset(5), 1e-13), "");
}

TEST(Subset, FeaturesAreALinearOperator) {
  espalier::SparseRows rows;
  rows.add(0, 1);
  rows.add(2, 0.5f);
  rows.finish_row();
  rows.finish_row();
  const SubsetProblem problem(SubsetExamples(rows, 3, {{true, false, true}, {false, false, false}}));
  espalier::Random random(1);
  EXPECT_EQ(check_features(problem, random), "");
}

}  // namespace
}  // namespace example
