#include "support/random_matching_problem.h"

#include "base/random.h"

namespace espalier::test_support {

RandomMatchings::RandomMatchings(std::uint64_t seed, const RandomMatchingOptions& options)
    : features({{6, 1, 1}}) {
  Random random(seed);
  Workspace ws;
  for (std::size_t i = 0; i < options.pairs; ++i) {
    const Matching matching(1 + random.below(options.longest), 1 + random.below(options.longest),
                            options.most);
    std::vector<double> s(matching.num_statistics());
    for (double& score : s) {
      score = random.uniform() - 0.5;
      for (std::uint32_t a = 0; a < 6; ++a) {
        if (random.below(3) == 0) continue;
        const double value = random.below(3) == 0 ? 1 : 2 * random.uniform() - 1;
        features.add(0, a, static_cast<float>(value));
        score += value * (a % 2 == 0 ? 1 : -1);
      }
      features.finish_row(0);
    }
    features.finish_graph();
    MatchingExample example{
        matching, matching.decode(std::span<const double>(s), ws), {}, 0.5f * static_cast<float>(1 + i % 4)};
    std::vector<double> gold(s.size());
    matching.indicator(example.gold, std::span(gold));
    for (std::uint32_t e = 0; e < s.size(); ++e) {
      if (gold[e] == 0 && random.below(6) == 0) example.free.push_back(e);
    }
    examples.push_back(example);
  }
}

}  // namespace espalier::test_support
