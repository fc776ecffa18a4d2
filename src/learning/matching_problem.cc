#include "learning/matching_problem.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {
namespace {

// |F(z - chi(y))| is at most the sum of |x_e| over the pairs that differ: those of z, and the links of y.
double squared_reach(const GraphFeatures& features, std::size_t i, const MatchingExample& example) {
  double longest = 0, of_gold = 0;
  const std::size_t begin = features.begin(i, 0);
  const auto length = [&](std::size_t e) {
    const SparseRows::Row row = features.rows(0).row(begin + e);
    double sum = 0;
    for (std::size_t j = 0; j < row.ids.size(); ++j) sum += static_cast<double>(row.value(j)) * row.value(j);
    return std::sqrt(sum);
  };
  const Matching& matching = example.structure;
  for (std::size_t e = 0; e < matching.num_statistics(); ++e) longest = std::max(longest, length(e));
  for (const std::uint32_t e : example.gold) of_gold += length(e);
  const std::size_t links = std::min({matching.num_statistics(), matching.most() * matching.sources(),
                                      matching.most() * matching.targets()});
  const double reach = of_gold + static_cast<double>(links) * longest;
  return reach * reach;
}

}  // namespace

MatchingExamples::MatchingExamples(const GraphFeatures& features, std::vector<MatchingExample> examples,
                                   bool maxima)
    : features_(&features),
      examples_(std::move(examples)),
      inference_(maxima ? Inference::exact : Inference::relaxed) {
  ESPALIER_EXPECT(features.size() == examples_.size() && features.weights().num_types() == 1);
  for (std::size_t i = 0; i < examples_.size(); ++i) {
    ESPALIER_EXPECT(features.end(i, 0) - features.begin(i, 0) == examples_[i].structure.num_statistics());
    squared_diameters_.push_back(squared_reach(features, i, examples_[i]));
  }
}

}  // namespace espalier
