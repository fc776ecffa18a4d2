#include "learning/partial_gold.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {

void PartialGold::add(std::size_t example, std::vector<std::uint8_t> allowed, std::size_t num_labels,
                      std::span<const float> costs) {
  ESPALIER_EXPECT(example < of_.size() && of_[example] == 0 && allowed.size() % num_labels == 0);
  std::vector<float> cost(allowed.size());
  for (std::size_t begin = 0; begin < allowed.size(); begin += num_labels) {
    for (std::size_t j = 0; j < num_labels; ++j) {
      if (allowed[begin + j] != 0) continue;
      float least = costs.empty() ? 1.0f : std::numeric_limits<float>::infinity();
      for (std::size_t gold = 0; gold < num_labels && !costs.empty(); ++gold) {
        if (allowed[begin + gold] != 0) least = std::min(least, costs[gold * num_labels + j]);
      }
      cost[begin + j] = least;
    }
  }
  sequences_.push_back({example, std::move(allowed), std::move(cost), {}});
  of_[example] = static_cast<std::uint32_t>(sequences_.size());
}

}  // namespace espalier
